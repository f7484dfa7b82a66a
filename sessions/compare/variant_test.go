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
