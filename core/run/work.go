package run

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Work is what a step has to do, whichever tactic does it.
type Work struct {
	FLOPs      int64            // of products: see graph.FLOPs
	Operations int64            // all arithmetic: see graph.Operations
	Type       numeric.DataType // that the arithmetic is in: see graph.Arithmetic
	Bytes      int64            // read and written, weights included; each tensor once
	Traffic    []Traffic        // Bytes, tensor by tensor; nil where it is not known how often a body runs
}

// Traffic is one tensor that a step reads or writes.
type Traffic struct {
	Bytes int64
	// Since is how many other bytes an inference touches at least between the last use of these and this one, and these: a level of
	// memory that holds fewer cannot have kept all of them.
	Since int64
}

// works reports whether a step does something in every inference.
func (s *Step) works() bool { return s.Tactic != InMemory && !s.Once }

// Work returns the work of every step at the plan's shapes, in an inference that is not the first one at them.
func (p *Plan) Work() []Work {
	env := p.Env()
	list := make([]Work, len(p.Steps))
	h := history{plan: p, touched: map[int]int{}, all: int64(p.Memory.Weights + p.Memory.Peak + p.Memory.IO)}
	for i, s := range p.Steps {
		w := &list[i]
		if !s.Once {
			w.FLOPs = graph.FLOPs(s.Layer, env)
		}
		if s.works() {
			w.Operations, w.Type = graph.Operations(s.Layer, env), graph.Arithmetic(s.Layer)
		}
		h.step(i, w, env)
		if s.Tactic == SubPlans {
			w.Traffic = nil
		}
	}
	return list
}

// history knows when memory was touched last.
type history struct {
	plan    *Plan
	touched map[int]int // the last step that touched a slot, by the slot whose memory it is in
	written []int64     // bytes written by each step until now
	consts  []int64     // and of constants that it read
	all     int64       // that an inference touches
}

// step fills in what step i moves.
func (h *history) step(i int, w *Work, env map[string]int) {
	p, s := h.plan, h.plan.Steps[i]
	var written, consts int64
	add := func(n, since int64) {
		if w.Bytes += n; n > 0 {
			w.Traffic = append(w.Traffic, Traffic{n, since})
		}
	}
	moves := s.works()
	for k, t := range s.Layer.Inputs {
		switch {
		case t == nil || !moves:
		case s.In[k] < 0:
			n := looked(int64(len(t.Weights)), s.Layer, k, env)
			consts += n
			add(n, h.all)
		default:
			n := looked(int64(p.Slots[s.In[k]].Desc.Bytes()), s.Layer, k, env)
			add(n, min(h.all, n+h.between(p.root(s.In[k]), i)))
		}
	}
	for _, slot := range s.In {
		if slot >= 0 {
			h.touched[p.root(slot)] = i
		}
	}
	for _, slot := range s.Out {
		n := int64(p.Slots[slot].Desc.Bytes())
		if moves {
			written += n
			add(n, n)
		}
		h.touched[p.root(slot)] = i
	}
	h.written, h.consts = append(h.written, written), append(h.consts, consts)
}

// between returns the bytes that the steps between the last one that touched a slot's memory and step i touch at least: all of an
// inference, if none has touched it in this one.
func (h *history) between(root, i int) int64 {
	last, ok := h.touched[root]
	if !ok {
		return h.all
	}
	var written, consts int64
	for k := last + 1; k < i; k++ {
		written, consts = written+h.written[k], consts+h.consts[k]
	}
	return min(written, int64(h.plan.Memory.Peak)) + consts // memory is written again and again
}

// looked returns how much of the bytes of input k a layer looks at.
func looked(bytes int64, l *graph.Layer, k int, env map[string]int) int64 {
	if n := int64(numeric.Count(symbolic.Eval(l.Inputs[k].Dims, env))); n > 0 {
		return int64(float64(bytes) * (float64(graph.Reads(l, k, env)) / float64(n)))
	}
	return 0
}
