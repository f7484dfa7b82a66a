package describe

import (
	"cmp"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// Passes tells how the source network became the engine's, at values of its symbols.
func Passes(m *model.Model, env map[string]int, cfg config.Config, o *build.Optimized, l *build.Lowered) *report.Passes {
	r := &report.Passes{
		Precision: cfg.Precision,
		Source:    layerInfos(m.Network, env), Engine: layerInfos(l.Network, env), Disabled: cfg.Disable,
	}
	if m.Refused != nil {
		r.Precision = config.FP32
	} else {
		r.Unmet = Unmet(cfg, o, l)
	}
	if r.Precision != config.FP32 {
		asked, _ := cfg.Precision.DataType()
		r.Unlowered, r.Unchanged = Unlowered(asked, o, l), Unchanged(m, cfg, o, l)
	}
	for _, p := range slices.Concat(passes.Standard(), quantise.Calibrated(), passes.Lowering(), m.Rules.All(m.Passes)) {
		for _, rule := range p.Rules {
			r.Rules = append(r.Rules, report.Rule{Name: rule, Doc: cmp.Or(p.Docs[rule], p.Doc)})
		}
	}
	r.Rules = append(r.Rules, report.Rule{Name: pass.SideBySide, Doc: "steps of the plan that do not depend on each other run at the same time, where that is measured to be faster"})
	if m.Dropped != nil {
		dropped := passStep(*m.Dropped, env)
		dropped.After, dropped.Text = nil, "" // it is Source
		r.Dropped = &dropped
	}
	steps := append(append([]pass.Step(nil), o.Steps...), l.Steps...)
	for _, st := range steps {
		r.Steps = append(r.Steps, passStep(st, env))
	}
	if len(steps) == 0 {
		return r
	}
	last := steps[len(steps)-1].Ledger
	for _, e := range last {
		r.Ledger = append(r.Ledger, report.LedgerEntry{Layer: e.Layer, Op: e.Op, Fate: e.Fate.String(), Into: e.Into, Pass: e.Pass})
	}
	c := last.Counts()
	r.Kept, r.Fused, r.Folded, r.Eliminated = c.Kept, c.Fused, c.Folded, c.Eliminated
	r.KernelsSaved = len(r.Source) - len(r.Engine)
	for _, st := range r.Steps[:len(o.Steps)] { // what lowering saves is of the layers that quantisation put there
		for _, f := range st.Fired {
			r.BytesSaved += f.BytesSaved
		}
	}
	return r
}

func passStep(st pass.Step, env map[string]int) report.PassStep {
	ps := report.PassStep{Pass: st.Pass, Layers: len(st.After.AllLayers()), Elapsed: st.Elapsed}
	if st.Before != st.After {
		ps.After, ps.Text = layerInfos(st.After, env), st.After.String()
	}
	for _, f := range st.Fired {
		layers := f.Members
		if len(layers) == 0 { // of layers that lowering put there
			layers = f.Site.Layers
		}
		ps.Fired = append(ps.Fired, report.FiredSite{
			Rule: f.Site.Rule, Site: f.Site.String(), Layers: layers, Into: f.Into,
			KernelsSaved: f.KernelsSaved, BytesSaved: int64(f.BytesSaved), Note: f.Note,
		})
	}
	for _, m := range st.Missed {
		missed := report.MissedSite{Rule: m.Site.Rule, Site: m.Site.String(), Layers: m.Site.Layers, Reason: string(m.Reason), Detail: m.Detail}
		if cause := report.Unnamed(m.Detail, func(word string) bool { return isName(st, word) }); cause != m.Detail {
			missed.Cause = cause
		}
		ps.Missed = append(ps.Missed, missed)
	}
	return ps
}

// isName reports whether a word is the name of a tensor or layer that a pass saw.
func isName(st pass.Step, word string) bool {
	return slices.ContainsFunc([]*graph.Network{st.Before, st.After}, func(n *graph.Network) bool {
		return n.Tensor(word) != nil || n.Layer(word) != nil
	})
}

// UnloweredNetwork stands for the lowered network of a model that cannot be run: nothing is computed in any precision.
func UnloweredNetwork(o *build.Optimized) *build.Lowered { return &build.Lowered{Network: o.Network} }
