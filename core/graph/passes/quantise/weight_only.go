package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// WeightOnly makes products that read weights of 8 bits and fewer as they are of those whose input stays real.
//
//	t = DequantizeLinear(w i8)
//	y = MatMul(x, t)              ->   y = MatMulNBits(x, w, scales, zeros) bits=8
//
//	t = DequantizeLinear(w i4, scales, zeros) block=32
//	y = MatMul(x, t)              ->   y = MatMulNBits(x, w, scales, zeros) bits=4 block=32
var WeightOnly = pass.Pass{
	Name:  "weight-only",
	Doc:   "keep the weights of 8 bits and fewer of matrix products of real numbers",
	Rules: []string{"weight-only"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return keepWeights(r, l) }) },
}

func keepWeights(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.MatMul && l.Op != graph.Gemm {
		return false
	}
	d := l.Inputs[1].Producer
	if !dequantizes(d) && !dequantizesBlocks(d) || !d.Inputs[0].IsConst() {
		return false
	}
	c := r.Candidate("weight-only", d, l)
	x, w, bias := l.Inputs[0], d.Inputs[0], l.Input(2)
	g, _ := l.Attrs.(graph.GemmAttrs)
	switch {
	case packedBits(w.Type) == 0 || len(w.Dims) != 2:
		return c.Miss(pass.WrongType, "weights %s are no matrix of integers of up to 8 bits", w)
	case x.Type != numeric.F32 || x.Quantized() || l.Outputs[0].Quantized():
		return c.Miss(pass.WrongType, "%s is no product of real numbers", l.Name)
	case l.Op == graph.Gemm && (g.TransA || g.Alpha != 1 || bias != nil && g.Beta != 1):
		return c.Miss(pass.WrongAttribute, "%s has factors, or transposes its rows", l.Name)
	}
	column := 1
	if g.TransB {
		column = 0
	}
	m, ok := weightMatrixOf(c, d, column)
	if !ok {
		return false
	}
	if bias != nil && !match.PerBias(bias, m.n) {
		return c.Miss(pass.WrongShape, "bias %s is no constant vector", bias)
	}
	by := &graph.Layer{Op: graph.MatMulNBits, Attrs: graph.NBitsAttrs{K: m.k, Bits: m.bits, Block: m.block}, Epilogue: l.Epilogue}
	by.Inputs = append([]*graph.Tensor{x}, m.tensors(w.Name)...)
	if bias != nil {
		by.Inputs = append(by.Inputs, make([]*graph.Tensor, graph.NBitsBias-len(by.Inputs))...)
		by.Inputs = append(by.Inputs, bias)
	}
	by.Inputs = append(by.Inputs, l.EpilogueInputs()...)
	by.Outputs = l.Outputs
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	for i, t := range by.Inputs {
		if t != nil && t.IsConst() && r.Network().Tensor(t.Name) != t {
			v, _ := t.Const()
			by.Inputs[i] = r.Network().AddConst(t.Name, v)
		}
	}
	alone := r.Network().Sole(d.Outputs[0]) == l
	by = r.Replace(l, by)
	if alone {
		r.Network().Remove(d)
	} else {
		c.Members = by.From
	}
	return c.Fire(by)
}

// dequantizesBlocks reports whether l gives the real numbers of constant integers by constant scales of blocks.
func dequantizesBlocks(l *graph.Layer) bool {
	return l != nil && l.Op == graph.Dequantize && l.Attrs.(graph.QuantAttrs).Block > 0 &&
		!slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return t != nil && !t.IsConst() })
}

// packedBits returns the bits of an integer type of which a product reads weights; 0 for others.
func packedBits(t numeric.DataType) int {
	switch t {
	case numeric.I8, numeric.U8, numeric.I4, numeric.U4, numeric.I2, numeric.U2:
		return t.Bits()
	}
	return 0
}

// weightMatrix is a matrix of dequantised integers, column by column.
type weightMatrix struct {
	k, n, bits int
	block      int  // elements of a column with a scale in common, in whole bytes
	middle     byte // what is added to signed integers
	element    func(row, column int) byte
	scale      func(block, column int) float32
	zero       func(block, column int) byte
}

// weightMatrixOf returns the weights that d dequantises, whose columns are along an axis, or records why they are none.
func weightMatrixOf(c *pass.Candidate, d *graph.Layer, column int) (m weightMatrix, ok bool) {
	w, a := d.Inputs[0], d.Attrs.(graph.QuantAttrs)
	v, _ := w.Const()
	m = weightMatrix{k: v.Dims[1-column], n: v.Dims[column], bits: w.Type.Bits()}
	if w.Type.Signed() {
		m.middle = 1 << (m.bits - 1)
	}
	if m.k*m.n == 0 {
		return m, c.Miss(pass.WrongShape, "weights %s are empty", w)
	}
	at := func(row, col, width int) int {
		if column == 0 {
			return col*v.Dims[1] + row
		}
		return row*width + col
	}
	m.element = func(row, col int) byte { return v.Data[at(row, col, m.n)] }
	if r := a.Range; r.IsSet() {
		if r.PerChannel() && r.Axis != column {
			return m, c.Miss(pass.WrongAttribute, "the scales of %s are not of columns", w)
		}
		perByte := 8 / m.bits
		m.block = (m.k + perByte - 1) / perByte * perByte
		m.scale = func(_, col int) float32 { return r.ScaleAt(col) }
		m.zero = func(_, col int) byte { return byte(r.ZeroAt(col)) }
		return m, true
	}
	if m.block = a.Block; a.Range.Axis == column {
		return m, c.Miss(pass.WrongAttribute, "the blocks of %s are not of columns", w)
	}
	if m.block*m.bits%8 != 0 {
		return m, c.Miss(pass.WrongAttribute, "blocks of %d do not begin with a byte", m.block)
	}
	scales, _ := d.Inputs[1].Const()
	if !scales.Type.IsFloat() {
		return m, c.Miss(pass.WrongType, "scales %s", d.Inputs[1])
	}
	list := scales.Floats()
	place := func(block, col int) int {
		if column == 0 {
			return col*m.blocks() + block
		}
		return block*m.n + col
	}
	m.scale = func(block, col int) float32 { return list[place(block, col)] }
	m.zero = func(_, _ int) byte { return 0 }
	if z := d.Input(2); z != nil {
		m.zero = func(block, col int) byte { return z.Weights[place(block, col)] }
	}
	return m, true
}

// blocks returns how many a column has.
func (m weightMatrix) blocks() int { return (m.k + m.block - 1) / m.block }

// tensors returns the weights, scales and zero points as [graph.MatMulNBits] has them, no zero points where they are the middle. The
// network does not have the tensors.
func (m weightMatrix) tensors(name string) []*graph.Tensor {
	blocks, mask := m.blocks(), byte(1<<m.bits-1)
	data, scales := numeric.NewValue(numeric.U8, m.n, blocks, m.block*m.bits/8), make([]float32, 0, m.n*blocks)
	zeros := numeric.NewValue(numeric.U8, m.n, (blocks*m.bits+7)/8)
	perByte, same := 8/m.bits, true
	put := func(row []byte, i int, q byte) { row[i/perByte] |= (q + m.middle) & mask << (i % perByte * m.bits) }
	for j := range m.n {
		column, columnZeros := data.Data[j*blocks*m.block*m.bits/8:], zeros.Data[j*zeros.Dims[1]:]
		for i := range m.k {
			put(column, i, m.element(i, j))
		}
		for b := range blocks {
			scales = append(scales, m.scale(b, j))
			z := m.zero(b, j)
			put(columnZeros, b, z)
			same = same && (z+m.middle)&mask == 1<<(m.bits-1)
		}
	}
	named := func(what string, v numeric.Value) *graph.Tensor {
		return &graph.Tensor{Name: name + what, Type: v.Type, Dims: symbolic.Shape(v.Dims...), Weights: v.Data}
	}
	list := []*graph.Tensor{named("_bytes", data), named("_scales", numeric.Values(numeric.F32, scales, m.n, blocks))}
	if !same {
		list = append(list, named("_zeros", zeros))
	}
	return list
}
