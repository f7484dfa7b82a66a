package advice

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

const us = time.Microsecond

// sound returns a snapshot of an INT8 engine of which nothing is to be said: three convolutions and a pooling between them.
func sound() *report.Snapshot {
	layer := func(name, op, precision string, inputs []string, out string, flops int64) report.Layer {
		return report.Layer{Name: name, Op: op, Precision: precision, Inputs: inputs, Weights: 1000, FLOPs: flops, From: []string{name},
			Outputs: []report.Tensor{{Name: out, Type: "i8", Dims: "[N,32,16,16]", Shape: []int{1, 32, 16, 16}}}}
	}
	step := func(name, op, precision string, took time.Duration, share float64, flops, bytes int64) report.LayerTiming {
		return report.LayerTiming{Name: name, Op: op, Precision: precision, Tactic: op + "_int8_avx512", Share: share, FLOPs: flops, Bytes: bytes,
			Roof:    &report.Roof{Operations: flops, Floor: took / 2, Bound: "i8", OfPeak: 0.5},
			Latency: report.Latency{Count: 50, Median: took, P99: took, CV: 0.01}}
	}
	candidates := func(name string, times ...time.Duration) report.LayerTactics {
		t := report.LayerTactics{Layer: name, Op: "Conv", Chosen: "a"}
		for i, took := range times {
			t.Candidates = append(t.Candidates, report.Candidate{Tactic: string(rune('a' + i)), Format: "c16", Time: took, Timed: true, Chosen: i == 0})
		}
		return t
	}
	labels := report.LabelAccuracy{Top1: 0.95, FP32Top1: 0.96, Agreement: 0.99, Top5: -1, FP32Top5: -1}
	by := func(amax float32, sqnr float64) report.CalibratorResult {
		return report.CalibratorResult{Amax: amax, SQNR: sqnr}
	}
	return &report.Snapshot{
		Seq: 1, Config: config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1},
		Device: report.Device{Backend: "cpu", Threads: 4, Processors: 4},
		Model: &report.Model{Inputs: []report.Tensor{{Name: "x", Type: "f32", Dims: "[N,3,16,16]", Shape: []int{1, 3, 16, 16}}},
			Outputs: []report.Tensor{{Name: "y", Type: "f32", Dims: "[N,10]", Shape: []int{1, 10}}}},
		Passes: &report.Passes{
			Engine: []report.Layer{
				layer("q", "QuantizeLinear", "f32", []string{"x"}, "xq", 0),
				layer("one", "Conv", "i8", []string{"xq"}, "a", 4e6),
				layer("two", "Conv", "i8", []string{"a"}, "b", 4e6),
				layer("pool", "MaxPool", "i8", []string{"b"}, "c", 1e4),
				layer("three", "Conv", "i8", []string{"c"}, "y", 2e6),
			},
			Ledger: []report.LedgerEntry{{Layer: "one", Into: "one"}, {Layer: "two", Into: "two"}, {Layer: "three", Into: "three"}},
			Steps:  []report.PassStep{{Pass: "fuse"}},
		},
		Overview: &report.Overview{},
		Timings: &report.Timings{Samples: 50, BatchItems: 1, SumMedian: 2000 * us, Gap: 20 * us,
			Roofline: &report.Roofline{Peaks: []report.Peaks{{Threads: 4, Compute: []report.Peak{{Name: "i8", Rate: 1e12}}, Memory: []report.Peak{{Name: "L1", Rate: 1e11, Holds: 1 << 15}, {Name: "DRAM", Rate: 1e10}}}}},
			EndToEnd: report.Latency{Count: 50, Median: 2020 * us, P99: 2040 * us, CV: 0.01},
			Layers: []report.LayerTiming{
				step("q", "QuantizeLinear", "f32", 20*us, 0.01, 0, 20e3),
				step("one", "Conv", "i8", 800*us, 0.40, 4e6, 800e3),
				step("two", "Conv", "i8", 780*us, 0.39, 4e6, 780e3),
				step("pool", "MaxPool", "i8", 20*us, 0.01, 1e4, 20e3),
				step("three", "Conv", "i8", 380*us, 0.19, 2e6, 380e3),
			}},
		Memory: &report.Memory{MemoryNumbers: report.MemoryNumbers{Peak: 4 << 20, LowerBound: 4 << 20}, PeakStep: 1, Steps: []string{"q", "one", "two", "pool", "three"},
			Slots: []report.Slot{{Tensor: "xq", Bytes: 1 << 20, First: 0, Last: 1}, {Tensor: "a", Bytes: 1 << 20, First: 1, Last: 2},
				{Tensor: "k", Bytes: 1 << 20, First: 0, Last: 4}, {Tensor: "l", Bytes: 1 << 20, First: 0, Last: 4}}},
		Tactics: &report.Tactics{Layers: []report.LayerTactics{candidates("one", 800*us, 900*us), candidates("two", 780*us, 900*us), candidates("three", 380*us, 500*us)},
			Cache: []report.CacheEntry{{Tactic: "a", Measured: time.Unix(1, 0)}, {Tactic: "b", Measured: time.Unix(1, 0)}}},
		Accuracy: &report.Accuracy{Precision: "int8", Items: 500, Labels: labels},
		Calibration: &report.Calibration{Calibrators: []string{"minmax", "mse"}, Active: "mse",
			Tensors: []report.TensorCalibration{{Tensor: "a", Layer: "one", Used: true, By: []report.CalibratorResult{by(2.1, 38), by(2, 40)},
				Histogram: report.HistogramBins{Low: 0, High: 2, Counts: []int64{100, 80, 60, 20}}}},
			Weights: []report.WeightCalibration{{Layer: "one", Tensor: "w", Used: true, PerChannel: 45, PerTensor: 43}}},
	}
}

// TestCopied: the layer that moves most says why it is no view, as the planner does, or else a pass.
func TestCopied(t *testing.T) {
	for _, c := range []struct {
		change func(*report.Snapshot)
		want   string
	}{
		{func(s *report.Snapshot) {
			s.Tactics.Layers = append(s.Tactics.Layers, report.LayerTactics{Layer: "pool", Chosen: "concat_copy_linear",
				Candidates: []report.Candidate{{Tactic: "concat_copy_linear", Chosen: true}, {Tactic: report.InMemory, Unfit: true, Reason: "input a has a place already"}}})
		}, "(Transpose, 1.9 MiB), which is no view: input a has a place already"},
		{func(s *report.Snapshot) {
			s.Passes.Steps[0].Missed = []report.MissedSite{{Rule: "remove-noop", Layers: []string{"pool"}, Reason: "moves elements", Detail: "axis 1, of 8, comes behind axis 2, of 4"}}
		}, "which is no view: axis 1, of 8, comes behind axis 2, of 4"},
		{func(s *report.Snapshot) { s.Tactics = nil }, "(Transpose, 1.9 MiB)"},
	} {
		s := sound()
		planted["data-movement"].change(s)
		c.change(s)
		found := On(s).Findings
		if i := slices.IndexFunc(found, func(f report.Finding) bool { return f.Rule == "data-movement" }); i < 0 || !strings.HasSuffix(found[i].Text, c.want) {
			t.Errorf("want %q in %+v", c.want, found)
		}
	}
}

// TestSound checks that no rule speaks of what is sound, and that every rule was asked.
func TestSound(t *testing.T) {
	a := On(sound())
	for _, f := range a.Findings {
		t.Errorf("%s: %s", f.Rule, f.Text)
	}
	for _, r := range a.Rules {
		if r.Missing != nil {
			t.Errorf("%s was not asked: it misses %v", r.Rule, r.Missing)
		}
	}
}

// planted are snapshots on which a rule must fire, by its name. Each changes what is sound.
var planted = map[string]struct {
	change func(*report.Snapshot)
	layer  string // of the finding
	remedy report.Remedy
}{
	"chance":       {func(s *report.Snapshot) { s.Accuracy.Labels.FP32Top1 = 0.11 }, "", report.RemedyPreprocessing},
	"label-offset": {func(s *report.Snapshot) { s.Accuracy.Labels.FP32Top1, s.Accuracy.Labels.Offset = 0.01, 1 }, "", report.RemedyLabelOffset},
	"accuracy":     {func(s *report.Snapshot) { s.Accuracy.Labels.Agreement = 0.7 }, "", report.RemedyPrecision},
	"model-file":   {func(s *report.Snapshot) { s.Model.Notes = []string{"y has another shape"} }, "", report.RemedyModel},
	"not-finite": {func(s *report.Snapshot) {
		s.Overview.Badges, s.Accuracy.Labels.Agreement = []report.Badge{{Text: report.WeightsNotFinite, Why: "1 of layer one"}}, 0
	}, "", report.RemedyModel},
	"random-ranges": {func(s *report.Snapshot) {
		s.Overview.Badges = []report.Badge{{Text: report.RandomCalibration, Why: "no data"}}
	}, "", report.RemedyData},
	"calibrated-on-evaluated": {func(s *report.Snapshot) { s.Accuracy.Shared = 8 }, "", report.RemedyData},
	"outliers": {func(s *report.Snapshot) {
		t := &s.Calibration.Tensors[0]
		t.By[0].Amax, t.By[1].Amax, t.By[0].SQNR, t.By[1].SQNR = 100, 100, 12, 12
		t.Histogram = report.HistogramBins{Low: 0, High: 100, Counts: append([]int64{100000}, append(make([]int64, 98), 1)...)}
	}, "one", report.RemedyPrecision},
	"wide-channel": {func(s *report.Snapshot) {
		s.Calibration.Tensors[0].Reach = &report.ChannelReach{Channels: 16, Group: 1, Amax: 100, Rest: 10, Outliers: []int{3}, Bits: 3.3, Scale: 0.8, Needed: 0.08,
			Cure: &report.Cure{Equalization: "weights", With: []string{"two"}, Gain: 12}}
	}, "one", report.RemedyEqualization},
	"calibrators": {func(s *report.Snapshot) {
		t := &s.Calibration.Tensors[0]
		t.By[0], t.By[1] = report.CalibratorResult{Amax: 10, SQNR: 40}, report.CalibratorResult{Amax: 2, SQNR: 31}
	}, "one", report.RemedyCalibrator},
	"weight-scale": {func(s *report.Snapshot) {
		s.Config.Quantization.WeightScales, s.Calibration.Weights[0].PerTensor = "tensor", 30
	}, "one", report.RemedyWeightScales},
	"unlowered": {func(s *report.Snapshot) {
		s.Passes.Unlowered = []report.UnloweredLayer{{Layer: "two", Precision: "fp32", Reason: "no kernel"}}
	}, "two", report.RemedyPrecision},
	"precision-island": {func(s *report.Snapshot) { s.Passes.Engine[2].Precision = "f32" }, "two", report.RemedyPrecision},
	"conversions":      {func(s *report.Snapshot) { take(s, "q", 0.12) }, "q", report.RemedyPrecision},
	"reformats": {func(s *report.Snapshot) {
		insert(s, 3, report.LayerTiming{Name: "Reformat b to c16", Op: "Reformat", Reformat: true, Share: 0.06, Bytes: 1000, Latency: report.Latency{Median: 120 * us}})
	}, "pool", report.RemedyTactics},
	"reformat-chain": {func(s *report.Snapshot) {
		insert(s, 1, report.LayerTiming{Name: "Reformat xq to c16", Op: "Reformat", Reformat: true, Share: 0.02, Bytes: 1000, Latency: report.Latency{Median: 40 * us}})
	}, "one", report.RemedyTactics},
	"data-movement": {func(s *report.Snapshot) {
		s.Timings.Layers[3].Op, s.Timings.Layers[3].FLOPs = "Transpose", 0
		take(s, "pool", 0.15)
		s.Timings.Layers[3].Bytes = 2e6
	}, "pool", report.RemedyModel},
	"unfused": {func(s *report.Snapshot) {
		s.Passes.Steps[0].Missed = []report.MissedSite{{Rule: "fuse-pair", Site: "fuse-pair(one,two)", Layers: []string{"one", "two"}, Reason: "second consumer"}}
		s.Passes.Engine[1].Outputs[0].Shape = []int{1, 32, 40, 40}
	}, "one", report.RemedyModel},
	"disabled-rules": {func(s *report.Snapshot) {
		s.Passes.Disabled = []string{"fuse-pair"}
		s.Passes.Steps[0].Missed = []report.MissedSite{{Rule: "fuse-pair", Site: "fuse-pair(one,two)", Layers: []string{"one", "two"}, Reason: "disabled"}}
	}, "one", report.RemedyRules},
	"reference-kernel": {func(s *report.Snapshot) { s.Timings.Layers[1].Tactic = "eval" }, "one", report.RemedyTactics},
	"slow-layer":       {func(s *report.Snapshot) { take(s, "pool", 0.15) }, "pool", report.RemedyTactics},
	"below-roofline": {func(s *report.Snapshot) {
		s.Timings.Layers[1].Roof = &report.Roof{Operations: 4e6, Floor: 40 * us, Bound: "i8", OfPeak: 0.05}
	}, "one", report.RemedyTactics},
	"channel-padding": {func(s *report.Snapshot) { s.Passes.Engine[2].Outputs[0].Shape[1] = 20 }, "two", report.RemedyModel},
	"pinned-tactic": {func(s *report.Snapshot) {
		s.Tactics.Pinned = map[string]string{"two": "a"}
		s.Tactics.Layers[1].Candidates[1].Time = 500 * us
	}, "two", report.RemedyTactics},
	"close-tactics": {func(s *report.Snapshot) {
		s.Tactics.Layers[0].Candidates[1].Time, s.Tactics.Layers[1].Candidates[1].Time = 801*us, 781*us
	}, "one", report.RemedyTactics},
	"disturbed-times": {func(s *report.Snapshot) { s.Tactics.Cache[0].Disturbed = true }, "", report.RemedyTactics},
	"unsteady":        {func(s *report.Snapshot) { s.Timings.EndToEnd.CV = 0.08 }, "", report.RemedyMeasure},
	"weight-bound":    {func(s *report.Snapshot) { s.Passes.Engine[4].Weights = 1800e3 }, "three", report.RemedyBatch},
	"overhead":        {func(s *report.Snapshot) { s.Timings.Gap = 600 * us }, "", report.RemedyBatch},
	"enqueue-bound": {func(s *report.Snapshot) {
		s.Timings.Inference = &report.InferenceSplit{Samples: 5, Enqueue: 90 * us, Compute: 100 * us}
	}, "", report.RemedyBatch},
	"few-threads": {func(s *report.Snapshot) { s.Device.Threads = 1 }, "", report.RemedyThreads},
	"peak-tensor": {func(s *report.Snapshot) { s.Memory.Slots[1].Bytes = 3 << 20 }, "one", report.RemedyMemory},
	"fragmented":  {func(s *report.Snapshot) { s.Memory.LowerBound = 3 << 20 }, "", report.RemedyMemory},
}

// take gives a step a share of the time.
func take(s *report.Snapshot, name string, share float64) {
	for i := range s.Timings.Layers {
		if l := &s.Timings.Layers[i]; l.Name == name {
			l.Share, l.Median = share, time.Duration(share*float64(s.Timings.SumMedian))
		}
	}
}

func insert(s *report.Snapshot, at int, l report.LayerTiming) {
	s.Timings.Layers = slices.Insert(s.Timings.Layers, at, l)
}

// TestPlanted checks that each rule finds what it looks for, where it is, and that no other rule speaks of that.
func TestPlanted(t *testing.T) {
	for _, r := range Rules() {
		t.Run(r.Name, func(t *testing.T) {
			p, ok := planted[r.Name]
			if !ok {
				t.Fatal("no planted case")
			}
			s := sound()
			p.change(s)
			a := On(s)
			if len(a.Findings) != 1 {
				t.Fatalf("found %+v, want one", a.Findings)
			}
			f := a.Findings[0]
			if f.Rule != r.Name || f.Layer != p.layer || f.Remedy != p.remedy {
				t.Errorf("found %+v, want %s at %q with %s", f, r.Name, p.layer, p.remedy)
			}
			if f.Text == "" || f.Evidence == nil || !slices.Contains(report.Severities(), f.Severity) || !slices.Contains(report.Remedies(), f.Remedy) {
				t.Errorf("the finding is not complete: %+v", f)
			}
			t.Log(f.Severity, f.Text)
		})
	}
	if len(planted) != len(Rules()) {
		t.Errorf("%d planted cases for %d rules", len(planted), len(Rules()))
	}
}

// TestCuredChannel: a channel that reaches far in FP32 is no finding where the engine has it equalised.
func TestCuredChannel(t *testing.T) {
	s := sound()
	planted["wide-channel"].change(s)
	for i := range s.Calibration.Tensors {
		if r := s.Calibration.Tensors[i].Reach; r != nil {
			r.Cure = &report.Cure{Done: true}
		}
	}
	if a := On(s); len(a.Findings) > 0 {
		t.Errorf("found %+v", a.Findings)
	}
}

// TestPartial checks that rules without their reports say so, and that nothing of a snapshot, however bare, is assumed.
func TestPartial(t *testing.T) {
	if a := On(&report.Snapshot{}); len(a.Findings) > 0 || a.Rules[0].Missing == nil {
		t.Errorf("of nothing: %+v", a)
	}
	for _, k := range report.Kinds() {
		for _, r := range report.Kinds() {
			s := sound()
			k.Set(s, k.New())
			r.Set(s, r.New())
			On(s)
		}
	}
	s := sound()
	s.Model = nil
	On(s)
}

// TestRooflineInDoubt says nothing by a ceiling that may be wrong, nor of arithmetic that is no product.
func TestRooflineInDoubt(t *testing.T) {
	for what, change := range map[string]func(*report.Snapshot){
		"a ceiling in doubt": func(s *report.Snapshot) { s.Timings.Roofline.Disturbed = []string{"i8"} },
		"no product":         func(s *report.Snapshot) { s.Timings.Layers[1].FLOPs = 0 },
		"short":              func(s *report.Snapshot) { s.Timings.Layers[1].Median = 5 * us },
		"little of the time": func(s *report.Snapshot) { s.Timings.Layers[1].Share = 0.05 },
		"no ceilings":        func(s *report.Snapshot) { s.Timings.Roofline = &report.Roofline{Unmeasured: "a simulated device"} },
	} {
		s := sound()
		planted["below-roofline"].change(s)
		change(s)
		if list := belowRoofline(newFacts(s)); len(list) > 0 {
			t.Errorf("%s: %+v", what, list)
		}
	}
}

// TestNoPeaks: without ceilings the rule on them is not asked, and says what it wants.
func TestNoPeaks(t *testing.T) {
	s := sound()
	all := On(s).Asked()
	s.Timings.Roofline = nil
	a := On(s)
	for _, r := range a.Rules {
		if (r.Rule == "below-roofline") != slices.Equal(r.Missing, []string{"peaks of the device"}) {
			t.Errorf("%s misses %q", r.Rule, r.Missing)
		}
	}
	if all != len(a.Rules) || a.Asked() != all-1 {
		t.Errorf("%d and %d of %d rules were asked", all, a.Asked(), len(a.Rules))
	}
}

// TestFormless: a layer whose op has no form in the precision is no finding, as nothing that a person asks makes it another.
func TestFormless(t *testing.T) {
	s := sound()
	s.Passes.Engine[2].Precision = "f32"
	s.Passes.Unlowered = []report.UnloweredLayer{{Layer: "two", Precision: "fp32", Reason: "LayerNormalization has no 8-bit form", Formless: true}}
	if found := On(s).Findings; len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	s.Passes.Unlowered[0].Formless = false
	if found := On(s).Findings; len(found) != 2 {
		t.Errorf("of one with a form found %+v", found)
	}
}

// TestOwnQuantisation: of a model that brings its own quantisation no layer can be given a precision, and rules about ranges are not
// missed; nor are they of an engine that quantises nothing.
func TestOwnQuantisation(t *testing.T) {
	s := sound()
	planted["precision-island"].change(s)
	s.Model.Ops = map[string]int{"QuantizeLinear": 1}
	s.Calibration = nil
	a := On(s)
	if len(a.Findings) != 1 || a.Findings[0].Remedy != report.RemedyRequantize || a.Unasked() != nil {
		t.Errorf("found %+v; %q", a.Findings, a.Unasked())
	}
	s = sound()
	s.Calibration = nil
	if missed := On(s).Unasked(); len(missed) != 1 || !strings.Contains(missed[0], "without calibration: outliers, ") {
		t.Errorf("of INT8 without ranges: %q", missed)
	}
	s.Config.Precision = config.FP16
	if missed := On(s).Unasked(); missed != nil {
		t.Errorf("of FP16: %q", missed)
	}
}
