package run

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// gathered is an output of a body that is one place of an output of the step.
type gathered struct {
	strips
	output    int // of the body
	to        kernels.Mem
	backwards bool
	element   []byte // where places do not lie in one piece
}

// gather returns the outputs of the body from first on.
func (x *control) gather(a *launch, b *body, first int) (list []gathered) {
	for i := first; i < len(b.outputs); i++ {
		to, axis := x.output(i)
		t := x.layer.Outputs[to]
		g := gathered{strips: stripsOf(symbolic.Eval(t.Dims, x.env), axis, t.Type), output: i, to: a.out[to]}
		if s, ok := x.layer.Attrs.(graph.ScanAttrs); ok {
			g.backwards = s.OutPlace(i-first, 0, 2) > 0
		}
		if axis > 0 {
			g.element = make([]byte, g.count*g.bytes)
			if o := b.outputs[i]; o.direct {
				b.lay(o.root, b.bound.own[o.root])
			}
		}
		list = append(list, g)
	}
	return list
}

// iterate runs the body once, for iteration k.
func (b *body) iterate(c *ExecutionContext, list []gathered, k int) error {
	for i := range list {
		if g := &list[i]; g.axis == 0 {
			b.send(g.output, g.place(g.to, k, g.backwards))
		}
	}
	if err := b.run(c); err != nil {
		return err
	}
	for i := range list {
		g := &list[i]
		if g.axis == 0 {
			b.deliver(g.output, g.place(g.to, k, g.backwards))
			continue
		}
		o := b.outputs[g.output]
		b.loaded.Plan.Slots[o.slot].Desc.ToLinear(g.element, b.mem[o.slot].Host)
		g.scatter(g.to, g.element, g.at(k, g.backwards))
	}
	return nil
}

// strips are where one place of an axis lies in a tensor: so many, of so many bytes.
type strips struct{ axis, count, bytes, extent int }

func stripsOf(dims []int, axis int, t numeric.DataType) strips {
	return strips{axis, numeric.Count(dims[:axis]), numeric.Count(dims[axis+1:]) * t.Size(), dims[axis]}
}

// at returns the place of iteration k.
func (p strips) at(k int, backwards bool) int {
	if backwards {
		return p.extent - 1 - k
	}
	return k
}

// place returns the memory of iteration k where the axis is the first one.
func (p strips) place(m kernels.Mem, k int, backwards bool) kernels.Mem {
	return within(m, p.at(k, backwards)*p.bytes, p.bytes)
}

// scatter copies an element to a place.
func (p strips) scatter(m kernels.Mem, element []byte, place int) {
	for j := range p.count {
		at := (j*p.extent + place) * p.bytes
		copy(m.Host[at:at+p.bytes], element[j*p.bytes:])
	}
}

// collect copies a place to an element.
func (p strips) collect(element []byte, m kernels.Mem, place int) {
	for j := range p.count {
		at := (j*p.extent + place) * p.bytes
		copy(element[j*p.bytes:(j+1)*p.bytes], m.Host[at:])
	}
}
