package build_test

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestDropLeavesClamps drops pairs that stand for a Relu or a Relu6 which a quantiser removed, and pairs that do not: what is left gives
// what the activation would, and is a layer only where nothing before it does the same.
func TestDropLeavesClamps(t *testing.T) {
	op := graph.Ops().Named
	unary := func(op elementwise.Op, imm ...float32) any {
		return graph.Elementwise{Program: elementwise.Unary(op, imm...)}
	}
	half := numeric.Values(numeric.F32, []float32{0.5}, 1)
	matrix := func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
		w := numeric.Values(numeric.F32, []float32{-8, 1, 0, 0, 8, 2, 3, 0, -8}, 3, 3)
		return addLayer(t, n, "MatMul", graph.MatMul, nil, x, n.AddConst("w", w))
	}
	after := func(op *graph.Op, attrs any) func(*graph.Network, *graph.Tensor) *graph.Tensor {
		return func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return addLayer(t, n, "before", op, attrs, matrix(n, x))
		}
	}
	for _, test := range []struct {
		name   string
		by     numeric.Range
		typ    numeric.DataType
		before func(*graph.Network, *graph.Tensor) *graph.Tensor
		layers int // that are left
		lo, hi float64
	}{
		{"relu", numeric.PerTensor(0.5, 0), numeric.U8, matrix, 2, 0, math.Inf(1)},
		{"relu of signed bytes", numeric.PerTensor(0.5, -128), numeric.I8, matrix, 2, 0, math.Inf(1)},
		{"relu6", numeric.PerTensor(6.0/255, 0), numeric.U8, matrix, 2, 0, 6},
		{"relu6 but for rounding", numeric.PerTensor(6.005/255, -128), numeric.I8, matrix, 2, 0, 6},
		{"not quite relu6", numeric.PerTensor(5.9/255, 0), numeric.U8, matrix, 2, 0, math.Inf(1)},
		{"only below 0", numeric.PerTensor(0.5, 255), numeric.U8, matrix, 2, math.Inf(-1), 0},
		{"by channel", numeric.Range{Scale: []float32{0.1, 0.2, 0.3}, Axis: 1}, numeric.U8, matrix, 2, 0, math.Inf(1)},
		{"some channels", numeric.Range{Scale: []float32{0.1, 0.2, 0.3}, Zero: []int32{0, 1, 0}, Axis: 1}, numeric.U8, matrix, 1, math.Inf(-1), math.Inf(1)},
		{"both signs", numeric.PerTensor(0.1, 1), numeric.U8, matrix, 1, math.Inf(-1), math.Inf(1)},
		{"symmetric", numeric.PerTensor(6.0/127, 0), numeric.I8, matrix, 1, math.Inf(-1), math.Inf(1)},
		{"a Relu that is there", numeric.PerTensor(0.1, 0), numeric.U8, after(op("Relu"), unary(elementwise.Relu)), 2, math.Inf(-1), math.Inf(1)},
		{"a Relu6 that is not", numeric.PerTensor(6.0/255, 0), numeric.U8, after(op("Relu"), unary(elementwise.Relu)), 3, 0, 6},
		{"a Relu6 that is there", numeric.PerTensor(6.0/255, 0), numeric.U8, after(op("Clip"), unary(elementwise.Clamp, 0, 6)), 2, math.Inf(-1), math.Inf(1)},
		{"a Sigmoid", numeric.PerTensor(1.0/255, 0), numeric.U8, after(op("Sigmoid"), unary(elementwise.Sigmoid)), 2, math.Inf(-1), math.Inf(1)},
		{"a LeakyRelu", numeric.PerTensor(0.1, 0), numeric.U8, after(op("LeakyRelu"), unary(elementwise.LeakyRelu, 0.1)), 3, 0, math.Inf(1)},
		{"the sum of two that are not negative", numeric.PerTensor(0.1, 0), numeric.U8, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			y := matrix(n, x)
			a := addLayer(t, n, "Relu", op("Relu"), unary(elementwise.Relu), y)
			b := addLayer(t, n, "Abs", op("Abs"), unary(elementwise.Abs), y)
			return addLayer(t, n, "Add", op("Add"), graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, a, b)
		}, 4, math.Inf(-1), math.Inf(1)},
		{"an input, moved", numeric.PerTensor(1.0/255, 0), numeric.U8, func(n *graph.Network, x *graph.Tensor) *graph.Tensor {
			return addLayer(t, n, "Transpose", graph.Transpose, graph.TransposeAttrs{Perm: []int{1, 0}}, x)
		}, 1, math.Inf(-1), math.Inf(1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			network := func(quantised bool) *graph.Network {
				n := graph.NewNetwork("n")
				y := test.before(n, n.AddInput("x", numeric.F32, symbolic.Shape(2, 3)...))
				if quantised {
					q := addLayer(t, n, "Q", graph.Quantize, graph.QuantAttrs{Range: test.by, Type: test.typ}, y)
					y = addLayer(t, n, "DQ", graph.Dequantize, graph.QuantAttrs{Range: test.by, Type: numeric.F32}, q)
				}
				n.MarkOutput(addLayer(t, n, "end", op("Mul"), graph.Elementwise{Program: elementwise.Binary(elementwise.Mul)}, y, n.AddConst("half", half)))
				return n
			}
			got, step, err := build.DropQuantization(t.Context(), network(true))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Layers) != test.layers+1 {
				t.Errorf("%d layers are left, want %d:\n%s", len(got.Layers), test.layers+1, got)
			}
			clamps := !math.IsInf(test.lo, -1) || !math.IsInf(test.hi, 1)
			if note := step.Fired[0].Note; (note != "") != clamps {
				t.Errorf("the ledger says %q", note)
			}
			want := network(false)
			x := map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{-2, -0.5, 1, 3, 0.25, -1}, 2, 3)}
			a, err := got.Eval(t.Context(), x, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := want.Eval(t.Context(), x, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range b[want.Outputs[0].Name].F32() {
				w := float32(0.5 * min(test.hi, max(test.lo, float64(2*v))))
				if g := a[got.Outputs[0].Name].F32()[i]; g != w {
					t.Errorf("element %d is %v, want %v", i, g, w)
				}
			}
		})
	}
}
