package passes

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestUnsupportedStays runs all passes over a network with layers that are not supported: they stay as they are, nothing is
// merged with them or folded from them, and what is before and behind them is optimised.
func TestUnsupportedStays(t *testing.T) {
	n := newNet(t, "opaque")
	foo := graph.UnsupportedOp(graph.Unsupported{Op: "Foo"})
	opaque := func(name string, dims []symbolic.Dim, in ...*graph.Tensor) *graph.Tensor {
		u := graph.Unsupported{Op: "Foo", Reason: "operator is not supported"}
		if dims != nil {
			u.Outputs = []graph.Declared{{Type: numeric.F32, Dims: dims}}
		}
		return n.add(name, foo, u, in...)
	}
	x := n.input("x", 1, 3, 8, 8)
	c := n.relu("Relu_1", n.batchNorm("BN", n.conv("Conv_1", x, 4, 3, 1, 1, false)))
	w := n.weights("w", 0, 1, 4)
	a := opaque("Foo_1", symbolic.Shape(1, 4, 8, 8), c, w)
	b := opaque("Foo_2", symbolic.Shape(1, 4, 8, 8), c, w)
	k := opaque("Foo_3", symbolic.Shape(1, 4, 8, 8), w) // of constants alone
	unknown := opaque("Foo_4", nil, n.relu("Relu_2", a))
	opaque("Foo_5", nil, unknown) // dead
	y := n.relu("Relu_3", n.conv("Conv_2", n.binary("Add_2", elementwise.Add, n.binary("Add_1", elementwise.Add, a, b), k), 4, 3, 1, 1, true))
	out, steps := runPass(t, n.output(y, unknown), Standard(), pass.Config{})
	var got []string
	for _, l := range out.Layers {
		text := strings.Join(l.From, "+") + " " + l.Op.Name
		if l.Unsupported() != nil {
			if l.Epilogue.Args > 0 || len(l.From) != 1 {
				t.Errorf("something is merged with %s", l)
			}
		}
		got = append(got, text)
	}
	want := []string{"Conv_1+BN+Relu_1 Conv", "Foo_1 unsupported Foo", "Foo_2 unsupported Foo", "Foo_3 unsupported Foo", "Relu_2 Relu", "Foo_4 unsupported Foo",
		"Add_1+Add_2 Pointwise", "Conv_2+Relu_3 Conv"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	last := steps[len(steps)-1].Ledger
	if e, _ := last.Of("Foo_5"); e.Fate != pass.Eliminated {
		t.Errorf("the dead layer is %s", e.Fate)
	}
	if e, _ := last.Of("Foo_3"); e.Fate != pass.Kept || e.Op != "unsupported Foo" {
		t.Errorf("the layer of constants is %s, a %s", e.Fate, e.Op)
	}
	if u := out.Outputs[1]; u.IsKnown() || u.TypeString() != "?" {
		t.Errorf("the unknown output is %s", u)
	}
}
