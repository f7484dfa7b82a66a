package run

import "fmt"

// arrange stores the steps and slots of a plan, and of those inside its steps.
func (sp *storedPlan) arrange(p *Plan) {
	for _, s := range p.Steps {
		ss := storedStep{Step: s}
		if s.Reformat {
			ss.Tensor = s.Layer.Inputs[0].Name
		} else {
			ss.Layer = s.Layer.Name
		}
		for _, b := range s.Bodies {
			inner := storedPlan{Target: b.Target, Profile: b.Profile, Symbols: b.Symbols, Memory: b.Memory}
			inner.arrange(b)
			ss.Bodies = append(ss.Bodies, inner)
		}
		ss.Step.Layer, ss.Step.Bodies = nil, nil
		sp.Steps = append(sp.Steps, ss)
	}
	for _, s := range p.Slots {
		ss := storedSlot{Slot: s}
		if s.Tensor != nil {
			ss.Tensor = s.Tensor.Name
		}
		ss.Slot.Tensor = nil
		sp.Slots = append(sp.Slots, ss)
	}
}

// restore reads the steps and slots of a plan, whose network is known, and of those inside its steps.
func (sp *storedPlan) restore(p *Plan) error {
	for i, ss := range sp.Slots {
		s := ss.Slot
		if ss.Tensor != "" {
			if s.Tensor = p.Network.Tensor(ss.Tensor); s.Tensor == nil {
				return fmt.Errorf("slot %d: tensor %q is unknown", i, ss.Tensor)
			}
		}
		p.Slots = append(p.Slots, s)
	}
	for i, ss := range sp.Steps {
		s := ss.Step
		if s.Reformat {
			t := p.Network.Tensor(ss.Tensor)
			if t == nil {
				return fmt.Errorf("step %d: tensor %q is unknown", i, ss.Tensor)
			}
			s.Layer = reformatLayer(t, t)
		} else if s.Layer = p.Network.Layer(ss.Layer); s.Layer == nil {
			return fmt.Errorf("step %d: layer %q is unknown", i, ss.Layer)
		}
		bodies := s.Layer.Bodies()
		for k, b := range ss.Bodies {
			if k >= len(bodies) {
				return fmt.Errorf("step %d: %d plans for %d bodies", i, len(ss.Bodies), len(bodies))
			}
			inner := &Plan{Target: b.Target, Profile: b.Profile, Symbols: b.Symbols, Memory: b.Memory, Network: bodies[k].Network}
			if err := b.restore(inner); err != nil {
				return fmt.Errorf("step %d: %s: %w", i, bodies[k].Name, err)
			}
			s.Bodies = append(s.Bodies, inner)
		}
		p.Steps = append(p.Steps, s)
	}
	return nil
}
