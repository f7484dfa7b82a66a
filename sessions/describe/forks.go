package describe

import (
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Forks reports the steps of a plan that run side by side, as they were measured when it was built.
func Forks(p *run.Plan) (list []report.Fork) {
	for _, f := range p.Forks {
		r := report.Fork{InTurn: f.Measured.InTurn, Beside: f.Measured.Beside, Gain: f.Measured.Gain(), Predicted: f.Predicted.Gain()}
		for _, lane := range f.Lanes {
			var steps []report.LaneStep
			for _, i := range lane {
				steps = append(steps, report.LaneStep{Step: p.Steps[i].Name})
			}
			r.Lanes = append(r.Lanes, steps)
		}
		list = append(list, r)
	}
	return list
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
	list := Forks(p)
	for k := range list {
		f := &list[k]
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
