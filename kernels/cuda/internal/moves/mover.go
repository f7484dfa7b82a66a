package moves

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// mover is a copy whose element at place p of the output is the input's at the sum of the axes' offsets at p, or a fill
// where one of the axes has none. Both tensors are Linear.
type mover struct {
	size int // bytes of an element
	axes []moveAxis
	fill []byte // an element; nil where no axis has gaps
}

// moveAxis is one axis of the output: places from first on, count of them, lie start + i*stride elements in the input, the
// others nowhere. Where that is not so, table has the offset of each place, negative for nowhere.
type moveAxis struct {
	extent       int
	first, count int
	start        int
	stride       int
	table        []int
}

// newMoveAxis returns the axis with the given offsets.
func newMoveAxis(offsets []int) moveAxis {
	a := moveAxis{extent: len(offsets)}
	for a.first < a.extent && offsets[a.first] < 0 {
		a.first++
	}
	end := a.extent
	for end > a.first && offsets[end-1] < 0 {
		end--
	}
	if a.count = end - a.first; a.count == 0 {
		a.first = 0
		return a
	}
	a.start = offsets[a.first]
	if a.count > 1 {
		a.stride = offsets[a.first+1] - a.start
	}
	for i, o := range offsets[a.first:end] {
		if o != a.start+i*a.stride {
			return moveAxis{extent: len(offsets), table: offsets}
		}
	}
	return a
}

// whole reports whether every place has an element at start + i*stride.
func (a moveAxis) whole() bool { return a.table == nil && a.count == a.extent }

// axisOf returns an axis of so many places at offsets given by index, times stride; negative is nowhere.
func axisOf(extent, stride int, index func(i int) int) moveAxis {
	offsets := make([]int, extent)
	for i := range offsets {
		if offsets[i] = -1; index(i) >= 0 {
			offsets[i] = index(i) * stride
		}
	}
	return newMoveAxis(offsets)
}

// straight is an axis that is the input's.
func straight(extent, stride int) moveAxis {
	return moveAxis{extent: extent, count: extent, stride: stride}
}

// simplify joins axes that lie one behind the other, and leaves out those of one place.
func (m *mover) simplify() {
	var list []moveAxis
	for _, a := range m.axes {
		if a.extent == 1 && a.whole() && a.start == 0 {
			continue
		}
		if j := len(list) - 1; j >= 0 && a.whole() && a.start == 0 && list[j].whole() && list[j].stride == a.extent*a.stride {
			list[j] = moveAxis{extent: list[j].extent * a.extent, count: list[j].extent * a.extent, start: list[j].start, stride: a.stride}
			continue
		}
		list = append(list, a)
	}
	m.axes = list
}

// widen makes several neighbouring elements one where all of them move together, up to 16 bytes.
func (m *mover) widen() {
	if len(m.axes) == 0 {
		return
	}
	last := &m.axes[len(m.axes)-1]
	if last.table != nil || last.stride != 1 && last.count > 1 {
		return
	}
	all := last.extent | last.first | last.count | last.start
	for _, a := range m.axes[:len(m.axes)-1] {
		all |= a.start | a.stride
		for _, o := range a.table {
			all |= max(0, o)
		}
	}
	n := min(16/m.size, 1<<bits.TrailingZeros(uint(all)))
	if n <= 1 {
		return
	}
	m.size *= n
	m.fill = slices.Repeat(m.fill, n)
	*last = moveAxis{extent: last.extent / n, first: last.first / n, count: last.count / n, start: last.start / n, stride: 1}
	for i := range m.axes[:len(m.axes)-1] {
		a := &m.axes[i]
		a.start, a.stride = a.start/n, a.stride/n
		a.table = slices.Clone(a.table)
		for j, o := range a.table {
			if o >= 0 {
				a.table[j] = o / n
			}
		}
	}
}

// moveTactic is the tactic of an op that moves elements of one input to one output.
func moveTactic(name string, op *graph.Op, moverOf func(kernels.Binding) (*mover, error)) emit.Tactic {
	checked := func(b kernels.Binding) (*mover, error) {
		if err := movable(b); err != nil {
			return nil, err
		}
		m, err := moverOf(b)
		if err != nil {
			return nil, err
		}
		m.size = b.Out[0].Type.Size()
		m.simplify()
		m.widen()
		return m, nil
	}
	return emit.Tactic{
		Name: name, Op: op, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			_, err := checked(b)
			return err
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			m, err := checked(b)
			if err != nil {
				return nil, err
			}
			w := emit.NewWork()
			m.emit(w, "move", 0, 0)
			return w, nil
		},
		Cost: func(b kernels.Binding) []emit.Job {
			m, err := checked(b)
			if err != nil {
				return nil
			}
			return []emit.Job{m.job()}
		},
	}
}

// job estimates the launch. Where neighbours of the output lie apart in the input each takes a sector of its own, whose rest
// is as often as not still in a cache when its turn comes.
func (m *mover) job() emit.Job {
	const sector = 32 // bytes
	moved := float64(m.elements() * m.size)
	read := moved
	if n := len(m.axes); n > 0 && m.axes[n-1].stride > 1 {
		read *= max(1, float64(min(sector, m.axes[n-1].stride*m.size))/float64(m.size)/2)
	}
	return emit.ThreadJob(m.elements(), 16+10*len(m.axes), moved+read)
}

// movable returns an error where a layer's first input or output is not plain memory that a copy can move.
func movable(b kernels.Binding) error {
	if b.Consts[0] != nil {
		return fmt.Errorf("the input is a constant")
	}
	if b.Layer.Epilogue.Args > 0 || len(b.Out) != 1 {
		return fmt.Errorf("the kernel moves elements to one output, and has no epilogue")
	}
	if b.Layer.Op == graph.BitCast {
		if t := b.Out[0].Type; t == numeric.Bool || t.Bits() < 8 {
			return fmt.Errorf("bits become %s, whose bytes not all of them are", t)
		}
	} else if b.In[0].Type != b.Out[0].Type || !b.Layer.Inputs[0].Range.Equal(b.Layer.Outputs[0].Range) && !b.Layer.Inputs[0].Range.PerChannel() {
		return fmt.Errorf("input and output differ in type or range")
	}
	if numeric.Count(b.Out[0].Dims) == 0 || numeric.Count(b.In[0].Dims) == 0 {
		return fmt.Errorf("a tensor is empty")
	}
	return nil
}

// elements returns the number of elements of the output.
func (m *mover) elements() int {
	n := 1
	for _, a := range m.axes {
		n *= a.extent
	}
	return n
}

// emit emits a kernel that moves an element, or a vector of them, with each thread.
func (m *mover) emit(w *emit.Work, name string, in, out int) {
	total := m.elements()
	k, l := w.Threads(name, total)
	x, y := l.Input(k, in), l.Output(k, out)
	tables := make([]ptx.GlobalPtr, len(m.axes))
	for i, a := range m.axes {
		if a.table != nil {
			tables[i] = l.Constant(k, fmt.Sprintf("t%d", i), w.Append(tableBytes(a.table)))
		}
	}
	index := emit.ThreadIndex(k, total)
	from, rest := ptx.U(0), index
	var inside *ptx.Cond
	also := func(c ptx.Cond) {
		if inside != nil {
			c = k.Both(*inside, c)
		}
		inside = &c
	}
	for i := len(m.axes) - 1; i >= 0; i-- {
		a, place := m.axes[i], rest
		if i > 0 {
			rest, place = k.DivRem(rest, a.extent)
		}
		if a.table != nil {
			offset := k.LoadConst(k.Offset(tables[i], place, 4), 1)[0]
			if slices.Min(a.table) < 0 {
				also(k.GeS(offset.Int(), ptx.I(0)))
			}
			from = k.Add(from, offset.Uint())
			continue
		}
		at := place
		if !a.whole() {
			at = k.Sub(place, ptx.U(a.first))
			also(k.Lt(at, ptx.U(a.count)))
		}
		from = k.Add(from, k.Add(k.Mul(at, ptx.U(a.stride)), ptx.U(a.start)))
	}
	emit.CopyElement(k, k.Offset(y, index, m.size), k.Offset(x, from, m.size), m.size, inside, m.fill)
	w.End(k, l)
}

// tableBytes are offsets as words.
func tableBytes(offsets []int) []byte {
	list := make([]int32, len(offsets))
	for i, o := range offsets {
		list[i] = int32(o)
	}
	return numeric.Bytes(list)
}
