package report_test

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestTransitions counts what goes from type to type in a small engine by hand, and finds what each conversion is there for.
func TestTransitions(t *testing.T) {
	tensor := func(name, typ string) []report.Tensor {
		return []report.Tensor{{Name: name, Type: typ, Shape: []int{2, 8}}}
	}
	layer := func(name, op, in string, out []report.Tensor, from ...string) report.Layer {
		return report.Layer{Name: name, Op: op, Inputs: []string{in}, Outputs: out, From: from}
	}
	timed := func(name, op string, us time.Duration, reformat bool, origin string) report.LayerTiming {
		return report.LayerTiming{Name: name, Op: op, Tactic: "fast", Reformat: reformat, Origin: origin, Bytes: 100, Latency: report.Latency{Median: us * time.Microsecond}, Share: float64(us) / 100}
	}
	s := &report.Snapshot{
		Config: config.Config{Precision: config.INT8, LayerPrecisions: []string{"head:fp32"}, Pin: map[string]string{"c": "slow"}},
		Model:  &report.Model{Inputs: tensor("x", "f32")},
		Passes: &report.Passes{
			Precision: config.INT8,
			Source:    []report.Layer{{Name: "cast", Op: "Cast"}, {Name: "a", Op: "Conv"}},
			Unlowered: []report.UnloweredLayer{{Layer: "softmax", Precision: "f32", Reason: "no kernel"}},
			Engine: []report.Layer{
				layer("q", "QuantizeLinear", "x", tensor("xq", "i8")),
				layer("a", "Conv", "xq", tensor("aq", "i8"), "a"),
				layer("c", "Conv", "aq", tensor("cq", "i8"), "c"),
				layer("dq", "DequantizeLinear", "cq", tensor("cf", "f32")),
				layer("head", "Gemm", "cf", tensor("h", "f32"), "head"),
				layer("own", "Cast", "h", tensor("h16", "f16"), "cast"),
				layer("e", "Gemm", "cq", tensor("ef", "f32"), "e"),
				layer("q2", "QuantizeLinear", "ef", tensor("eq", "i8")),
				layer("dq2", "DequantizeLinear", "eq", tensor("ef2", "f32")),
				layer("softmax", "Softmax", "ef2", tensor("y", "f32"), "softmax"),
			},
		},
		Timings: &report.Timings{Layers: []report.LayerTiming{
			timed("q", "QuantizeLinear", 1, false, ""), timed("Reformat aq to c16", "Reformat", 5, true, "c16 for c"), timed("dq", "DequantizeLinear", 2, false, ""),
			timed("own", "Cast", 3, false, ""), timed("e", "Gemm", 30, false, ""), timed("Reformat cq to linear", "Reformat", 4, true, "linear for e"), timed("Reformat y to linear", "Reformat", 7, true, "linear for the caller"),
		}},
	}
	s.Config.Pin["e"] = ""
	got := report.TransitionsOf(s)
	if got.Time != 22*time.Microsecond || len(got.Conversions) != 8 || got.Conversions[0].Time != 7*time.Microsecond {
		t.Errorf("%d conversions in %v", len(got.Conversions), got.Time)
	}
	causes := map[string]string{
		"q": report.CauseEnds, "dq": report.CauseRule, "own": report.CauseModel, "dq2": report.CauseKept, "q2": report.CausePrecision,
		"Reformat aq to c16": report.CausePin, "Reformat cq to linear": report.CausePin, "Reformat y to linear": report.CauseEnds,
	}
	for _, k := range got.Conversions {
		if k.Cause != causes[k.Layer] || k.Why == "" {
			t.Errorf("%s: %s, %q; want %s", k.Layer, k.Cause, k.Why, causes[k.Layer])
		}
	}
	s.Config.Pin, s.Config.Forbid = nil, map[string][]string{"e": {"x"}}
	for _, k := range report.TransitionsOf(s).Conversions {
		switch k.Layer {
		case "Reformat aq to c16":
			if k.Cause != report.CauseFormats || k.Why != "c reads c16" {
				t.Errorf("%+v", k)
			}
		case "Reformat cq to linear":
			if k.Cause != report.CauseForbidden {
				t.Errorf("%+v", k)
			}
		}
	}
	want := report.TransitionCell{From: "i8", To: "f32", Tensors: 3, Bytes: 3 * 64, Launches: 2, Time: 2 * time.Microsecond}
	found := false
	for _, c := range got.Cells {
		found = found || c == want
	}
	if !found {
		t.Errorf("cells %+v", got.Cells)
	}
	if report.TransitionsOf(&report.Snapshot{}) != nil {
		t.Error("nothing has transitions")
	}
}
