package generate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trtui/trtui/core/run"
)

// Phase is one of the profiles of a model's engine: what it is for, and how long it takes.
type Phase struct {
	Name    string // "prefill" and "decode" of a model with state, otherwise the length of the text
	Tokens  int    // that a run computes
	Plan    *run.Plan
	Latency []time.Duration   // of runs
	Steps   [][]time.Duration // by step of the plan, of other runs
	engine  *engine
}

func (d *cachedDecoder) phases() (list []Phase) {
	for _, p := range []Phase{{Name: "prefill", engine: d.prompt}, {Name: "decode", engine: d.single}} {
		if p.engine != nil {
			list = append(list, p)
		}
	}
	return list
}

func (d *plainDecoder) phases() (list []Phase) {
	for _, length := range slices.Sorted(maps.Keys(d.engines)) {
		list = append(list, Phase{Name: fmt.Sprintf("text of %d", length), engine: d.engines[length]})
	}
	return list
}

// Profile measures the profiles that texts were made with so far, step by step, each as p says. State is left as it is.
func (m *Model) Profile(ctx context.Context, p run.Profiling) ([]Phase, error) {
	p.PerStep = true
	list := m.decoder.phases()
	for i := range list {
		ph := &list[i]
		ph.Tokens, ph.Plan = ph.engine.length, ph.engine.loaded.Plan
		ph.Steps = make([][]time.Duration, len(ph.Plan.Steps))
		err := ph.engine.context.Profile(ctx, p, func(s run.Sample) {
			ph.Latency = append(ph.Latency, s.Latency)
			for k, t := range s.Steps {
				ph.Steps[k] = append(ph.Steps[k], t)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ph.Name, err)
		}
	}
	return list, nil
}
