package cpu

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// A stream's own workers do its work, while those of the backend are busy, and end with it.
func TestStreamOfItsOwn(t *testing.T) {
	b := Open(2)
	defer b.Close()
	begin := runtime.NumGoroutine()
	s, err := b.NewStreamOf(3)
	if err != nil {
		t.Fatal(err)
	}
	var at, most atomic.Int32
	b.pool.Run(2, func(i int) {
		if i != 0 {
			return
		}
		Loop(s)(3, func(int) {
			if n := at.Add(1); n > most.Load() {
				most.Store(n)
			}
			for end := time.Now().Add(2 * time.Second); at.Load() < 3 && time.Now().Before(end); {
				runtime.Gosched()
			}
		})
	})
	if most.Load() != 3 {
		t.Errorf("%d workers at a time, want 3", most.Load())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > begin; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), begin)
		}
	}
	for _, n := range []int{-1, 0, maxThreads + 1} {
		if _, err := b.NewStreamOf(n); err == nil {
			t.Errorf("%d threads were given", n)
		}
	}
}

// Tactics of others come before the backend's, and are refused where they are no tactics.
func TestWith(t *testing.T) {
	b := Open(1)
	defer b.Close()
	whole := kernels.Tactic{Name: "softmax_mine", Op: graph.Softmax,
		Match: func(kernels.Binding) error { return nil }, Bind: func(kernels.Binding) (kernels.Kernel, error) { return nil, nil }}
	with, err := b.With(whole)
	if err != nil {
		t.Fatal(err)
	}
	if list := with.Tactics(graph.Softmax); list[0].Name != whole.Name || len(list) != len(b.Tactics(graph.Softmax))+1 {
		t.Errorf("%d tactics, the first is %s", len(list), list[0].Name)
	}
	taken, needs, none := whole, whole, whole
	taken.Name, needs.Needs, none.Match = b.Tactics(graph.Softmax)[0].Name, 1, nil
	for _, c := range []struct {
		tactic kernels.Tactic
		says   string
	}{{taken, "there is one of this name"}, {needs, "abilities"}, {none, "no Match"}, {kernels.Tactic{}, "no name"}} {
		if _, err := b.With(c.tactic); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.tactic.Name, err, c.says)
		}
	}
}
