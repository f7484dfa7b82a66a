package reductions

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// reduction is what a reduction makes of a set of elements: each is mapped, all are folded, and the result is finished.
type reduction struct {
	fold   asm.BinaryOp
	mapped int // fold takes x, |x| or x*x
	finish int // the result is the fold, its share of one of n elements, or its root
}

// What elements are mapped to, and how a result is finished; plain is as it is.
const (
	plain = iota
	absolute
	squared
	share
	root
)

// reductionsF32 are the reductions that kernels compute.
var reductionsF32 = []struct {
	name string
	op   *graph.Op
	reduction
}{
	{"reduce_mean_rows", graph.ReduceMean, reduction{asm.Add, plain, share}},
	{"reduce_sum", graph.ReduceSum, reduction{asm.Add, plain, plain}},
	{"reduce_max", graph.ReduceMax, reduction{asm.Max, plain, plain}},
	{"reduce_min", graph.ReduceMin, reduction{asm.Min, plain, plain}},
	{"reduce_prod", graph.ReduceProd, reduction{asm.Mul, plain, plain}},
	{"reduce_l1", graph.ReduceL1, reduction{asm.Add, absolute, plain}},
	{"reduce_l2", graph.ReduceL2, reduction{asm.Add, squared, root}},
	{"reduce_sumsquare", graph.ReduceSumSquare, reduction{asm.Add, squared, plain}},
}

// Tactics are those in float32 for one instruction set.
func Tactics(isa asm.Features) []kernels.Tactic {
	softmax := kernels.Tactic{
		Name: "softmax_f32_" + work.ISAName(isa), Op: graph.Softmax, Needs: kernels.Feature(isa),
		Match: matchSoftmax,
		Bind:  func(b kernels.Binding) (kernels.Kernel, error) { return bindSoftmax(b, isa) },
	}
	return slices.Concat(normTactics(isa), argTactics(isa), cumulativeTactics("f32_"+work.ISAName(isa), isa, false),
		[]kernels.Tactic{softmax, rotaryTactic(isa), lrnTactic(isa), topKTactic("topk_f32_"+work.ISAName(isa), isa, false)}, reduceTactics(isa))
}

// Integers are those on integers, in plain Go.
func Integers() []kernels.Tactic {
	return append(cumulativeTactics("integers", 0, true), topKTactic("topk_integers", 0, true))
}

// reduceTactics are the reductions in float32 for one instruction set.
func reduceTactics(isa asm.Features) []kernels.Tactic {
	var list []kernels.Tactic
	for _, r := range reductionsF32 {
		list = append(list, kernels.Tactic{
			Name: r.name + "_f32_" + work.ISAName(isa), Op: r.op, Needs: kernels.Feature(isa),
			Match: func(b kernels.Binding) error {
				if err := b.Only(numeric.F32); err != nil {
					return err
				}
				if _, err := reducedExtents(b); err != nil {
					return err
				}
				_, err := programs.Trailing(b, 0)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newReduceKernel(b, r.reduction, isa) },
		})
	}
	return list
}

// extents of a reduction: x [outer, rows, inner, row] to y [outer, inner].
type extents struct{ outer, rows, inner, row int }

// reducedExtents joins the axes of a reduction's input.
func reducedExtents(b kernels.Binding) (extents, error) {
	e := extents{1, 1, 1, 1}
	dims := b.In[0].Dims
	axes, err := b.Layer.Attrs.(graph.ReduceAttrs).Resolve(len(dims))
	if err != nil {
		return e, err
	}
	if numeric.Count(dims) == 0 {
		return e, fmt.Errorf("the input is empty")
	}
	groups := []*int{&e.outer, &e.rows, &e.inner, &e.row}
	at := 0
	for i, n := range dims {
		if n == 1 {
			continue
		}
		if reduced := slices.Contains(axes, i); reduced != (at%2 == 1) {
			at++
		}
		if at == len(groups) {
			return e, fmt.Errorf("axes %v of %v are more than two groups of neighbours", axes, dims)
		}
		*groups[at] *= n
	}
	if e.inner == 1 { // nothing is kept between the two
		e.rows, e.row = 1, e.rows*e.row
	}
	if e.rows == 1 {
		e.outer, e.inner = 1, e.outer*e.inner
	}
	return e, nil
}

// reduceKernel is a reduction bound to a layer.
type reduceKernel struct {
	extents
	reduction
	vec     asm.VecKernel
	layout  asm.LayoutKernel
	program *programs.Program
	job     *work.Job[reduceLaunch]
}

// Bounds of a unit of work: columns that are folded at once, and bytes of rows.
const (
	reducedColumns = 1024
	reducedBytes   = 64 << 10
	// Short rows are folded next to each other, transposed, as many as fit.
	shortRow       = 256
	shortRowSum    = 64 // of rows whose sums have a function of their own
	transposedRoom = 1 << 14
	// partialRows are how many elements are added one by one: sums of such sums lose less than one long sum.
	partialRows = 64
)

func newReduceKernel(b kernels.Binding, r reduction, isa asm.Features) (kernels.Kernel, error) {
	e, err := reducedExtents(b)
	if err != nil {
		return nil, err
	}
	k := &reduceKernel{extents: e, reduction: r, vec: work.VecKernel(isa), layout: work.LayoutKernel(isa)}
	k.program, err = programs.Trailing(b, isa)
	k.job = work.NewJob((*reduceLaunch).do)
	return k, err
}

// reduceLaunch is the state of one launch.
type reduceLaunch struct {
	kernel *reduceKernel
	x, y   []float32
}

// Launch reduces, then computes the epilogue.
func (k *reduceKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.job.Each(work.LoopOver(st, 4*k.outer*k.rows*k.inner*k.row), k.outer*k.pieces(), reduceLaunch{k, numeric.View[float32](in[0].Host), numeric.View[float32](out[0].Host)})
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

// piece returns how many results of one index of the outer axis are a unit.
func (k *reduceKernel) piece() int {
	if k.row == 1 {
		return reducedColumns
	}
	return max(1, reducedBytes/(4*k.rows*k.row))
}

func (k *reduceKernel) pieces() int { return (k.inner + k.piece() - 1) / k.piece() }

// do computes a unit's results.
func (l *reduceLaunch) do(u, _ int) {
	k := l.kernel
	n, first := u/k.pieces(), u%k.pieces()*k.piece()
	last := min(k.inner, first+k.piece())
	x, y := l.x[n*k.rows*k.inner*k.row:][:k.rows*k.inner*k.row], l.y[n*k.inner+first:][:last-first]
	room := takeRoom(transposedRoom)
	switch {
	case k.fold == asm.Mul:
		k.products(y, x, first)
	case k.row == 1:
		k.columns(y, x[first:], room.floats)
	case k.short():
		k.transposed(y, x[first*k.row:], room.floats)
	default:
		for i := range y {
			y[i] = k.rowsAt(x, first+i, room.floats)
		}
	}
	rooms.Put(room)
	switch k.finish {
	case share:
		k.vec.Unary(asm.Affine, y, y, 1/float32(k.rows*k.row), 0)
	case root:
		k.vec.Unary(asm.Sqrt, y, y, 0, 0)
	}
}

// columns folds rows, inner elements apart, of as many elements as y.
func (k *reduceKernel) columns(y, x, room []float32) {
	partial, element := room[:len(y)], room[reducedColumns:][:len(y)]
	for r := 0; r < k.rows; r += partialRows {
		to := y
		if r > 0 {
			to = partial
		}
		for i := range min(partialRows, k.rows-r) {
			row := x[(r+i)*k.inner:][:len(y)]
			if i == 0 {
				k.element(to, row)
				continue
			}
			if k.mapped != plain {
				k.element(element, row)
				row = element
			}
			k.vec.Binary(k.fold, to, to, row)
		}
		if r > 0 {
			k.vec.Binary(k.fold, y, y, partial)
		}
	}
}

// element maps elements to what is folded.
func (k *reduceKernel) element(dst, src []float32) {
	switch k.mapped {
	case absolute:
		k.vec.Unary(asm.Abs, dst, src, 0, 0)
	case squared:
		k.vec.Binary(asm.Mul, dst, src, src)
	default:
		copy(dst, src)
	}
}

// short reports whether rows are folded by their columns.
func (k *reduceKernel) short() bool {
	if k.fold == asm.Add && k.mapped != absolute {
		return k.rows == 1 && k.row <= shortRowSum
	}
	return k.rows == 1 && k.row <= shortRow
}

// transposed folds short rows, one after the other in x, by their columns.
func (k *reduceKernel) transposed(y, x, room []float32) {
	for len(y) > 0 {
		n := min(transposedRoom/k.row/work.Lanes*work.Lanes, shortRow, len(y))
		width := (n + work.Lanes - 1) / work.Lanes * work.Lanes
		block := room[:k.row*width]
		for at := 0; at < n; at += work.Lanes {
			k.layout.Interleave(block[at:], width, x[at*k.row:], k.row, min(work.Lanes, n-at), k.row)
		}
		if k.mapped != plain {
			k.element(block, block)
		}
		acc := block[:width]
		for i := 1; i < k.row; i++ {
			k.vec.Binary(k.fold, acc, acc, block[i*width:][:width])
		}
		copy(y[:n], acc)
		y, x = y[n:], x[n*k.row:]
	}
}

// rowsAt folds the rows of index i of the inner axis.
func (k *reduceKernel) rowsAt(x []float32, i int, room []float32) float32 {
	result := k.foldRow(x[i*k.row:][:k.row], room)
	for r := 1; r < k.rows; r++ {
		result = foldTwo(k.fold, result, k.foldRow(x[(r*k.inner+i)*k.row:][:k.row], room))
	}
	return result
}

// foldRow folds one row.
func (k *reduceKernel) foldRow(x, room []float32) float32 {
	switch {
	case len(x) < 2*work.Lanes:
		return k.foldFew(x)
	case k.fold == asm.Add && k.mapped == plain:
		return k.vec.Sum(x)
	case k.fold == asm.Add && k.mapped == squared:
		return k.vec.SumSquares(x, 0)
	case k.fold == asm.Max || k.fold == asm.Min:
		return k.extreme(x)
	}
	width := min(256, len(x)/(2*work.Lanes)*(2*work.Lanes)) // a multiple of 32
	acc, element := room[:width], room[reducedColumns:]
	k.element(acc, x[:width])
	for at := width; at < len(x); at += width {
		part := x[at:min(at+width, len(x))]
		if k.mapped != plain {
			k.element(element[:len(part)], part)
			part = element[:len(part)]
		}
		k.vec.Binary(k.fold, acc[:len(part)], acc[:len(part)], part)
	}
	for len(acc) > 2*work.Lanes && len(acc)%(2*work.Lanes) == 0 && len(acc)/2%work.Lanes == 0 {
		half := len(acc) / 2
		k.vec.Binary(k.fold, acc[:half], acc[:half], acc[half:])
		acc = acc[:half]
	}
	result := acc[0]
	for _, v := range acc[1:] {
		result = foldTwo(k.fold, result, v)
	}
	return result
}

// extreme returns the largest or smallest element, NaN if there is one.
func (k *reduceKernel) extreme(x []float32) float32 {
	const block = 4096 // stays in the L1 cache for the second look
	result := x[0]
	for at := 0; at < len(x); at += block {
		part := x[at:min(len(x), at+block)]
		low, high := k.vec.Range(part)
		if k.fold == asm.Min {
			high = low
		}
		if sum := k.vec.Sum(part); sum != sum { // NaN, or infinities of both signs
			high = k.foldFew(part)
		}
		result = foldTwo(k.fold, result, high)
	}
	return result
}

// foldFew folds a short row, one element after the other.
func (k *reduceKernel) foldFew(x []float32) float32 {
	result := k.one(x[0])
	for _, v := range x[1:] {
		result = foldTwo(k.fold, result, k.one(v))
	}
	return result
}

// one maps an element.
func (k *reduceKernel) one(v float32) float32 {
	switch k.mapped {
	case absolute:
		return max(v, -v)
	case squared:
		return v * v
	}
	return v
}

// foldTwo is the function that rows are folded by, on two numbers.
func foldTwo(op asm.BinaryOp, x, y float32) float32 {
	switch op {
	case asm.Max:
		return max(x, y)
	case asm.Min:
		return min(x, y)
	}
	return x + y
}
