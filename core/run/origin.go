package run

import (
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

// PlanFor returns the plan for a target and for shapes of inputs. Where there are several for the target and no shapes are
// given it is the first of them. The error says what plans there are.
func (e *Engine) PlanFor(target string, shapes map[string][]int) (*Plan, error) {
	for _, p := range e.Plans {
		if p.Target == target && (shapes == nil || maps.EqualFunc(e.Profiles[p.Profile].Shapes, shapes, slices.Equal)) {
			return p, nil
		}
	}
	return nil, fmt.Errorf("the engine has no plan for %s; it has %s: %w", target, strings.Join(e.planNames(), ", "), ErrStale)
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
		list = append(list, fmt.Sprintf("%s %v", name, p.Shapes[name]))
	}
	return strings.Join(list, ", ")
}
