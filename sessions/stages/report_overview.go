package stages

import (
	"slices"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// overview sums an engine up; unchanged says why its precision changes nothing.
func overview(s *stored, cfg config.Config, p *run.Plan, t *report.Timings, unchanged string) *report.Overview {
	m, source := p.Memory, len(s.model.Network.AllLayers())
	if s.model.Stripped { // the network is the plan's
		source = 0
	}
	r := &report.Overview{
		Latency: t.EndToEnd, Inference: t.Inference, Batch: t.BatchItems, Counts: describe.Counts(p, source),
		Memory: report.MemoryNumbers{Peak: m.Peak, Naive: m.Naive, LowerBound: m.LowerBound, IO: m.IO, Workspace: m.Workspace, Weights: m.Weights},
	}
	r.Throughput = t.EndToEnd.Rate(t.BatchItems)
	byTime := slices.Clone(t.Layers)
	slices.SortStableFunc(byTime, func(a, b report.LayerTiming) int { return int(b.Median - a.Median) })
	for _, l := range byTime[:min(10, len(byTime))] {
		r.Top = append(r.Top, report.TopLayer{Name: l.Name, Time: l.Median, Share: l.Share, P99: l.P99, CV: l.CV, Precision: l.Precision, Tactic: l.Tactic})
	}
	for _, l := range t.Layers {
		i := slices.IndexFunc(r.Split, func(e report.SplitEntry) bool { return e.Precision == l.Precision })
		if i < 0 {
			i = len(r.Split)
			r.Split = append(r.Split, report.SplitEntry{Precision: l.Precision})
		}
		r.Split[i].Layers++
		r.Split[i].Time += l.Median
	}
	r.Forks, r.Dropped = describe.Forks(p)
	r.Unchanged = unchanged
	if s.model.Engine != nil {
		r.Contents, r.Origin = NewFileReport(s.model.Engine.Contents), originOf(s.model)
		r.Profiles = describe.Profiles(s.model.Engine)
		if list := s.model.Engine.Profiles; s.serves(cfg) && p.Profile < len(list) && (len(list) > 1 || list[0].Name != run.DefaultProfile) {
			r.Profile = list[p.Profile].Name
		}
	}
	if t.EndToEnd.Unstable() {
		r.Badges = append(r.Badges, report.Badge{Text: "unstable", Why: "the latency's coefficient of variation is over 2.5 %: other work on the machine, or a changing clock"})
	}
	if i := t.Inference; i != nil && float64(i.Enqueue) > report.EnqueueBound*float64(i.Compute) {
		r.Badges = append(r.Badges, report.Badge{Text: "enqueue bound", Why: "handing the work to the device takes the host over 0.8 of the time that the device computes: more work an inference, such as a larger batch, would keep it busy"})
	}
	if s.RandomCalibration(cfg) {
		why := "no data was given: ranges come from random input and accuracy is agreement with FP32 only"
		if by := FinderOf(s.model, cfg); s.Ranges(by) != nil {
			why = "the engine was built without data: its ranges come from random input"
		} else if len(by.Given) > 0 {
			why = "no data was given: the ranges that were not given come from random input and accuracy is agreement with FP32 only"
		}
		r.Badges = append(r.Badges, report.Badge{Text: report.RandomCalibration, Why: why})
	}
	if why := s.Replanned(cfg); why != "" {
		r.Badges = append(r.Badges, report.Badge{Text: report.PlannedAgain, Why: why})
	}
	if t.Estimated {
		r.Badges = append(r.Badges, report.Badge{Text: "estimated", Why: "times are estimated from what the simulator counted; tactics are untimed, chosen by the cost model's prices: this backend has no device to measure on"})
	}
	return r
}

// originOf tells what an engine file says of its making.
func originOf(m *model.Model) *report.Origin {
	o := m.Engine.Origin
	return &report.Origin{Program: o.Program, Commit: o.Commit, Built: o.Built, Model: o.Model, ModelHash: o.ModelHash, Config: o.Config, Data: o.Data,
		Backend: o.Backend, Device: o.Device, Source: !m.Stripped}
}

// NewFileReport tells what an engine file holds; nil where there is none yet.
func NewFileReport(c run.Contents) *report.File {
	if c.Bytes() == 0 {
		return nil
	}
	return &report.File{Bytes: c.Bytes(), Source: c.Source, Plans: c.Plans, Code: c.Code, Description: c.Description}
}
