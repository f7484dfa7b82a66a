package exchange

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// recent is how many of the newest samples a report shows.
const recent = 60

// timings sums the times up; nil where the files have none.
func (e *Engine) timings() *report.Timings {
	if e.Profile == nil && e.Times == nil {
		return nil
	}
	t := &report.Timings{Summed: true}
	if len(e.Layers.Inputs) > 0 {
		t.BatchItems = e.batch
	}
	if e.runs != nil {
		t.Tick = time.Microsecond // of ONNX Runtime
	}
	byName := map[string]*EngineLayer{}
	for i := range e.Layers.Layers {
		byName[e.Layers.Layers[i].Name] = &e.Layers.Layers[i]
	}
	for _, r := range e.Profile {
		lt := report.LayerTiming{Name: r.Name, Op: "?", Precision: "?"}
		lt.Count, lt.Mean, lt.Median = int(r.Runs), r.Mean, r.Median
		if len(r.Samples) > 0 {
			lt.Latency, lt.Recent, t.Summed = latencyOf(r.Samples), newest(r.Samples), false
			lt.Rounds = compare.RoundsOf(r.Samples, compare.Rounds)
		}
		if l := byName[r.Name]; l != nil {
			info := layerReport(l)
			lt.Op, lt.Precision, lt.From, lt.FLOPs = info.Op, info.Precision, info.From, info.FLOPs
			lt.Tactic, lt.Reformat, lt.Bytes = l.tactic(), l.Reformats(), l.traffic()
		}
		if lt.Median > 0 {
			lt.GFLOPS = float64(lt.FLOPs) / float64(lt.Median)
		}
		t.Samples = max(t.Samples, lt.Count)
		t.SumMedian += lt.Median
		t.Layers = append(t.Layers, lt)
	}
	for i := range t.Layers {
		if t.SumMedian > 0 {
			t.Layers[i].Share = float64(t.Layers[i].Median) / float64(t.SumMedian)
		}
	}
	e.endToEnd(t)
	return t
}

// endToEnd takes the times of whole inferences: what the device computes, apart from copies. Without any it is the sum of the
// layers.
func (e *Engine) endToEnd(t *report.Timings) {
	samples := e.runs
	if e.Times != nil {
		samples = durations(e.Times, func(q QueryTime) time.Duration { return q.Compute })
		median := func(of func(QueryTime) time.Duration) time.Duration { return latencyOf(durations(e.Times, of)).Median }
		t.Inference = &report.InferenceSplit{Samples: len(e.Times), Compute: median(func(q QueryTime) time.Duration { return q.Compute }),
			Enqueue: median(func(q QueryTime) time.Duration { return q.Enqueue }), H2D: median(func(q QueryTime) time.Duration { return q.H2D }),
			D2H: median(func(q QueryTime) time.Duration { return q.D2H })}
		for _, in := range e.Layers.Inputs {
			t.Inference.InputBytes += bytesOf(in.Type, in.Elements)
		}
		for _, out := range e.Layers.Outputs {
			t.Inference.OutputBytes += bytesOf(out.Type, out.Elements)
		}
	}
	if len(samples) == 0 {
		t.EndToEnd.Median, t.EndToEnd.Mean = t.SumMedian, t.SumMedian
		return
	}
	t.EndToEnd, t.Samples = latencyOf(samples), len(samples)
	t.RecentE2E = newest(samples)
	i := compare.IntervalOf(samples)
	t.MedianLow, t.MedianHigh = time.Duration(i.Low), time.Duration(i.High)
	layers := make([][]time.Duration, len(e.Profile))
	for i, r := range e.Profile {
		layers[i] = r.Samples
	}
	if t.Gap, t.GapRuns = report.GapOf(e.runs, layers); t.GapRuns == 0 && t.SumMedian > 0 {
		t.Gap = t.EndToEnd.Median - t.SumMedian
	}
}

func newest(samples []time.Duration) []time.Duration {
	return slices.Clone(samples[max(0, len(samples)-recent):])
}

func durations(list []QueryTime, of func(QueryTime) time.Duration) []time.Duration {
	out := make([]time.Duration, len(list))
	for i, q := range list {
		out[i] = of(q)
	}
	return out
}

// latencyOf sums samples up, with percentiles as trtexec has them: the sample at that place of the sorted ones.
func latencyOf(samples []time.Duration) (l report.Latency) {
	sorted := slices.Sorted(slices.Values(samples))
	n := len(sorted)
	if n == 0 {
		return l
	}
	sum := 0.0
	for _, d := range sorted {
		sum += float64(d)
	}
	mean, squares := sum/float64(n), 0.0
	for _, d := range sorted {
		squares += (float64(d) - mean) * (float64(d) - mean)
	}
	median := sorted[n/2]
	if n%2 == 0 {
		median = (sorted[n/2-1] + sorted[n/2]) / 2
	}
	l = report.Latency{Count: n, Mean: time.Duration(mean), Median: median, Min: sorted[0], Max: sorted[n-1], P90: percentile(sorted, 0.9), P95: percentile(sorted, 0.95), P99: percentile(sorted, 0.99)}
	if n > 1 && mean > 0 {
		l.CV = math.Sqrt(squares/float64(n-1)) / mean
	}
	return l
}

// percentile returns the sample that a share of the sorted ones is not above; 0 where there are none.
func percentile(sorted []time.Duration, share float64) time.Duration {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return sorted[min(n-1, max(0, int(math.Ceil(share*float64(n)))-1))]
}

// overview sums the engine up; nil without times.
func (e *Engine) overview(t *report.Timings) *report.Overview {
	if t == nil {
		return nil
	}
	o := &report.Overview{Latency: t.EndToEnd, Batch: e.batch, Inference: t.Inference}
	for i := range e.Layers.Layers {
		l := &e.Layers.Layers[i]
		o.Steps++
		switch {
		case l.Untimed():
			o.InMemory++
			o.Engine++
		case l.Reformats():
			o.Reformats++
		default:
			o.Engine++
		}
		o.Source += len(l.Sources())
		o.Memory.Weights += int(l.weights())
	}
	o.Launches = o.Steps - o.InMemory
	o.Throughput = t.EndToEnd.Rate(e.batch)
	if n := len(e.Times); n > 1 && e.Times[n-1].End > e.Times[0].Start {
		o.Overlapped = true
		o.Throughput = float64(n*e.batch) / (e.Times[n-1].End - e.Times[0].Start).Seconds()
	}
	byTime := slices.Clone(t.Layers)
	slices.SortStableFunc(byTime, func(a, b report.LayerTiming) int { return cmp.Compare(b.Median, a.Median) })
	for _, l := range byTime[:min(10, len(byTime))] {
		o.Top = append(o.Top, report.TopLayer{Name: l.Name, Time: l.Median, Share: l.Share, Precision: l.Precision, Tactic: l.Tactic})
	}
	for _, l := range t.Layers {
		i := slices.IndexFunc(o.Split, func(s report.SplitEntry) bool { return s.Precision == l.Precision })
		if i < 0 {
			i = len(o.Split)
			o.Split = append(o.Split, report.SplitEntry{Precision: l.Precision})
		}
		o.Split[i].Layers++
		o.Split[i].Time += l.Median
	}
	if e.astray != "" {
		o.Badges = append(o.Badges, report.Badge{Text: "two builds?", Why: e.astray})
	}
	if t.EndToEnd.Count == 0 {
		o.Badges = append(o.Badges, report.Badge{Text: "sum of layers", Why: "no times of whole inferences were given: the latency is the sum of the layers' medians"})
	}
	return o
}
