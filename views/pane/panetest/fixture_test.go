package panetest

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

const fixtureFile = "testdata/digits-int8.json.gz"

var writeFixture = flag.Bool("fixture", false, "make the snapshot that the tests draw anew, from a session on the embedded model")

// TestFixture makes the fixture anew: go test ./views/pane/panetest -run TestFixture -fixture
func TestFixture(t *testing.T) {
	if !*writeFixture {
		if snap := Fixture(t); snap.Schema != report.Schema || !snap.Settled() {
			t.Errorf("the fixture has schema %d, want %d: make it anew with -fixture", snap.Schema, report.Schema)
		}
		return
	}
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(2)
	defer b.Close()
	s := sessions.Open(m, stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(),
		Data: digits{testdata.TestImages()}, CalData: digits{testdata.CalibrationImages()},
	}, config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1})
	defer s.Close()
	var snap *report.Snapshot
	for snap = range s.Events() {
		if snap.Err != "" {
			t.Fatal(snap.Err)
		}
		if snap.Settled() && snap.Busy == nil {
			break
		}
	}
	settleTimes(snap)
	data, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(fixtureFile)
	if err != nil {
		t.Fatal(err)
	}
	zip, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	zip.Write(data)
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

type digits struct{ *testdata.Images }

func (d digits) Inputs(i int) (map[string]numeric.Value, error) {
	return map[string]numeric.Value{"image": numeric.Values(numeric.F32, d.Batch(i, i+1), 1, 1, testdata.Padded, testdata.Padded)}, nil
}

func (d digits) Labels(i int) []int { return d.Images.Labels[i : i+1] }

func (d digits) Name() string { return "embedded digits" }

func (d digits) Random() bool { return false }

// settleTimes replaces every time of a snapshot, so that pictures of it do not depend on the machine.
func settleTimes(s *report.Snapshot) {
	s.Device = report.Device{Backend: "cpu", Device: "Example CPU", Threads: 2, Fingerprint: "cpu example"}
	for i := range s.Log {
		s.Log[i].Time = time.Date(2026, 1, 2, 3, 4, 5, i*1e6, time.UTC)
	}
	for i := range s.Passes.Steps {
		s.Passes.Steps[i].Elapsed = Invented(s.Passes.Steps[i].Pass, 40*time.Microsecond)
	}
	t := s.Timings
	t.SumMedian = 0
	for i := range t.Layers {
		l := &t.Layers[i]
		base := 2*time.Microsecond + time.Duration(l.FLOPs/400) + time.Duration(l.Bytes/60)
		l.Latency = latencies(l.Name, base, 200)
		l.Recent = samples(l.Name, l.Median)
		l.Bins = bins(l)
		l.GFLOPS = float64(l.FLOPs) / float64(l.Median)
		t.SumMedian += l.Median
	}
	for i := range t.Layers {
		t.Layers[i].Share = float64(t.Layers[i].Median) / float64(t.SumMedian)
	}
	t.Samples = 200
	t.EndToEnd = Around(t.SumMedian*27/25, 200)
	t.Gap, t.GapRuns = t.EndToEnd.Median-t.SumMedian, 200
	t.MedianLow, t.MedianHigh, t.Beside = 0, 0, nil // as of too few samples
	t.RecentE2E = samples("end to end", t.EndToEnd.Median)
	t.Inference = &report.InferenceSplit{Samples: 50, InPlace: true, H2D: 900 * time.Nanosecond, Compute: t.EndToEnd.Median,
		D2H: 100 * time.Nanosecond, InputBytes: 4096, OutputBytes: 40}
	settleOverview(s)
	for i := range s.Runtime.Points {
		p := &s.Runtime.Points[i]
		p.Latency, p.Throughput = t.EndToEnd, t.EndToEnd.Rate(p.Batch)
	}
	s.Calibration.Elapsed = 230 * time.Millisecond
	for i := range s.Tactics.Layers {
		for k := range s.Tactics.Layers[i].Candidates {
			if c := &s.Tactics.Layers[i].Candidates[k]; c.Timed {
				c.Time = time.Duration(c.Ratio * float64(Invented(s.Tactics.Layers[i].Layer, 10*time.Microsecond)))
			}
		}
	}
	s.Tactics.Cache = s.Tactics.Cache[:min(20, len(s.Tactics.Cache))]
	for i := range s.Tactics.Cache {
		e := &s.Tactics.Cache[i]
		e.Time, e.Measured, e.Spread, e.Disturbed = Invented(e.Tactic, 5*time.Microsecond), time.Time{}, 0, false
		if i < 17 { // the others are as an older program left them
			e.Measured = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC).Add(-time.Duration(i*i*i) * time.Hour)
			e.Spread = float64(i%7) / 20
			e.Disturbed = e.Spread > 0.25
		}
	}
}

func settleOverview(s *report.Snapshot) {
	o, t := s.Overview, s.Timings
	o.Latency, o.Throughput, o.BuildTime, o.Badges = t.EndToEnd, t.EndToEnd.Rate(1), 412*time.Millisecond, nil
	for i := range o.Split {
		o.Split[i].Time = 0
		for _, l := range t.Layers {
			if l.Precision == o.Split[i].Precision {
				o.Split[i].Time += l.Median
			}
		}
	}
	byTime := slices.Clone(t.Layers)
	slices.SortStableFunc(byTime, func(a, b report.LayerTiming) int { return int(b.Median - a.Median) })
	for i := range o.Top {
		o.Top[i] = report.TopLayer{Name: byTime[i].Name, Time: byTime[i].Median, Share: byTime[i].Share}
	}
}

func latencies(name string, base time.Duration, n int) report.Latency {
	return Around(Invented(name, base), n)
}

// bins sorts as many invented samples as the layer has: most near the median, a few off the scale.
func bins(l *report.LayerTiming) *report.TimeBins {
	b := &report.TimeBins{Low: l.Min, High: l.P99 + (l.P99-l.Min)/8, Counts: make([]int, 96), Above: 2}
	middle := int(int64(l.Median-l.Min) * 96 / int64(b.High-b.Low))
	for i := range l.Count - b.Above {
		off := time.Duration(1)
		for k := range 3 { // a product of three, near zero more often than not
			off = off * Invented(l.Name+string(rune('a'+k))+string(rune('0'+i)), 31) / 64
		}
		at := middle + int(off)
		if i%3 == 0 {
			at = middle - int(off)/3
		}
		b.Counts[min(max(at, 0), 95)]++
	}
	return b
}

func samples(name string, median time.Duration) []time.Duration {
	out := make([]time.Duration, 60)
	for i := range out {
		out[i] = Invented(name+string(rune('a'+i)), median*9/10) - median*7/5
		out[i] = median*9/10 + (out[i] % (median / 4))
	}
	return out
}
