package quant

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestAssessWeights compares with the integers that QuantizeWeights gives and the real numbers that they stand for.
func TestAssessWeights(t *testing.T) {
	for _, c := range []struct {
		name string
		op   *graph.Op
		at   any
		in   []int // of the data
		dims []int // of the weights
		axis int
	}{
		{"convolution", graph.Conv, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1}, []int{1, 5, 9, 9}, []int{7, 5, 3, 3}, 0},
		{"depthwise", graph.Conv, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 5}, []int{1, 5, 9, 9}, []int{5, 1, 3, 3}, 0},
		{"gemm", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1}, []int{2, 6}, []int{6, 11}, 1},
		{"gemm transposed", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, []int{2, 6}, []int{11, 6}, 0},
		{"matmul", graph.MatMul, nil, []int{2, 6}, []int{6, 11}, 1},
		{"batched matmul", graph.MatMul, nil, []int{3, 2, 6}, []int{3, 6, 4}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newNet(t, c.name)
			dims := make([]symbolic.Dim, len(c.in))
			for i, d := range c.in {
				dims[i] = symbolic.Const(d)
			}
			x := b.n.AddInput("x", numeric.F32, dims...)
			w := b.random("w", c.dims...)
			v, _ := w.Const()
			for i, inner := 0, innerOf(c.dims, max(0, c.axis)); i < v.Len(); i++ { // channels of different sizes
				v.Floats()[i] *= float32(1 + i/inner%4)
			}
			l := b.add("layer", c.op, c.at, x, w).Producer
			q, ok := AssessWeights(l)
			if !ok || q.Axis != c.axis || q.Given {
				t.Fatalf("ok %v, %+v", ok, q)
			}
			for _, want := range []struct {
				axis int
				db   float64
				of   func(WeightChannel) float64
			}{
				{c.axis, q.PerChannelDB, func(c WeightChannel) float64 { return c.OwnDB }},
				{-1, q.PerTensorDB, func(c WeightChannel) float64 { return c.SharedDB }},
			} {
				ints, r := QuantizeWeights(v, want.axis, WeightRange{})
				back := r.Dequantize(ints)
				e, _ := Compare(v.Floats(), back)
				near(t, "all weights", want.db, e.SQNRdB, 1e-3)
				for ch := range q.Channels {
					var ref, got []float32
					for i, inner := 0, innerOf(c.dims, max(0, c.axis)); i < v.Len(); i++ {
						if c.axis < 0 || i/inner%len(q.Channels) == ch {
							ref, got = append(ref, v.Floats()[i]), append(got, back[i])
						}
					}
					e, _ := Compare(ref, got)
					near(t, "a channel", want.of(q.Channels[ch]), e.SQNRdB, 1e-3)
				}
			}
		})
	}
}

func innerOf(dims []int, axis int) int { return numeric.Count(dims[axis+1:]) }

func TestWeightSpread(t *testing.T) {
	q := WeightQuality{}
	q.assess([]float32{1, -1, 2, 2, 0.001, 0.001, 8, 0, 0, 0, 1, float32(math.Inf(1))}, 6, 2)
	ratio, dead := q.Spread()
	if ratio != 8 || len(dead) != 2 || dead[0] != 2 || dead[1] != 4 {
		t.Errorf("spread %g, nearly dead %v", ratio, dead)
	}
	if q.Channels[5].AMax != 1 || q.Channels[4].OwnDB != MaxDB || q.Channels[2].SharedDB >= 1 {
		t.Errorf("channels %+v", q.Channels)
	}
	if _, ok := AssessWeights(&graph.Layer{Op: graph.Softmax}); ok {
		t.Error("a Relu has no weights")
	}
}

// TestGivenWeights assesses weights that a model brings in integers: nothing more is lost of them.
func TestGivenWeights(t *testing.T) {
	b := newNet(t, "given")
	x := b.n.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(3))
	ints := numeric.NewValue(numeric.I8, 3, 2)
	for i := range ints.Data {
		ints.Data[i] = byte(10 * i)
	}
	r := numeric.Range{Scale: []float32{0.5, 0.25}, Axis: 1}
	w := b.add("dequantize", graph.Dequantize, graph.QuantAttrs{Range: r, Type: numeric.F32}, b.n.AddConst("w", ints))
	q, ok := AssessWeights(b.add("layer", graph.MatMul, nil, x, w).Producer)
	if !ok || !q.Given || q.PerChannelDB != MaxDB || q.PerTensorDB != MaxDB || len(q.Channels) != 2 || q.Channels[0].AMax != 20 || q.Channels[1].AMax != 12.5 {
		t.Errorf("ok %v, %+v", ok, q)
	}
}
