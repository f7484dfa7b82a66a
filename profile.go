package trtui

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// Profile is an optimisation profile: the shapes of inputs, by name, at which the engine is to be fastest, and the ends of those
// that it is to take as well. An input that Min or Max does not name has its shape in Opt there; one that Opt does not name a
// batch of 1, as in [Options.Shapes].
type Profile struct {
	Min, Opt, Max map[string][]int
}

// OutOfRange is the error of shapes that no profile of an engine takes.
type OutOfRange = run.OutOfRange

// profiles returns the extents of the profiles that are asked for: at least one.
func (o *Options) profiles(n *Network) ([]run.Extents, error) {
	if len(o.Profiles) == 0 {
		env, err := symbols(n, o.Shapes)
		return []run.Extents{{Opt: env}}, err
	}
	if o.Shapes != nil {
		return nil, errors.New("Options.Shapes and Options.Profiles are both given; Profiles say the shapes")
	}
	var list []run.Extents
	for i, p := range o.Profiles {
		x, err := p.extents(n)
		if err != nil {
			return nil, fmt.Errorf("profile %d: %w", i, err)
		}
		list = append(list, x)
	}
	return list, nil
}

func (p Profile) extents(n *Network) (x run.Extents, err error) {
	if x.Opt, err = symbols(n, p.Opt); err != nil {
		return x, err
	}
	if x.Min, err = end(n, x.Opt, p.Min); err != nil {
		return x, fmt.Errorf("least shapes: %w", err)
	}
	if x.Max, err = end(n, x.Opt, p.Max); err != nil {
		return x, fmt.Errorf("largest shapes: %w", err)
	}
	return x, x.Check()
}

// end returns the values of symbols at one end of a profile.
func end(n *Network, opt map[string]int, shapes map[string][]int) (map[string]int, error) {
	env, err := n.BindSome(opt, shapes)
	if err != nil {
		return nil, err
	}
	return env, n.CheckShapes(env)
}

// Profiles returns the shapes that the engine takes, a profile for each set of ranges, all inputs named. An engine that was
// built for one set of shapes has one profile, whose ends are these.
func (e *Engine) Profiles() []Profile {
	var list []Profile
	for _, p := range e.Plans() {
		of := run.ProfileOf("", p)
		q := Profile{of.Min, of.Shapes, of.Max}
		if q.Min == nil {
			q.Min, q.Max = q.Opt, q.Opt
		}
		list = append(list, q)
	}
	return list
}

// ports returns inputs or outputs at the shapes of a plan.
func ports(p *run.Plan, list []*graph.Tensor) []Port {
	env := p.Env()
	var ports []Port
	for _, t := range list {
		ports = append(ports, Port{t.Name, t.Type, symbolic.Eval(t.Dims, env)})
	}
	return ports
}
