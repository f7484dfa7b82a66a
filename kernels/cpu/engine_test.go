package cpu_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/testdata"
)

// lowered returns the embedded model in a precision, with made-up ranges.
func lowered(t *testing.T, b run.Backend, precision numeric.DataType) *graph.Network {
	t.Helper()
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(t.Context(), n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ranges := map[string]numeric.Range{}
	for _, l := range o.Network.Layers {
		for _, x := range append(l.Inputs, l.Outputs...) {
			if x != nil {
				ranges[x.Name] = numeric.PerTensor(0.05, 0)
			}
		}
	}
	l, err := build.Lower(t.Context(), o, build.LowerConfig{Precision: precision, Ranges: ranges}, run.Supports(b, map[string]int{"batch": 1}))
	if err != nil {
		t.Fatal(err)
	}
	return l.Network
}

// TestEngine runs the embedded model in each precision: no layer is left to the reference, the result is the
// network's own, and an inference allocates nothing.
func TestEngine(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	testEngine(t, b)
	if cputest.RaceEnabled {
		return // the threads of the others do the same
	}
	for _, features := range []string{"avx2+avxvnni", "avx2"} {
		t.Run(features, func(t *testing.T) {
			b, err := cpu.OpenLimited(2, features)
			if err != nil {
				t.Skip(err)
			}
			defer b.Close()
			testEngine(t, b)
		})
	}
}

func testEngine(t *testing.T, b run.Backend) {
	for _, c := range []struct {
		precision numeric.DataType
		tolerance float64
	}{{numeric.F32, 1e-4}, {numeric.F16, 5e-3}, {numeric.I8, 5e-2}} {
		t.Run(c.precision.String(), func(t *testing.T) {
			n := lowered(t, b, c.precision)
			env := map[string]int{}
			for _, x := range n.Inputs {
				for _, d := range x.Dims {
					if s, ok := d.SymbolName(); ok {
						env[s] = 1
					}
				}
			}
			p, err := build.Plan(t.Context(), n, env, b, build.PlanConfig{Untimed: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Steps {
				if s.Tactic == "eval" {
					t.Errorf("%s is left to the reference", s.Layer)
				}
			}
			checkEngine(t, b, p, c.tolerance)
		})
	}
}

func checkEngine(t *testing.T, b run.Backend, p *run.Plan, tolerance float64) {
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	inputs := map[string]numeric.Value{}
	for _, x := range p.Network.Inputs {
		v := numeric.NewValue(x.Type, symbolic.Eval(x.Dims, p.Env())...)
		for i := range v.F32() {
			v.F32()[i] = rand.New(rand.NewPCG(1, uint64(i))).Float32()
		}
		inputs[x.Name] = v
	}
	want, err := p.Network.Eval(context.Background(), inputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetInputs(inputs); err != nil {
		t.Fatal(err)
	}
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range p.Network.Outputs {
		if err := suite.Near(got[y.Name], want[y.Name], y.Range, suite.Tolerance{Real: tolerance}); err != nil {
			t.Errorf("output %s: %v", y.Name, err)
		}
	}
	if cputest.RaceEnabled {
		return // the detector makes sync.Pool forget
	}
	if n := testing.AllocsPerRun(50, func() {
		if err := c.Execute(); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations an inference, want none", n)
	}
}
