package reduce

import (
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// bypass lets what reads a node's result read the node's input.
func (s *Search) bypass() bool {
	for i, n := range s.best.Nodes {
		for _, in := range n.Reads() {
			if in == "" || n.Out[0] == "" || slices.ContainsFunc(s.best.Consts, func(c Const) bool { return c.Name == in }) {
				continue
			}
			m := s.best.Clone()
			m.Nodes = slices.Delete(m.Nodes, i, i+1)
			for j := range m.Nodes {
				for k, name := range m.Nodes[j].In {
					if name == n.Out[0] {
						m.Nodes[j].In[k] = in
					}
				}
			}
			if s.try(m) {
				return true
			}
		}
	}
	return false
}

// axes makes axes of inputs and constants shorter: all of one extent together, since they mostly belong together, or one.
func (s *Search) axes() bool {
	all := map[int]bool{}
	for _, v := range s.best.Data() {
		for _, d := range v.Dims {
			all[d] = true
		}
	}
	for _, from := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		for _, to := range shorter(from) {
			for _, told := range []bool{true, false} {
				m := s.best.Clone()
				m.shorten(from, to)
				if told && !m.tell(from, to) {
					continue
				}
				if s.try(m) {
					return true
				}
			}
		}
	}
	for i, v := range s.best.Data() {
		for axis, d := range v.Dims {
			for _, to := range shorter(d) {
				m := s.best.Clone()
				w := m.Data()[i]
				*w = shorten(*w, axis, to)
				if s.try(m) {
					return true
				}
			}
		}
	}
	return false
}

// shorter returns the extents to try in place of one.
func shorter(d int) []int {
	list := slices.Compact(slices.Sorted(slices.Values([]int{1, 2, d / 2, d - 1})))
	return slices.DeleteFunc(list, func(to int) bool { return to < 1 || to >= d })
}

// shorten makes all axes of one extent shorter.
func (m *Model) shorten(from, to int) {
	for _, v := range m.Data() {
		for axis, d := range v.Dims {
			if d == from {
				*v = shorten(*v, axis, to)
			}
		}
	}
}

// tell writes a new extent into constants that may be shapes, and reports whether there are any with the old one.
func (m *Model) tell(from, to int) bool {
	told := false
	for i, c := range m.Consts {
		if c.Value.Type != numeric.I64 || len(c.Value.Dims) > 1 || c.Value.Len() > maxShape {
			continue
		}
		v := numeric.Value{Type: c.Value.Type, Dims: c.Value.Dims, Data: slices.Clone(c.Value.Data)}
		for k, n := range numeric.View[int64](v.Data) {
			if n == int64(from) {
				numeric.View[int64](v.Data)[k] = int64(to)
				m.Consts[i].Value, told = v, true
			}
		}
	}
	return told
}

// Data returns the values that the model has: of inputs and constants.
func (m *Model) Data() []*numeric.Value {
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
func (s *Search) attributes() bool {
	for i, n := range s.best.Nodes {
		for _, name := range slices.Sorted(maps.Keys(n.Raw)) {
			m := s.best.Clone()
			delete(m.Nodes[i].Raw, name)
			if s.try(m) {
				return true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
			a := n.Attrs[name]
			m := s.best.Clone()
			delete(m.Nodes[i].Attrs, name)
			if s.try(m) {
				return true
			}
			for j, v := range a.Ints {
				for _, to := range []int64{0, 1} {
					if v == to || v == 0 || v == 1 && to == 0 {
						continue
					}
					m := s.best.Clone()
					b := a
					b.Ints = slices.Clone(a.Ints)
					b.Ints[j] = to
					m.Nodes[i].Attrs[name] = b
					if s.try(m) {
						return true
					}
				}
			}
		}
	}
	return false
}

// inputs leaves out optional inputs, and closes open axes.
func (s *Search) inputs() bool {
	for i, n := range s.best.Nodes {
		if last := len(n.In) - 1; last > 0 {
			m := s.best.Clone()
			m.Nodes[i].In = m.Nodes[i].In[:last]
			if s.try(m) {
				return true
			}
		}
	}
	for i, in := range s.best.Inputs {
		for axis, symbol := range in.Open {
			if symbol == "" {
				continue
			}
			m := s.best.Clone()
			m.Inputs[i].Open = slices.Clone(in.Open)
			m.Inputs[i].Open[axis] = ""
			if s.try(m) {
				return true
			}
		}
	}
	return false
}

// plain makes values plain: zeros, ones, or small whole numbers.
func (s *Search) plain() bool {
	for i, v := range s.best.Data() {
		if !v.Type.IsFloat() || v.Len() == 0 {
			continue
		}
		for k, plain := range []func(int) float64{
			func(int) float64 { return 0 }, func(int) float64 { return 1 }, func(j int) float64 { return float64(j%5 - 2) },
		} {
			if k == 0 && i >= len(s.best.Inputs) {
				continue // a scale of 0 would fail in its own way
			}
			w := numeric.NewValue(v.Type, v.Dims...)
			for j := range w.Len() {
				copy(w.Data[j*v.Type.Size():], Scalar(v.Type, plain(j)).Data)
			}
			if Equal(w, *v) {
				break // it is as plain as that already
			}
			m := s.best.Clone()
			*m.Data()[i] = w
			if s.try(m) {
				return true
			}
		}
	}
	return false
}
