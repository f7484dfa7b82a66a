package stages

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// TestCorrectedBias: what a corrected bias moves is no error of the weights, and adds none to the network; of a layer whose bias is as it
// was, the same is the weights'.
func TestCorrectedBias(t *testing.T) {
	const channels, pixels = 4, 25
	n := graph.NewNetwork("one")
	y := n.AddInput("y", numeric.F32, symbolic.Shape(1, channels, 1, pixels)...)
	want := numeric.NewValue(numeric.F32, 1, channels, 1, pixels)
	got := make([]float32, want.Len())
	for i := range got {
		want.F32()[i] = float32(i%7) - 3
		got[i] = want.F32()[i] + 0.5*float32(i/pixels) + 0.01*float32(i%2*2-1) // a shift of each channel, and a little noise
	}
	for _, corrected := range []bool{true, false} {
		c := &causes{steps: []stepCause{{corrected: corrected}}, float: map[string]numeric.Value{"y": want}}
		if err := c.output(0, y, compare.Batch{}, want, got); err != nil {
			t.Fatal(err)
		}
		computing, bias, output := c.steps[0].parts()
		if all := c.steps[0].rest; output != 0 || computing+bias != all || corrected && bias < 0.99*all || !corrected && bias != 0 {
			t.Errorf("corrected %v: %g by computing, %g by the bias, %g by storing, of %g", corrected, computing, bias, output, all)
		}
	}
}

// TestReachOfClipped: where a range clips the outlier, what the others need is what they reach, and they lose fewer bits than by how
// much further the outlier reaches.
func TestReachOfClipped(t *testing.T) {
	spread := quant.ChannelSpread{Low: []float64{-0.17, 0, 0, -0.1}, High: []float64{3.14, 89, 2, 1}}
	clipped := quant.Scheme{Asymmetric: true}.Range(-0.2, 61) // a scale of 0.24
	r := channelReach(spread, clipped, numeric.I8)
	if r.Scale != 0.24 || r.Needed != 0.013 || math.Abs(r.Bits-4.21) > 0.011 {
		t.Errorf("scale %g, needed %g, %g bits lost; want 0.24, 0.013, 4.2", r.Scale, r.Needed, r.Bits)
	}
	even := quant.ChannelSpread{Low: []float64{0, 0, 0}, High: []float64{3, 3, 3}}
	if r := channelReach(even, clipped, numeric.I8); r.Needed != r.Scale || r.Bits != 0 {
		t.Errorf("without outliers %g is needed of %g, %g bits lost", r.Needed, r.Scale, r.Bits)
	}
}

// TestReaders: who reads a tensor in 8 bits is known behind what moves it, and who reads the float is none.
func TestReaders(t *testing.T) {
	n := graph.NewNetwork("read")
	x := n.AddInput("x", numeric.I8, symbolic.Shape(1, 4)...)
	x.Range = numeric.PerTensor(0.1, 0)
	turned := n.NewTensor("turned", numeric.I8, symbolic.Shape(4, 1))
	turned.Range = x.Range
	real := n.NewTensor("real", numeric.F32, turned.Dims)
	n.Layers = []*graph.Layer{
		{Name: "turn", Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: []int{1, 0}}, Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{turned}},
		{Name: "product" + report.MemberSeparator + "bias", From: []string{"shape", "product", "bias"}, Op: graph.Dequantize,
			Attrs: graph.QuantAttrs{Range: x.Range}, Inputs: []*graph.Tensor{turned}, Outputs: []*graph.Tensor{real}},
	}
	turned.Producer, real.Producer = n.Layers[0], n.Layers[1]
	got := readers(&build.Lowered{Network: n})
	for _, name := range []string{"x", turned.Name} {
		if !slices.Equal(got[name], []string{"product"}) {
			t.Errorf("%s is read by %q", name, got[name])
		}
	}
	if len(got) != 2 {
		t.Errorf("found %q", got)
	}
}
