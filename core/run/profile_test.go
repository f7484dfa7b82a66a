package run_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// device is the CPU in the role of a device with a clock of its own, on which every inference takes the same time.
type device struct {
	run.Backend
	estimated bool
	queue     *queue
}

func (d *device) Info() run.Info {
	i := d.Backend.Info()
	i.Estimated = d.estimated
	return i
}

func (d *device) NewStream() (kernels.Stream, error) {
	s, err := d.Backend.NewStream()
	d.queue.Stream = s
	return d.queue, err
}

// queue counts what is asked of it.
type queue struct {
	kernels.Stream
	inference       time.Duration // the time of one
	clock           time.Duration
	launches, waits int
}

func (q *queue) Record() kernels.Mark { return q.clock }
func (q *queue) Elapsed(a, b kernels.Mark) time.Duration {
	return b.(time.Duration) - a.(time.Duration)
}

func (q *queue) Wait() error {
	q.waits++
	q.clock += time.Millisecond // what the host does is on the device's clock too
	return nil
}

func (q *queue) Capture(func() error) (kernels.Graph, error) { return captured{q}, nil }

type captured struct{ q *queue }

func (g captured) Launch() error {
	g.q.launches++
	g.q.clock += g.q.inference
	return nil
}

func (g captured) Close() error { return nil }

// TestProfileInARow: a captured plan's samples last 5 ms, with one wait each that is not in them.
func TestProfileInARow(t *testing.T) {
	ctx := context.Background()
	host := cpu.Open(1)
	defer host.Close()
	for _, c := range []struct {
		inference time.Duration
		estimated bool
		inARow    int
	}{
		{100 * time.Microsecond, false, 50},
		{time.Microsecond, false, 1000},
		{20 * time.Millisecond, false, 1},
		{100 * time.Microsecond, true, 1},
	} {
		d := &device{host, c.estimated, &queue{inference: c.inference}}
		p, err := run.NewPlan(ctx, residual(t), map[string]int{"batch": 1}, d, run.BestGuess)
		if err != nil {
			t.Fatal(err)
		}
		l, err := run.Load(ctx, p, d)
		if err != nil {
			t.Fatal(err)
		}
		x, err := l.NewContext()
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Execute(); err != nil {
			t.Fatal(err)
		}
		launches, waits, samples := 0, 0, 0
		err = x.Profile(ctx, run.Profiling{Iterations: 3}, func(s run.Sample) {
			if s.Latency != c.inference {
				t.Errorf("%v: latency %v", c.inference, s.Latency)
			}
			if samples++; samples > 1 && (d.queue.launches-launches != c.inARow || d.queue.waits-waits != 1) {
				t.Errorf("%v: %d launches and %d waits for a sample, want %d and 1", c.inference, d.queue.launches-launches, d.queue.waits-waits, c.inARow)
			}
			launches, waits = d.queue.launches, d.queue.waits
		})
		if err != nil || samples != 3 {
			t.Errorf("%d samples: %v", samples, err)
		}
		x.Close()
		l.Close()
	}
}

// TestExecuteSplit: an inference with its copies leaves inputs and outputs as another does, keeps its memory, and on the CPU
// enqueues nothing.
func TestExecuteSplit(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), residual(t), map[string]int{"batch": 2}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetInput("x", input(2)); err != nil {
		t.Fatal(err)
	}
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	want, err := c.Output("add")
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.ExecuteSplit()
	if err != nil {
		t.Fatal(err)
	}
	if s.Compute <= 0 || s.Enqueue != 0 || !c.Shared() {
		t.Errorf("%+v, the host computes: %v", s, c.Shared())
	}
	if in, out := c.Copied(); in != 2*3*25*4 || out != in {
		t.Errorf("%d bytes in, %d out", in, out)
	}
	if got, err := c.Output("add"); err != nil || !bytes.Equal(got.Data, want.Data) {
		t.Errorf("the output differs from Execute's (%v)", err)
	}
	if n := testing.AllocsPerRun(20, func() { _, _ = c.ExecuteSplit() }); n > 6 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
	other := input(2)
	other.F32()[0] += 5
	if err := c.SetInput("x", other); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExecuteSplit(); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Output("add"); err != nil || bytes.Equal(got.Data, want.Data) {
		t.Errorf("an input that was set after the first inference is not used (%v)", err)
	}
}
