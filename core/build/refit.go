package build

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
)

// Weigh returns a copy of a network in which some constants have other elements, by name. The error names one that the network
// has not, that is of another type or shape, or whose elements may decide on shapes.
func Weigh(n *graph.Network, weights map[string]numeric.Value) (*graph.Network, error) {
	c := n.Clone()
	consts := map[string][]*graph.Tensor{}
	collect(c, consts)
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		v, list := weights[name], consts[name]
		if len(list) == 0 {
			return nil, &UnknownWeights{Name: name, Known: slices.Sorted(maps.Keys(consts))}
		}
		for _, t := range list {
			old, _ := t.Const()
			switch {
			case v.Type != old.Type || !slices.Equal(v.Dims, old.Dims):
				return nil, fmt.Errorf("weights %s: they are %s%v, the network's are %s%v", name, v.Type, v.Dims, old.Type, old.Dims)
			case v.Check() != nil:
				return nil, fmt.Errorf("weights %s: %w", name, v.Check())
			case bytes.Equal(v.Data, t.Weights):
				continue
			case t.Type == numeric.I64:
				return nil, fmt.Errorf("weights %s: elements of int64 may decide on shapes and cannot be exchanged; build the model anew", name)
			}
			t.Weights = v.Data
			if t.Value != nil {
				return nil, fmt.Errorf("weights %s: shapes depend on them; build the model anew", name)
			}
		}
	}
	return c, nil
}

// collect lists the constants of a network and of those inside its layers by name.
func collect(n *graph.Network, by map[string][]*graph.Tensor) {
	for _, t := range n.Consts() {
		by[t.Name] = append(by[t.Name], t)
	}
	for _, l := range n.Layers {
		for _, b := range l.Bodies() {
			collect(b.Network, by)
		}
	}
}

// UnknownWeights is the error of weights that a network has not.
type UnknownWeights struct {
	Name  string
	Known []string
}

func (e *UnknownWeights) Error() string {
	return fmt.Sprintf("weights %s: the network has no such constant; it has %d others", e.Name, len(e.Known))
}

// Undone is the error of weights with which a pass does something else than it did with those before.
type Undone struct {
	Pass string // the first that does
	Rule string // of it, whose sites differ; "" where that cannot be told
	Err  error  // what became different
}

func (e *Undone) Error() string {
	what := "pass " + e.Pass
	if e.Rule != "" {
		what += " (rule " + e.Rule + ")"
	}
	return fmt.Sprintf("%s decides by the weights, and with the new ones differently: %v", what, e.Err)
}

func (e *Undone) Unwrap() error { return e.Err }

// Refit returns plans for a network that was optimised and lowered as theirs was, from other weights. before and after are the
// steps of both: the error is an *Undone that names the pass which made the difference where the networks differ in more than the
// values of constants.
func Refit(plans []*run.Plan, n *graph.Network, before, after []pass.Step) ([]*run.Plan, error) {
	list := make([]*run.Plan, len(plans))
	for i, p := range plans {
		q, err := p.On(n)
		if err != nil {
			return nil, undone(err, before, after)
		}
		list[i] = q
	}
	return list, nil
}

// undone finds the pass that made the networks differ.
func undone(err error, before, after []pass.Step) error {
	for i, b := range before {
		if i >= len(after) || b.Pass != after[i].Pass {
			break
		}
		differ := run.Alike(b.After, after[i].After)
		if differ == nil {
			continue
		}
		u := &Undone{Pass: b.Pass, Err: differ}
		for k := range max(len(b.Fired), len(after[i].Fired)) {
			switch {
			case k >= len(b.Fired):
				u.Rule = after[i].Fired[k].Site.Rule
			case k >= len(after[i].Fired) || b.Fired[k].Site.String() != after[i].Fired[k].Site.String():
				u.Rule = b.Fired[k].Site.Rule
			default:
				continue
			}
			break
		}
		return u
	}
	return fmt.Errorf("the network of the new weights differs: %w", err)
}
