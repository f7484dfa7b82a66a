package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// lazy are the orders of work in which the runtime is tested.
func lazy() []simulator.Options {
	return []simulator.Options{{Order: simulator.Late}, {Order: simulator.Mixed, Seed: 1}, {Order: simulator.Mixed, Seed: 2}}
}

// inOrders runs a test on simulated devices of all orders, which must give back all that they take.
func inOrders(t *testing.T, test func(t *testing.T, b *Backend)) {
	for _, o := range lazy() {
		t.Run(fmt.Sprintf("%d_%d", o.Order, o.Seed), func(t *testing.T) {
			b := simulated(t)
			s := b.ctx.(*simulator.Context)
			s.Order, s.Seed, s.Streams = o.Order, o.Seed, true
			test(t, b)
		})
	}
}

// TestOrdersOfCopies moves buffers through the staging memory of several streams at a time.
func TestOrdersOfCopies(t *testing.T) {
	inOrders(t, func(t *testing.T, b *Backend) {
		if err := copies(b); err != nil {
			t.Error(err)
		}
	})
}

// copies moves buffers up in two streams, and back.
func copies(b *Backend) (err error) {
	const n = maxStaging + 3
	rnd := rand.NewChaCha8([32]byte{})
	var streams [2]kernels.Stream
	var mem [2]kernels.Mem
	var in [2][]byte
	for i := range streams {
		if streams[i], err = b.NewStream(); err != nil {
			return err
		}
		defer streams[i].Close()
		if mem[i], err = b.Alloc(n); err != nil {
			return err
		}
		defer b.Free(mem[i])
		in[i] = make([]byte, n)
		rnd.Read(in[i])
	}
	for i, s := range streams {
		sent := bytes.Clone(in[i])
		for _, size := range []int{7, n, minStaging + 1} { // each over the one before
			if err := b.Upload(s, mem[i], sent[:size]); err != nil {
				return err
			}
		}
		clear(sent)
	}
	for i, s := range streams {
		out := make([]byte, n)
		if err := b.Download(s, out, mem[i]); err != nil {
			return err
		}
		if !bytes.Equal(in[i], out) {
			return fmt.Errorf("stream %d: %d bytes came back changed", i, n)
		}
	}
	return nil
}

// TestOrdersOfLives lives plans' whole lives, several times, with networks that share memory among their layers.
func TestOrdersOfLives(t *testing.T) {
	inOrders(t, func(t *testing.T, b *Backend) {
		if err := cycle(b, planned(t, b)); err != nil {
			t.Error(err)
		}
		if err := lives(b, planned(t, b)); err != nil {
			t.Error(err)
		}
	})
}

// lives runs a plan with inputs that change, in every way that a context has, and compares each output.
func lives(b *Backend, p *run.Plan) error {
	l, err := run.Load(context.Background(), p, b)
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		return err
	}
	defer c.Close()
	ways := []func() error{
		c.Execute,
		func() error { _, err := c.ExecuteSplit(); return err },
		func() error { return c.Observe(context.Background(), run.Observer{}) },
	}
	for round := range 2 {
		for i, execute := range ways {
			x := smallInput()
			x.F32()[3*i+round] += float32(1 + i)
			want, err := p.Network.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
			if err != nil {
				return err
			}
			if err := c.SetInput("x", x); err != nil {
				return err
			}
			if err := execute(); err != nil {
				return err
			}
			got, err := c.Output("y")
			if err == nil {
				err = suite.Near(got, want["y"], numeric.Range{}, suite.Tolerance{Real: 1e-4})
			}
			if err != nil {
				return fmt.Errorf("round %d, way %d: %w", round, i, err)
			}
		}
	}
	return nil
}

// TestOrdersOfNetworks runs whole networks in the latest order.
func TestOrdersOfNetworks(t *testing.T) {
	b := simulated(t)
	b.ctx.(*simulator.Context).Order = simulator.Late
	runtest.Networks(t, b)
}

// TestOrdersOfMarks times work that is not done when it is asked for its time.
func TestOrdersOfMarks(t *testing.T) {
	inOrders(t, func(t *testing.T, b *Backend) {
		s, err := b.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		from := s.Record()
		for range markCount {
			s.Record()
		}
		to := s.Record()
		if d := s.Elapsed(from, to); d < 0 {
			t.Errorf("%v between two marks", d)
		}
		if err := errors.Join(s.Wait(), s.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestLateFaultNamesTheLayer is TestFaultNamesTheLayer where a fault comes out later and the device is lost: the graph's error
// says what ran, and in a new context Observe names the layer.
func TestLateFaultNamesTheLayer(t *testing.T) {
	for _, o := range lazy() {
		open := func() (driver.Context, error) {
			s := Simulate(simulator.Device())
			s.Order, s.Seed = o.Order, o.Seed
			return s, nil
		}
		sim, err := OpenSimulatorOn(open)
		if err != nil {
			t.Fatal(err)
		}
		b := spoiled{sim}
		p := planned(t, b.Backend)
		for _, execute := range []func(*run.ExecutionContext) error{
			(*run.ExecutionContext).Execute,
			func(c *run.ExecutionContext) error { return c.Observe(t.Context(), run.Observer{}) },
		} {
			l, err := run.Load(t.Context(), p, b)
			if err != nil {
				t.Fatal(err)
			}
			c, err := l.NewContext()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.SetInput("x", smallInput()); err != nil {
				t.Fatal(err)
			}
			err = execute(c)
			if err == nil || !regexp.MustCompile(`^(layer .*Softmax: tactic \S+|graph of \d+ steps of network small): .*line \d+: .*out of bounds.*lost`).MatchString(err.Error()) || !b.Lost(err) {
				t.Errorf("%+v: got %v", o, err)
			}
			c.Close()
			l.Close()
			if err := b.Recover(); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// careless is a device on which waits of a kind do nothing, as if the runtime forgot them.
type careless struct {
	*simulator.Context
	stream, event bool
}

func (c careless) StreamSynchronize(s driver.Stream) error {
	if c.stream {
		return nil
	}
	return c.Context.StreamSynchronize(s)
}

func (c careless) EventSynchronize(e driver.Event) error {
	if c.event {
		return nil
	}
	return c.Context.EventSynchronize(e)
}

// TestSharedMemory uploads to one place in two streams: the simulator names both pieces of work.
func TestSharedMemory(t *testing.T) {
	for _, o := range append(lazy(), simulator.Options{}) {
		s := Simulate(simulator.Device())
		s.Order, s.Streams = o.Order, true
		b := New(s, "shared")
		m, err := b.Alloc(64)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(upload(b, m, 64), upload(b, b.Slice(m, 60, 4), 4), s.Synchronize())
		if want := regexp.MustCompile(`race: it writes 4 bytes of device memory at 0x\w+, which cuMemcpyHtoDAsync_v2 of (64|4) bytes at \S+ in stream \S+ wrote`); err == nil || !want.MatchString(err.Error()) {
			t.Errorf("order %d: %v", o.Order, err)
		}
	}
}

// upload copies n bytes to m in a stream of its own, and waits for nothing.
func upload(b *Backend, m kernels.Mem, n int) error {
	s, err := b.NewStream()
	if err != nil {
		return err
	}
	return b.Upload(s, m, make([]byte, n))
}

// TestForgottenWaits leaves each kind of the runtime's waits out: the simulator finds it in the latest order, and only there.
func TestForgottenWaits(t *testing.T) {
	for _, c := range []struct {
		name string
		careless
		do func(b *Backend) error
	}{
		{"the staging buffers' events", careless{event: true}, copies},
		{"the stream's end", careless{stream: true}, func(b *Backend) error { return lives(b, planned(t, b)) }},
	} {
		for _, o := range []simulator.Options{{}, {Order: simulator.Late}} {
			s := Simulate(simulator.Device())
			s.Order = o.Order
			c.Context = s
			b := New(c.careless, "careless")
			if err := c.do(b); (err != nil) != (o.Order == simulator.Late) {
				t.Errorf("%s, order %d: %v", c.name, o.Order, err)
			} else {
				t.Log(c.name, o.Order, err)
			}
		}
	}
}
