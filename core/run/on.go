package run

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// On returns the plan for another network that differs from its own in the values of constants and in what follows from these,
// such as the scales of quantised weights: the same tactics in the same memory. The error names the first thing in which the
// networks differ otherwise.
func (p *Plan) On(n *graph.Network) (*Plan, error) {
	if err := Alike(p.Network, n); err != nil {
		return nil, err
	}
	var stored storedPlan
	stored.arrange(p)
	q := *p
	q.Network, q.Steps, q.Slots = n, nil, nil
	if err := stored.restore(&q); err != nil {
		return nil, err
	}
	return &q, nil
}

// Alike returns what two networks differ in beside the values of constants and what follows from these; nil if in nothing: the
// layers have the same names, ops and bodies, and the tensors that they read and write the same names, types and dims.
func Alike(a, b *graph.Network) error {
	if err := tensorsAlike("input", a.Inputs, b.Inputs); err != nil {
		return err
	}
	if err := tensorsAlike("output", a.Outputs, b.Outputs); err != nil {
		return err
	}
	for i, l := range a.Layers {
		if i >= len(b.Layers) {
			return fmt.Errorf("layer %s (%s) is gone", l.Name, l.Op.Name)
		}
		if err := layersAlike(l, b.Layers[i]); err != nil {
			return err
		}
	}
	if len(b.Layers) > len(a.Layers) {
		l := b.Layers[len(a.Layers)]
		return fmt.Errorf("layer %s (%s) is new", l.Name, l.Op.Name)
	}
	return nil
}

func layersAlike(l, m *graph.Layer) error {
	if l.Name != m.Name || l.Op != m.Op {
		return fmt.Errorf("layer %s (%s) became %s (%s)", l.Name, l.Op.Name, m.Name, m.Op.Name)
	}
	err := tensorsAlike("input", l.Inputs, m.Inputs)
	if err == nil {
		err = tensorsAlike("output", l.Outputs, m.Outputs)
	}
	if err == nil && len(l.Epilogue.Code) != len(m.Epilogue.Code) {
		err = fmt.Errorf("what follows has %d instructions, and had %d", len(m.Epilogue.Code), len(l.Epilogue.Code))
	}
	bodies, others := l.Bodies(), m.Bodies()
	if err == nil && len(bodies) != len(others) {
		err = fmt.Errorf("it has %d bodies, and had %d", len(others), len(bodies))
	}
	for k := 0; k < len(bodies) && err == nil; k++ {
		err = Alike(bodies[k].Network, others[k].Network)
	}
	if err != nil {
		return fmt.Errorf("layer %s: %w", l.Name, err)
	}
	return nil
}

func tensorsAlike(what string, a, b []*graph.Tensor) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d %ss, where there were %d", len(b), what, len(a))
	}
	for i, t := range a {
		u := b[i]
		switch {
		case t == nil && u == nil:
			continue
		case t == nil || u == nil:
			return fmt.Errorf("%s %d is there in one of the two alone", what, i)
		case t.Name != u.Name || t.Type != u.Type || !symbolic.Equal(t.Dims, u.Dims) || t.IsConst() != u.IsConst():
			return fmt.Errorf("%s %d became %s, and was %s", what, i, u, t)
		case len(t.Range.Scale) != len(u.Range.Scale) || len(t.Range.Zero) != len(u.Range.Zero):
			return fmt.Errorf("%s %d: tensor %s is quantised in another way", what, i, t.Name)
		case len(t.Value) > 0 && !slices.EqualFunc(t.Value, u.Value, symbolic.Dim.Equal):
			return fmt.Errorf("%s %d: the elements of %s, on which shapes depend, changed", what, i, t.Name)
		}
	}
	return nil
}
