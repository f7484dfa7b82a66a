package stages

import (
	"slices"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
)

// Together is what engines came to that were measured side by side: another measurement of the same ones, in whatever order, adds its
// rounds. The zero value has none; nil keeps none.
type Together struct {
	times  []*describe.Times
	rounds []compare.Lane // without their contexts
}

// of returns the times and the rounds of engines that are all that were measured together; new ones where they are not.
func (t *Together) of(engines []*run.Loaded) (times []*describe.Times, lanes []*compare.Lane) {
	for _, l := range engines {
		if t == nil || len(t.times) != len(engines) {
			break
		}
		if k := slices.IndexFunc(t.times, func(k *describe.Times) bool { return k.IsOf(l.Plan) }); k >= 0 {
			r := &t.rounds[k]
			times, lanes = append(times, t.times[k]), append(lanes, &compare.Lane{Medians: slices.Clone(r.Medians), P99s: slices.Clone(r.P99s)})
		}
	}
	if len(times) == len(engines) {
		return times, lanes
	}
	times, lanes = make([]*describe.Times, len(engines)), make([]*compare.Lane, len(engines))
	for i, l := range engines {
		times[i], lanes[i] = describe.NewTimes(l.Plan, model.BatchOf(l.Plan)), &compare.Lane{}
	}
	return times, lanes
}

// keep notes what engines came to whose measurement is over.
func (t *Together) keep(times []*describe.Times, lanes []*compare.Lane) {
	if t == nil {
		return
	}
	t.times, t.rounds = times, nil
	for _, l := range lanes {
		t.rounds = append(t.rounds, compare.Lane{Medians: l.Medians, P99s: l.P99s})
	}
}
