package work

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trtui/trtui/core/graph"
)

// TestPoolRunsEveryCallOnce runs short loops one behind the other, from several goroutines, as streams do.
func TestPoolRunsEveryCallOnce(t *testing.T) {
	p := NewPool(4)
	defer p.Close()
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 5000 {
				n := 1 + (i*7+g)%9
				var calls [9]atomic.Int32
				p.Run(n, func(k int) { calls[k].Add(1) })
				for k := range n {
					if c := calls[k].Load(); c != 1 {
						t.Errorf("call %d of %d was made %d times", k, n, c)
						return
					}
				}
			}
		}()
	}
	wg.Wait()
}

// TestPoolOutlivesPanics: a panic in any call reaches the loop's caller as a fault once the loop has ended, and the next loop
// runs as ever.
func TestPoolOutlivesPanics(t *testing.T) {
	p := NewPool(4)
	defer p.Close()
	for round := range 200 {
		func() {
			defer func() {
				err, _ := recover().(error)
				var f *graph.Fault
				if !errors.As(err, &f) || f.Value != "defect" || !strings.Contains(f.At, "pool_test.go:") {
					t.Errorf("recovered %v", err)
				}
			}()
			p.Run(8, func(i int) {
				if i == round%8 {
					panic("defect")
				}
			})
		}()
		var calls atomic.Int32
		if p.Run(8, func(int) { calls.Add(1) }); calls.Load() != 8 {
			t.Fatalf("%d of 8 calls after a panic", calls.Load())
		}
	}
}
