package run

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Provenance says what an engine was made of, and by whom. Whoever builds it fills it in; what is not known is empty.
type Provenance struct {
	Program   string `json:",omitempty"` // with its version
	Commit    string `json:",omitempty"` // of the program
	Built     string `json:",omitempty"` // date and time, as in RFC 3339
	Model     string `json:",omitempty"` // name of the model, or of its file
	ModelHash string `json:",omitempty"` // SHA-256 of the model's file
	Config    string `json:",omitempty"` // the configuration, as a person calls it
	Data      string `json:",omitempty"` // what ranges were found on
	Backend   string `json:",omitempty"`
	Device    string `json:",omitempty"` // its own name
}

// ErrNoSource is wrapped by the errors of what needs the network that an engine was made of, where the engine has not got it.
var ErrNoSource = errors.New("the engine holds what running needs and not the model that it was built from; open the model, or build the engine again with its source kept")

// PlanFor returns the first plan for a target that serves the given shapes of inputs; nil is any. The error says what plans
// there are.
func (e *Engine) PlanFor(target string, shapes map[string][]int) (*Plan, error) {
	for _, p := range e.Plans {
		if p.Target != target {
			continue
		}
		if env, err := p.Network.BindShapes(shapes); shapes == nil || err == nil && p.Serves(env) == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("the engine has no plan for %s; it has %s: %w", target, strings.Join(e.planNames(), ", "), ErrStale)
}

// PlansFor returns all plans for a target, in the order of their profiles.
func (e *Engine) PlansFor(target string) []*Plan {
	var list []*Plan
	for _, p := range e.Plans {
		if p.Target == target {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *Plan) int { return cmp.Compare(a.Profile, b.Profile) })
	return list
}

// Any returns one of the plans, for what they have in common: they differ in target and shapes.
func (e *Engine) Any() *Plan { return e.Plans[0] }

// Targets names what the plans are for, each once.
func (e *Engine) Targets() string {
	var list []string
	for _, p := range e.Plans {
		if !slices.Contains(list, p.Target) {
			list = append(list, p.Target)
		}
	}
	return strings.Join(list, ", ")
}

// planNames lists what the plans are for.
func (e *Engine) planNames() []string {
	var list []string
	for _, p := range e.Plans {
		name := p.Target
		if q := e.Profiles[p.Profile]; q.Name != "" {
			name += fmt.Sprintf(" (profile %s, %s)", q.Name, q.shapesText())
		}
		list = append(list, name)
	}
	return list
}

// shapesText writes the shapes of a profile.
func (p Profile) shapesText() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.Shapes)) {
		text := fmt.Sprintf("%s %v", name, p.Shapes[name])
		if low, high := p.Min[name], p.Max[name]; !slices.Equal(low, high) {
			text = fmt.Sprintf("%s %v to %v", name, low, high)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
