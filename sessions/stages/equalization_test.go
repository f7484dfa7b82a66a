package stages

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
)

// TestSourceOf: what the source has for a tensor whose channels an engine divides is whole, and the engine's comes back to it.
func TestSourceOf(t *testing.T) {
	source := numeric.Values(numeric.F32, []float32{1, 2, 3, 4, 5, 6}, 1, 3, 2)
	all := map[string]numeric.Value{"relu": source}
	scaled := build.Equalized{"relu_equalized": {Tensor: "relu", Axis: 1, Scales: []float64{2, 4, 0.5}}}
	for name, divided := range map[string]string{"relu_equalized": "relu_equalized", "relu": ""} {
		x := &graph.Tensor{Name: name, Type: numeric.F32, Dims: symbolic.Shape(1, 3, 2)}
		got, by, ok := sourceOf(all, x, scaled)
		if !ok || by != divided || !slices.Equal(got.F32(), source.F32()) {
			t.Errorf("%s: %v, divided as %q, %v", name, got.F32(), by, ok)
		}
	}
	engine := scaled.Divide("relu_equalized", source)
	if want := []float32{0.5, 1, 0.75, 1, 10, 12}; !slices.Equal(engine.Floats(), want) {
		t.Errorf("divided: %v, want %v", engine.Floats(), want)
	}
	if _, back := scaled.Restore("relu_equalized", engine); !slices.Equal(back.Floats(), source.F32()) {
		t.Errorf("restored: %v", back.Floats())
	}
}

// TestSourceOfHeads: channels that lie along two axes, as values cut into heads do, come back as well.
func TestSourceOfHeads(t *testing.T) {
	source := numeric.Values(numeric.F32, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 1, 2, 2, 2)
	scaled := build.Equalized{"v_equalized": {Tensor: "v", Axis: -1, Dims: []int{1, 2, 1, 2}, Scales: []float64{1, 2, 4, 8}}}
	engine := scaled.Divide("v_equalized", source)
	if want := []float32{1, 1, 3, 2, 1.25, 0.75, 1.75, 1}; !slices.Equal(engine.Floats(), want) {
		t.Errorf("divided: %v, want %v", engine.Floats(), want)
	}
	if name, back := scaled.Restore("v_equalized", engine); name != "v" || !slices.Equal(back.Floats(), source.F32()) {
		t.Errorf("restored: %s %v", name, back.Floats())
	}
}

// TestCureThroughAttention: a wide channel of an attention's values is equalised with what reads the attention, whether it is seen in the
// values or behind it; where there is a past, that is why not.
func TestCureThroughAttention(t *testing.T) {
	weights := func(d *graph.Definition, name string, wide float32) *graph.Tensor {
		x := make([]float32, 64)
		for i := range x {
			if x[i] = float32(i*5%7)/7 - 0.4; i%8 == 5 {
				x[i] *= wide
			}
		}
		return d.Constant(name, numeric.Values(numeric.F32, x, 8, 8))
	}
	for _, past := range []bool{false, true} {
		d := graph.Define("attention")
		x := d.Input("x", numeric.F32, symbolic.Shape(2, 5, 8)...)
		v := d.MatMul(x, weights(d, "wv", 50))
		a := graph.AttentionAttrs{Heads: 2, KVHeads: 2}
		var y *graph.Tensor
		if !past {
			y = d.Attention(x, x, v, nil, a)
		} else {
			p := d.Input("past", numeric.F32, symbolic.Shape(2, 2, 3, 4)...)
			y, _, _ = d.AttentionWithPast(x, x, v, nil, p, p, a)
		}
		d.Output("y", d.MatMul(y, weights(d, "wo", 1)))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		list := linksOf(n)
		spread := quant.ChannelSpread{Axis: 2, Low: make([]float64, 8), High: slices.Repeat([]float64{1}, 8), Square: slices.Repeat([]float64{0.2}, 8)}
		spread.High[5], spread.Square[5] = 50, 500
		for _, tensor := range []*graph.Tensor{v, y} {
			c := cureOf(list, nil, tensor.Name, spread)
			if past && !strings.Contains(c.Why, "past values, past, are in front") || !past && (c.Equalization == "" || len(c.With) != 1 || c.Gain < 6) {
				t.Errorf("past %v, %s: %+v", past, tensor.Name, c)
			}
		}
	}
}
