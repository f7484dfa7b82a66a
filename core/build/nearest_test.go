package build_test

import (
	"errors"
	"math"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestNearestKernel: windows and sums that a kernel of one precision does not take have a kernel of another, in every precision:
// the definition, which is slow, computes none of them.
func TestNearestKernel(t *testing.T) {
	weights := func(n *graph.Network, dims ...int) *graph.Tensor {
		v := numeric.NewValue(numeric.F32, dims...)
		for i := range v.F32() {
			v.F32()[i] = float32(i%7-3) / 8
		}
		return n.AddConst("w", v)
	}
	for _, c := range []struct {
		name  string
		input []int
		layer func(n *graph.Network, x *graph.Tensor) *graph.Tensor
	}{
		{"transposed volume", []int{1, 16, 3, 4, 5}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1}, x, weights(n, 16, 8, 2, 2, 2))
		}},
		{"transposed of 625 taps", []int{1, 16, 6, 6}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1}, x, weights(n, 16, 4, 25, 25))
		}},
		{"transposed of 4225 taps", []int{1, 16, 3, 3}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1}, x, weights(n, 16, 2, 65, 65))
		}},
		{"transposed of 4225 taps, each channel its own", []int{1, 16, 3, 3}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 16}, x, weights(n, 16, 1, 65, 65))
		}},
		{"convolution of 4225 taps", []int{1, 4, 66, 66}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.Conv, graph.ConvAttrs{Group: 1}, x, weights(n, 2, 4, 65, 65))
		}},
		{"convolution of 4225 taps, each channel its own", []int{1, 16, 66, 66}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.Conv, graph.ConvAttrs{Group: 16}, x, weights(n, 16, 1, 65, 65))
		}},
		{"volume of 4913 taps", []int{1, 2, 18, 18, 18}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.Conv, graph.ConvAttrs{Group: 1}, x, weights(n, 2, 2, 17, 17, 17))
		}},
		{"convolution of 73984 products", []int{1, 256, 17, 17}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.Conv, graph.ConvAttrs{Group: 1}, x, weights(n, 1, 256, 17, 17))
		}},
		{"product of 70000", []int{2, 70000}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.MatMul, nil, x, weights(n, 70000, 2))
		}},
		{"largest of 4225", []int{1, 16, 66, 66}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.MaxPool, graph.PoolAttrs{Kernel: []int{65, 65}}, x)
		}},
		{"mean of 4225", []int{1, 16, 66, 66}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.AveragePool, graph.PoolAttrs{Kernel: []int{65, 65}}, x)
		}},
		{"mean of 4913", []int{1, 2, 18, 18, 18}, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return add(n, graph.AveragePool, graph.PoolAttrs{Kernel: []int{17, 17, 17}}, x)
		}},
	} {
		for _, precision := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
			n := graph.NewNetwork("n")
			var dims []symbolic.Dim
			for _, d := range c.input {
				dims = append(dims, symbolic.Const(d))
			}
			n.MarkOutput(c.layer(n, n.AddInput("x", numeric.F32, dims...)))
			p, names := slow(t, n, precision)
			for _, name := range names {
				t.Errorf("%s, %v: %s is computed by its definition", c.name, precision, name)
			}
			if precision == numeric.F32 && len(names) == 0 {
				agrees(t, c.name, n, p)
			}
		}
	}
}

// agrees checks what a plan computes on one input.
func agrees(t *testing.T, name string, n *graph.Network, p *run.Plan) {
	t.Helper()
	b := cpu.Open(1)
	defer b.Close()
	var dims []int
	for _, d := range n.Inputs[0].Dims {
		k, _ := d.IsConst()
		dims = append(dims, k)
	}
	x := numeric.NewValue(numeric.F32, dims...)
	for i := range x.F32() {
		x.F32()[i] = float32((i*7+i/13)%11-5) / 4
	}
	in := map[string]numeric.Value{"x": x}
	want, err := n.Eval(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := errors.Join(c.SetInputs(in), c.Execute()); err != nil {
		t.Fatal(err)
	}
	got, err := c.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for output, w := range want {
		largest, furthest := 0.0, 0.0
		for i, f := range w.F32() {
			largest = max(largest, math.Abs(float64(f)))
			furthest = max(furthest, math.Abs(float64(got[output].F32()[i]-f)))
		}
		if furthest > 1e-5*largest {
			t.Errorf("%s: %s is off by %g of %g", name, output, furthest, largest)
		}
	}
}

// slow returns a plan for this machine, and the layers that it computes by their definition.
func slow(t *testing.T, n *graph.Network, precision numeric.DataType) (p *run.Plan, names []string) {
	t.Helper()
	b := cpu.Open(1)
	defer b.Close()
	ranges := map[string]numeric.Range{}
	for _, x := range n.Inputs {
		ranges[x.Name] = quant.Scheme{}.Range(-1, 1)
	}
	for _, l := range n.Layers {
		ranges[l.Outputs[0].Name] = quant.Scheme{}.Range(-100, 100)
	}
	o, err := build.Optimize(t.Context(), n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(t.Context(), o, build.LowerConfig{Precision: precision, Ranges: ranges}, run.Supports(b, nil))
	if err != nil {
		t.Fatal(err)
	}
	p, err = build.Plan(t.Context(), l.Network, nil, b, build.PlanConfig{Untimed: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Steps {
		if s.Tactic == "eval" {
			names = append(names, s.Layer.Name)
		}
	}
	return p, names
}
