package trtui

import (
	"fmt"

	"github.com/trtui/trtui/core/run"
)

// SetShapes brings the session to the given shapes of inputs, in the first of the engine's profiles that takes them;
// [Session.NewOutputs] is for these then. [Session.Run] and its likes do so by themselves, at the shapes of what they are given.
// Inputs that are not named keep theirs. The error is an [*OutOfRange] that names input, axis, value and range where no profile
// takes them, and the session stays where it was. Shapes that it was at before cost next to nothing, others take as long as it
// takes to bind the kernels to them: no tactic is chosen and no weight packed again. Of an input that is a shape, on whose elements
// shapes depend, what is given are these elements.
func (s *Session) SetShapes(shapes map[string][]int) error {
	if !s.take() {
		return ErrBusy
	}
	defer s.release()
	if err := s.renew(); err != nil {
		return err
	}
	return s.setShapes(shapes)
}

// Shapes returns the inputs and outputs as they are where the session is.
func (s *Session) Shapes() (inputs, outputs []Port) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clonePorts(s.inputs), clonePorts(s.outputs)
}

func clonePorts(list []Port) []Port {
	clone := make([]Port, len(list))
	for i, p := range list {
		clone[i] = Port{p.Name, p.Type, append([]int(nil), p.Dims...)}
	}
	return clone
}

// setShapes is SetShapes for one who has the session.
func (s *Session) setShapes(shapes map[string][]int) error {
	for _, c := range s.contexts {
		if c != nil && c.At(shapes) {
			return s.enter(c, shapes)
		}
	}
	env, err := s.version.plans[0].Network.BindSome(s.context.Env(), shapes)
	if err != nil {
		return err
	}
	var refused error
	for i, l := range s.version.loaded {
		err := l.Plan.Serves(env)
		if err == nil {
			if err = s.open(i); err == nil {
				return s.enter(s.contexts[i], l.Plan.Network.ShapesAt(env))
			}
			return err
		}
		switch {
		case len(s.version.loaded) == 1:
			return err
		case refused == nil:
			refused = fmt.Errorf("profile %d: %w", i, err)
		default:
			refused = fmt.Errorf("%w; profile %d: %w", refused, i, err)
		}
	}
	return refused
}

// open makes the context of a profile, if there is none yet.
func (s *Session) open(profile int) (err error) {
	if s.contexts[profile] == nil {
		s.contexts[profile], err = s.version.loaded[profile].NewContextOf(s.threads)
	}
	return err
}

// enter goes on in a context.
func (s *Session) enter(c *run.ExecutionContext, shapes map[string][]int) error {
	if err := c.SetShapes(shapes); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.context = c
	for _, list := range [...][]Port{s.inputs, s.outputs} {
		for i := range list {
			list[i].Dims = c.Dims(list[i].Name)
		}
	}
	return nil
}

// follow brings a session to the engine's weights, and one whose engine takes several shapes to those of its inputs.
func (s *Session) follow(in Inputs) error {
	if err := s.renew(); err != nil {
		return err
	}
	if !s.engine.open {
		return nil
	}
	for _, t := range s.version.plans[0].Network.Inputs {
		v, ok := in[t.Name]
		if !ok {
			return fmt.Errorf("input %s: there is no data for it", t)
		}
		var err error
		if s.given[t.Name], err = t.ShapeOf(v); err != nil {
			return err
		}
	}
	return s.setShapes(s.given)
}
