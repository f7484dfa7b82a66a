package compare

import (
	"context"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/report"
)

// TestVariant: two runs may differ by about what one of them does from itself where it rounds elsewhere, and by no more; and not at all
// so where a tolerance is given.
func TestVariant(t *testing.T) {
	n := graph.NewNetwork("one")
	y := n.AddInput("y", numeric.F32, symbolic.Shape(1, 64)...)
	values := func(off float32) map[string]numeric.Value {
		v := numeric.NewValue(numeric.F32, 1, 64)
		for i := range v.F32() {
			v.F32()[i] = float32(i%8) - 4 + off*float32(i%2*2-1)
		}
		return map[string]numeric.Value{"y": v}
	}
	for _, c := range []struct {
		off    float32
		scaled bool
		passed bool
	}{{0.12, true, true}, {0.3, true, false}, {0.12, false, false}} {
		ours, theirs := NewContestant("cpu", []*graph.Tensor{y}, nil), NewContestant("other", []*graph.Tensor{y}, nil)
		theirs.Outside = func(context.Context, Span, map[string]numeric.Value) (map[string]numeric.Value, error) {
			return nil, nil
		}
		theirs.Variant = &Variant{Name: "its fusions", Run: theirs.Outside}
		ours.outputs, theirs.outputs, theirs.variant = values(c.off), values(0), values(-0.1)
		strict := report.Tolerance{Abs: 1e-3}
		p := newPair(ours, theirs, Options{Check: Check{Tolerance: strict}, Scaled: c.scaled, Unexplained: strict})
		if err := p.add(Batch{Count: 1, Batches: Batches{size: 1}}, nil); err != nil {
			t.Fatal(err)
		}
		o := p.report().Outputs[0]
		if o.Passed != c.passed || c.scaled != (o.Rounding != nil && o.Rounding.From == "its fusions") {
			t.Errorf("off by %g, scaled %v: passed %v, %+v", c.off, c.scaled, o.Passed, o.Rounding)
		}
	}
}

// TestMoved: elements are moved both ways by a hundred-thousandth, and what was given stays as it was.
func TestMoved(t *testing.T) {
	x, ids := numeric.NewValue(numeric.F32, 64), numeric.NewValue(numeric.I64, 2)
	for i := range x.F32() {
		x.F32()[i] = float32(i)
	}
	var seen map[string]numeric.Value
	outside := Outside(func(_ context.Context, _ Span, in map[string]numeric.Value) (map[string]numeric.Value, error) {
		seen = in
		return nil, nil
	})
	if _, err := outside.Moved()(t.Context(), Span{}, map[string]numeric.Value{"x": x, "ids": ids}); err != nil {
		t.Fatal(err)
	}
	up, down := 0, 0
	for i, v := range seen["x"].F32() {
		if x.F32()[i] != float32(i) {
			t.Fatalf("element %d of what was given is %g", i, x.F32()[i])
		}
		switch by := (float64(v) - float64(i)) / max(1, float64(i)); {
		case by > 0.9*Move && by < 1.1*Move:
			up++
		case by < -0.9*Move && by > -1.1*Move:
			down++
		case i > 0:
			t.Errorf("element %d is %g", i, v)
		}
	}
	if up < 16 || down < 16 || &seen["ids"].Data[0] != &ids.Data[0] {
		t.Errorf("%d up, %d down", up, down)
	}
}
