package work

import (
	"sync"
	"sync/atomic"
	"testing"
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

func TestPoolRaisesPanicsInTheCaller(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	defer func() {
		if recover() == nil {
			t.Error("the panic got lost")
		}
	}()
	p.Run(8, func(i int) {
		if i == 5 {
			panic("five")
		}
	})
}
