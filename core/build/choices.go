package build

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/run"
)

// TacticChoices are a person's own decisions about tactics, by layer name.
type TacticChoices struct {
	Pin    map[string]string   // the only tactic that may be used
	Forbid map[string][]string // tactics that may not; those under "" are forbidden everywhere
}

// Reason returns why the choices exclude a tactic, or "".
func (c TacticChoices) Reason(layer, tactic string) string {
	switch pin, ok := c.Pin[layer]; {
	case ok && pin != tactic:
		return "pinned to " + pin
	case !ok && (slices.Contains(c.Forbid[layer], tactic) || slices.Contains(c.Forbid[""], tactic)):
		return "forbidden"
	}
	return ""
}

// refused returns an error for the first layer that has another tactic than it is pinned to, or none at all for that
// reason. p is nil where planning failed with err.
func (c TacticChoices) refused(p *run.Plan, err error) error {
	if len(c.Pin) == 0 {
		return nil
	}
	if none := (*run.Unsupported)(nil); errors.As(err, &none) {
		for _, l := range none.Layers {
			if pin, ok := c.Pin[l.Layer]; ok {
				return unpin(l.Layer, pin, l.Reasons)
			}
		}
	}
	if p == nil {
		return nil
	}
	for _, s := range p.AllSteps() {
		switch pin, ok := c.Pin[s.Name]; {
		case !ok || s.Reformat || s.Tactic == pin:
		case s.Tactic == run.SubPlans:
			return fmt.Errorf("layer %s: tactic %s is pinned, but the layer runs those inside it; pin theirs", s.Name, pin)
		case s.Tactic == run.InMemory:
			return fmt.Errorf("layer %s: tactic %s is pinned, but the layer only arranges memory and launches nothing; unpin it", s.Name, pin)
		default:
			return unpin(s.Name, pin, s.Candidates)
		}
	}
	return nil
}

// unpin returns the error of a layer that cannot have its pinned tactic.
func unpin(layer, pin string, candidates []run.Candidate) error {
	reason := "the backend has no tactic of that name for it"
	for _, c := range candidates {
		if c.Tactic == pin {
			reason = cmp.Or(c.Reason, "it does not go with the layer's neighbours")
			break
		}
	}
	return fmt.Errorf("layer %s: tactic %s is pinned, but %s; unpin it", layer, pin, reason)
}
