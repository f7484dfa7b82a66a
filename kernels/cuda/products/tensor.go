package products

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// operands says what the tensor cores multiply, where it is bytes.
type operands struct {
	signed [2]bool      // the left, the right side
	zeros  *weightZeros // of the right side; nil: they are 0
}

// operands returns the product's, given the table of the weights' zero points.
func (p *product) operands(table ptx.GlobalPtr) operands {
	o := operands{signed: [2]bool{p.typ == graph.I8, p.weight.Type == graph.I8}}
	if p.weightsHaveZeros() {
		o.zeros = &weightZeros{p.zeroW, p.zeros != nil, table, p.k}
	}
	return o
}

// tensor multiplies on tensor cores, halves or bytes. The fragments of 16 rows by 32 bytes that an instruction takes are
// four 8x8 matrices of ldmatrix, for the pixels and, two at a time, for the weights.
type tensor struct {
	warpTile
	operands
	left, right fragments
	acc         [][][4]ptx.Word // by 16 rows, by 8 columns: variables

	// Where the weights have a zero point: the sums of this lane's rows of pixels, of row g and g+8 in each 16.
	rowSums [][2]ptx.Int
}

// mmaBytes is how much of a row an instruction multiplies: a slice of a stage.
const mmaBytes = 32

// fragments are an operand as an instruction takes it from a stage.
type fragments interface {
	// in is where this lane's first piece lies in the stage that begins so many bytes into the ring.
	in(stage ptx.Uint) ptx.SharedPtr
	// slice is the same for the i-th mmaBytes of the sum.
	slice(in ptx.SharedPtr, i int) ptx.SharedPtr
	// load returns the i-th 16 rows, or columns, of a slice.
	load(slice ptx.SharedPtr, of, i int) [4]ptx.Word
}

// rowFragments are those of rows along which the sum runs.
type rowFragments struct {
	*block
	first ptx.Uint // address of this lane's first piece in stage 0
}

func (f rowFragments) in(stage ptx.Uint) ptx.SharedPtr {
	return ptx.SharedPtr{Uint: f.Add(f.first, stage)}
}

func (f rowFragments) slice(in ptx.SharedPtr, i int) ptx.SharedPtr {
	return f.flipped(in.Uint, i*mmaBytes/16)
}

func (f rowFragments) load(slice ptx.SharedPtr, _, i int) [4]ptx.Word {
	return f.LoadMatrix4(slice.At(16 * i * f.t.BK))
}

func newTensor(w warpTile, o operands) *tensor {
	e := &tensor{warpTile: w, operands: o}
	// Of the pixels, lanes 0 to 15 give the rows' addresses at the first 16 bytes, the others at the second. Of the weights,
	// eight lanes give eight rows at the first, eight the same rows at the second, and so on: the two registers of a fragment
	// are neighbours then, as the instruction wants them.
	rowA, halfA := w.And(w.lane, ptx.U(15)), w.Shr(w.lane, 4)
	rowB := w.Add(w.And(w.lane, ptx.U(7)), w.Shl(w.Shr(w.lane, 4), 3))
	halfB := w.And(w.Shr(w.lane, 3), ptx.U(1))
	e.left = rowFragments{w.block, w.place(w.Add(w.row, rowA), halfA)}
	e.right = rowFragments{w.block, w.place(w.Add(ptx.U(w.t.BM), w.Add(w.column, rowB)), halfB)}
	e.zero()
	if o.zeros != nil {
		for range e.acc {
			e.rowSums = append(e.rowSums, [2]ptx.Int{w.VarS(ptx.I(0)), w.VarS(ptx.I(0))})
		}
	}
	return e
}

// zero begins the sums.
func (e *tensor) zero() {
	for range e.rows / 16 {
		line := make([][4]ptx.Word, e.columns/8)
		for j := range line {
			for i := range line[j] {
				line[j][i] = e.variable()
			}
		}
		e.acc = append(e.acc, line)
	}
}

// variable is a sum that is zero.
func (e *tensor) variable() ptx.Word {
	if e.t.Unit == emit.TensorI8 {
		return e.VarS(ptx.I(0)).Word()
	}
	return e.VarF(ptx.F(0)).Register()
}

func (e *tensor) step(stage ptx.Uint) {
	e.slices(stage, e.t.BK/mmaBytes)
}

// slices adds the products of the first n slices of a stage.
func (e *tensor) slices(stage ptx.Uint, n int) {
	inLeft, inRight := e.left.in(stage), e.right.in(stage)
	for s := range n {
		fromLeft, fromRight := e.left.slice(inLeft, s), e.right.slice(inRight, s)
		var right [][2]ptx.Word
		for j := range e.columns / 16 {
			f := e.right.load(fromRight, s, j)
			right = append(right, [2]ptx.Word{f[0], f[1]}, [2]ptx.Word{f[2], f[3]})
		}
		for i := range e.acc {
			left := e.left.load(fromLeft, s, i)
			for j := range e.acc[i] {
				e.multiply(e.acc[i][j], left, right[j])
			}
			if e.rowSums != nil {
				e.addRows(e.rowSums[i], left)
			}
		}
	}
}

// multiply adds a 16x8 product to sums.
func (e *tensor) multiply(sums [4]ptx.Word, a [4]ptx.Word, b [2]ptx.Word) {
	if e.t.Unit == emit.TensorF16 {
		var c [4]ptx.Float
		for i := range c {
			c[i] = sums[i].FloatRegister()
		}
		e.MmaF16(c, a, b)
		return
	}
	var c [4]ptx.Int
	for i := range c {
		c[i] = sums[i].Int()
	}
	e.MmaI8(c, a, b, e.signed[0], e.signed[1])
}

func (e *tensor) sums() []ptx.Word {
	e.subtractRows()
	var list []ptx.Word
	for i := range e.acc {
		for _, c := range e.acc[i] {
			list = append(list, c[:]...)
		}
	}
	return list
}

// spill writes the fragments: with g = lane/4 and t = lane%4, row g and then g+8 of each 16, columns 2t and 2t+1 of each 8.
func (e *tensor) spill(to ptx.SharedPtr) {
	g, t := e.Shr(e.lane, 2), e.And(e.lane, ptx.U(3))
	at := e.Mad(e.Add(e.row, g), ptx.U(e.t.sumPitch()), e.Add(e.sumPlace(e.column), e.Shl(t, 1)))
	base := e.OffsetShared(to, at, 4)
	for i := range e.acc {
		for j, c := range e.acc[i] {
			p := base.At(4 * (16*i*e.t.sumPitch() + sumPlace(8*j)))
			e.StoreShared(p, c[0], c[1])
			e.StoreShared(p.At(4*8*e.t.sumPitch()), c[2], c[3])
		}
	}
}
