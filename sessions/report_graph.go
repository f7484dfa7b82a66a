package sessions

import (
	"cmp"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// layerInfos describes a network's layers at the given values of its symbols.
func layerInfos(n *graph.Network, env map[string]int) []report.Layer {
	list := make([]report.Layer, len(n.Layers))
	for i, l := range n.Layers {
		list[i] = layerInfo(l, env)
	}
	return list
}

func layerInfo(l *graph.Layer, env map[string]int) report.Layer {
	info := report.Layer{
		Name: l.Name, Op: l.Op.Name, Attrs: graph.FormatAttrs(l.Attrs), From: l.From,
		Precision: precisionOf(l), Text: l.String(),
	}
	if u := l.Unsupported(); u != nil {
		info.Op, info.Attrs, info.Precision = u.Op, u.Summary, ""
		info.Unsupported, info.Behind = u.Reason, u.Behind
	}
	if env != nil {
		info.FLOPs = graph.FLOPs(l, env)
	}
	if l.Epilogue.Args > 0 {
		info.Epilogue = l.Epilogue.String()
	}
	for _, t := range l.Inputs {
		switch {
		case t == nil:
		case t.IsConst():
			info.Weights += len(t.Weights)
		default:
			info.Inputs = append(info.Inputs, t.Name)
		}
	}
	for _, t := range l.Outputs {
		info.Outputs = append(info.Outputs, tensorInfo(t, env))
	}
	return info
}

func tensorInfo(t *graph.Tensor, env map[string]int) report.Tensor {
	if !t.IsKnown() {
		return report.Tensor{Name: t.Name, Type: "?"}
	}
	info := report.Tensor{Name: t.Name, Type: t.Type.String(), Dims: graph.FormatDims(t.Dims)}
	if env != nil {
		info.Shape = graph.EvalDims(t.Dims, env)
	}
	if t.Range.IsSet() {
		info.Range = t.Range.String()
	}
	return info
}

// modelReport describes the source network.
func (s *stages) modelReport(cfg config.Config) (*report.Model, error) {
	env, err := s.env(cfg)
	if err != nil {
		return nil, err
	}
	return s.modelReportAt(env), nil
}

// modelReportAt describes the source network at values of its symbols; where there are none, without shapes and arithmetic.
func (s *stages) modelReportAt(env map[string]int) *report.Model {
	n := s.model.Network
	r := &report.Model{
		Name: s.model.Name(), Graph: n.Name, Path: s.model.Path, Bytes: s.model.Bytes, SHA256: s.model.SHA256, Kind: s.model.kind(), Stripped: s.model.Stripped,
		Layers: layerInfos(n, env), Ops: map[string]int{}, Unsupported: unsupportedLayers(n),
	}
	r.NotRunnable = notRunnable(s.model.Refused, r.Unsupported, len(n.Layers))
	if s.Data != nil {
		_, r.Labelled = s.Data.Label(0)
		r.Data, r.Random, r.Items = s.Data.Name(), s.Data.Random(), s.Data.Len()
	}
	if s.CalData != nil {
		r.CalItems = s.calibrationItems()
	}
	for _, t := range n.Inputs {
		r.Inputs = append(r.Inputs, tensorInfo(t, env))
	}
	for _, t := range n.Outputs {
		r.Outputs = append(r.Outputs, tensorInfo(t, env))
	}
	for _, l := range r.Layers {
		r.Ops[l.Op]++
		r.FLOPs += l.FLOPs
	}
	for _, t := range n.Consts() {
		r.Params += int64(graph.Count(graph.EvalDims(t.Dims, nil)))
	}
	return r
}

// passesReport tells how the source network became the engine's.
func (s *stages) passesReport(cfg config.Config, o *build.Optimized, l *build.Lowered) (*report.Passes, error) {
	env, err := s.env(cfg)
	if err != nil {
		return nil, err
	}
	r := &report.Passes{
		Precision: cfg.Precision,
		Source:    layerInfos(s.model.Network, env), Engine: layerInfos(l.Network, env), Disabled: cfg.Disable,
	}
	if s.model.Refused != nil {
		r.Precision = config.FP32
	} else {
		r.Unmet = unmet(cfg, o, l)
	}
	if r.Precision != config.FP32 {
		asked, _ := cfg.Precision.DataType()
		r.Unlowered, r.Unchanged = unlowered(asked, o, l.Decisions), s.unchanged(cfg, o, l)
	}
	for _, p := range slices.Concat(pass.Standard(), pass.Lowering(), s.model.Passes) {
		for _, rule := range p.Rules {
			r.Rules = append(r.Rules, report.Rule{Name: rule, Doc: p.Doc})
		}
	}
	steps := append(append([]pass.Step(nil), o.Steps...), l.Steps...)
	for _, st := range steps {
		r.Steps = append(r.Steps, passStep(st, env))
	}
	if len(steps) == 0 {
		return r, nil
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
	return r, nil
}

func passStep(st pass.Step, env map[string]int) report.PassStep {
	ps := report.PassStep{Pass: st.Pass, Layers: len(st.After.Layers), Elapsed: st.Elapsed}
	if st.Before != st.After {
		ps.After, ps.Text = layerInfos(st.After, env), st.After.String()
	}
	for _, f := range st.Fired {
		ps.Fired = append(ps.Fired, report.FiredSite{
			Rule: f.Site.Rule, Site: f.Site.String(), Layers: f.Members, Into: f.Into,
			KernelsSaved: f.KernelsSaved, BytesSaved: int64(f.BytesSaved),
		})
	}
	for _, m := range st.Missed {
		ps.Missed = append(ps.Missed, report.MissedSite{
			Rule: m.Site.Rule, Site: m.Site.String(), Layers: m.Site.Layers, Reason: string(m.Reason), Detail: m.Detail,
		})
	}
	return ps
}

// memoryReport describes the arena.
func memoryReport(p *run.Plan) *report.Memory {
	m := p.Memory
	r := &report.Memory{
		MemoryNumbers: report.MemoryNumbers{Peak: m.Peak, Naive: m.Naive, LowerBound: m.LowerBound, IO: m.IO, Workspace: m.Workspace, Weights: m.Weights},
		PeakStep:      m.PeakStep, Live: make([]int, len(p.Steps)),
	}
	for _, st := range p.Steps {
		r.Steps = append(r.Steps, st.Name)
	}
	for _, sl := range p.Slots {
		info := report.Slot{Offset: sl.Offset, Bytes: sl.Size, First: sl.First, Last: sl.Last, IO: sl.Region == run.IO, Kind: "own"}
		if sl.Tensor == nil {
			info.Tensor, info.Kind = "workspace", "workspace"
		} else {
			info.Tensor, info.Desc = sl.Tensor.Name, sl.Desc.String()
		}
		if sl.Of >= 0 {
			of := p.Slots[sl.Of]
			info.Of, info.Kind = of.Tensor.Name, sharing(sl, of)
		}
		r.Slots = append(r.Slots, info)
		if sl.Of < 0 && sl.Region == run.Arena {
			for i := max(0, sl.First); i <= min(sl.Last, len(p.Steps)-1); i++ {
				r.Live[i] += sl.Size
			}
		}
	}
	return r
}

// sharing names the way in which one slot lies in another's memory.
func sharing(s, of run.Slot) string {
	switch {
	case s.Tensor.Producer != nil && of.Tensor.Producer != nil && of.Tensor.Producer.Op.Memory == graph.Joined && usedBy(s.Tensor, of.Tensor.Producer):
		return "slice"
	case s.Tensor.Producer != nil && s.Tensor.Producer.Op.Memory == graph.Viewed:
		return "view"
	}
	return "in place"
}

func usedBy(t *graph.Tensor, l *graph.Layer) bool {
	for _, u := range t.Users {
		if u == l {
			return true
		}
	}
	return false
}

// tacticsReport lists every candidate of every step.
func (s *stages) tacticsReport(cfg config.Config, p *run.Plan) *report.Tactics {
	r := &report.Tactics{CachePath: s.SaveTo, Pinned: cfg.Pin, Forbidden: cfg.Forbid}
	r.CacheHits, r.CacheMisses = s.Cache.Stats()
	if err := cmp.Or(s.unsaved, s.CacheError); err != nil {
		r.CacheError = err.Error()
	}
	choices := build.TacticChoices{Pin: cfg.Pin, Forbid: cfg.Forbid}
	target, estimated := s.Backend.Info().Fingerprint, s.Backend.Info().Estimated
	for _, e := range s.Cache.Entries() {
		r.Cache = append(r.Cache, report.CacheEntry{
			Target: e.Target, Tactic: e.Tactic, Layer: e.Layer, Time: e.Time, Stale: e.Target != target,
			Measured: e.Measured, Spread: e.Spread, Disturbed: e.Disturbed(),
		})
	}
	for _, st := range p.Steps {
		if st.Reformat {
			continue
		}
		lt := report.LayerTactics{Layer: st.Name, Op: st.Layer.Op.Name, Chosen: st.Tactic}
		fastest := st.Time
		priced := func(c run.Candidate) bool {
			return c.Timed || estimated && c.Reason == choices.Reason(st.Name, c.Tactic)
		}
		for _, c := range st.Candidates {
			if priced(c) && c.Time < fastest {
				fastest = c.Time
			}
		}
		for _, c := range st.Candidates {
			info := report.Candidate{Tactic: c.Tactic, Family: c.Family, Format: c.In.String(), Time: c.Time, Timed: c.Timed, Chosen: c.Tactic == st.Tactic, Reason: c.Reason, Note: c.Note}
			info.Unfit, info.Left, info.Twin = c.Unfit || c.Failed, c.Left, c.Twin
			if c.Out != c.In {
				info.Format += " to " + c.Out.String()
			}
			if priced(c) && fastest > 0 {
				info.Ratio = float64(c.Time) / float64(fastest)
			}
			if info.Reason == "" && !info.Chosen {
				info.Reason = "slower"
				if c.Time < st.Time {
					info.Reason = "slower with the reformats that its format would need"
				}
			}
			lt.Candidates = append(lt.Candidates, info)
		}
		r.Layers = append(r.Layers, lt)
	}
	return r
}
