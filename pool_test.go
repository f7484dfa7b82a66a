package trtui_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui"
)

// TestPool has a pool run inferences at the same time on sessions of its own, call back, and give errors of what it is given.
func TestPool(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	met := make(chan struct{})
	go func() { both.Wait(); close(met) }()
	e := built(t, waiting(t, func() {
		select {
		case <-met:
			return
		default:
		}
		both.Done()
		select {
		case <-met:
		case <-time.After(20 * time.Second):
			t.Error("the other inference does not run meanwhile")
		}
	}), trtui.Options{Threads: 2})
	p, err := e.NewPool(trtui.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := trtui.Inputs{"x": trtui.ValueOf([]float32{1, 2})}
	told := make(chan float32, 2)
	for range 2 {
		if _, err := p.Submit(t.Context(), in, trtui.Inference{Done: func(out trtui.Outputs, err error) {
			if err != nil {
				t.Error(err)
			}
			told <- out["y"].F32()[1]
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := <-told, <-told; a != 2 || b != 2 {
		t.Errorf("they give %v and %v", a, b)
	}
	into := trtui.Outputs{"y": trtui.NewValue(trtui.F32, 2)}
	ticket, err := p.Submit(t.Context(), in, trtui.Inference{Into: into})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := ticket.Wait(); err != nil || into["y"].F32()[0] != 1 || out["y"].F32()[0] != 1 {
		t.Errorf("into memory that is given: %v, %v", into, err)
	}
	if _, err := p.Run(t.Context(), trtui.Inputs{}); err == nil || !strings.Contains(err.Error(), "there is no data for it") {
		t.Errorf("without an input: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Run(t.Context(), in); !errors.Is(err, trtui.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	for _, o := range []trtui.PoolOptions{{Sessions: -1}, {Sessions: 1 << 20}, {Queue: -1}, {Threads: -1}} {
		if _, err := e.NewPool(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestPoolPriorities has the urgent one run before those that wait, and refuses what finds no place.
func TestPoolPriorities(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	e := built(t, waiting(t, func() { inside <- struct{}{}; <-leave }), trtui.Options{Threads: 1})
	p, err := e.NewPool(trtui.PoolOptions{Sessions: 1, Queue: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	in := trtui.Inputs{"x": trtui.ValueOf([]float32{1, 2})}
	var lock sync.Mutex
	var order []int
	submit := func(priority int) error {
		_, err := p.Submit(t.Context(), in, trtui.Inference{Priority: priority, Done: func(trtui.Outputs, error) {
			lock.Lock()
			defer lock.Unlock()
			order = append(order, priority)
		}})
		return err
	}
	if err := submit(0); err != nil {
		t.Fatal(err)
	}
	<-inside
	for _, priority := range []int{1, 3, 2} {
		if err := submit(priority); err != nil {
			t.Fatal(err)
		}
	}
	if err := submit(9); !errors.Is(err, trtui.ErrFull) || p.Waiting() != 3 {
		t.Errorf("%v, %d wait", err, p.Waiting())
	}
	for range 3 {
		leave <- struct{}{}
		<-inside
	}
	leave <- struct{}{}
	p.Close()
	if want := []int{0, 3, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("they run as %v, want %v", order, want)
	}
}

// TestStartThen has an inference's end start the next in the same session.
func TestStartThen(t *testing.T) {
	e := built(t, waiting(t, func() {}), trtui.Options{Threads: 1})
	s := session(t, e, trtui.SessionOptions{Threads: 1})
	in, out := trtui.Inputs{"x": trtui.ValueOf([]float32{3, 4})}, s.NewOutputs()
	end, left := make(chan error, 1), 3
	var then func(error)
	then = func(err error) {
		if left--; err != nil || left == 0 {
			end <- err
			return
		}
		if err := s.StartThen(context.Background(), in, out, then); err != nil {
			end <- err
		}
	}
	if err := s.StartThen(t.Context(), in, out, then); err != nil {
		t.Fatal(err)
	}
	if err := <-end; err != nil || left != 0 || out["y"].F32()[1] != 4 {
		t.Errorf("%v, %d are left", err, left)
	}
}

// BenchmarkContexts compares the throughput of two sessions of one thread with that of one such: "ratio" is what a quiet machine
// with two processors or more is to have at 1.8 or more.
func BenchmarkContexts(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("one processor")
	}
	e, in := benchEngine(b)
	rate := func(sessions int) float64 {
		p, err := e.NewPool(trtui.PoolOptions{Sessions: sessions, Threads: 1})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		const inferences = 64
		run := func() time.Duration {
			var last []*trtui.Ticket
			begin := time.Now()
			for range inferences {
				t, err := p.Submit(b.Context(), in, trtui.Inference{})
				if err != nil {
					b.Fatal(err)
				}
				last = append(last, t)
			}
			for _, t := range last {
				if _, err := t.Wait(); err != nil {
					b.Fatal(err)
				}
			}
			return time.Since(begin)
		}
		run()
		return inferences / run().Seconds()
	}
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, 1/rate(1)*rate(2))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}
