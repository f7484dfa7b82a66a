package products

import (
	"math/bits"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// operands says what the tensor cores multiply, where it is bytes.
type operands struct {
	signed [2]bool      // the left, the right side
	zeros  *weightZeros // of the right side; nil: they are 0
}

// operands returns the product's, given the table of the weights' zero points.
func (p *product) operands(table ptx.GlobalPtr) operands {
	o := operands{signed: [2]bool{p.typ == numeric.I8, p.weight.Type == numeric.I8}}
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
	tight       bool // there are registers for the addresses of one stage
	apart       bool // and none for what is read of the next before the barrier
	vector      int  // channels that a lane has side by side, 2 or as the weights are packed
	left, right fragments
	leftRead    [][4]ptx.Word    // fragments of a slice: variables
	rightRead   [2][][4]ptx.Word // of even and of odd ones
	acc         [][][4]ptx.Word  // by 16 rows, by 8 columns: variables

	// Where the weights have a zero point: the sums of this lane's rows of pixels, of row g and g+8 in each 16.
	rowSums [][2]ptx.Int
}

// mmaBytes is how much of a row an instruction multiplies: a slice of a stage.
const mmaBytes = 32

// fragments are an operand as an instruction takes it from a stage.
type fragments interface {
	// place returns where the i-th 16 rows, or columns, of a slice lie, in the stage that begins so many bytes into the ring, and
	// whether their 8x8 matrices are turned.
	place(stage ptx.Uint, slice, i int) (at ptx.SharedPtr, turned bool)
}

// rowFragments are those of rows along which the sum runs: addresses of this lane's pieces in stage 0, by slice.
type rowFragments struct {
	*block
	first []ptx.SharedPtr
}

func (b *block) rowFragments(first ptx.Uint) rowFragments {
	f := rowFragments{block: b}
	for slice := range b.t.BK / mmaBytes {
		f.first = append(f.first, b.flipped(first, slice*mmaBytes/16))
	}
	return f
}

func (f rowFragments) place(stage ptx.Uint, slice, i int) (ptx.SharedPtr, bool) {
	return f.OffsetShared(f.first[slice], stage, 1).At(16 * i * f.t.BK), false
}

func newTensor(w warpTile, o operands, vector int) *tensor {
	e := &tensor{warpTile: w, operands: o, vector: vector}
	// Of the pixels, lanes 0 to 15 give the rows' addresses at the first 16 bytes, the others at the second. Of the weights,
	// eight lanes give eight rows at the first, eight the same rows at the second, and so on: the two registers of a fragment
	// are neighbours then, as the instruction wants them.
	rowA, halfA := w.And(w.lane, ptx.U(15)), w.Shr(w.lane, 4)
	rowB := w.Add(w.And(w.lane, ptx.U(7)), w.Shl(w.Shr(w.lane, 4), 3))
	halfB := w.And(w.Shr(w.lane, 3), ptx.U(1))
	e.left = w.rowFragments(w.place(w.Add(w.row, rowA), halfA))
	e.right = w.rowFragments(w.place(w.Add(ptx.U(w.t.BM), w.Add(w.column, rowB)), halfB))
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
	e.leftRead = e.registers(e.rows / 16)
	for i := range e.rightRead {
		e.rightRead[i] = e.registers(e.columns / 16)
	}
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

// registers returns variables for fragments.
func (e *tensor) registers(n int) [][4]ptx.Word {
	list := make([][4]ptx.Word, n)
	for i := range list {
		list[i] = e.MatrixRegisters()
	}
	return list
}

func (e *tensor) run(count ptx.Uint, s source) {
	switch {
	case e.tight && e.apart:
		e.rolled(count, s, e.stage)
		return
	case e.tight:
		e.stepwise(count, s, e)
		return
	}
	e.unrolled(count, s, e)
}

// stage adds the products of a stage, none of whose slices was read.
func (e *tensor) stage(stage ptx.Uint) {
	e.read(slice{stage, 0})
	for i := range e.slices() {
		var next *slice
		if i+1 < e.slices() {
			next = &slice{stage, i + 1}
		}
		e.multiply(i, next, nil)
	}
}

func (e *tensor) slices() int { return e.t.BK / mmaBytes }

func (e *tensor) read(s slice) {
	e.readRight(s)
	for i := range e.leftRead {
		e.readLeft(s, i)
	}
}

func (e *tensor) readRight(s slice) {
	for j, to := range e.rightRead[s.index%2] {
		at, turned := e.right.place(s.stage, s.index, j)
		e.LoadMatrix4(to, at, turned)
	}
}

func (e *tensor) readLeft(s slice, i int) {
	at, turned := e.left.place(s.stage, s.index, i)
	e.LoadMatrix4(e.leftRead[i], at, turned)
}

// multiply reads the next slice's right side first, as all products want it, and each fragment of the left side when that of
// this slice has been used. The copies are together: where they alternate with reads, the assembler puts three instructions
// before each.
func (e *tensor) multiply(of int, next *slice, beside []func()) {
	if next != nil {
		e.readRight(*next)
	}
	for i := range e.acc {
		for j := range e.acc[i] {
			right := e.rightRead[of%2][j/2]
			e.mma(e.acc[i][j], e.leftRead[i], [2]ptx.Word(right[j%2*2:]))
		}
		if e.rowSums != nil {
			e.addRows(e.rowSums[i], e.leftRead[i])
		}
		if next != nil {
			e.readLeft(*next, i)
		}
	}
	all(beside)
}

// mma adds a 16x8 product to sums.
func (e *tensor) mma(sums [4]ptx.Word, a [4]ptx.Word, b [2]ptx.Word) {
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

// firstColumn is the lane's first column of the tile: with t = lane%4 it has sums of the rows 2t and 2t+1 of every 8 of the
// weights, which are columns as laneRow says.
func (e *tensor) firstColumn() ptx.Uint {
	return e.Add(e.column, e.Shl(e.And(e.lane, ptx.U(3)), bits.TrailingZeros(uint(e.vector))))
}

// columnOf is how far behind the lane's first column those two are that it has of the j-th 8 rows.
func (e *tensor) columnOf(j int) int {
	per := e.vector / 2
	return j/per*4*e.vector + j%per*2
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
