package recognise

import (
	"bytes"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// sinks is a score of each head that stands beside those of its keys and has no value:
//
//	c = Concat(s, sinks [B,H,S,1])
//	d = Sub(c, ReduceMax(c))
//	p = Softmax(d)
//	w = Slice(p, all but the last)
//	o = MatMul(w, v)
type sinks struct {
	joined  *graph.Layer   // that puts them beside the scores
	dropped bool           // their weights are
	layers  []*graph.Layer // that spread them
	heads   *graph.Tensor  // one for each head
}

// joined goes on before a Concat of scores and their sinks.
func (a *attention) joined(l *graph.Layer) *graph.Layer {
	rank, axis := len(l.Outputs[0].Dims), l.Attrs.(graph.ConcatAttrs).Axis
	if len(l.Inputs) != 2 || rank < 2 || axis != -1 && axis != rank-1 || !l.Inputs[1].Dims[rank-1].Is(1) {
		return nil
	}
	return a.through(l, l.Inputs[0], func() {
		if a.sinks != nil {
			a.fault = "the scores have several columns of sinks"
		}
		a.sinks = &sinks{joined: l}
	})
}

// shifted returns what l subtracts the highest of each row of, which a softmax does not see, and the layer that finds it.
func shifted(l *graph.Layer) (x *graph.Tensor, highest *graph.Layer) {
	p, ok := graph.ProgramOf(l)
	if !ok || len(p.Code) != 1 || p.Code[0].Op != elementwise.Sub || len(l.Inputs) != 2 || p.Code[0].Arg[0] != 0 || p.Code[0].Arg[1] != 1 {
		return nil, nil
	}
	x, highest = l.Inputs[0], l.Inputs[1].Producer
	if highest == nil || highest.Op != graph.ReduceMax || highest.Inputs[0] != x || highest.Epilogue.Args > 0 {
		return nil, nil
	}
	r := highest.Attrs.(graph.ReduceAttrs)
	axes, err := r.Resolve(len(x.Dims))
	if err != nil || !r.KeepDims || len(axes) != 1 || axes[0] != len(x.Dims)-1 {
		return nil, nil
	}
	return x, highest
}

// dropsSinks reports whether u, which reads weights with those of sinks, leaves the latter out.
func (a *attention) dropsSinks(u *graph.Layer) bool {
	if a.sinks == nil || a.sinks.dropped || u.Op != graph.Slice || !cutsEnds(u) {
		return false
	}
	a.sinks.dropped = symbolic.Equal(u.Outputs[0].Dims, a.sinks.joined.Inputs[0].Dims)
	return a.sinks.dropped
}

// beside returns the dims of scores that the softmax sees as dims, with their sinks.
func (a *attention) beside(dims []symbolic.Dim) []symbolic.Dim {
	if a.sinks == nil || !symbolic.Equal(dims, a.sinks.joined.Outputs[0].Dims) {
		return dims
	}
	return a.sinks.joined.Inputs[0].Dims
}

// sink finds a sink for each head, or records why there is none.
func (a *attention) sink(c *pass.Candidate, h operands) bool {
	s := a.sinks
	if s == nil {
		return true
	}
	t := s.joined.Inputs[1]
	if len(t.Dims) != 4 || !a.scores.Outputs[0].Dims[1].Equal(symbolic.Const(h.heads)) {
		return c.Miss(pass.WrongShape, "the sinks %s are not beside scores of [batch, heads, queries, keys]", t)
	}
	for t.Producer != nil && t.Producer.Op == graph.Expand && t.Producer.Epilogue.Args == 0 {
		s.layers, t = append(s.layers, t.Producer), t.Producer.Inputs[0]
	}
	list := []symbolic.Dim{symbolic.Const(h.heads)}
	if d := t.Dims; len(d) == 4 && d[0].Is(1) && d[1].Is(h.heads) && d[2].Is(1) && d[3].Is(1) {
		s.heads = a.draft.reshape(t, list)
	} else if v, ok := oncePerHead(t); ok {
		s.heads = a.draft.constant(t.Name+"_heads", v)
	}
	return s.heads != nil || c.Miss(pass.WrongShape, "the sinks %s are not known to be one for each head", s.joined.Inputs[1])
}

// oncePerHead returns the elements [H] of a constant [B,H,S,1] that has those of the first row everywhere.
func oncePerHead(t *graph.Tensor) (numeric.Value, bool) {
	v, ok := t.Const()
	if dims, known := match.ConstDims(t.Dims); !ok || !known || len(dims) != 4 || v.Len() == 0 {
		return v, false
	}
	heads, rows, size := v.Dims[1], v.Dims[2], v.Type.Size()
	own := numeric.NewValue(v.Type, heads)
	for i := range v.Len() {
		h, x := i/rows%heads, v.Data[i*size:][:size]
		if i < heads*rows && i%rows == 0 {
			copy(own.Data[h*size:], x)
		}
		if !bytes.Equal(own.Data[h*size:][:size], x) {
			return v, false
		}
	}
	return own, true
}
