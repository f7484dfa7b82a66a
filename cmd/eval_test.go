package cmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TestSpeedText says of a difference within the noise that there is none, and the ratio of rounds where it is not that of the times.
func TestSpeedText(t *testing.T) {
	for _, c := range []struct {
		speed        report.Speed
		own          time.Duration // of 1000
		text, remark string
	}{
		{report.Speed{Ratio: 2.1, Low: 2, High: 2.2, Significant: true, SideBySide: true}, 476, "2.10×", ""},
		{report.Speed{Ratio: 2.1, Low: 2, High: 2.2, Significant: true, SideBySide: true}, 800, "1.25×", "2.10× in rounds"},
		{report.Speed{Ratio: 1.08, Low: 0.9, High: 1.2, SideBySide: true}, 926, "1.08×", "no significant difference"},
		{report.Speed{Ratio: 1.08, Low: 0.9, High: 1.2, SideBySide: true}, 500, "2.00×", "no significant difference; 1.08× in rounds"},
		{report.Speed{Ratio: 1.08, Low: 0.7, High: 1.6, SideBySide: true}, 926, "1.08×", "too noisy to tell, 0.70x to 1.60x as fast"},
		{report.Speed{Ratio: 1.68, Low: 1.5, High: 1.8, Significant: true}, 595, "1.68×", "not measured side by side"},
		{report.Speed{Ratio: 1.08, Low: 0.9, High: 1.2}, 926, "1.08×", "no significant difference; not measured side by side"},
	} {
		if text, remark := speedText(c.speed, 1000, c.own); text != c.text || remark != c.remark {
			t.Errorf("%+v is %q, %q", c.speed, text, remark)
		}
	}
}

// TestEvalMeasuresSideBySide compares two calibrators, which are measured in the same rounds, and two precisions of one engine,
// which is measured once.
func TestEvalMeasuresSideBySide(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	out, _ := command(t, 0, append(few(t), "eval", "--precision", "int8", "--calibrator", "minmax,entropy,minmax", "--items", "8", "--format", "json", "-q")...)
	var report struct {
		Rows []struct {
			Latency float64 `json:"latency_ms"`
			SameAs  string  `json:"same_as"`
			Speed   *struct {
				Ratio, Low, High float64
				Significant      *bool
				SideBySide       bool `json:"side_by_side"`
			}
		}
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(out))).Decode(&report); err != nil {
		t.Fatal(err)
	}
	rows := report.Rows[1:] // behind the reference
	if len(rows) != 3 || rows[0].Speed == nil || rows[1].Speed == nil || rows[2].Speed != nil {
		t.Fatalf("the rows are %+v", rows)
	}
	if s := rows[1].Speed; !s.SideBySide || s.Significant == nil || s.Low > s.Ratio || s.Ratio > s.High || s.Low <= 0 {
		t.Errorf("the second row's speed is %+v", *s)
	}
	if !strings.HasPrefix(rows[2].SameAs, "int8 minmax") || rows[2].Latency != rows[0].Latency {
		t.Errorf("the same engine was measured again: %+v", rows[2])
	}
}

// TestRangesFrom says once where ranges come from that are all from there, and of which calibrators otherwise.
func TestRangesFrom(t *testing.T) {
	row := func(calibrator, ranges string) evalRow {
		r := evalRow{Ranges: ranges}
		r.Calibrator = calibrator
		return r
	}
	for want, rows := range map[string][]evalRow{
		"ranges: found on x.npy": {row("", ""), row("minmax", "found on x.npy"), row("mse", "found on x.npy")},
		"ranges of minmax, mse: found on x.npy\nranges of entropy: those of a file": {row("minmax", "found on x.npy"), row("mse", "found on x.npy"), row("entropy", "those of a file")},
	} {
		var b strings.Builder
		if writeRanges(&b, rows); strings.TrimSpace(b.String()) != want {
			t.Errorf("it says %q, want %q", b.String(), want)
		}
	}
}

// TestCalibrationItems are chosen of the data that is evaluated where there is no other.
func TestCalibrationItems(t *testing.T) {
	out, _ := command(t, 0, "eval", "--precision", "int8", "--calibrator", "mse", "--items", "2", "--calib-items", "5", "-q", "--rounding", "nearest", "--equalization", "off", "--bias-correction", "off")
	if !strings.Contains(out, "first 5 of 300 embedded digits") {
		t.Errorf("of the embedded model:\n%s", out)
	}
	data := few(t)[1]
	command(t, 0, "eval", "--precision", "int8", "--calibrator", "mse", "--data", data, "--calib-items", "1", "-q", "--rounding", "nearest", "--equalization", "off", "--bias-correction", "off")
	if _, errs := command(t, exitFailure, "eval", "--precision", "int8", "--data", data, "--calib-items", "70-80", "-q"); !strings.Contains(errs, "70") {
		t.Errorf("of twelve items: %s", errs)
	}
}

// TestExportFlagNames: what a flag of export is called is no form of an export, and it says which flag.
func TestExportFlagNames(t *testing.T) {
	for _, args := range [][]string{{"qdq"}, {"qdq", "model.onnx"}} {
		if _, errs := command(t, exitFailure, append([]string{"export"}, args...)...); !strings.Contains(errs, "a flag: --qdq") {
			t.Errorf("%v: %s", args, errs)
		}
	}
}

// TestEvalReference: FP32 is the first row whatever is asked for, speeds are times its own, also where an emulation, which has none, is
// named first, and layers of other precisions are not in it.
func TestEvalReference(t *testing.T) {
	for _, precisions := range []string{"int8", "fp8,int8", "int8,fp32"} {
		out, _ := command(t, 0, append([]string{"eval", "--format", "json", "-q", "--items", "20", "--calibrator", "minmax", "--layer-precisions", "head/classify*:fp32", "--precision", precisions}, few(t)...)...)
		var report struct {
			Rows []struct {
				Precision string
				Reference bool
				Speed     *struct{ Ratio float64 }
				Config    struct {
					LayerPrecisions []any `json:"layer_precisions"`
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err)
		}
		first := report.Rows[0]
		if first.Precision != "fp32" || !first.Reference || first.Speed != nil || len(first.Config.LayerPrecisions) > 0 {
			t.Errorf("%s: the first row is %+v", precisions, first)
		}
		for _, r := range report.Rows[1:] {
			if r.Precision == "int8" && (r.Speed == nil || r.Speed.Ratio > 50) || r.Reference {
				t.Errorf("%s: %+v", precisions, r)
			}
		}
	}
}

// TestEvalLayerItems compares layers on as many items as are asked for.
func TestEvalLayerItems(t *testing.T) {
	for items, want := range map[string]string{"3": "on 3 items", "all": "on 20 items", "": "on 8 items"} {
		args := append([]string{"eval", "--per-layer", "-q", "--items", "20", "--precision", "int8"}, few(t)...)
		if items != "" {
			args = append(args, "--layer-items", items)
		}
		if out, _ := command(t, 0, args...); !strings.Contains(out, want) {
			t.Errorf("%q: no %q in\n%s", items, want, out)
		}
	}
	if _, errs := command(t, 2, "eval", "--layer-items", "3"); !strings.Contains(errs, "--layer-items is for --per-layer") {
		t.Error(errs)
	}
	if _, errs := command(t, 2, "eval", "--per-layer", "--layer-items", "some"); !strings.Contains(errs, "want a number of items, or all") {
		t.Error(errs)
	}
}
