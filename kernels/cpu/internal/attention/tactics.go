package attention

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Tactics are the attentions in float32 for one instruction set.
func Tactics(isa asm.Features, workers int) []kernels.Tactic {
	return []kernels.Tactic{{
		Name: "attention_f32_" + work.ISAName(isa), Op: graph.Attention, Needs: kernels.Feature(isa), Strided: true, Rows: true,
		Match: match,
		Workspace: func(b kernels.Binding) int {
			a, t, err := bound(b, isa, workers)
			if err != nil {
				return 0
			}
			return 4 * (t.workspace() + a.Workspace())
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) { return bind(b, isa, workers) },
	}}
}

func match(b kernels.Binding) error {
	for i, t := range b.Layer.OpInputs() {
		have := b.In[i].Type
		switch {
		case t == nil || have == numeric.F32 || have == numeric.F16 && b.Consts[i] != nil:
		case i == graph.AttentionMask && have == numeric.Bool, i == graph.AttentionKVLengths && have == numeric.I64:
		default:
			return fmt.Errorf("input %s is %s, the kernel takes %s", t.Name, have, numeric.F32)
		}
	}
	if len(b.Out) > 3 {
		return fmt.Errorf("output %s is scores, which the kernel does not keep", b.Layer.Outputs[3].Name)
	}
	for i, d := range b.Out {
		if d.Type != numeric.F32 {
			return fmt.Errorf("output %s is %s, the kernel writes %s", b.Layer.Outputs[i].Name, d.Type, numeric.F32)
		}
	}
	if _, _, err := bound(b, 0, 1); err != nil {
		return err
	}
	_, err := programs.Trailing(b, 0)
	return err
}

// bound returns the attention of a layer, and what turns its queries and keys; nil for nothing.
func bound(b kernels.Binding, isa asm.Features, workers int) (*Attention, *turning, error) {
	s, err := shapeOf(b)
	if err != nil {
		return nil, nil, err
	}
	t := turningOf(b, &s, isa)
	a, err := New(s, isa, workers)
	return a, t, err
}

// given reports whether there is input i.
func given(b kernels.Binding, i int) bool { return b.Layer.Input(i) != nil }

// stridesOf returns the strides of an operand with its heads in an axis of their own, or in the last one.
func stridesOf(d kernels.Desc, heads int) Strides {
	if n := d.Dims; len(n) == 4 {
		return Strides{d.BatchStride(), n[2] * d.RowPitch(), d.RowPitch()}
	}
	return Strides{d.BatchStride(), d.Dims[2] / heads, d.RowPitch()}
}

// extents returns the heads, rows and elements of a row of such an operand.
func extents(d kernels.Desc, heads int) (count, rows, size int) {
	if n := d.Dims; len(n) == 4 {
		return n[1], n[2], n[3]
	}
	return heads, d.Dims[1], d.Dims[2] / max(1, heads)
}

// shapeOf returns the geometry of a layer.
func shapeOf(b kernels.Binding) (Shape, error) {
	a := b.Layer.Attrs.(graph.AttentionAttrs)
	q, k, v := b.In[graph.AttentionQ], b.In[graph.AttentionK], b.In[graph.AttentionV]
	s := Shape{Batch: q.Dims[0], Scale: a.Scale, Softcap: a.Softcap, Back: a.Left, Reach: a.Right}
	if a.Causal {
		s.Reach = 1 // a window that reaches further does not matter
	}
	s.Heads, s.Queries, s.Size = extents(q, a.Heads)
	s.KVHeads, s.Keys, _ = extents(k, a.KVHeads)
	_, _, s.ValueSize = extents(v, a.KVHeads)
	if numeric.Count(q.Dims)*numeric.Count(k.Dims)*numeric.Count(v.Dims) == 0 {
		return s, fmt.Errorf("an operand is empty")
	}
	if given(b, graph.AttentionPastK) {
		s.Past = b.In[graph.AttentionPastK].Dims[2]
		s.Keys += s.Past
		s.PastK, s.PastV = stridesOf(b.In[graph.AttentionPastK], 0), stridesOf(b.In[graph.AttentionPastV], 0)
	}
	if s.Scale == 0 {
		s.Scale = float32(1 / math.Sqrt(float64(s.Size)))
	}
	s.Counted, s.Sunk = given(b, graph.AttentionKVLengths), given(b, graph.AttentionSinks)
	s.Q, s.K, s.V, s.Y = stridesOf(q, s.Heads), stridesOf(k, s.KVHeads), stridesOf(v, s.KVHeads), stridesOf(b.Out[0], s.Heads)
	if s.WriteK = len(b.Out) > 1; s.WriteK {
		s.PresentK = stridesOf(b.Out[1], 0)
	}
	if s.WriteV = len(b.Out) > 2; s.WriteV {
		s.PresentV = stridesOf(b.Out[2], 0)
	}
	if given(b, graph.AttentionMask) {
		s.Masked, s.Mask = true, maskOf(b.In[graph.AttentionMask], s.Keys)
	}
	return s, nil
}

// maskOf returns how a mask of up to four axes lies.
func maskOf(d kernels.Desc, keys int) Mask {
	m := Mask{Keys: keys, Bool: d.Type == numeric.Bool}
	stride := 1
	for i, to := range []*int{&m.Column, &m.Row, &m.Head, &m.Batch} {
		at := len(d.Dims) - 1 - i
		if at < 0 {
			break
		}
		n := d.Dims[at]
		switch {
		case at == 0 && d.Batch > 0:
			stride = d.Batch
		case i == 1 && len(d.Dims) > 2:
			stride = d.RowPitch()
		}
		if n > 1 {
			*to = stride
		}
		if i == 0 && n > 1 {
			m.Keys = min(keys, n)
		}
		stride *= n
	}
	return m
}

// kernel is an attention bound to a layer.
type kernel struct {
	*Attention
	turning *turning
	program *programs.Program
	consts  [graph.AttentionSinks + 1][]byte
}

func bind(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	a, t, err := bound(b, isa, workers)
	if err != nil {
		return nil, err
	}
	k := &kernel{Attention: a, turning: t}
	for i := range b.Layer.OpInputs() {
		if v, ok := b.Const(i); ok {
			if k.consts[i] = v.Data; v.Type == numeric.F16 {
				k.consts[i] = numeric.Bytes(work.RealConst(b, i))
			}
		}
	}
	k.program, err = programs.Trailing(b, isa)
	return k, err
}

// Launch computes the attention, then the epilogue.
func (k *kernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	bytes := func(i int) []byte {
		if k.consts[i] != nil {
			return k.consts[i]
		}
		if i < len(in) {
			return in[i].Host
		}
		return nil
	}
	floats := func(i int) []float32 { return numeric.View[float32](bytes(i)) }
	call := Call{
		Q: floats(graph.AttentionQ), K: floats(graph.AttentionK), V: floats(graph.AttentionV), Y: numeric.View[float32](out[0].Host),
		Workspace: numeric.View[float32](ws.Host)[k.turning.workspace():],
	}
	if k.Past > 0 {
		call.PastK, call.PastV = floats(graph.AttentionPastK), floats(graph.AttentionPastV)
	}
	if k.Masked && k.Mask.Bool {
		call.Bools = bytes(graph.AttentionMask)
	} else if k.Masked {
		call.Mask = floats(graph.AttentionMask)
	}
	if k.Counted {
		call.Counts = numeric.View[int64](bytes(graph.AttentionKVLengths))
	}
	if k.Sunk {
		call.Sinks = floats(graph.AttentionSinks)
	}
	if k.WriteK {
		call.PresentK = numeric.View[float32](out[1].Host)
	}
	if k.WriteV {
		call.PresentV = numeric.View[float32](out[2].Host)
	}
	if k.turning != nil {
		k.turning.run(work.LoopOver(st, 8*k.turning.workspace()), &call, floats(graph.AttentionCos), floats(graph.AttentionSin), numeric.View[float32](ws.Host))
	}
	k.Run(work.Loop(st), &call)
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}
