package pass

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Pass is one row of a table: a function that rewrites a network in place. [New] makes one of a program's own.
type Pass struct {
	Name  string
	Doc   string            // what it does, in a line
	Rules []string          // the rules whose sites it records; each can be switched off
	Docs  map[string]string // what single rules do, where Doc does not say enough
	Run   func(*Rewrite)
	// before is the pass that a program's own one precedes; empty: all of them.
	Before string
	Lower  bool // its result depends on target and precision, so that types are no longer inferred
}

// New returns a pass of a program's own, for [Config.Extra]. It runs before the pass of the given name, a standard one or one
// of lowering; "" is before all of them, on the network as it was imported. rules are what it calls its candidates; each can
// be switched off, and stands in the ledger, as those of the built-in passes.
//
// The two rules for passes hold for it as well: see the package's comment. The driver checks the network after it.
func New(name, doc, before string, rules []string, run func(*Rewrite)) Pass {
	return Pass{Name: name, Doc: doc, Rules: rules, Before: before, Run: run}
}

// Config says how to run a table of passes. The zero value runs all of it.
type Config struct {
	DisableRules []string       // names of rules, or of passes
	DisableSites []Site         // single places
	Until        int            // stop after so many passes; 0 runs all, a negative number none
	Shapes       map[string]int // values of dimension symbols, for bytes saved; a symbol that is not here counts as 1
	// Ledger continues the ledger of an earlier run whose result (or what the quantiser made of it) this run gets; its
	// layers are the source layers. Without it, the layers that the network's layers stand for are.
	Ledger Ledger
	// Supports says whether the target has a tactic for a layer, evaluation not counted; the error is the reason why
	// not. The layer is a proposal, not part of the network. Nil: it has one for every layer.
	Supports func(*graph.Layer) error
	// Target says the same of the layers that standard passes make of several, such as an attention, whose parts every target
	// computes: where the target has no tactic for the whole, the parts stay. Nil: it has one for every layer.
	Target func(*graph.Layer) error
	// Quantises says that the result is to be quantised, which is placed on F32: real numbers of other types are computed in that.
	Quantises bool
	Extra     []Pass // a program's own passes, beside those of the table: see [New]
}

// Run applies the passes of a table, one after the other, to a copy of n, and returns it with a record of each pass
// that ran. After each pass it checks the result: the network's invariants, its shapes, its outputs, and that no
// source layer got lost. An error names the pass; the steps before it are returned with it.
func Run(ctx context.Context, n *graph.Network, table []Pass, cfg Config) (*graph.Network, []Step, error) {
	if err := n.Verify(); err != nil {
		return nil, nil, fmt.Errorf("network %s: %w", n.Name, err)
	}
	r := newRewrite(ctx, n, &cfg)
	var steps []Step
	for i, p := range table {
		if cfg.Until < 0 || cfg.Until > 0 && i >= cfg.Until {
			break
		}
		step, err := r.step(p)
		if err != nil {
			return nil, steps, fmt.Errorf("pass %s: %w", p.Name, err)
		}
		steps = append(steps, step)
	}
	return r.net, steps, nil
}

// step runs one pass on r.net and checks what it left.
func (r *Rewrite) step(p Pass) (step Step, err error) {
	if err := r.ctx.Err(); err != nil {
		return Step{}, err
	}
	start := time.Now()
	before := r.snapshot
	r.begin(p)
	defer func() {
		if v := recover(); v != nil {
			err = graph.NewFault(v)
		}
	}()
	r.run(p)
	r.inside(p)
	if p.Lower && !r.net.Lowered {
		r.net.Lowered, r.changed = true, true
	}
	if r.failed != nil {
		return Step{}, r.failed
	}
	if r.changed {
		if err := r.settle(before); err != nil {
			return Step{}, err
		}
		r.snapshot = r.net.Clone()
	}
	if r.ledger, err = r.ledger.after(p.Name, r.net, r.drops); err != nil {
		return Step{}, err
	}
	step = Step{Pass: p.Name, Fired: r.record(), Missed: r.misses(), Ledger: r.ledger, Before: before, After: r.snapshot}
	step.Elapsed = time.Since(start)
	return step, nil
}

// run runs a pass. One that is switched off runs on a copy with all its rules switched off, so that its candidates are recorded with
// that reason, and what else it does is forgotten; without rules it does not run.
func (r *Rewrite) run(p Pass) {
	if !r.off(p) {
		p.Run(r)
		return
	}
	if len(p.Rules) == 0 {
		return
	}
	net, drops, disabled, changed := r.net, r.drops, r.disabled, r.changed
	defer func() {
		_ = recover() // what is wrong with it may be why it is off
		r.net, r.drops, r.disabled, r.changed, r.fired, r.failed = net, drops, disabled, changed, nil, nil
	}()
	r.net, r.drops, r.disabled = net.Clone(), maps.Clone(drops), maps.Clone(disabled)
	for _, rule := range p.Rules { // other passes may have rules of these names, which are on
		r.disabled[rule] = true
	}
	p.Run(r)
}

// off reports whether a pass is switched off as a whole.
func (r *Rewrite) off(p Pass) bool { return slices.Contains(r.cfg.DisableRules, p.Name) }

// settle brings the network into order after a pass and checks it against what it was before.
func (r *Rewrite) settle(before *graph.Network) error {
	n := r.net
	n.Prune()
	if err := n.Sort(); err != nil {
		return err
	}
	if err := n.Verify(); err != nil {
		return err
	}
	if !n.Lowered {
		if err := n.Infer(); err != nil {
			return err
		}
	}
	open := len(before.Unbound(r.cfg.Shapes)) > 0
	for i, t := range before.Outputs {
		now := n.Outputs[i]
		same := slices.Equal(symbolic.Eval(now.Dims, r.cfg.Shapes), symbolic.Eval(t.Dims, r.cfg.Shapes)) ||
			open && graph.SameShape(now.Dims, t.Dims) // symbols that a removed layer took to be equal
		if now.Name != t.Name || now.Type != t.Type || !same {
			return fmt.Errorf("output %s became %s", t, now)
		}
	}
	return nil
}
