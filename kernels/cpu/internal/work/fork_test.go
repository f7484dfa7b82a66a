package work

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trtui/trtui/kernels"
)

// TestForkRunsEveryCallOnce runs lanes side by side whose loops others help with, while a second stream has loops of its own.
func TestForkRunsEveryCallOnce(t *testing.T) {
	p := NewPool(4)
	defer p.Close()
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := NewStream(p).(kernels.Forker)
			for i := range 1500 {
				if g == 2 {
					checkLoop(t, Loop(s), 1+i%9)
					continue
				}
				lanes := 2 + (i+g)%5
				var ran [maxLanes]atomic.Int32
				s.Fork(lanes, func(lane int, s kernels.Stream) {
					for k := range 4 {
						checkLoop(t, Loop(s), 1+(i+k+lane)%7)
					}
					ran[lane].Add(1)
				})
				for lane := range lanes {
					if n := ran[lane].Load(); n != 1 {
						t.Errorf("lane %d of %d ran %d times", lane, lanes, n)
					}
				}
			}
		}()
	}
	wg.Wait()
}

func checkLoop(t *testing.T, loop Parallel, n int) {
	var calls [16]atomic.Int32
	loop(n, func(k int) { calls[k].Add(1) })
	for k := range n {
		if c := calls[k].Load(); c != 1 {
			t.Errorf("call %d of %d was made %d times", k, n, c)
		}
	}
}

// TestForkHelps: a lane that has ended leaves its worker to the other's loop, each of whose two calls waits for the other one.
func TestForkHelps(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	s := NewStream(p).(kernels.Forker)
	for range 200 {
		var there sync.WaitGroup
		there.Add(2)
		s.Fork(2, func(lane int, s kernels.Stream) {
			if lane == 1 {
				Loop(s)(2, func(int) {
					there.Done()
					there.Wait()
				})
			}
		})
	}
}

// TestForkAlone: with one worker, and within a fork, lanes run one after the other, in order.
func TestForkAlone(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	s := NewStream(p).(kernels.Forker)
	if n := s.Lanes(); n != 1 {
		t.Errorf("%d lanes on one worker", n)
	}
	var order []int
	s.Fork(3, func(lane int, s kernels.Stream) {
		order = append(order, lane)
		checkLoop(t, Loop(s), 3)
	})
	if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
		t.Errorf("lanes ran as %v", order)
	}
}

// TestForkOutlivesPanics: a panic in a lane reaches the caller once all lanes have ended.
func TestForkOutlivesPanics(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	s := NewStream(p).(kernels.Forker)
	for range 100 {
		var ended atomic.Int32
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			s.Fork(4, func(lane int, s kernels.Stream) {
				defer ended.Add(1)
				Loop(s)(3, func(i int) {
					if lane == 2 && i == 1 {
						panic("defect")
					}
				})
			})
		}()
		if n := ended.Load(); n != 4 {
			t.Fatalf("%d of 4 lanes ended", n)
		}
	}
}

// Running lanes allocates nothing.
func TestForkAllocatesNothing(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	s := NewStream(p).(kernels.Forker)
	run := func(lane int, s kernels.Stream) { Loop(s)(2, func(int) {}) }
	if n := testing.AllocsPerRun(100, func() { s.Fork(2, run) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
