package graph

import (
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestReads checks by hand how many elements of each input a layer looks at.
func TestReads(t *testing.T) {
	tensor := func(dt numeric.DataType, dims ...int) *Tensor {
		return &Tensor{Type: dt, Dims: symbolic.Shape(dims...)}
	}
	f := func(dims ...int) *Tensor { return tensor(numeric.F32, dims...) }
	for _, c := range []struct {
		what   string
		l      *Layer
		reads  []int64
		writes int64
		by     numeric.DataType
	}{
		{"convolution", &Layer{Op: Conv, Attrs: ConvAttrs{Group: 1, Pads: []int{1, 1, 1, 1}}, Inputs: []*Tensor{f(2, 3, 8, 8), f(5, 3, 3, 3), f(5)}, Outputs: []*Tensor{f(2, 5, 8, 8)}},
			[]int64{2 * 3 * 64, 5 * 27, 5}, 2 * 5 * 64, numeric.F32},
		{"pointwise convolution of every other pixel", &Layer{Op: Conv, Attrs: ConvAttrs{Group: 1, Strides: []int{2, 2}}, Inputs: []*Tensor{f(1, 3, 8, 8), f(5, 3, 1, 1)}, Outputs: []*Tensor{f(1, 5, 4, 4)}},
			[]int64{3 * 16, 15}, 5 * 16, numeric.F32},
		{"pooling of windows that lie apart", &Layer{Op: MaxPool, Attrs: PoolAttrs{Kernel: []int{2, 1}, Strides: []int{3, 3}}, Inputs: []*Tensor{f(1, 1, 8, 7)}, Outputs: []*Tensor{f(1, 1, 3, 3)}},
			[]int64{6 * 3}, 9, numeric.F32},
		{"pooling of everything", &Layer{Op: AveragePool, Attrs: PoolAttrs{Global: true}, Inputs: []*Tensor{f(1, 4, 7, 7)}, Outputs: []*Tensor{f(1, 4, 1, 1)}}, []int64{4 * 49}, 4, numeric.F32},
		{"rows of a table", &Layer{Op: Gather, Attrs: GatherAttrs{}, Inputs: []*Tensor{f(30000, 768), tensor(numeric.I64, 1, 128)}, Outputs: []*Tensor{f(1, 128, 768)}}, []int64{128 * 768, 128}, 128 * 768, numeric.F32},
		{"a part", &Layer{Op: Slice, Attrs: SliceAttrs{Starts: []int{2}, Ends: []int{4}, Axes: []int{0}}, Inputs: []*Tensor{f(100, 4)}, Outputs: []*Tensor{f(2, 4)}}, []int64{8}, 8, numeric.F32},
		{"rows and columns", &Layer{Op: Transpose, Attrs: TransposeAttrs{}, Inputs: []*Tensor{f(3, 4)}, Outputs: []*Tensor{f(4, 3)}}, []int64{12}, 12, numeric.F32},
		{"a shape", &Layer{Op: ShapeOf, Attrs: ShapeAttrs{}, Inputs: []*Tensor{f(3, 4)}, Outputs: []*Tensor{tensor(numeric.I64, 2)}}, []int64{0}, 2, numeric.F32},
		{"a product of bytes", &Layer{Op: MatMul, Inputs: []*Tensor{tensor(numeric.I8, 4, 5), tensor(numeric.I8, 5, 6)}, Outputs: []*Tensor{f(4, 6)}}, []int64{20, 30}, 24, numeric.I8},
		{"weights of bytes alone", &Layer{Op: MatMulNBits, Attrs: NBitsAttrs{K: 32, Bits: 4, Block: 32}, Inputs: []*Tensor{f(4, 32), tensor(numeric.U8, 6, 1, 16), f(6, 1)}, Outputs: []*Tensor{f(4, 6)}}, []int64{128, 96, 6}, 24, numeric.F32},
		{"bytes as they come", &Layer{Op: DynamicQuantizeMatMul, Inputs: []*Tensor{f(4, 5), tensor(numeric.I8, 5, 6), f()}, Outputs: []*Tensor{f(4, 6)}}, []int64{20, 30, 1}, 24, numeric.I8},
		{"halves", &Layer{Op: Softmax, Attrs: SoftmaxAttrs{Axis: -1}, Inputs: []*Tensor{tensor(numeric.F16, 4, 5)}, Outputs: []*Tensor{tensor(numeric.F16, 4, 5)}}, []int64{20}, 20, numeric.F16},
	} {
		for i, want := range c.reads {
			if got := Reads(c.l, i, nil); got != want {
				t.Errorf("%s: %d elements of input %d, want %d", c.what, got, i, want)
			}
		}
		if got := Writes(c.l, nil); got != c.writes {
			t.Errorf("%s: writes %d, want %d", c.what, got, c.writes)
		}
		if got := Arithmetic(c.l); got != c.by {
			t.Errorf("%s: arithmetic of %s, want %s", c.what, got, c.by)
		}
	}
}

// TestProductsOf counts by hand the multiply-adds of ops that are several products.
func TestProductsOf(t *testing.T) {
	f := func(dims ...int) *Tensor { return &Tensor{Type: numeric.F32, Dims: symbolic.Shape(dims...)} }
	attention := &Layer{Op: Attention, Attrs: AttentionAttrs{Heads: 2, KVHeads: 2}, Inputs: []*Tensor{f(3, 5, 8), f(3, 7, 8), f(3, 7, 12)}, Outputs: []*Tensor{f(3, 5, 12)}}
	lstm := &Layer{Op: LSTM, Attrs: RecurrentAttrs{Hidden: 6}, Inputs: []*Tensor{f(5, 2, 3), f(1, 24, 3), f(1, 24, 6)}, Outputs: []*Tensor{f(5, 1, 2, 6)}}
	for _, c := range []struct {
		l    *Layer
		want int64
	}{
		{attention, 3 * 2 * 5 * 7 * 2 * (4 + 6)}, // items, heads, queries, keys, of each head's size and of its values
		{lstm, 5 * 2 * 4 * 6 * 2 * (3 + 6)},      // steps, items, gates, size of the state, of the input's size and of the state's
	} {
		if got := FLOPs(c.l, nil); got != c.want || got >= c.l.Op.FLOPs(c.l, nil) {
			t.Errorf("%s: %d FLOPs of %d operations, want %d", c.l.Op.Name, got, c.l.Op.FLOPs(c.l, nil), c.want)
		}
	}
}
