package quant

import (
	"reflect"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestSharing(t *testing.T) {
	b := newNet(t, "fire")
	x := b.n.AddInput("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(8), symbolic.Const(8))
	squeeze := b.conv("squeeze", x, 4, 1, nil)
	left, right := b.conv("left", squeeze, 4, 1, nil), b.conv("right", squeeze, 4, 3, nil)
	joined := b.add("join", graph.Concat, graph.ConcatAttrs{Axis: 1}, left, right)
	alone := b.conv("alone", left, 4, 1, nil)
	b.n.MarkOutput(b.conv("head", joined, 2, 1, nil))
	b.n.MarkOutput(alone)
	ranges := map[string]numeric.Range{}
	for _, l := range b.n.Layers {
		ranges[l.Outputs[0].Name] = numeric.PerTensor(0.1, 0)
	}
	ranges["image"] = numeric.PerTensor(0.1, 0)
	if _, err := Place(b.n, ranges, Policy{}); err != nil {
		t.Fatal(err)
	}
	if got, want := Products(b.n), []string{"squeeze", "left", "right", "head", "alone"}; !sameSet(got, want) {
		t.Errorf("products %v, want %v", got, want)
	}
	got := Sharing(b.n)
	if len(got) != 2 || !sameSet(got[0], []string{"left", "right"}) || !sameSet(got[1], []string{"head", "alone"}) {
		t.Errorf("groups %v", got)
	}
}

func sameSet(a, b []string) bool {
	set := func(list []string) map[string]bool {
		m := map[string]bool{}
		for _, s := range list {
			m[s] = true
		}
		return m
	}
	return reflect.DeepEqual(set(a), set(b))
}
