package describe

import (
	"time"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Forks reports the steps of a plan that run side by side, and those that could and run in turn, as they were measured when it was
// built.
func Forks(p *run.Plan) (forks, dropped []report.Fork) {
	for _, f := range p.Forks {
		forks = append(forks, fork(p, f))
	}
	for _, f := range p.Dropped {
		r := fork(p, f.Fork)
		r.Reason, r.Detail = f.Reason, f.Detail
		dropped = append(dropped, r)
	}
	return forks, dropped
}

func fork(p *run.Plan, f run.Fork) report.Fork {
	r := report.Fork{InTurn: f.Measured.InTurn, Beside: f.Measured.Beside, Predicted: f.Predicted.Gain()}
	if r.Measured() {
		r.Gain = f.Measured.Gain()
	}
	var named []string // a layer for each step is enough to have all in turn
	for _, lane := range f.Lanes {
		var steps []report.LaneStep
		for _, i := range lane {
			s := p.Steps[i]
			steps = append(steps, report.LaneStep{Step: s.Name})
			from := s.From
			if len(from) == 0 {
				from = []string{s.Name}
			}
			r.Layers, named = append(r.Layers, from...), append(named, from[0])
		}
		r.Lanes = append(r.Lanes, steps)
	}
	r.Site = pass.NewSite(pass.SideBySide, named...).String()
	return r
}

// forkTimes are the samples of a plan's forks.
type forkTimes struct {
	forks []struct{ inTurn, beside []time.Duration } // by fork
	lanes map[int][]time.Duration                    // by step in a lane
}

func (t *forkTimes) add(p *run.Plan, s run.Sample) {
	if len(s.Forks) != len(p.Forks) || len(s.Forks) == 0 {
		return
	}
	if t.lanes == nil {
		t.forks, t.lanes = make([]struct{ inTurn, beside []time.Duration }, len(p.Forks)), map[int][]time.Duration{}
	}
	for k, f := range s.Forks {
		at := &t.forks[k]
		at.inTurn, at.beside = append(newest(at.inTurn), f.InTurn), append(newest(at.beside), f.Beside)
		for _, lane := range p.Forks[k].Lanes {
			for _, i := range lane {
				t.lanes[i] = append(newest(t.lanes[i]), s.Lanes[i])
			}
		}
	}
}

// report returns the forks of a plan with medians; nil where none was timed.
func (t *forkTimes) report(p *run.Plan) []report.Fork {
	if t.lanes == nil {
		return nil
	}
	median := func(samples []time.Duration) time.Duration { return run.Summarize(samples).Median }
	list, _ := Forks(p)
	for k := range list {
		f := &list[k]
		f.Site, f.Layers = "", nil
		now := run.ForkTime{InTurn: median(t.forks[k].inTurn), Beside: median(t.forks[k].beside)}
		f.InTurn, f.Beside, f.Gain = now.InTurn, now.Beside, now.Gain()
		for n, lane := range p.Forks[k].Lanes {
			for at, i := range lane {
				f.Lanes[n][at].Median = median(t.lanes[i])
			}
		}
	}
	return list
}
