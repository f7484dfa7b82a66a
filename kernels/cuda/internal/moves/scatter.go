package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Scatterings copy the data to the output, and then bring the updates there. What several updates of one element come to
// does not depend on which thread is first: each such element belongs to one thread, which takes the updates in their order.

// scatterTactics are the scatterings of elements and of slices.
func scatterTactics() []emit.Tactic {
	return []emit.Tactic{{
		Name: "scatter_elements_linear", Op: graph.ScatterElements, In: kernels.Linear, Out: kernels.Linear, Empty: true,
		Match: func(b kernels.Binding) error {
			_, err := meetingOf(b)
			return err
		},
		Emit: emitScatterElements,
		Cost: func(b kernels.Binding) []emit.Job {
			u, axis := b.In[2].Dims, axisOfScatter(b)
			lines := numeric.Count(u) / max(1, u[axis])
			return []emit.Job{emit.ThreadJob(numeric.Count(b.Out[0].Dims), 10, emit.Traffic(b)), emit.ThreadJob(lines, 400*u[axis]+40, 0)} // each update waits for the last
		},
	}, scatterRowsTactic(), tensorScatterTactic()}
}

// meeting is how an update meets what is there.
type meeting struct {
	typ   numeric.DataType
	reals func(k *ptx.K, a, b ptx.Float) ptx.Float // nil: the update replaces it
	longs func(k *ptx.K, a, b ptx.Long) ptx.Long
}

// meetingOf returns it for a layer, and an error where its tensors are not those of a scattering in memory.
func meetingOf(b kernels.Binding) (meeting, error) {
	x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]
	m := meeting{typ: x.Type}
	if b.Layer.Epilogue.Args > 0 {
		return m, fmt.Errorf("the kernel has no epilogue")
	}
	for _, t := range []*graph.Tensor{b.Layer.Inputs[2], y} {
		if t.Type != x.Type || !t.Range.Equal(x.Range) || x.Range.PerChannel() {
			return m, fmt.Errorf("%s and %s differ in type or range, or have one by channel", x.Name, t.Name)
		}
	}
	if i := b.In[1].Type; i != numeric.I64 && i != numeric.I32 {
		return m, fmt.Errorf("indices are %s, the kernel takes i32 and i64", i)
	}
	if numeric.Count(b.Out[0].Dims) == 0 {
		return m, fmt.Errorf("the output is empty")
	}
	reduction := b.Layer.Attrs.(graph.ScatterAttrs).Reduction
	if reduction == "none" {
		return m, nil
	}
	if t := x.Type; t != numeric.F32 && t != numeric.F16 && !t.IsInteger() {
		return m, fmt.Errorf("elements are %s, the kernel reduces f32, f16 and integers", t)
	}
	signed := x.Type != numeric.U64
	switch reduction {
	case "add":
		m.reals, m.longs = (*ptx.K).AddF, (*ptx.K).AddL
	case "mul":
		m.reals, m.longs = (*ptx.K).MulF, (*ptx.K).MulL
	case "max":
		m.reals = (*ptx.K).MaxNaN
		m.longs = func(k *ptx.K, a, b ptx.Long) ptx.Long { return k.SelectL(k.LtL(a, b, signed), b, a) }
	case "min":
		m.reals = (*ptx.K).MinNaN
		m.longs = func(k *ptx.K, a, b ptx.Long) ptx.Long { return k.SelectL(k.LtL(b, a, signed), b, a) }
	default:
		return m, fmt.Errorf("reduction %q has no translation", reduction)
	}
	return m, nil
}

// put brings one update to its place.
func (m meeting) put(k *ptx.K, to, from ptx.GlobalPtr) {
	switch {
	case m.reals == nil:
		emit.CopyElement(k, to, from, m.typ.Size(), nil, nil)
	case m.typ.IsFloat():
		s := emit.Storage{Type: m.typ}
		s.StoreOne(k, to, m.reals(k, s.LoadOne(k, to), s.LoadOne(k, from)))
	default:
		emit.StoreInteger(k, to, m.typ, m.longs(k, emit.LoadInteger(k, to, m.typ), emit.LoadInteger(k, from, m.typ)))
	}
}

// copyData emits the kernel that copies a scattering's data.
func copyData(b kernels.Binding, w *emit.Work) {
	m := &mover{size: b.Out[0].Type.Size(), axes: []moveAxis{straight(numeric.Count(b.Out[0].Dims), 1)}}
	m.widen()
	total := m.elements()
	k, l := w.Threads("copy", total)
	x, y := l.Operand(k, w, b, 0), l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	emit.CopyElement(k, k.Offset(y, index, m.size), k.Offset(x, index, m.size), m.size, nil, nil)
	w.End(k, l)
}

func axisOfScatter(b kernels.Binding) int {
	axis := b.Layer.Attrs.(graph.ScatterAttrs).Axis
	if axis < 0 {
		axis += len(b.In[0].Dims)
	}
	return axis
}

// emitScatterElements emits, behind the copy, a kernel in which each thread goes along one line of the updates: elements of
// different lines have different places.
func emitScatterElements(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	m, err := meetingOf(b)
	if err != nil {
		return nil, err
	}
	copyData(b, w)
	x, u, axis := b.In[0].Dims, b.In[2].Dims, axisOfScatter(b)
	if numeric.Count(u) == 0 {
		return w, nil
	}
	lines := numeric.Count(u) / u[axis]
	k, l := w.Threads("scatter", lines)
	indices, updates, y := l.Operand(k, w, b, 1), l.Operand(k, w, b, 2), l.Output(k, 0)
	first, target, rest := ptx.U(0), ptx.U(0), emit.ThreadIndex(k, lines)
	strides, apart := emit.StridesOf(x), emit.StridesOf(u)
	for i := len(u) - 1; i >= 0; i-- {
		if i == axis {
			continue
		}
		var place ptx.Uint
		rest, place = k.DivRem(rest, u[i])
		first, target = k.Mad(place, ptx.U(apart[i]), first), k.Mad(place, ptx.U(strides[i]), target)
	}
	k.For(ptx.U(0), ptx.U(u[axis]), ptx.U(1), func(i ptx.Uint) {
		from := k.Mad(i, ptx.U(apart[axis]), first)
		place := emit.IndexAt(k, k.Offset(indices, from, b.In[1].Type.Size()), x[axis])
		to := k.Mad(place, ptx.U(strides[axis]), target)
		m.put(k, k.Offset(y, to, m.typ.Size()), k.Offset(updates, from, m.typ.Size()))
	})
	w.End(k, l)
	return w, nil
}
