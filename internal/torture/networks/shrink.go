package networks

import (
	"context"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// Shrink returns the smallest model found on which the same thing is wrong, and the plainest setup. It tries, as long as
// there is time and something helps, to leave out outputs and nodes, to cut what comes before a node, to make axes short,
// attributes default and values plain.
func (b *Bench) Shrink(ctx context.Context, m *Model, s Setup, f *Failure, within time.Duration) (*Model, Setup, *Failure) {
	h := &shrinker{bench: b, ctx: ctx, best: m, setup: s, failure: f, until: time.Now().Add(within)}
	figures := b.Figures
	defer func() { b.Figures = figures }()
	for again := true; again; {
		again = false
		for _, step := range []func() bool{h.outputs, h.cut, h.bypass, h.plain, h.axes, h.attributes, h.inputs, h.values} {
			for step() {
				again = true
			}
		}
	}
	return h.best, h.setup, h.failure
}

type shrinker struct {
	bench   *Bench
	ctx     context.Context
	best    *Model
	setup   Setup
	failure *Failure
	until   time.Time
}

// try keeps a smaller model if it fails alike.
func (h *shrinker) try(m *Model, s Setup) bool {
	if time.Now().After(h.until) || h.ctx.Err() != nil {
		return false
	}
	m.sweep()
	if len(m.Nodes) == 0 {
		return false
	}
	f := h.bench.Check(h.ctx, m, s)
	if f == nil || f.Kind != h.failure.Kind {
		return false
	}
	h.best, h.setup, h.failure = m, s, f
	return true
}

// sweep drops the nodes that no output needs, and what nothing reads.
func (m *Model) sweep() {
	need := map[string]bool{}
	for _, name := range m.Outputs {
		need[name] = true
	}
	for i := len(m.Nodes) - 1; i >= 0; i-- {
		n := m.Nodes[i]
		if !slices.ContainsFunc(n.Out, func(name string) bool { return need[name] }) {
			m.Nodes = slices.Delete(m.Nodes, i, i+1)
			continue
		}
		for _, name := range n.reads() {
			need[name] = true
		}
	}
	m.prune()
}

// outputs leaves one output, or makes the result of a node in the middle the only one.
func (h *shrinker) outputs() bool {
	var names []string
	if len(h.best.Outputs) > 1 {
		names = append(names, h.best.Outputs...)
	}
	for _, n := range h.best.Nodes[:max(0, len(h.best.Nodes)-1)] {
		names = append(names, n.Out...)
	}
	for _, name := range names {
		m := h.best.clone()
		m.Outputs = []string{name}
		if len(h.best.Outputs) > 1 || len(m.Nodes) > 0 && name != h.best.Outputs[0] {
			if h.try(m, h.setup) {
				return true
			}
		}
	}
	return false
}

// cut makes a node's results inputs, with the values that they have.
func (h *shrinker) cut() bool {
	all := h.results()
	for i := len(h.best.Nodes) - 1; i >= 0; i-- {
		n := h.best.Nodes[i]
		if slices.ContainsFunc(n.Out, func(name string) bool { return slices.Contains(h.best.Outputs, name) }) {
			continue
		}
		m := h.best.clone()
		m.Nodes = slices.Delete(m.Nodes, i, i+1)
		known := true
		for _, name := range n.Out {
			v, ok := all[name]
			known = known && ok
			m.Inputs = append(m.Inputs, Input{Name: name, Open: make([]string, len(v.Dims)), Feed: v})
		}
		if known && h.try(m, h.setup) {
			return true
		}
	}
	return false
}

// results returns all tensors of the network by their definition.
func (h *shrinker) results() (all map[string]numeric.Value) {
	all = map[string]numeric.Value{}
	defer func() { _ = recover() }() // where the definition panics nothing can be cut
	n, err := onnx.Parse(graph.Ops(), "model.onnx", h.best.Encode())
	if err != nil {
		return all
	}
	_, _ = n.Eval(context.Background(), h.best.Feeds(), func(l *graph.Layer, out []numeric.Value) error {
		for i, t := range l.Outputs {
			all[t.Name] = out[i]
		}
		return nil
	})
	return all
}

// bypass lets what reads a node's result read the node's input.
func (h *shrinker) bypass() bool {
	for i, n := range h.best.Nodes {
		for _, in := range n.reads() {
			if in == "" || slices.ContainsFunc(h.best.Consts, func(c Const) bool { return c.Name == in }) {
				continue
			}
			m := h.best.clone()
			m.Nodes = slices.Delete(m.Nodes, i, i+1)
			for j := range m.Nodes {
				for k, name := range m.Nodes[j].In {
					if name == n.Out[0] {
						m.Nodes[j].In[k] = in
					}
				}
			}
			if h.try(m, h.setup) {
				return true
			}
		}
	}
	return false
}

// plain makes the setup plainer.
func (h *shrinker) plain() bool {
	var list []Setup
	add := func(change func(*Setup)) {
		s := h.setup
		s.Disable = slices.Clone(s.Disable)
		change(&s)
		list = append(list, s)
	}
	if h.setup.File {
		add(func(s *Setup) { s.File = false })
	}
	if h.setup.Tactics != 0 {
		add(func(s *Setup) { s.Tactics = 0 })
	}
	if h.setup.Features != "" {
		add(func(s *Setup) { s.Features = "" })
	}
	if h.setup.Threads > 1 {
		add(func(s *Setup) { s.Threads = 1 })
	}
	if h.setup.Precision == "int8" || h.setup.Precision == "fp16" {
		add(func(s *Setup) { s.Precision, s.Calibrator = "fp32", "" })
	}
	if h.setup.Calibrator != "" && h.setup.Calibrator != "minmax" {
		add(func(s *Setup) { s.Calibrator = "minmax" })
	}
	if len(h.setup.Disable) > 0 {
		add(func(s *Setup) { s.Disable = nil })
		for i := range h.setup.Disable {
			add(func(s *Setup) { s.Disable = slices.Delete(s.Disable, i, i+1) })
		}
	}
	return slices.ContainsFunc(list, func(s Setup) bool { return h.try(h.best.clone(), s) })
}

// axes makes axes of inputs and constants shorter: all of one extent together, since they mostly belong together, or one.
func (h *shrinker) axes() bool {
	all := map[int]bool{}
	for _, v := range h.best.data() {
		for _, d := range v.Dims {
			all[d] = true
		}
	}
	for from := range all {
		for _, to := range []int{1, 2, from / 2, from - 1} {
			if to < 1 || to >= from {
				continue
			}
			m := h.best.clone()
			for _, v := range m.data() {
				for axis, d := range v.Dims {
					if d == from {
						*v = shorten(*v, axis, to)
					}
				}
			}
			if h.try(m, h.setup) {
				return true
			}
		}
	}
	for i, v := range h.best.data() {
		for axis, d := range v.Dims {
			for _, to := range []int{1, d / 2, d - 1} {
				if to < 1 || to >= d {
					continue
				}
				m := h.best.clone()
				w := m.data()[i]
				*w = shorten(*w, axis, to)
				if h.try(m, h.setup) {
					return true
				}
			}
		}
	}
	return false
}

// data returns the values that the model has: of inputs and constants.
func (m *Model) data() []*numeric.Value {
	var list []*numeric.Value
	for i := range m.Inputs {
		list = append(list, &m.Inputs[i].Feed)
	}
	for i := range m.Consts {
		list = append(list, &m.Consts[i].Value)
	}
	return list
}

// shorten returns the first indices of an axis.
func shorten(v numeric.Value, axis, to int) numeric.Value {
	dims := slices.Clone(v.Dims)
	from := dims[axis]
	dims[axis] = to
	inner := numeric.Count(dims[axis+1:]) * v.Type.Size()
	w := numeric.NewValue(v.Type, dims...)
	for i := range numeric.Count(dims[:axis]) {
		copy(w.Data[i*to*inner:(i+1)*to*inner], v.Data[i*from*inner:])
	}
	return w
}

// attributes leaves one out, or makes its numbers 1 or 0.
func (h *shrinker) attributes() bool {
	for i, n := range h.best.Nodes {
		for name, a := range n.Attrs {
			m := h.best.clone()
			delete(m.Nodes[i].Attrs, name)
			if h.try(m, h.setup) {
				return true
			}
			for j, v := range a.Ints {
				for _, to := range []int64{0, 1} {
					if v == to || v == 0 || v == 1 && to == 0 {
						continue
					}
					m := h.best.clone()
					b := a
					b.Ints = slices.Clone(a.Ints)
					b.Ints[j] = to
					m.Nodes[i].Attrs[name] = b
					if h.try(m, h.setup) {
						return true
					}
				}
			}
		}
	}
	return false
}

// inputs leaves out optional inputs, closes open axes, and makes inputs constants.
func (h *shrinker) inputs() bool {
	for i, n := range h.best.Nodes {
		if last := len(n.In) - 1; last > 0 {
			m := h.best.clone()
			m.Nodes[i].In = m.Nodes[i].In[:last]
			if h.try(m, h.setup) {
				return true
			}
		}
	}
	for i, in := range h.best.Inputs {
		for axis, symbol := range in.Open {
			if symbol == "" {
				continue
			}
			m := h.best.clone()
			m.Inputs[i].Open = slices.Clone(in.Open)
			m.Inputs[i].Open[axis] = ""
			if h.try(m, h.setup) {
				return true
			}
		}
	}
	return false
}

// values makes values plain: zeros, ones, or small whole numbers.
func (h *shrinker) values() bool {
	for i, v := range h.best.data() {
		if !v.Type.IsFloat() || v.Len() == 0 {
			continue
		}
		for k, plain := range []func(int) float64{
			func(int) float64 { return 0 }, func(int) float64 { return 1 }, func(j int) float64 { return float64(j%5 - 2) },
		} {
			if k == 0 && i >= len(h.best.Inputs) {
				continue // a scale of 0 would fail in its own way
			}
			w := numeric.NewValue(v.Type, v.Dims...)
			for j := range w.Len() {
				copy(w.Data[j*v.Type.Size():], number1(v.Type, plain(j)).Data)
			}
			if equal(w, *v) {
				break // it is as plain as that already
			}
			m := h.best.clone()
			*m.data()[i] = w
			if h.try(m, h.setup) {
				return true
			}
		}
	}
	return false
}
