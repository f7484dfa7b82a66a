package cuda

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/driver/drivertest"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// TestCopies moves buffers of odd sizes to the device and back, in pieces where they are large.
func TestCopies(t *testing.T) {
	f := newFake(drivertest.Device())
	s, err := f.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.NewChaCha8([32]byte{})
	for _, n := range []int{0, 1, minStaging, minStaging + 1, maxStaging - 1, maxStaging, 2*maxStaging + 3, 5*maxStaging + 1, 7} {
		in, out := make([]byte, n), make([]byte, n)
		rnd.Read(in)
		m, err := f.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		sent := append([]byte(nil), in...)
		if err := f.Upload(s, m, sent); err != nil {
			t.Fatal(err)
		}
		clear(sent) // Upload is done with it
		if err := f.Download(s, out, m); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(in, out) {
			t.Errorf("%d bytes came back changed", n)
		}
		f.Free(m)
	}
	for _, p := range s.(*Stream).buffers {
		if len(p.data) > maxStaging {
			t.Errorf("%d bytes of page-locked memory", len(p.data))
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := f.memory.Live(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestElapsedWaits asks for the time of an event that has not happened, and for one that fails.
func TestElapsedWaits(t *testing.T) {
	f := newFake(drivertest.Device())
	s, err := f.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, b := s.Record(), s.Record()
	f.calls.Fail("EventElapsed", 1, driver.NotReady)
	s.Elapsed(a, b)
	if err := s.Wait(); err != nil || f.calls.Count("EventSynchronize") != 1 {
		t.Errorf("an event that has not happened: %v\n%s", err, f.calls)
	}
	f.calls.Fail("EventElapsed", 1, driver.InvalidValue)
	s.Elapsed(a, b)
	if err := s.Wait(); err == nil {
		t.Error("Wait says nothing of a mark that failed")
	}
}

// TestMarks records more marks than a stream keeps, and some in a graph, which has its own and takes them with it.
func TestMarks(t *testing.T) {
	f := newFake(drivertest.Device())
	s, err := f.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	for range markCount + 10 {
		s.Record()
	}
	if n := f.calls.Count("EventCreate"); n != markCount {
		t.Errorf("%d events for the marks", n)
	}
	var inside [2]kernels.Mark
	g, err := s.(kernels.Capturer).Capture(func() error {
		inside[0], inside[1] = s.Record(), s.Record()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Elapsed(inside[0], inside[1]); s.Wait() == nil {
		t.Error("marks of a graph that never ran have a time")
	}
	if err := g.Launch(); err != nil {
		t.Fatal(err)
	}
	if s.Elapsed(inside[0], inside[1]); s.Wait() != nil {
		t.Error("marks of a graph that ran have no time")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if n := f.calls.Count("EventDestroy"); n != 2 {
		t.Errorf("%d events destroyed with the graph", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := f.memory.Live(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestConcurrentContexts runs one engine from several goroutines, each on a context of its own, in all orders of their work: no
// two of them use the same memory with nothing that orders it.
func TestConcurrentContexts(t *testing.T) {
	t.Run("eager", func(t *testing.T) { concurrently(t, simulated(t)) })
	inOrders(t, concurrently)
}

func concurrently(t *testing.T, b *Backend) {
	b.ctx.(*simulator.Context).Streams = true
	n := small(t)
	want, err := n.Eval(context.Background(), map[string]numeric.Value{"x": smallInput()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := run.Load(t.Context(), planned(t, b), b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			c, err := l.NewContext()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for range 3 {
				got, err := once(c)
				if err == nil {
					err = suite.Near(got, want["y"], numeric.Range{}, suite.Tolerance{Real: 1e-4})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
}

// once runs the small network.
func once(c *run.ExecutionContext) (numeric.Value, error) {
	if err := c.SetInput("x", smallInput()); err != nil {
		return numeric.Value{}, err
	}
	if err := c.Execute(); err != nil {
		return numeric.Value{}, err
	}
	return c.Output("y")
}
