package run_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// placed is a network of n rows, which are multiplied by what their places give, at the begin and at the end.
func placed(t testing.TB) *graph.Network {
	t.Helper()
	d := graph.Define("placed")
	x := d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(8))
	weights := make([]float32, 64)
	for i := range weights {
		weights[i] = float32(i*i%13)/13 - 0.5
	}
	ones := d.ConstantOfShape(d.ShapeOf(x), numeric.Values(numeric.F32, []float32{1}, 1))
	places := d.CumSum(ones, graph.CumAttrs{})
	waves, less := d.Activation(elementwise.Sin, places), d.Activation(elementwise.Exp, d.Activation(elementwise.Neg, places))
	y := d.Softmax(d.Add(d.MatMul(d.Mul(x, waves), d.Weights("w", weights, 8, 8)), less), -1)
	for range 3 {
		y = d.Relu(d.MatMul(y, d.Weights("w", weights, 8, 8)))
	}
	d.Output("y", d.Mul(y, waves))
	d.Output("places", d.Add(places, places))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func placedPlan(t testing.TB, n *graph.Network, b run.Backend) *run.Plan {
	t.Helper()
	p, err := run.NewPlanOf(t.Context(), n, run.Extents{Opt: map[string]int{"n": 7}, Min: map[string]int{"n": 1}, Max: map[string]int{"n": 40}}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What extents decide is computed once at a shape and stays, whatever is run at others in between, by several contexts, or under an observer.
func TestOnce(t *testing.T) {
	n, b := placed(t), cpu.Open(2)
	defer b.Close()
	p := placedPlan(t, n, b)
	var once []string
	for _, s := range p.Steps {
		if s.Once {
			once = append(once, s.Layer.Op.Name)
		}
	}
	if want := []string{"ConstantOfShape", "CumSum", "Sin", "Neg", "Exp"}; !slices.Equal(once, want) {
		t.Errorf("%v run once, want %v", once, want)
	}
	for i, s := range p.Slots {
		for k, other := range p.Slots {
			kept := s.First < 0 && s.Last == len(p.Steps) && s.Region == run.Arena && s.Of < 0
			if kept && k != i && other.Region == run.Arena && other.Of < 0 && s.Offset < other.Offset+other.Size && other.Offset < s.Offset+s.Size {
				t.Errorf("%s is kept, and lies where %s lies", s.Tensor, other.Tensor)
			}
		}
	}
	wrong := *p
	wrong.Steps = slices.Clone(p.Steps)
	wrong.Steps[slices.IndexFunc(wrong.Steps, func(s run.Step) bool { return s.Layer.Op == graph.MatMul })].Once = true
	var file bytes.Buffer
	e := &run.Engine{Plans: []*run.Plan{&wrong}, Profiles: []run.Profile{run.ProfileOf("wrong", &wrong)}}
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := run.ReadEngine(graph.Ops(), file.Bytes()); err == nil || !strings.Contains(err.Error(), "depends on more than extents") {
		t.Errorf("a product of the input runs once: %v", err)
	}
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var all sync.WaitGroup
	for k := range 3 {
		c, err := l.NewContext()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all.Go(func() {
			for i, rows := range []int{7, 7, 3, 7, 40, 40, 1, 3, 7, 7, 25, 40} {
				if err := placedAt(t, c, n, rows, i+k); err != nil {
					t.Error(err)
				}
				if i%4 == k {
					spoil := run.Observer{After: func(step int) error {
						for _, out := range p.Steps[step].Out {
							v, err := c.Read(out)
							if err == nil {
								clear(v.Data)
								err = c.Write(out, v)
							}
							if err != nil {
								return err
							}
						}
						return nil
					}}
					if err := c.Observe(t.Context(), spoil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
}

// placedAt runs a context with so many rows, twice with others in them, and compares it with the network's definition.
func placedAt(t testing.TB, c *run.ExecutionContext, n *graph.Network, rows, seed int) error {
	if err := c.SetShapes(map[string][]int{"x": {rows, 8}}); err != nil {
		return err
	}
	for again := range 2 {
		x := numeric.NewValue(numeric.F32, rows, 8)
		for i := range x.F32() {
			x.F32()[i] = float32((i+seed+again)*31%17)/8 - 1
		}
		want, err := n.Eval(t.Context(), map[string]numeric.Value{"x": x}, nil)
		if err == nil {
			err = c.SetInput("x", x)
		}
		if err == nil {
			err = c.Execute()
		}
		if err != nil {
			return err
		}
		for name, w := range want {
			got, err := c.Output(name)
			if err != nil {
				return err
			}
			for i, v := range w.F32() {
				if d := math.Abs(float64(got.F32()[i] - v)); !(d <= 1e-5) {
					return fmt.Errorf("%d rows: %s[%d] is %v, want %v", rows, name, i, got.F32()[i], v)
				}
			}
		}
	}
	return nil
}
