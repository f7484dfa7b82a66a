package run_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// open is a network of images of any batch, height and width, with joins, parts, views, a pooling and products.
func open(t testing.TB) *graph.Network {
	t.Helper()
	d := graph.Define("open")
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Symbol("height"), symbolic.Symbol("width"))
	weights := func(name string, dims ...int) *graph.Tensor {
		w := make([]float32, numeric.Count(dims))
		for i := range w {
			w[i] = float32(i*i%29)/29 - 0.5
		}
		return d.Weights(name, w, dims...)
	}
	same := graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1}
	a := d.Relu(d.Conv(x, weights("a", 16, 3, 3, 3), nil, same))
	b := d.Sigmoid(d.Conv(x, weights("b", 16, 3, 1, 1), nil, graph.ConvAttrs{Group: 1}))
	parts := d.Split(d.Concat(1, a, b), 1, 8, 24)
	y := d.Conv(parts[1], weights("c", 8, 24, 3, 3), nil, same)
	y = d.MaxPool(d.Add(y, parts[0]), graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}})
	rows := d.Transpose(d.Reshape(y, 0, 8, -1), 0, 2, 1)
	d.Output("y", d.Softmax(d.MatMul(rows, weights("d", 8, 12)), -1))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func shapesOf(batch, height, width int) map[string][]int {
	return map[string][]int{"x": {batch, 3, height, width}}
}

func values(batch, height, width int) map[string]int {
	return map[string]int{"batch": batch, "height": height, "width": width}
}

// openPlans lays the network out for two profiles.
func openPlans(t testing.TB, n *graph.Network, b run.Backend) []*run.Plan {
	t.Helper()
	var plans []*run.Plan
	for i, x := range []run.Extents{
		{Opt: values(1, 8, 12), Min: values(1, 2, 2), Max: values(4, 16, 20)},
		{Opt: values(2, 32, 32), Min: values(1, 16, 16), Max: values(2, 33, 40)},
	} {
		p, err := run.NewPlanOf(t.Context(), n, x, b, run.BestGuess)
		if err != nil {
			t.Fatal(err)
		}
		p.Profile = i
		plans = append(plans, p)
	}
	return plans
}

// atShapes runs a context at shapes and compares it with the network's definition.
func atShapes(t testing.TB, c *run.ExecutionContext, n *graph.Network, batch, height, width int) error {
	x := numeric.NewValue(numeric.F32, batch, 3, height, width)
	for i := range x.F32() {
		x.F32()[i] = float32(i*31%17)/8 - 1
	}
	want, err := n.Eval(t.Context(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		return err
	}
	if err := c.SetShapes(shapesOf(batch, height, width)); err != nil {
		return err
	}
	if err := c.SetInput("x", x); err != nil {
		return err
	}
	if err := c.Execute(); err != nil {
		return err
	}
	got, err := c.Output("y")
	if err != nil {
		return err
	}
	for i, w := range want["y"].F32() {
		if d := math.Abs(float64(got.F32()[i] - w)); !(d <= 1e-5) || got.Len() != want["y"].Len() {
			return fmt.Errorf("at %d %d %d: %v[%d] is %v, want %v", batch, height, width, got.Dims, i, got.F32()[i], w)
		}
	}
	return nil
}

// The plans of an engine file serve their ranges: every shape in them is run in the memory of the plan, no shape outside.
func TestProfiles(t *testing.T) {
	n, b := open(t), cpu.Open(2)
	defer b.Close()
	e := &run.Engine{Plans: openPlans(t, n, b)}
	for i, p := range e.Plans {
		e.Profiles = append(e.Profiles, run.ProfileOf(fmt.Sprint(i), p))
	}
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	back, err := run.ReadEngine(graph.Ops(), file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	plans := back.PlansFor(b.Info().Fingerprint)
	if len(plans) != 2 || plans[0].Network != plans[1].Network || fmt.Sprint(back.Profiles) != fmt.Sprint(e.Profiles) {
		t.Fatalf("read %d plans, profiles %v, want %v", len(plans), back.Profiles, e.Profiles)
	}
	loaded, err := run.LoadProfiles(t.Context(), plans, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, shapes := range [][][3]int{{{1, 8, 12}, {1, 2, 2}, {4, 16, 20}, {3, 5, 7}, {2, 16, 2}, {4, 3, 20}}, {{2, 32, 32}, {1, 16, 16}, {2, 33, 40}, {1, 17, 39}}} {
		c, err := loaded[i].NewContext()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range shapes {
			if err := atShapes(t, c, n, s[0], s[1], s[2]); err != nil {
				t.Errorf("profile %d: %v", i, err)
			}
			at, err := plans[i].At(values(s[0], s[1], s[2]))
			if err != nil {
				t.Fatal(err)
			}
			m := plans[i].Memory
			if live := at.LiveBytes(); live > m.LowerBound+m.IO || (s == [3]int{4, 16, 20}) && live < m.LowerBound {
				t.Errorf("profile %d at %v needs %d bytes, the plan %d", i, s, live, m.LowerBound+m.IO)
			}
			if c.Held() != m.Peak+m.IO {
				t.Errorf("profile %d at %v holds %d bytes, the plan has %d", i, s, c.Held(), m.Peak+m.IO)
			}
		}
		c.Close()
		loaded[i].Close()
	}
}

// A file whose ranges make no sense is refused.
func TestRangesOfFile(t *testing.T) {
	n, b := open(t), cpu.Open(1)
	defer b.Close()
	for _, c := range []struct {
		change func(*run.Plan)
		want   string
	}{
		{func(p *run.Plan) { p.Symbols[1].Max = 1 << 40 }, "height is 8, from 2 to 1099511627776"},
		{func(p *run.Plan) { p.Symbols[1].Max, p.Symbols[2].Max = 1<<24, 1<<24 }, "with up to 16777216 elements on an axis"},
		{func(p *run.Plan) { p.Symbols[1].Min = -4 }, "height is 8, from -4 to 16"},
		{func(p *run.Plan) { p.Symbols[1].Min = 9 }, "height is 8, from 9 to 16"},
		{func(p *run.Plan) { p.Slots[1].Of, p.Slots[2].Of = 2, 1 }, "lies in itself"},
	} {
		p := openPlans(t, n, b)[0]
		e := &run.Engine{Profiles: []run.Profile{{}}, Plans: []*run.Plan{p}}
		c.change(p)
		var file bytes.Buffer
		if _, err := e.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		if _, err := run.ReadEngine(graph.Ops(), file.Bytes()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("it says %v, want %q", err, c.want)
		}
	}
}

// What a plan does not serve is named: input, axis, value and range. The context stays where it was.
func TestOutOfRange(t *testing.T) {
	n, b := open(t), cpu.Open(1)
	defer b.Close()
	l, err := run.Load(t.Context(), openPlans(t, n, b)[0], b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range []struct {
		shapes map[string][]int
		want   string
	}{
		{shapesOf(1, 17, 4), "input x: axis 2 (height) is 17, the engine was built for 2 to 16"},
		{shapesOf(0, 4, 4), "input x: axis 0 (batch) is 0, the engine was built for 1 to 4"},
		{shapesOf(1, -1, 4), "input x: axis 2 (height) is -1"},
		{shapesOf(1<<62, 4, 4), "input x: axis 0 (batch)"},
		{map[string][]int{"x": {1, 4, 4, 4}}, "axis 1 must be 3"},
		{map[string][]int{"x": {1, 3}}, "has 2 axes"},
		{map[string][]int{"z": {1, 3, 4, 4}}, "input z: the network has no such input"},
	} {
		err := c.SetShapes(s.shapes)
		if err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%v: it says %v, want %q", s.shapes, err, s.want)
		}
		var out *run.OutOfRange
		if strings.Contains(s.want, "(") != errors.As(err, &out) {
			t.Errorf("%v: %T", s.shapes, err)
		}
	}
	if err := atShapes(t, c, n, 1, 8, 12); err != nil {
		t.Error(err)
	}
}

// A context that comes back to shapes allocates nothing.
func TestShapesSeen(t *testing.T) {
	n, b := open(t), cpu.Open(1)
	defer b.Close()
	l, err := run.Load(t.Context(), openPlans(t, n, b)[0], b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := []map[string][]int{shapesOf(1, 8, 12), shapesOf(2, 5, 7), shapesOf(4, 16, 20)}
	for _, s := range list {
		if c.At(s) != (s["x"][0] == 1) {
			t.Errorf("%v is known: %v", s, c.At(s))
		}
		if err := c.SetShapes(s); err != nil {
			t.Fatal(err)
		}
	}
	least := math.Inf(1) // of a few tries: what other goroutines of the process allocate is counted, too
	for try := 0; try < 5 && least > 0; try++ {
		least = min(least, testing.AllocsPerRun(20, func() {
			for _, s := range list {
				if err := c.SetShapes(s); err != nil {
					t.Fatal(err)
				}
				if err := c.Execute(); err != nil {
					t.Fatal(err)
				}
			}
		}))
	}
	if least > 0 && !raceEnabled { // which allocates
		t.Errorf("%v allocations", least)
	}
}

// Eight contexts of one engine go through eight shapes at once, more than it keeps at a time among them.
func TestShapesAtOnce(t *testing.T) {
	n, b := open(t), cpu.Open(2)
	defer b.Close()
	loaded, err := run.LoadProfiles(t.Context(), openPlans(t, n, b), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			c, err := loaded[0].NewContextOf(k % 2)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for i := range 8 {
				batch, height := 1+(i+k)%4, 2+(i*k)%15
				if err := atShapes(t, c, n, batch, height, 2+(3*i)%19); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, l := range loaded {
		l.Close()
	}
}

// BenchmarkSetShapes goes to and fro between two shapes that were seen.
func BenchmarkSetShapes(b *testing.B) {
	n, device := open(b), cpu.Open(1)
	defer device.Close()
	l, err := run.Load(b.Context(), openPlans(b, n, device)[0], device)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	list := []map[string][]int{shapesOf(1, 8, 12), shapesOf(4, 16, 20)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := c.SetShapes(list[i%2]); err != nil {
			b.Fatal(err)
		}
	}
}
