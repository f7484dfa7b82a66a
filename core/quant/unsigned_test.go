package quant

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestUnsigned stores activations with zero points in unsigned bytes, and a constant that is concatenated to them: the network means
// the same to the bit, weights stay signed, and so does a network whose ranges are symmetric.
func TestUnsigned(t *testing.T) {
	nets := map[string]func() *graph.Network{
		"sample": func() *graph.Network { return sampleNet(t) },
		"constant": func() *graph.Network {
			b := newNet(t, "constant")
			x := b.n.AddInput("image", numeric.F32, symbolic.Const(1), symbolic.Const(3), symbolic.Const(8), symbolic.Const(8))
			stem := b.conv("stem", x, 4, 3, nil)
			cat := b.add("cat", graph.Concat, graph.ConcatAttrs{Axis: 1}, stem, b.random("place", 1, 2, 8, 8))
			b.n.MarkOutput(b.conv("head", cat, 5, 1, nil))
			return b.n
		},
	}
	for name, build := range nets {
		for _, asymmetric := range []bool{true, false} {
			scheme := Scheme{Asymmetric: asymmetric}
			signed, _ := place(t, build(), MinMax{Scheme: scheme}, Policy{Scheme: scheme})
			n := signed.Clone()
			if err := Unsigned(n); err != nil {
				t.Fatal(err)
			}
			if err := n.Verify(); err != nil {
				t.Fatal(err)
			}
			want := numeric.I8
			if asymmetric {
				want = numeric.U8
			}
			activations := 0
			for _, l := range n.Layers {
				switch {
				case l.Op == graph.Quantize:
					activations++
					if got := l.Outputs[0].Type; got != want {
						t.Errorf("%s, %s: %s is %s, want %s", name, scheme, l.Outputs[0].Name, got, want)
					}
				case l.Op == graph.Dequantize && l.Inputs[0].IsConst():
					weights := slices.ContainsFunc(l.Outputs[0].Users, func(u *graph.Layer) bool { return u.Op != graph.Concat })
					if got := l.Inputs[0].Type; got != want && !weights || got != numeric.I8 && weights {
						t.Errorf("%s, %s: constant %s is %s", name, scheme, l.Inputs[0].Name, got)
					}
				}
			}
			if activations == 0 || !slices.Equal(eval(t, signed), eval(t, n)) {
				t.Errorf("%s, %s: %d quantised activations, and the results differ", name, scheme, activations)
			}
		}
	}
}
