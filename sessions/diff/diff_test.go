package diff

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

const us = time.Microsecond

// layer is a step with rounds that go up and down around its median.
func layer(name, precision, tactic string, median time.Duration, from ...string) report.LayerTiming {
	l := report.LayerTiming{Name: name, Op: "Conv", Precision: precision, Tactic: tactic, From: from, Bytes: 100}
	l.Median = median
	for i := range 15 {
		l.Rounds = append(l.Rounds, median+time.Duration(i-7)*median/200)
	}
	return l
}

func snapshot(precision config.Precision, end time.Duration, layers ...report.LayerTiming) *report.Snapshot {
	s := &report.Snapshot{Seq: 1, Config: config.Config{Precision: precision}, Model: &report.Model{Name: "m.onnx", SHA256: "00"}, Timings: &report.Timings{Samples: 100, Layers: layers}}
	s.Timings.EndToEnd.Median, s.Timings.MedianLow, s.Timings.MedianHigh = end, end*99/100, end*101/100
	s.Memory = &report.Memory{MemoryNumbers: report.MemoryNumbers{Peak: int(end)}}
	s.Accuracy = &report.Accuracy{}
	s.Timings.Gap = end
	for _, l := range layers {
		s.Timings.SumMedian += l.Median
		s.Timings.Gap -= l.Median
		s.Model.Layers = append(s.Model.Layers, report.Layer{Name: l.From[0]})
		s.Accuracy.Layers = append(s.Accuracy.Layers, report.LayerError{Name: l.Name, Accumulated: report.Errors{SQNR: float64(l.Median / us)}})
	}
	return s
}

// TestOf holds every kind of change, in the order of what it makes, and the sums.
func TestOf(t *testing.T) {
	a := snapshot(config.FP32, 1000*us,
		layer("c1 + r1", "f32", "conv", 300*us, "c1", "r1"), layer("c2", "f32", "conv", 200*us, "c2"), layer("c3", "f32", "conv", 100*us, "c3"),
		layer("p", "f32", "pool", 50*us, "p"), layer("q + s", "f32", "conv", 40*us, "q", "s"), layer("n", "f32", "norm", 30*us, "n"), layer("g", "f32", "gone", 10*us, "g"))
	b := snapshot(config.INT8, 700*us,
		layer("new", "f32", "quantize", 5*us, "new"), layer("c1 + r1", "i8", "conv8", 100*us, "c1", "r1"), layer("c2 + c3", "f32", "conv", 240*us, "c2", "c3"),
		layer("p", "f32", "pool", 50*us+us/10, "p"), layer("q", "f32", "conv", 25*us, "q"), layer("s", "f32", "relu", 30*us, "s"), layer("n", "f32", "other", 60*us, "n"))
	d, err := Of(Side{Name: "first", Snapshot: a}, Side{Name: "second", Snapshot: b})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range d.Groups {
		got = append(got, fmt.Sprintf("%s %s %s %s", c.Name, c.Kind, c.Delta, c.Verdict()))
	}
	want := []string{
		"c1 + r1 re-typed -200µs faster", "c2 + c3 merged -60µs faster", "n tactic 30µs slower",
		"s split 15µs slower", "g removed -10µs removed", "new added 5µs added", "p same 100ns no significant difference",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sum := d.Between
	for _, c := range d.Groups {
		sum += c.Delta
	}
	if sum != -300*us || d.EndToEnd.Delta != sum {
		t.Errorf("layers and the rest make %v, end to end %v", sum, d.EndToEnd.Delta)
	}
	if !d.EndToEnd.Significant || d.EndToEnd.SideBySide {
		t.Errorf("end to end %+v", d.EndToEnd)
	}
	if strings.Join(d.AddedSources, " ") != "new s" || strings.Join(d.RemovedSources, " ") != "c3 g" {
		t.Errorf("sources added %v, removed %v", d.AddedSources, d.RemovedSources)
	}
	if x, y := d.Groups[0].SQNR(); *x != 300 || *y != 100 {
		t.Errorf("SQNR %v, %v", *x, *y)
	}
	if x, y := d.Groups[1].Bytes(); x != 200 || y != 100 {
		t.Errorf("bytes %v, %v", x, y)
	}
}

// TestOneSession: where configurations of one session were measured in the same rounds the latencies are of these, as the ratio is, and
// layers are said to be of two occasions.
func TestOneSession(t *testing.T) {
	fp32 := snapshot(config.FP32, 1000*us, layer("c", "f32", "conv", 900*us, "c"))
	beside := func(s *report.Snapshot, ratio float64) *report.Snapshot {
		s.Timings.Beside = &report.Beside{Config: fp32.Config, Speed: report.NewSpeed(ratio, 0.97*ratio, 1.03*ratio, true)}
		return s
	}
	int8 := beside(snapshot(config.INT8, 700*us, layer("c", "i8", "conv8", 600*us, "c")), 2) // on a machine that was slower by then
	fp16 := beside(snapshot(config.FP16, 800*us, layer("c", "f16", "conv16", 700*us, "c")), 1.25)
	for _, c := range []struct {
		a, b         *report.Snapshot
		wantA, wantB time.Duration
		ratio        float64
	}{{fp32, int8, 1000 * us, 500 * us, 2}, {int8, fp32, 500 * us, 1000 * us, 0.5}, {fp32, fp16, 1000 * us, 800 * us, 1.25}, {fp16, int8, 800 * us, 500 * us, 1.6}} {
		d, err := Of(Side{Name: "a", Snapshot: c.a}, Side{Name: "b", Snapshot: c.b})
		if err != nil {
			t.Fatal(err)
		}
		e := d.EndToEnd
		if e.A != c.wantA || e.B != c.wantB || e.Delta != c.wantB-c.wantA || d.A.Latency != e.A || d.B.Latency != e.B || math.Abs(e.Ratio-c.ratio) > 1e-9 || !e.SideBySide {
			t.Errorf("%s and %s: %+v", c.a.Config.Precision, c.b.Config.Precision, e)
		}
		if said := e.Beside(e.A, e.B); said.Rounds != 0 {
			t.Errorf("%v and %v stand beside %.2f, and rounds have %.2f", e.A, e.B, said.Ratio, said.Rounds)
		}
		if d.InTurns() || !strings.HasPrefix(d.Resolution(), "layers were measured on two occasions: ") {
			t.Errorf("layers are in turns: %q", d.Resolution())
		}
	}
	other := *int8
	other.Replay = "other.trtui"
	if d, _ := Of(Side{Name: "a", Snapshot: fp32}, Side{Name: "b", Snapshot: &other}); d.EndToEnd.B != 700*us || d.EndToEnd.SideBySide || d.EndToEnd.LayersApart {
		t.Errorf("rounds of another session count: %+v", d.EndToEnd)
	}
	if d, _ := Of(Side{Name: "a", Snapshot: fp32}, Side{Name: "b", Snapshot: int8, Rival: fp32}); d.EndToEnd.B != 700*us || !d.InTurns() {
		t.Errorf("of rivals: %+v", d.EndToEnd)
	}
}

// TestBetween takes what lies between layers from both sides' gaps: where runs vary, the layers' medians do not make the latency, and
// what is missing lies in layers all the same.
func TestBetween(t *testing.T) {
	a := snapshot(config.FP32, 1000*us, layer("c", "f32", "conv", 900*us, "c"))
	b := snapshot(config.FP32, 3000*us, layer("c", "f32", "conv", 1200*us, "c"))
	b.Timings.Gap = 140 * us
	d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b})
	if err != nil || d.Between != 40*us || d.Layers != 1960*us || d.Medians != 300*us || !d.Apart() {
		t.Errorf("%+v, %v", d, err)
	}
	b.Timings.Gap = 1800 * us
	if d, err = Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b}); err != nil || d.Layers != 300*us || d.Apart() {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestOfItself compares a thing with itself, with little known, and with nothing.
func TestOfItself(t *testing.T) {
	a := snapshot(config.FP32, 1000*us, layer("c", "f32", "conv", 500*us, "c"), layer("d", "f32", "conv", 400*us, "d"), layer("e", "f32", "conv", 90*us, "e"))
	d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: a})
	if err != nil || d.EndToEnd.Delta != 0 || d.EndToEnd.Significant || d.Between != 0 || d.Common == nil || d.Common.Ratio != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	for _, c := range d.Groups {
		if c.Significant || c.P == nil || *c.P < 0.9 {
			t.Errorf("%+v", c)
		}
	}
	few := *a
	timings := *a.Timings
	timings.Layers = []report.LayerTiming{{Name: "c", From: []string{"c"}, Latency: report.Latency{Median: 900 * us}, Recent: []time.Duration{1, 2, 3, 4, 5, 6, 7}}}
	few.Timings = &timings
	if d, err = Of(Side{Name: "a", Snapshot: a}, Side{Name: "few", Snapshot: &few}); err != nil || d.Groups[0].Verdict() != "too few samples to tell" {
		t.Errorf("%+v, %v", d, err)
	}
	none := *a
	none.Stale = report.PartTimings
	if _, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "none", Snapshot: &none}); err == nil || !strings.Contains(err.Error(), "none: ") {
		t.Errorf("stale times are compared: %v", err)
	}
	empty := snapshot(config.FP32, 0)
	if d, err := Of(Side{Name: "a", Snapshot: empty}, Side{Name: "b", Snapshot: empty}); err != nil || len(d.Groups) != 0 {
		t.Errorf("of nothing: %+v, %v", d, err)
	}
}

// TestOfEstimates compares times that do not vary: any difference is one.
func TestOfEstimates(t *testing.T) {
	of := func(median time.Duration) *report.Snapshot {
		l := report.LayerTiming{Name: "c", From: []string{"c"}, Latency: report.Latency{Median: median}}
		return &report.Snapshot{Timings: &report.Timings{Layers: []report.LayerTiming{l}, Estimated: true, SumMedian: median, EndToEnd: l.Latency}}
	}
	d, err := Of(Side{Name: "a", Snapshot: of(100)}, Side{Name: "b", Snapshot: of(101)})
	if err != nil || d.Groups[0].Verdict() != "slower" || !d.EndToEnd.Significant {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestOfShapes: what is said of sides that run different numbers of items, or other shapes.
func TestOfShapes(t *testing.T) {
	a, b := snapshot(config.FP32, 100*us, layer("c", "f32", "conv", 90*us, "c")), snapshot(config.FP32, 480*us, layer("c", "f32", "conv", 400*us, "c"))
	a.Timings.BatchItems, b.Timings.BatchItems = 1, 4
	d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b})
	if want := "an inference of A is of 1, of B of 4 items: 100 µs and 120 µs for each item"; err != nil || len(d.Notes) != 1 || d.Notes[0] != want {
		t.Errorf("%q, want %q; %v", d.Notes, want, err)
	}
	b.Timings.BatchItems = 1
	a.Config.Shapes, b.Config.Shapes = map[string][]int{"x": {1, 8}}, map[string][]int{"x": {1, 32}}
	if d, err = Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b}); err != nil || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "other work") {
		t.Errorf("%q, %v", d.Notes, err)
	}
}

// TestOfRandom: accuracy of random input, and ranges found on it, are said to be that, of which sides.
func TestOfRandom(t *testing.T) {
	a, b := snapshot(config.FP32, 100*us, layer("c", "f32", "conv", 90*us, "c")), snapshot(config.INT8, 100*us, layer("c", "f32", "conv", 90*us, "c"))
	a.Accuracy, b.Accuracy = &report.Accuracy{Random: true}, &report.Accuracy{Random: true, RandomRanges: true}
	want := []string{"random input: accuracy of A, B is not meaningful, only agreement is", "random calibration: ranges of B come from random input and say nothing about real inputs"}
	d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b})
	if err != nil || !slices.Equal(d.Notes, want) || !d.A.Random || d.A.RandomRanges || !d.B.RandomRanges {
		t.Errorf("%q, %v: %+v", d.Notes, err, d.B)
	}
	want[0], want[1] = strings.Replace(want[0], "A, B", "A, B, C", 1), strings.Replace(want[1], "of B", "of B, C", 1)
	m, err := Matrix([]Side{{Name: "a", Snapshot: a}, {Name: "b", Snapshot: b}, {Name: "c", Snapshot: b}})
	if err != nil || !slices.Equal(m.Notes, want) {
		t.Errorf("%q, %v", m.Notes, err)
	}
}

// TestOfUnsettled: where the whole differs and no layer can be told from noise, it is said of how many rounds that is.
func TestOfUnsettled(t *testing.T) {
	a := snapshot(config.FP32, 1000*us, layer("d", "f32", "conv", 300*us, "d"), layer("c + r", "f32", "conv", 500*us, "c", "r"))
	b := snapshot(config.FP32, 1050*us, layer("d", "f32", "conv", 301*us, "d"), layer("c", "f32", "conv", 490*us, "c"), layer("r", "f32", "relu", 11*us, "r"))
	of := func() *report.Diff {
		d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := of(); !d.Unsettled() || d.Rounds != 15 || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "in 15 rounds: more rounds in turns") {
		t.Errorf("%+v %q", d.Rounds, d.Notes)
	}
	b.Timings.Layers[0] = layer("d", "f32", "conv", 350*us, "d")
	if d := of(); d.Unsettled() || len(d.Notes) != 0 {
		t.Errorf("%q", d.Notes)
	}
	a.Timings.MedianLow, a.Timings.MedianHigh = 800*us, 1300*us // the other way about: layers differ, and the whole is noise
	if d := of(); len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "layers that differ make 50 µs in all, and the latencies vary by more") {
		t.Errorf("%q", d.Notes)
	}
}

// TestOfEarlyStates: a state that was recorded before its accuracy was measured has what the recording found of it in the end.
func TestOfEarlyStates(t *testing.T) {
	a, b := snapshot(config.FP32, 1000*us, layer("c", "f32", "conv", 900*us, "c")), snapshot(config.INT8, 500*us, layer("c", "i8", "conv", 400*us, "c"))
	b.Accuracy, b.Memory = nil, nil
	sqnr := 40.0
	b.Final = &report.Point{SQNR: &sqnr, Items: 9, Weights: 7, Arena: 8, Latency: 1}
	d, err := Of(Side{Name: "a", Snapshot: a}, Side{Name: "b", Snapshot: b})
	if err != nil || d.B.SQNR == nil || *d.B.SQNR != sqnr || d.B.Weights != 7 || d.B.Latency != 500*us {
		t.Errorf("%+v, %v", d.B.Point, err)
	}
}
