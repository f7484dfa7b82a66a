package run

import (
	"fmt"
	"maps"

	"github.com/trtui/trtui/core/graph"
)

// OutOfRange is the error of extents that a plan does not serve.
type OutOfRange struct {
	Symbol      string
	Value       int
	Least, Most int
	Input       string // of the network, one of whose axes it is; "" where no axis is the symbol itself
	Axis        int    // of the input, or
	Element     bool   // of its elements, where it is a shape, the number of the one that it is
}

func (e *OutOfRange) Error() string {
	what := e.Symbol
	if e.Input != "" {
		axis := "axis"
		if e.Element {
			axis = "element"
		}
		what = fmt.Sprintf("input %s: %s %d (%s)", e.Input, axis, e.Axis, e.Symbol)
	}
	if e.Least == e.Most {
		return fmt.Sprintf("%s is %d, the engine was built for %d alone", what, e.Value, e.Least)
	}
	return fmt.Sprintf("%s is %d, the engine was built for %d to %d", what, e.Value, e.Least, e.Most)
}

// serves returns an *OutOfRange for a value that the plan does not serve.
func (p *Plan) serves(env map[string]int) error { return checkRange(p.Network, p.Symbols, env) }

// Serves returns an *OutOfRange for a value of one of a network's symbols outside its range.
func (x Extents) Serves(n *graph.Network, env map[string]int) error {
	return checkRange(n, x.symbols(), env)
}

// checkRange returns an *OutOfRange for a value outside the range of a symbol.
func checkRange(n *graph.Network, symbols []Symbol, env map[string]int) error {
	for _, s := range symbols {
		least, most := s.Range()
		if v := env[s.Name]; v < least || v > most {
			e := &OutOfRange{Symbol: s.Name, Value: v, Least: least, Most: most}
			for _, t := range n.Inputs {
				for axis, d := range t.Extents() {
					if name, ok := d.SymbolName(); ok && name == s.Name && e.Input == "" {
						e.Input, e.Axis, e.Element = t.Name, axis, t.IsShape
					}
				}
			}
			return e
		}
	}
	return nil
}

// Serves returns an *OutOfRange for values of symbols that the plan does not serve; one that has none is as the plan has it.
func (p *Plan) Serves(env map[string]int) error { return p.serves(p.whole(maps.Clone(env))) }

// whole returns the values of all symbols: those given, and of others, which are no axis of an input, the plan's.
func (p *Plan) whole(env map[string]int) map[string]int {
	if env == nil {
		env = map[string]int{}
	}
	for _, s := range p.Symbols {
		if _, ok := env[s.Name]; !ok {
			env[s.Name] = s.Value
		}
	}
	return env
}

// Ranged reports whether the plan serves more than one value of a symbol.
func (p *Plan) Ranged() bool {
	for _, s := range p.Symbols {
		if s.Min != s.Max {
			return true
		}
	}
	return false
}

// At returns the plan at other values of its symbols: the same steps in the same memory, the forms of the tensors and what lies
// in parts of others as these values have them. The error is an *OutOfRange for values that the plan does not serve.
func (p *Plan) At(env map[string]int) (q *Plan, err error) {
	defer graph.CatchFault(&err)
	if err := p.serves(env); err != nil {
		return nil, err
	}
	if err := p.Network.CheckShapes(env); err != nil {
		return nil, err
	}
	q, _, err = p.at(env, p.all())
	return q, err
}

// at is At for values that are known to be served, and for steps up to the end of a stretch; with an error comes the layer whose memory
// cannot be what it is in p.
func (p *Plan) at(env map[string]int, part stretch) (*Plan, *graph.Layer, error) {
	q := *p
	q.Symbols = append([]Symbol(nil), p.Symbols...)
	for i := range q.Symbols {
		q.Symbols[i].Value = env[q.Symbols[i].Name]
	}
	q.Slots = append([]Slot(nil), p.Slots...)
	q.Steps = append([]Step(nil), p.Steps...)
	for i := range q.Slots {
		s := &q.Slots[i]
		if s.Tensor != nil {
			s.Desc = desc(s.Tensor, s.Desc.Format, env)
		}
		if s.Of >= 0 {
			s.Offset, s.Size = 0, s.Desc.Bytes()
		}
	}
	for i := range q.Steps {
		step := &q.Steps[i]
		at, err := q.placeStep(step, env) // of a later concatenation, too, in whose output things are computed before
		if err == nil && i < part.end {
			step.Bodies, err = step.bodiesAt(env)
		}
		if err != nil && i < part.end {
			return nil, at, fmt.Errorf("layer %s: %w", step.Name, err)
		}
	}
	for _, s := range q.Slots {
		if s.Of >= 0 && s.Tensor == q.Slots[s.Of].Tensor && s.Desc.Format != q.Slots[s.Of].Desc.Format && !s.Desc.SameBytes(q.Slots[s.Of].Desc) {
			return nil, nil, fmt.Errorf("tensor %s does not lie in %s as in %s", s.Tensor.Name, s.Desc.Format, q.Slots[s.Of].Desc.Format)
		}
	}
	return &q, nil, q.resolve()
}

// placeStep says where the outputs of a step lie that share the memory of its inputs, and the other way round.
func (p *Plan) placeStep(step *Step, env map[string]int) (*graph.Layer, error) {
	l := step.Layer
	switch {
	case step.Reformat:
		return nil, nil
	case step.Tactic == SubPlans:
		return nil, nil
	case step.Tactic != InMemory:
		return p.inPlace(step)
	case l.Op.Memory == graph.Parted:
		if !p.Slots[step.In[0]].Desc.Dense() {
			return p.owner(step.In[0]), fmt.Errorf("its input is a slice of another tensor")
		}
		return l, p.placeParts(step, env)
	case l.Op.Memory == graph.Joined:
		p.placeSlices(step)
		return nil, nil
	}
	if !p.Slots[step.In[0]].Desc.Dense() {
		return p.owner(step.In[0]), fmt.Errorf("its input is a slice of another tensor")
	}
	return nil, nil
}

// inPlace returns an error where a step is to write over an input of another form.
func (p *Plan) inPlace(step *Step) (*graph.Layer, error) {
	for _, out := range step.Out {
		of := p.Slots[out].Of
		for _, in := range step.In {
			if in == of && in >= 0 && !p.Slots[in].Desc.Equal(p.Slots[out].Desc) {
				return step.Layer, fmt.Errorf("it would be written over %v", p.Slots[in].Desc)
			}
		}
	}
	return nil, nil
}

// owner returns the layer, a concatenation or a split, that makes a slot a slice of another; nil if there is none.
func (p *Plan) owner(slot int) *graph.Layer {
	for ; slot >= 0; slot = p.Slots[slot].Of {
		for _, s := range p.Steps {
			if s.Tactic != InMemory || s.Layer.Op.Memory == graph.Viewed {
				continue
			}
			list := s.Out
			if s.Layer.Op.Memory == graph.Joined {
				list = s.In
			}
			for _, i := range list {
				if i == slot {
					return s.Layer
				}
			}
		}
	}
	return nil
}

// resolve makes the offsets of shared slots count from the begin of their region.
func (p *Plan) resolve() error {
	offsets := make([]int, len(p.Slots))
	for i := range p.Slots {
		for j := i; j >= 0; j = p.Slots[j].Of {
			offsets[i] += p.Slots[j].Offset
		}
	}
	for i := range p.Slots {
		s, root := &p.Slots[i], p.Slots[p.root(i)]
		begin := root.Offset
		if s.Of >= 0 && root.Of < 0 {
			s.Offset = offsets[i]
		}
		span := s.Size
		if s.Tensor != nil {
			span = s.Desc.Span()
		}
		if offsets[i] < begin || offsets[i]-begin+span > root.Size {
			return fmt.Errorf("tensor %s takes %d bytes, there is room for %d", s.Tensor.Name, span, root.Size-offsets[i]+begin)
		}
	}
	return nil
}

// misplaced returns an error for a plan that cannot be run at some of the choice's extents, and the layer that would have to
// have memory of its own instead; nil where that is none.
func (c *Choice) misplaced(p *Plan) (*graph.Layer, error) {
	align := c.backend.Info().Align
	for _, env := range c.samples {
		q, at, err := p.at(env, p.all())
		if err != nil {
			return at, err
		}
		for i, s := range q.Steps {
			if s.Tactic == InMemory || s.Tactic == SubPlans {
				continue
			}
			b := q.Binding(i)
			if hasEmpty(b) {
				continue
			}
			t, ok := findTactic(c.backend, s)
			if !ok {
				return nil, fmt.Errorf("layer %s: tactic %s is not there", s.Name, s.Tactic)
			}
			err := q.fits(s, t, b)
			for _, slot := range append(append([]int(nil), s.In...), s.Out...) {
				if err == nil && slot >= 0 && !aligned(q.Slots[slot], align) {
					err = fmt.Errorf("tensor %s does not begin at a multiple of %d bytes", q.Slots[slot].Tensor.Name, align)
				}
				if err != nil && slot >= 0 && at == nil {
					at = q.owner(slot)
				}
			}
			if err != nil {
				return at, fmt.Errorf("layer %s: tactic %s: at %s: %w", s.Name, s.Tactic, valuesText(q.Symbols, env), err)
			}
		}
	}
	return nil, nil
}

// aligned reports whether a slot begins, and its pieces follow each other, at multiples of so many bytes.
func aligned(s Slot, align int) bool {
	size := s.Desc.Type.Size()
	return align <= 1 || s.Offset%align == 0 && s.Desc.Batch*size%align == 0 && s.Desc.Pitch*size%align == 0
}
