package report

import (
	"encoding/json"
	"slices"
	"time"
)

// GapOf returns the median, over runs, of what each takes from end to end beyond its own layers, and of how many runs that is: those
// of which both are known. The medians of layers tell nothing of it: where runs vary, each layer is disturbed in another few of them,
// and the layers' medians sum up to less than what any run takes.
func GapOf(runs []time.Duration, layers [][]time.Duration) (gap time.Duration, n int) {
	if len(layers) == 0 {
		return 0, 0
	}
	n = len(runs)
	for _, l := range layers {
		n = min(n, len(l))
	}
	if n == 0 {
		return 0, 0
	}
	gaps := slices.Clone(runs[:n])
	for _, l := range layers {
		for i := range gaps {
			gaps[i] -= l[i]
		}
	}
	slices.Sort(gaps)
	return (gaps[(n-1)/2] + gaps[n/2]) / 2, n
}

// InLayers is the part of the latency that runs spend in layers: EndToEnd.Median without the gap.
func (t *Timings) InLayers() time.Duration { return t.EndToEnd.Median - t.Gap }

// Apart reports whether the medians of layers, of which shares are, do not add up to what runs spend in layers: under load each layer is
// disturbed in another few runs, which no median shows.
func (t *Timings) Apart() bool {
	rest := t.InLayers() - t.SumMedian
	return len(t.Layers) > 0 && !t.Estimated && max(rest, -rest) > max(LeastDelta, t.SumMedian/10)
}

// UnmarshalJSON reads a stored report. Older programs took the gap from medians: it is made anew of the newest samples.
func (t *Timings) UnmarshalJSON(text []byte) error {
	type plain Timings
	if err := json.Unmarshal(text, (*plain)(t)); err != nil {
		return err
	}
	if t.GapRuns > 0 {
		return nil
	}
	layers := make([][]time.Duration, len(t.Layers))
	for i := range t.Layers {
		layers[i] = t.Layers[i].Recent
	}
	if gap, n := GapOf(t.RecentE2E, layers); n > 0 {
		t.Gap, t.GapRuns = gap, n
	}
	return nil
}
