package describe

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// recentSamples is how many of the newest samples a report shows.
const recentSamples = 60

// Times collects the samples of one engine.
type Times struct {
	plan    *run.Plan
	work    []run.Work // of its steps
	batch   int
	Latency []time.Duration
	host    []time.Duration   // what passed on the host for each of Latency
	steps   [][]time.Duration // by step
	splits  []run.Split
	inside  []insideSum // of the steps of bodies
	forks   forkTimes
	split   report.InferenceSplit // what is the same for all of them

	peaks    *run.Peaks       // that the steps stand under; nil: not known
	Roofline *report.Roofline // what is said of them, but for the layers above; nil: nobody asks

	Rounds int // into which the samples of a layer are cut; 0: as many as compare.Rounds
}

// NewTimes begins to collect samples of a plan, each of which is an inference of a batch.
func NewTimes(p *run.Plan, batch int) *Times {
	return &Times{plan: p, work: p.Work(), batch: batch, steps: make([][]time.Duration, len(p.Steps))}
}

// IsOf reports whether the samples are of a plan.
func (t *Times) IsOf(p *run.Plan) bool { return t.plan == p }

// TimingsOf sums up samples of a plan's inferences, and of its steps.
func TimingsOf(p *run.Plan, latency []time.Duration, steps [][]time.Duration, estimated bool) *report.Timings {
	t := NewTimes(p, model.BatchOf(p))
	t.Latency, t.steps = latency, steps
	return t.Report(false, estimated)
}

// Add takes a sample; the oldest ones go where there are too many.
func (t *Times) Add(s run.Sample) {
	if len(t.Latency) == maxSamples {
		t.Latency = slices.Delete(t.Latency, 0, maxSamples/2)
		t.host = slices.Delete(t.host, 0, min(maxSamples/2, len(t.host)))
		for i := range t.steps {
			t.steps[i] = slices.Delete(t.steps[i], 0, min(maxSamples/2, len(t.steps[i])))
		}
	}
	t.Latency, t.host = append(t.Latency, s.Latency), append(t.host, s.Host)
	if s.Split != nil {
		t.splits = append(t.splits[max(0, len(t.splits)-maxSamples/2):], *s.Split)
	}
	for i, d := range s.Steps {
		t.steps[i] = append(t.steps[i], d)
	}
	t.addInside(s.Inside)
	t.forks.add(t.plan, s)
}

// Walltime is what passed on the host for the runs that are kept.
func (t *Times) Walltime() (sum time.Duration) {
	for _, d := range t.host {
		sum += d
	}
	return sum
}

// insideSum is what a step of a body took in all samples.
type insideSum struct {
	run.Inside
	samples int
}

// addInside adds up what the steps of bodies took. They are the same in all samples of an engine.
func (t *Times) addInside(list []run.Inside) {
	if len(list) > 0 && len(t.inside) != len(list) {
		t.inside = make([]insideSum, len(list))
	}
	for i, s := range list {
		x := &t.inside[i]
		x.Step, x.Of = s.Step, s.Of
		x.Runs, x.Time, x.samples = x.Runs+s.Runs, x.Time+s.Time, x.samples+1
	}
}

// insideOf returns what the steps of the bodies of a step take.
func (t *Times) insideOf(step string) (list []report.InsideTiming) {
	for _, x := range t.inside {
		if x.Of == step && x.samples > 0 {
			list = append(list, report.InsideTiming{Name: x.Step.Name, Op: graph.OpName(x.Step.Layer), Precision: PrecisionOf(x.Step.Layer), Tactic: x.Step.Tactic,
				Runs: float64(x.Runs) / float64(x.samples), Mean: x.Time / time.Duration(x.samples)})
		}
	}
	return list
}

// All yields the samples that are kept, oldest first. Steps are those of the samples that have them.
func (t *Times) All() iter.Seq[run.Sample] {
	return func(yield func(run.Sample) bool) {
		steps := make([]time.Duration, len(t.steps))
		for i, l := range t.Latency {
			s := run.Sample{Latency: l, Steps: steps}
			for j := range t.steps {
				if i >= len(t.steps[j]) {
					s.Steps = nil
					break
				}
				steps[j] = t.steps[j][i]
			}
			if !yield(s) {
				return
			}
		}
	}
}

// Of notes what is the same for all inferences of a context.
func (t *Times) Of(c *run.ExecutionContext) {
	in, out := c.Copied()
	t.split = report.InferenceSplit{InPlace: c.Shared(), InputBytes: int64(in), OutputBytes: int64(out)}
}

// inference sums the splits up; nil where there are none.
func (t *Times) inference() *report.InferenceSplit {
	if len(t.splits) == 0 {
		return nil
	}
	median := func(part func(run.Split) time.Duration) time.Duration {
		list := make([]time.Duration, len(t.splits))
		for i, s := range t.splits {
			list[i] = part(s)
		}
		return run.Summarize(list).Median
	}
	r := t.split
	r.Samples = len(t.splits)
	r.Enqueue = median(func(s run.Split) time.Duration { return s.Enqueue })
	r.H2D = median(func(s run.Split) time.Duration { return s.H2D })
	r.Compute = LatencyOf(t.Latency).Median
	r.D2H = median(func(s run.Split) time.Duration { return s.D2H })
	return &r
}

// LatencyOf sums samples up.
func LatencyOf(samples []time.Duration) report.Latency { return latencyOf(run.Summarize(samples)) }

func latencyOf(s run.Stats) report.Latency {
	return report.Latency{Count: s.Count, Mean: s.Mean, Median: s.Median, Min: s.Min, Max: s.Max, P90: s.P90, P95: s.P95, P99: s.P99, CV: s.CV}
}

func recent(samples []time.Duration) []time.Duration {
	return slices.Clone(samples[max(0, len(samples)-recentSamples):])
}

// timeBins is how many bins a layer's samples are sorted into.
const timeBins = 96

// binTimes counts samples, whose statistics are l. The bins end a little behind the 99th percentile: a few samples are
// often many times as long, and would leave all others in the first bin.
func binTimes(samples []time.Duration, l report.Latency) *report.TimeBins {
	if len(samples) == 0 {
		return nil
	}
	b := &report.TimeBins{Low: l.Min, High: min(l.Max, l.P99+(l.P99-l.Min)/8), Counts: make([]int, timeBins)}
	width := max(b.High-b.Low, 1)
	for _, d := range samples {
		if d > b.High {
			b.Above++
			continue
		}
		b.Counts[min(int(int64(d-b.Low)*timeBins/int64(width)), timeBins-1)]++
	}
	return b
}

// Report sums the samples up.
func (t *Times) Report(live, estimated bool) *report.Timings {
	r := &report.Timings{
		Samples: len(t.Latency), EndToEnd: LatencyOf(t.Latency), Live: live, RecentE2E: recent(t.Latency),
		Estimated: estimated, BatchItems: t.batch, Inference: t.inference(),
	}
	if !live {
		r.Runs = t.Latency
	}
	if i := compare.IntervalOf(t.Latency); !estimated {
		r.MedianLow, r.MedianHigh = time.Duration(i.Low), time.Duration(i.High)
	}
	for i, st := range t.plan.Steps {
		stats := run.Summarize(t.steps[i])
		lt := report.LayerTiming{
			Name: st.Name, Op: graph.OpName(st.Layer), Precision: PrecisionOf(st.Layer), Tactic: st.Tactic, From: st.From,
			Reformat: st.Reformat, Once: st.Once, Origin: st.Origin, Latency: latencyOf(stats), P10: stats.P10, P25: stats.P25, P75: stats.P75, Recent: recent(t.steps[i]),
			FLOPs: t.work[i].FLOPs, Bytes: t.work[i].Bytes,
		}
		if st.Tactic == run.SubPlans {
			lt.Inside = t.insideOf(st.Name)
		}
		lt.Fork, lt.Lane = t.plan.LaneOf(i)
		lt.Bins = binTimes(t.steps[i], lt.Latency)
		if !live && !estimated {
			lt.Rounds = compare.RoundsOf(t.steps[i], cmp.Or(t.Rounds, compare.Rounds))
		}
		if lt.Median > 0 {
			lt.GFLOPS = float64(lt.FLOPs) / float64(lt.Median)
		}
		lt.Roof = t.stand(&t.work[i], lt.Median)
		r.SumMedian += lt.Median
		r.Layers = append(r.Layers, lt)
	}
	for i := range r.Layers {
		if r.SumMedian > 0 {
			r.Layers[i].Share = float64(r.Layers[i].Median) / float64(r.SumMedian)
		}
	}
	r.Gap, r.GapRuns = report.GapOf(t.Latency, t.steps)
	r.Forks = t.forks.report(t.plan)
	t.withRoofline(r)
	return r
}

// Under lets the layers stand under peaks, those of all threads last; again says that they were measured once more.
func (t *Times) Under(peaks []run.Peaks, again bool) {
	t.peaks = &peaks[len(peaks)-1]
	t.Roofline = &report.Roofline{Again: again}
	for _, p := range peaks {
		t.Roofline.Peaks = append(t.Roofline.Peaks, report.Peaks{Threads: p.Threads, Compute: peakReports(p.Compute), Memory: peakReports(p.Memory)})
	}
	for _, list := range [][]run.Peak{t.peaks.Compute, t.peaks.Memory} {
		for _, k := range list {
			if k.Disturbed() {
				t.Roofline.Disturbed = append(t.Roofline.Disturbed, k.Name)
			}
		}
	}
}

func peakReports(list []run.Peak) (out []report.Peak) {
	for _, k := range list {
		out = append(out, report.Peak(k))
	}
	return out
}

// stand returns where a step stands, nil where nothing is known of the peaks or of its work.
func (t *Times) stand(w *run.Work, median time.Duration) *report.Roof {
	if t.peaks == nil || w.Traffic == nil || median <= 0 {
		return nil
	}
	f := t.peaks.Floor(w)
	if f.Time <= 0 {
		return nil
	}
	return &report.Roof{
		Operations: w.Operations, Intensity: float64(w.Operations) / float64(max(w.Bytes, 1)), Reached: float64(w.Operations) / float64(median),
		Ceiling: float64(w.Operations) / float64(f.Time), Floor: f.Time, Bound: f.Bound, OfPeak: float64(f.Time) / float64(median),
	}
}

// withRoofline adds the ceilings, and names the layers above them.
func (t *Times) withRoofline(r *report.Timings) {
	if t.Roofline == nil {
		return
	}
	line := *t.Roofline
	for _, l := range r.Layers {
		if l.Roof != nil && l.Roof.Above() {
			line.Above = append(line.Above, l.Name)
		}
	}
	r.Roofline = &line
}
