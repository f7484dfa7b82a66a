package run_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// blocked is the CPU without tactics that read or write linear tensors, reformats aside.
type blocked struct{ run.Backend }

func (b blocked) Tactics(op *graph.Op) []kernels.Tactic {
	var list []kernels.Tactic
	for _, t := range b.Backend.Tactics(op) {
		if op == graph.Reformat || t.In == kernels.C16 && t.Out == kernels.C16 {
			list = append(list, t)
		}
	}
	return list
}

// An output whose blocked form has the bytes of the linear one needs no reformat, and is an output all the same.
func TestOutputThatSharesItsBytes(t *testing.T) {
	n := graph.NewNetwork("relu")
	x := n.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(32))
	op := graph.Ops().Named("Relu")
	var last *graph.Layer
	for _, name := range []string{"first", "second"} {
		l, err := n.Add(name, op, graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, []*graph.Tensor{x})
		if err != nil {
			t.Fatal(err)
		}
		x, last = l.Outputs[0], l
		n.MarkOutput(x)
	}
	b := blocked{cpu.Open(1)}
	defer b.Close()
	p, err := run.NewPlan(context.Background(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) != 2 || p.Slots[p.Steps[1].Out[0]].Desc.Format != kernels.C16 {
		t.Fatalf("%d steps, %s in %v", len(p.Steps), last.Name, p.Slots[p.Steps[1].Out[0]].Desc)
	}
	l, err := run.Load(context.Background(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := numeric.NewValue(numeric.F32, 2, 32)
	for i := range in.F32() {
		in.F32()[i] = float32(i%7) - 3
	}
	want, err := n.Eval(context.Background(), map[string]numeric.Value{"x": in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetInput("x", in); err != nil {
		t.Fatal(err)
	}
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		if !bytes.Equal(got[name].Data, w.Data) {
			t.Errorf("output %s is %v, want %v", name, got[name].Floats(), w.Floats())
		}
	}
}

// An output that is a constant is a copy of it, as every output is.
func TestConstantOutput(t *testing.T) {
	n := graph.NewNetwork("constant")
	n.MarkOutput(n.AddConst("c", numeric.Values(numeric.F32, []float32{1, 2}, 2)))
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for range 2 {
		v, err := x.Output("c")
		if err != nil || v.F32()[0] != 1 {
			t.Fatal(v.Floats(), err)
		}
		v.F32()[0] = 7
	}
}
