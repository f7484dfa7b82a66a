package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// multiplyTactics are the matrix products of any operands in Linear: dynamic or constant, transposed, in broadcast
// batches, with rows of any length.
func multiplyTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.Gemm, graph.MatMul} {
		for _, side := range []int{64, 32} {
			list = append(list, emit.Tactic{
				Name: fmt.Sprintf("gemm_linear_plain_%dx%d", side, side), Op: op, Variant: shape("gemm_linear_plain", side, side), In: kernels.Linear, Out: kernels.Linear,
				Match: func(b kernels.Binding) error {
					_, err := multiplicationOf(b, side)
					return err
				},
				Emit: func(b kernels.Binding) (*emit.Work, error) {
					m, err := multiplicationOf(b, side)
					if err != nil {
						return nil, err
					}
					return m.emit()
				},
				Cost: func(b kernels.Binding) []emit.Job {
					m, err := multiplicationOf(b, side)
					if err != nil {
						return nil
					}
					return m.jobs(b)
				},
			})
		}
	}
	return list
}

// multiplication is a batch of products of an MxK with a KxN matrix. A block computes a tile of side x side, through tiles
// of operands in shared memory, k-major, as numbers: floats, or integers less their zero points.
type multiplication struct {
	binding        kernels.Binding // with vectors as matrices
	m, n, k, batch int
	left, right    operand
	side           int
	scale          []float32 // by column; nil for reals
	alpha          float32
	exact          *integerSums // of plain integers
}

// operand is one side of a product: element (i, k) of matrix j lies at j's batch offset + i*row + k*column.
type operand struct {
	emit.Storage
	input       int
	fixed       []byte // its elements, where it is a constant
	batch       []emit.Axis
	row, column int
	zeros       []int32 // of a right side, by column; nil where all have one
	zeroTable   ptx.GlobalPtr
}

func multiplicationOf(b kernels.Binding, side int) (*multiplication, error) {
	b = asMatrices(b, 1)
	m := &multiplication{binding: b, side: side, alpha: 1}
	x, y, out := b.In[0].Dims, b.In[1].Dims, b.Out[0].Dims
	if numeric.Count(x) == 0 || numeric.Count(y) == 0 {
		return nil, fmt.Errorf("%v times %v: the kernel takes matrices that are not empty", x, y)
	}
	transA, transB := false, false
	if a, ok := b.Layer.Attrs.(graph.GemmAttrs); ok {
		transA, transB, m.alpha = a.TransA, a.TransB, a.Alpha
	}
	m.m, m.n = out[len(out)-2], out[len(out)-1]
	m.k = x[len(x)-1]
	if transA {
		m.k = x[len(x)-2]
	}
	m.batch = numeric.Count(out[:len(out)-2])
	for i, o := range []*operand{&m.left, &m.right} {
		if err := o.check(b, i); err != nil {
			return nil, err
		}
		o.read(b, i, (i == 0) == transAt(i, transA, transB))
	}
	return m, m.finish(b)
}

// transAt returns the transposition of operand i.
func transAt(i int, transA, transB bool) bool {
	if i == 0 {
		return transA
	}
	return transB
}

// check returns an error where operand i is not of numbers that the kernel multiplies.
func (o *operand) check(b kernels.Binding, i int) error {
	t := b.Layer.Inputs[i]
	switch {
	case t.Type == numeric.F32, t.Type == numeric.F16:
	case t.Type.Size() == 1 && t.Quantized() && (!t.Range.PerChannel() || i == 1):
		if i == 1 && t.Range.PerChannel() && t.Range.Zero != nil {
			o.zeros = t.Range.Zero
		}
	default:
		return fmt.Errorf("%s is %s, the kernel takes f32, f16 and quantised bytes", t.Name, t.Type)
	}
	return nil
}

// read finds operand i. Its sum index is the first of its axes if leading.
func (o *operand) read(b kernels.Binding, i int, leading bool) {
	t, dims, out := b.Layer.Inputs[i], b.In[i].Dims, b.Out[0].Dims
	o.input, o.Storage, o.fixed = i, emit.Storage{Type: t.Type, Range: t.Range}, b.Consts[i]
	rank := len(dims)
	if o.row, o.column = dims[rank-1], 1; leading {
		o.row, o.column = 1, dims[rank-1]
	}
	stride, list := dims[rank-1]*dims[rank-2], []emit.Axis(nil)
	for a := len(out) - 3; a >= 0; a-- {
		at := emit.Axis{Extent: out[a], Stride: 0}
		if j := a - (len(out) - rank); j >= 0 {
			if dims[j] != 1 {
				at.Stride = stride
			}
			stride *= dims[j]
		}
		list = append([]emit.Axis{at}, list...)
	}
	o.batch = list
}

// integers reports whether both operands are of integers, quantised or plain, so that sums are integers.
func (m *multiplication) integers() bool { return m.scale != nil || m.exact != nil }

// finish finds how sums are scaled, and checks what follows.
func (m *multiplication) finish(b kernels.Binding) error {
	x, w := b.Layer.Inputs[0], b.Layer.Inputs[1]
	if x.Quantized() != w.Quantized() && w.Range.PerChannel() {
		return fmt.Errorf("reals with weights of %s by channel", w.Type)
	}
	if x.Quantized() && w.Quantized() {
		if m.k > 1<<16 {
			return fmt.Errorf("sums of %d products do not fit integers", m.k)
		}
		if w.Range.PerChannel() && (m.right.column == 1) == (w.Range.Axis == len(b.In[1].Dims)-1) {
			return fmt.Errorf("scales of %s are not by column", w.Name)
		}
		m.scale = make([]float32, m.n)
		for i := range m.scale {
			m.scale[i] = x.Range.ScaleAt(0) * w.Range.ScaleAt(i)
		}
	}
	if g := m.grid(); g[0]*g[1]*g[2] > emit.MaxElements {
		return fmt.Errorf("%d products of %d rows are too many blocks", m.batch, m.m)
	}
	first := len(b.Layer.OpInputs())
	if first > 2 && b.Layer.Inputs[2] == nil {
		first = len(b.In)
		if b.Layer.Epilogue.Args > 1 {
			return fmt.Errorf("an input is left out before the epilogue's")
		}
	} else if first > 2 {
		first = 2
	}
	return emit.CheckArguments(b, b.Layer.Epilogue, first)
}

// output returns what becomes of the sums: alpha, the addition of input 2 times beta, then the epilogue.
func (m *multiplication) output(w *emit.Work) (*emit.RowOutput, error) {
	b := m.binding
	out, err := emit.NewRowOutput(b, emit.Sums{Channels: m.n, Groups: 1, Width: m.n, Pitch: m.n, Alpha: m.alpha, Scale: m.scale}, w)
	if err != nil || len(b.Layer.OpInputs()) < 3 || b.Layer.Inputs[2] == nil {
		return out, err
	}
	add, err := emit.Arguments(b, []int{2}, b.Out[0], &w.Constants)
	if err != nil {
		return nil, err
	}
	beta := float32(1)
	if a, ok := b.Layer.Attrs.(graph.GemmAttrs); ok {
		beta = a.Beta
	}
	sum := elementwise.Program{Args: 2, Code: []elementwise.Instr{
		{Op: elementwise.Const, Imm: [2]float32{beta}}, {Op: elementwise.Mul, Arg: [3]int{1, 2}}, {Op: elementwise.Add, Arg: [3]int{0, 3}},
	}}
	if beta == 1 {
		sum = elementwise.Binary(elementwise.Add)
	}
	out.Precede(add, sum.Then(out.Program, 0))
	return out, nil
}

const (
	plainDepth = 16 // elements of the sum that a tile of operands has
	plainEach  = 4  // rows, and columns, of a thread
)

// threads returns how many threads a block has: each computes plainEach rows and columns.
func (m *multiplication) threads() int { return m.side * m.side / (plainEach * plainEach) }

// grid returns the blocks: columns, rows, matrices of the batch.
func (m *multiplication) grid() [3]int {
	return [3]int{emit.CeilDiv(m.n, m.side), emit.CeilDiv(m.m, m.side), m.batch}
}

// pitch is the distance in words of two k in shared memory.
func (m *multiplication) pitch() int { return m.side + 4 }

func (m *multiplication) emit() (*emit.Work, error) {
	w := emit.NewWork()
	out, err := m.output(w)
	if err != nil {
		return nil, err
	}
	c, l := m.block(w)
	out.Parameters(c.K, l)
	c.place(l)
	c.run()
	for i, sums := range c.sums {
		row, column := c.rowOf(i)
		c.If(c.Lt(row, ptx.U(m.m)), func() { c.finishRow(out, c.Mad(c.matrix, ptx.U(m.m), row), column, sums) })
	}
	w.End(c.K, l)
	return w, nil
}

// block starts the kernel: its operands are its first parameters.
func (m *multiplication) block(w *emit.Work) (*multiplyBlock, *emit.Launch) {
	k := w.Module.Kernel("multiply", m.threads())
	l := &emit.Launch{Kernel: "multiply", Block: [3]int{m.threads(), 1, 1}}
	for _, o := range []*operand{&m.left, &m.right} {
		if o.fixed != nil {
			o.Base = l.Constant(k, fmt.Sprintf("c%d", o.input), w.Append(o.fixed))
		} else {
			o.Base = l.Input(k, o.input)
		}
		if o.zeros != nil {
			o.zeroTable = l.Constant(k, fmt.Sprintf("z%d", o.input), w.Append(numeric.Bytes(o.zeros)))
		}
	}
	return &multiplyBlock{multiplication: m, K: k}, l
}

// multiplyBlock is the code of a block.
type multiplyBlock struct {
	*multiplication
	*ptx.K
	a, b        ptx.SharedPtr
	thread      ptx.Uint
	row, column ptx.Uint // of the tile
	matrix      ptx.Uint // of the batch
	y, x        ptx.Uint // of the thread in it, in plainEach
	sums        [][]ptx.Word
}

// place finds the block's tile, and the thread's part of it.
func (c *multiplyBlock) place(l *emit.Launch) {
	x, y, z, grid := emit.BlockIndices(c.K, c.grid())
	l.Grid = grid
	c.thread, c.row, c.column, c.matrix = c.Thread(), c.Mul(y, ptx.U(c.side)), c.Mul(x, ptx.U(c.side)), z
	c.y, c.x = c.DivRem(c.thread, c.side/plainEach)
}

// run computes the sums.
func (c *multiplyBlock) run() {
	bytes := plainDepth * c.pitch() * 4
	c.a, c.b = c.Array("a", bytes, 16), c.Array("b", bytes, 16)
	for range plainEach {
		line := make([]ptx.Word, plainEach)
		for i := range line {
			if c.integers() {
				line[i] = c.VarS(ptx.I(0)).Word()
			} else {
				line[i] = c.VarF(ptx.F(0)).Register()
			}
		}
		c.sums = append(c.sums, line)
	}
	from := [2]ptx.Uint{emit.RowOffset(c.K, c.matrix, c.left.batch), emit.RowOffset(c.K, c.matrix, c.right.batch)}
	at := c.OffsetShared(c.a, c.y, 4*plainEach)
	bt := c.OffsetShared(c.b, c.x, 4*plainEach)
	c.For(ptx.U(0), ptx.U(c.k), ptx.U(plainDepth), func(first ptx.Uint) {
		c.fill(c.a, &c.left, from[0], c.row, first, c.m)
		c.fill(c.b, &c.right, from[1], c.column, first, c.n)
		c.Barrier()
		for i := range plainDepth {
			c.step(at.At(4*i*c.pitch()), bt.At(4*i*c.pitch()))
		}
		c.Barrier()
	})
}

// rowOf returns row i of the thread's, and their first column.
func (c *multiplyBlock) rowOf(i int) (row, column ptx.Uint) {
	row = c.Add(c.row, c.Add(c.Mul(c.y, ptx.U(plainEach)), ptx.U(i)))
	return row, c.Add(c.column, c.Mul(c.x, ptx.U(plainEach)))
}

// step adds the products of one k.
func (c *multiplyBlock) step(a, b ptx.SharedPtr) {
	if c.integers() {
		x, y := c.LoadShared(a, plainEach), c.LoadShared(b, plainEach)
		for i, line := range c.sums {
			for j, s := range line {
				c.SetS(s.Int(), c.MadS(x[i].Int(), y[j].Int(), s.Int()))
			}
		}
		return
	}
	x, y := c.LoadSharedF(a, plainEach), c.LoadSharedF(b, plainEach)
	for i, line := range c.sums {
		for j, s := range line {
			c.FmaTo(s.FloatRegister(), x[i], y[j])
		}
	}
}

// fill copies side x plainDepth elements of an operand to shared memory, zeros behind its ends: neighbouring threads along
// the axis that is innermost in memory.
func (c *multiplyBlock) fill(to ptx.SharedPtr, o *operand, batch, first, depth ptx.Uint, extent int) {
	for at := 0; at < c.side*plainDepth; at += c.threads() {
		place := c.Add(c.thread, ptx.U(at))
		var i, k ptx.Uint
		if o.column == 1 { // a warp's are 4 rows of 8: these go to different banks
			i, k = c.And(c.Shr(place, 3), ptx.U(c.side-1)), c.And(place, ptx.U(7))
			k = c.Add(k, c.Shl(c.Div(place, 8*c.side), 3))
		} else {
			k, i = c.DivRem(place, c.side)
		}
		row, column := c.Add(first, i), c.Add(depth, k)
		element := c.Add(batch, c.Add(c.Mul(row, ptx.U(o.row)), c.Mul(column, ptx.U(o.column))))
		inside := c.Both(c.Lt(row, ptx.U(extent)), c.Lt(column, ptx.U(c.k)))
		slot := c.OffsetShared(to, c.Mad(k, ptx.U(c.pitch()), i), 4)
		c.copyNumber(slot, o, row, c.Offset(o.Base, element, o.Type.Size()), inside)
	}
}

// copyNumber stores what an element of a row, of a right side a column, stands for.
func (c *multiplyBlock) copyNumber(slot ptx.SharedPtr, o *operand, row ptx.Uint, from ptx.GlobalPtr, inside ptx.Cond) {
	if !c.integers() {
		v := c.VarF(ptx.F(0))
		c.If(inside, func() { c.SetF(v, o.LoadOne(c.K, from)) })
		c.StoreSharedF(slot, v)
		return
	}
	v := c.VarS(ptx.I(0))
	c.If(inside, func() {
		q := c.LoadByteAs(from, o.Type == numeric.I8)
		zero := ptx.I(int(o.Range.ZeroAt(0)))
		switch {
		case c.exact != nil:
			zero = c.exact.zero(c.K, min(o.input, 1), row)
		case o.zeros != nil:
			zero = c.LoadConst(c.Offset(o.zeroTable, row, 4), 1)[0].Int()
		}
		c.SetS(v, c.SubS(q, zero))
	})
	c.StoreShared(slot, v.Word())
}

// finishRow writes as much of a thread's row as there is.
func (c *multiplyBlock) finishRow(out *emit.RowOutput, row, column ptx.Uint, sums []ptx.Word) {
	finishRow(c.K, out, row, column, sums, c.n%c.side == 0)
}

func (m *multiplication) jobs(b kernels.Binding) []emit.Job {
	blocks := emit.CeilDiv(m.n, m.side) * emit.CeilDiv(m.m, m.side) * m.batch
	steps := float64(emit.CeilDiv(m.k, plainDepth))
	multiplied := steps * float64(m.side*m.side*plainDepth)
	// Beside the products each warp reads shared memory; nothing hides the copies.
	return []emit.Job{{
		Blocks: blocks, Resident: 4, Unit: emit.SimtF32, Multiplied: multiplied, Beside: 1.5 * multiplied / emit.ThreadsPerCycle, Cycles: 60 * steps,
		Longest: 1, Latency: 960*steps + 1000, Bytes: emit.Traffic(b),
	}}
}
