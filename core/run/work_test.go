package run_test

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestWork counts by hand what the steps of two products and a look at the first one's result move, and since when.
func TestWork(t *testing.T) {
	d := graph.Define("two products")
	x := d.Input("x", numeric.F32, symbolic.Const(4), symbolic.Const(8))
	y := d.MatMul(x, d.Weights("w1", make([]float32, 8*16), 8, 16))
	z := d.MatMul(y, d.Weights("w2", make([]float32, 16*8), 16, 8))
	s := d.Softmax(y, -1)
	d.Output("z", z)
	d.Output("s", s)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	all := int64(p.Memory.Weights + p.Memory.Peak + p.Memory.IO)
	want := []run.Work{
		{FLOPs: 2 * 4 * 8 * 16, Operations: 2 * 4 * 8 * 16, Type: numeric.F32, Bytes: 128 + 512 + 256, Traffic: []run.Traffic{{Bytes: 128, Since: all}, {Bytes: 512, Since: all}, {Bytes: 256, Since: 256}}},
		{FLOPs: 2 * 4 * 8 * 16, Operations: 2 * 4 * 8 * 16, Type: numeric.F32, Bytes: 256 + 512 + 128, Traffic: []run.Traffic{{Bytes: 256, Since: 256}, {Bytes: 512, Since: all}, {Bytes: 128, Since: 128}}},
		{Operations: 4 * (5*16 - 2), Type: numeric.F32, Bytes: 512, Traffic: []run.Traffic{{Bytes: 256, Since: 256}, {Bytes: 256, Since: 256}}},
	}
	for i, w := range p.Work() {
		if w.FLOPs != want[i].FLOPs || w.Operations != want[i].Operations || w.Type != want[i].Type || w.Bytes != want[i].Bytes || !slices.Equal(w.Traffic, want[i].Traffic) {
			t.Errorf("%s: %+v, want %+v (all: %d)", p.Steps[i].Name, w, want[i], all)
		}
	}
}
