package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// NBitsAttrs are the attributes of a product with weights of few bits.
type NBitsAttrs struct {
	K     int // rows of the weights, which the last block of a column may go beyond
	Bits  int // of a weight: 2, 4 or 8
	Block int // how many weights of a column have a scale in common
}

// The inputs of a product with weights of few bits behind x and the weights.
const (
	NBitsScales = 2 + iota // [N,blocks], of the type of x
	NBitsZeros             // optional: as bits, [N,bytes] U8, or as reals, [N,blocks]; half of what the bits hold without
	NBitsBias              // optional: [N], of the type of x
)

// MatMulNBits is the matrix product of x [...,K] and weights [K,N] of few bits: (q - zero) * scale, with a scale and a zero point
// for each block of a column. The weights are [N,blocks,bytes] U8, column by column; several are in a byte, the first one in the
// lowest bits, and each block begins with a byte. So do the zero points of a column. It is ONNX Runtime's operator of that name,
// which com.microsoft's import makes.
var MatMulNBits = &Op{
	Name:  "MatMulNBits",
	Attrs: NBitsAttrs{},
	Class: ClassWeightOnly, Inputs: []Role{Data, Weights, Coefficients, Parameter, Coefficients}, Memory: Written,
	Moves:   computed,
	FLOPs:   nBitsFLOPs,
	Product: &Product{Axes: func(*Layer) (out, in int) { return 0, -1 }, Groups: oneGroup},
	Infer:   inferNBits,
	Eval:    evalNBits,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(NBitsAttrs)
		inputs := e.Inputs()
		if len(inputs) > NBitsBias { // ONNX Runtime's has the order of groups before it
			inputs = append(inputs[:NBitsBias:NBitsBias], "", inputs[NBitsBias])
		}
		n, _ := e.Layer.Inputs[1].Dims[0].IsConst()
		return e.Node("com.microsoft:MatMulNBits", Attributes{"K": a.K, "N": n, "bits": a.Bits, "block_size": a.Block}, inputs...)
	},
}

// nBitsFLOPs counts a multiplication and an addition for each weight and row.
func nBitsFLOPs(l *Layer, env map[string]int) int64 {
	return 2 * outputCount(l, env) * int64(l.Attrs.(NBitsAttrs).K)
}

func inferNBits(l *Layer) error {
	a := l.Attrs.(NBitsAttrs)
	if a.Bits != 2 && a.Bits != 4 && a.Bits != 8 {
		return fmt.Errorf("bits is %d; 2, 4 and 8 are supported", a.Bits)
	}
	if a.K < 1 || a.K > maxExtent || a.Block < 1 || a.Block > 1<<20 || a.Block*a.Bits%8 != 0 {
		return fmt.Errorf("attributes K %d and block_size %d of %d bits are no shape", a.K, a.Block, a.Bits)
	}
	x, err := l.needReal(0)
	if err != nil {
		return err
	}
	if last := len(x.Dims) - 1; x.Quantized() || last < 1 || conflict(x.Dims[last], symbolic.Const(a.K)) {
		return fmt.Errorf("input %s: want rows of %d real numbers", x.TypeString(), a.K)
	}
	w, err := l.need(1)
	if err != nil {
		return err
	}
	blocks := (a.K + a.Block - 1) / a.Block
	if w.Type != numeric.U8 || w.Quantized() || len(w.Dims) != 3 || !w.Dims[1].Is(blocks) || !w.Dims[2].Is(a.Block*a.Bits/8) {
		return fmt.Errorf("weights %s: want u8 [N,%d,%d]", w.TypeString(), blocks, a.Block*a.Bits/8)
	}
	n := w.Dims[0]
	real := func(t *Tensor, dims ...symbolic.Dim) bool {
		return t.Type == x.Type && !t.Quantized() && symbolic.Equal(t.Dims, dims)
	}
	if s, err := l.need(NBitsScales); err != nil {
		return err
	} else if !real(s, n, symbolic.Const(blocks)) {
		return fmt.Errorf("scales %s: want %s [%s,%d]", s.TypeString(), x.Type, n, blocks)
	}
	if z := l.Input(NBitsZeros); z != nil && !real(z, n, symbolic.Const(blocks)) &&
		(z.Type != numeric.U8 || z.Quantized() || !symbolic.Equal(z.Dims, []symbolic.Dim{n, symbolic.Const(zeroBytes(blocks, a.Bits))})) {
		return fmt.Errorf("zero points %s: want u8 [%s,%d], or a real number for each scale", z.TypeString(), n, zeroBytes(blocks, a.Bits))
	}
	if b := l.Input(NBitsBias); b != nil && !real(b, n) {
		return fmt.Errorf("bias %s: want %s [%s]", b.TypeString(), x.Type, n)
	}
	dims := append([]symbolic.Dim{}, x.Dims...)
	dims[len(dims)-1] = n
	l.Outputs[0].Type, l.Outputs[0].Dims = x.Type, dims
	return nil
}

// zeroBytes returns the bytes of a column's zero points.
func zeroBytes(blocks, bits int) int { return (blocks*bits + 7) / 8 }

func evalNBits(l *Layer, in, out []numeric.Value) error {
	values := [NBitsBias + 1]numeric.Value{}
	copy(values[:], in[:len(l.OpInputs())])
	w := NewNBitsWeights(l.Attrs.(NBitsAttrs), values[1], values[NBitsScales], values[NBitsZeros])
	y := numeric.NewValue(numeric.F32, out[0].Dims...)
	plain := &Layer{Op: MatMul, Inputs: []*Tensor{{Type: in[0].Type}, {Type: numeric.F32}}, Outputs: []*Tensor{{Type: numeric.F32}}}
	if err := evalMatMul(plain, []numeric.Value{in[0], w.Real(numeric.F32)}, []numeric.Value{y}); err != nil {
		return err
	}
	sums := y.F32()
	if values[NBitsBias].Data != nil {
		bias := values[NBitsBias].Floats()
		for i := range sums {
			sums[i] += bias[i%len(bias)]
		}
	}
	numeric.FromReal(out[0], sums, numeric.Range{})
	return nil
}

// NBitsWeights are the weights of a [MatMulNBits].
type NBitsWeights struct {
	NBitsAttrs
	N, Blocks int // columns, and blocks of each
	data      []byte
	scales    []float32 // [N][Blocks]
	zeros     []float32 // as scales; nil for none that are real
	packed    []byte    // zero points as bits; nil for none
}

// NewNBitsWeights returns the weights of values whose shapes have been checked; the zero points may be none.
func NewNBitsWeights(a NBitsAttrs, data, scales, zeros numeric.Value) NBitsWeights {
	w := NBitsWeights{NBitsAttrs: a, N: data.Dims[0], Blocks: data.Dims[1], data: data.Data, scales: scales.Floats()}
	switch {
	case zeros.Data == nil:
	case zeros.Type == numeric.U8:
		w.packed = zeros.Data
	default:
		w.zeros = zeros.Floats()
	}
	return w
}

// Q returns the integer of a weight.
func (w *NBitsWeights) Q(k, n int) int {
	return bitsAt(w.data[(n*w.Blocks+k/w.Block)*(w.Block*w.Bits/8):], k%w.Block, w.Bits)
}

// Scale returns that of a block of a column.
func (w *NBitsWeights) Scale(block, n int) float32 { return w.scales[n*w.Blocks+block] }

// Zero returns the zero point of a block of a column.
func (w *NBitsWeights) Zero(block, n int) float32 {
	switch {
	case w.zeros != nil:
		return w.zeros[n*w.Blocks+block]
	case w.packed != nil:
		return float32(bitsAt(w.packed[n*zeroBytes(w.Blocks, w.Bits):], block, w.Bits))
	}
	return float32(int(1) << (w.Bits - 1))
}

// Real returns the real numbers [K,N] that the weights stand for.
func (w *NBitsWeights) Real(t numeric.DataType) numeric.Value {
	real := make([]float32, w.K*w.N)
	for n := range w.N {
		for k := range w.K {
			block := k / w.Block
			real[k*w.N+n] = (float32(w.Q(k, n)) - w.Zero(block, n)) * w.Scale(block, n)
		}
	}
	v := numeric.NewValue(t, w.K, w.N)
	numeric.FromReal(v, real, numeric.Range{})
	return v
}

// bitsAt returns element i of elements of so many bits.
func bitsAt(data []byte, i, bits int) int {
	perByte := 8 / bits
	return int(data[i/perByte]>>(i%perByte*bits)) & (1<<bits - 1)
}
