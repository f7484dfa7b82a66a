package moves

import (
	"fmt"
	"math/bits"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// scatterRowsTactic is ScatterND.
func scatterRowsTactic() emit.Tactic {
	return emit.Tactic{
		Name: "scatter_rows_linear", Op: graph.ScatterND, In: kernels.Linear, Out: kernels.Linear, Empty: true,
		Match: func(b kernels.Binding) error {
			_, err := scatteredRowsOf(b)
			return err
		},
		Workspace: func(b kernels.Binding) int {
			if s, err := scatteredRowsOf(b); err == nil && s.known == nil {
				return 4 * rowWords * s.rows
			}
			return 0
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			s, err := scatteredRowsOf(b)
			if err != nil {
				return nil, err
			}
			return s.emit(b), nil
		},
		Cost: func(b kernels.Binding) []emit.Job {
			s, err := scatteredRowsOf(b)
			if err != nil {
				return nil
			}
			list := []emit.Job{emit.ThreadJob(numeric.Count(b.Out[0].Dims), 10, emit.Traffic(b)), emit.ThreadJob(s.rows*s.slice, 40, 0)}
			if s.known == nil {
				list = append(list, emit.ThreadJob(s.rows, 20*s.tuple, 0), emit.ThreadJob(s.rows, 8*s.rows+20, 0))
			}
			return list
		},
	}
}

// scatteredRows is a ScatterND: rows of the updates, slice elements each, go to the places that as many tuples of indices name.
// Three words of each row say what becomes of it, in the workspace or among the constants: the element where its place
// begins, how many rows its threads bring there, and the next row with the same place. The first of these rows brings them
// all, in their order; where they replace each other, the last one brings itself.
type scatteredRows struct {
	meeting
	rows, slice, tuple int
	dims, strides      []int // of the data, tuple of them
	index              numeric.DataType
	known              []uint32 // these words, where the indices are constants
}

const rowWords = 3

func scatteredRowsOf(b kernels.Binding) (*scatteredRows, error) {
	m, err := meetingOf(b)
	if err != nil {
		return nil, err
	}
	x, i := b.In[0].Dims, b.In[1].Dims
	last := len(i) - 1
	s := &scatteredRows{meeting: m, rows: numeric.Count(i[:last]), tuple: i[last], index: b.In[1].Type}
	s.dims, s.strides, s.slice = x[:s.tuple], emit.StridesOf(x)[:s.tuple], numeric.Count(x[s.tuple:])
	if err := emit.ThreadsFit(s.rows * s.slice); err != nil {
		return nil, err
	}
	if v, ok := b.Const(1); ok {
		s.known, err = s.order(v.Ints())
		return s, err
	}
	if s.rows > emit.MaxCompared {
		return nil, fmt.Errorf("%d tuples of indices, the kernel compares up to %d", s.rows, emit.MaxCompared)
	}
	return s, nil
}

// order returns the words of constant indices.
func (s *scatteredRows) order(indices []int64) ([]uint32, error) {
	words := make([]uint32, rowWords*s.rows)
	places, counts, next := words[:s.rows], words[s.rows:2*s.rows], words[2*s.rows:]
	first, last := map[uint32]int{}, map[uint32]int{}
	for r := range s.rows {
		for j, n := range s.dims {
			i := int(indices[r*s.tuple+j])
			if i < 0 {
				i += n
			}
			if i < 0 || i >= n {
				return nil, fmt.Errorf("index %d of an axis of %d", indices[r*s.tuple+j], n)
			}
			places[r] += uint32(i * s.strides[j])
		}
		p := places[r]
		before, seen := last[p]
		last[p] = r
		switch {
		case !seen:
			first[p], counts[r] = r, 1
		case s.reals == nil:
			counts[before], counts[r] = 0, 1
		default:
			next[before] = uint32(r)
			counts[first[p]]++
		}
	}
	return words, nil
}

// emit emits the copy of the data, the two kernels that find the words unless they are known, and that which writes.
func (s *scatteredRows) emit(b kernels.Binding) *emit.Work {
	w := emit.NewWork()
	copyData(b, w)
	if s.rows*s.slice == 0 {
		return w
	}
	if s.known == nil {
		s.emitPlaces(b, w)
		s.emitOrder(w)
	}
	s.emitRows(b, w)
	return w
}

// emitPlaces emits the kernel whose threads each find the place of a tuple.
func (s *scatteredRows) emitPlaces(b kernels.Binding, w *emit.Work) {
	k, l := w.Threads("places", s.rows)
	indices, places := l.Input(k, 1), l.Scratch(k, "places", 0)
	row := emit.ThreadIndex(k, s.rows)
	place := ptx.U(0)
	p := k.Offset(indices, row, s.tuple*s.index.Size())
	for j, n := range s.dims {
		place = k.Mad(emit.IndexAt(k, p.At(j*s.index.Size()), n), ptx.U(s.strides[j]), place)
	}
	k.Store(k.Offset(places, row, 4), place.Word())
	w.End(k, l)
}

// emitOrder emits the kernel whose threads each compare a row's place with those of all others.
func (s *scatteredRows) emitOrder(w *emit.Work) {
	k, l := w.Threads("order", s.rows)
	words := l.Scratch(k, "words", 0)
	row := emit.ThreadIndex(k, s.rows)
	own := k.Load(k.Offset(words, row, 4), 1)[0].Uint()
	count, earlier, next := k.Var(ptx.U(0)), k.Var(ptx.U(0)), k.Var(ptx.U(s.rows))
	k.For(ptx.U(0), ptx.U(s.rows), ptx.U(1), func(i ptx.Uint) {
		same := k.Eq(k.Load(k.Offset(words, i, 4), 1)[0].Uint(), own)
		k.Set(count, k.Add(count, k.Select(same, ptx.U(1), ptx.U(0))))
		k.Set(earlier, k.Select(k.Both(same, k.Lt(i, row)), ptx.U(1), earlier))
		k.Set(next, k.Select(k.Both(same, k.Gt(i, row)), k.Min(next, i), next))
	})
	brings := k.Select(k.Eq(earlier, ptx.U(0)), count, ptx.U(0))
	if s.reals == nil {
		brings = k.Select(k.Eq(next, ptx.U(s.rows)), ptx.U(1), ptx.U(0))
	}
	k.Store(k.Offset(words, row, 4).At(4*s.rows), brings.Word())
	k.Store(k.Offset(words, row, 4).At(8*s.rows), next.Word())
	w.End(k, l)
}

// emitRows emits the kernel that brings the updates: a thread has an element of a row, or where they replace what is there
// a vector of them.
func (s *scatteredRows) emitRows(b kernels.Binding, w *emit.Work) {
	n := 1
	if s.reals == nil {
		n = min(16/s.typ.Size(), 1<<bits.TrailingZeros(uint(s.slice)))
	}
	size, perRow := n*s.typ.Size(), s.slice/n
	total := s.rows * perRow
	k, l := w.Threads("scatter", total)
	updates := l.Operand(k, w, b, 2)
	var words ptx.GlobalPtr
	if s.known != nil {
		words = l.Constant(k, "words", w.Append(numeric.Bytes(s.known)))
	} else {
		words = l.Scratch(k, "words", 0)
	}
	y := l.Output(k, 0)
	row, column := k.DivRem(emit.ThreadIndex(k, total), perRow)
	own := k.Offset(words, row, 4)
	to := k.Offset(k.Offset(y, k.Load(own, 1)[0].Uint(), s.typ.Size()), column, size)
	brings, current := k.Load(own.At(4*s.rows), 1)[0].Uint(), k.Var(row)
	k.For(ptx.U(0), brings, ptx.U(1), func(ptx.Uint) {
		from := k.Offset(updates, k.Mad(current, ptx.U(perRow), column), size)
		if s.reals == nil {
			emit.CopyElement(k, to, from, size, nil, nil)
			return
		}
		s.put(k, to, from)
		k.Set(current, k.Load(k.Offset(words, current, 4).At(8*s.rows), 1)[0].Uint())
	})
	w.End(k, l)
}
