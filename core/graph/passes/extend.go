package passes

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
)

// Run applies the passes of a table, Standard or Lowering, with the extra ones of the configuration, as the driver does; an error
// also tells of an order that is not kept and of rules that no pass has.
func Run(ctx context.Context, n *graph.Network, table []pass.Pass, cfg pass.Config) (*graph.Network, []pass.Step, error) {
	table, err := Extend(table, cfg.Extra)
	if err == nil {
		err = checkOrder(table)
	}
	if err == nil {
		err = checkRules(&cfg)
	}
	if err != nil {
		return nil, nil, err
	}
	return pass.Run(ctx, n, table, cfg)
}

// check returns an error for a rule that no pass has.
func checkRules(c *pass.Config) error {
	known := map[string]bool{}
	for _, p := range slices.Concat(Standard(), quantise.Calibrated(), Lowering(), c.Extra) {
		known[p.Name] = true
		for _, rule := range p.Rules {
			known[rule] = true
		}
	}
	for _, rule := range c.DisableRules {
		if !known[rule] {
			return fmt.Errorf("no rule or pass %q", rule)
		}
	}
	for _, s := range c.DisableSites {
		if !known[s.Rule] {
			return fmt.Errorf("site %s: no rule %q", s, s.Rule)
		}
	}
	return nil
}

// Extend returns a table, Standard or Lowering, with those of a program's own passes that run in it.
func Extend(table, extra []pass.Pass) ([]pass.Pass, error) {
	out := slices.Clone(table)
	standard := isStandard(table)
	for _, p := range extra {
		if p.Run == nil || p.Name == "" {
			return nil, fmt.Errorf("pass %q is not one that New made", p.Name)
		}
		before := p.Before
		if before == "" {
			before = Standard()[0].Name
		}
		named := func(q pass.Pass) bool { return q.Name == before }
		switch i := slices.IndexFunc(out, named); {
		case i >= 0 && (standard || !slices.ContainsFunc(Standard(), named)):
			out = slices.Insert(out, i, p)
		case !slices.ContainsFunc(slices.Concat(Standard(), Lowering(), extra), named):
			return nil, fmt.Errorf("pass %s is to run before %q, and there is no such pass", p.Name, before)
		}
	}
	return out, nil
}

// isStandard reports whether a table begins as Standard does.
func isStandard(table []pass.Pass) bool { return len(table) > 0 && table[0].Name == Standard()[0].Name }
