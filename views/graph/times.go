package graph

import (
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// layerTimes are the times of an engine's layers, and of those inside them, by name.
type layerTimes map[string]*report.LayerTiming

// sum adds up the times of layers.
func (t layerTimes) sum(layers []report.Layer) (sum time.Duration) {
	for i := range layers {
		if l, ok := t[layers[i].Name]; ok {
			sum += l.Median
		}
	}
	return sum
}

// timed are the times of a measurement, which are the same for as long as that is.
type timed struct {
	timings *report.Timings
	times   layerTimes
}

func (m *timed) of(t *report.Timings) layerTimes {
	if m.timings != t {
		m.timings, m.times = t, make(layerTimes, len(t.Layers))
		for i := range t.Layers {
			l := &t.Layers[i]
			m.times[l.Name] = l
			for _, x := range l.Inside {
				m.times[x.Name] = &report.LayerTiming{Name: x.Name, Latency: report.Latency{Mean: x.Mean, Median: x.Mean}}
			}
		}
	}
	return m.times
}
