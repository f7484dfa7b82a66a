package sessions_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

func TestMarshalOutput(t *testing.T) {
	for _, c := range []struct {
		name   string
		report any
		want   string
	}{
		{"a time is milliseconds", report.SplitEntry{Precision: "i8", Layers: 2, Time: 1500 * time.Nanosecond},
			`{"schema":7,"precision":"i8","steps":2,"time_ms":0.0015}`},
		{"a map is a list in order", &config.Config{Precision: "int8", Calibrator: "mse", Batch: 1, Until: 3,
			Pin: map[string]string{"B": "y", "A": "x"}, Forbid: map[string][]string{"C": {"z"}}, Shapes: map[string][]int{"image": {1, 3}}},
			`{"schema":7,"precision":"int8","calibrator":"mse","batch":1,"shapes":[{"input":"image","shape":[1,3]}],"passes_until":3,
			"pin":[{"layer":"A","tactic":"x"},{"layer":"B","tactic":"y"}],"forbid":[{"layer":"C","tactics":["z"]}]}`},
		{"embedded fields are the outer's", report.OutputError{Name: "out", Errors: report.Errors{MaxAbs: 0.5, SQNR: math.Inf(1), PSNR: 20}},
			`{"schema":7,"name":"out","max_abs":0.5,"mean_abs":0,"median_abs":0,"bias":0,"max_rel":0,"mean_rel":0,"l2":0,"cosine":0,"sqnr_db":null,"exact":true,"psnr_db":20}`},
		{"equality is no number of decibels", report.Errors{Cosine: 1, SQNR: 200, PSNR: 200},
			`{"schema":7,"max_abs":0,"mean_abs":0,"median_abs":0,"bias":0,"max_rel":0,"mean_rel":0,"l2":0,"cosine":1,"sqnr_db":null,"exact":true,"psnr_db":null}`},
		{"nor is what nothing is left of", report.Errors{SQNR: -200, PSNR: -200, NotFinite: 1},
			`{"schema":7,"max_abs":0,"mean_abs":0,"median_abs":0,"bias":0,"max_rel":0,"mean_rel":0,"l2":0,"cosine":0,"sqnr_db":null,"exact":false,"psnr_db":null,"not_finite":1}`},
		{"equal entries of a list are named", report.ErrorMap{Channels: 3, Positions: 1, Rows: 1, Columns: 1, Group: 1, SQNR: []float64{200, 31.5, -200}},
			`{"schema":7,"channels":3,"positions":1,"rows":1,"columns":1,"rms":[],"group":1,"channel_sqnr_db":[null,31.5,null],"channel_exact":[0]}`},
		{"lists without elements are there, unless they may go", report.LayerTactics{Layer: "Conv_0", Op: "Conv"},
			`{"schema":7,"layer":"Conv_0","op":"Conv","chosen":"","candidates":[]}`},
		{"bytes", report.MemoryNumbers{Peak: 1, Naive: 2, LowerBound: 3, IO: 4, Workspace: 5, Weights: 6},
			`{"schema":7,"peak_bytes":1,"naive_bytes":2,"lower_bound_bytes":3,"io_bytes":4,"workspace_bytes":5,"weights_bytes":6}`},
		{"numbers that are not known", report.RecordedConfig{ID: 1, First: time.Unix(0, 0).UTC()},
			`{"schema":7,"id":1,"name":"","config":{"precision":"","calibrator":"","batch":0},"first":"1970-01-01T00:00:00Z","settled":false,"runs":0,
			"median_ms":null,"p99_ms":null,"top1_share":null,"agreement_share":null,"sqnr_db":null,"exact":false,"arena_bytes":null,"weights_bytes":null}`},
		{"float32 has its own digits", report.CalibratorResult{Amax: 0.1, Clip: 0.25},
			`{"schema":7,"amax":0.1,"low":0,"high":0,"scale":0,"zero":0,"clip_share":0.25,"clip_error_share":0,"kl_nats":0,"sqnr_db":0,"exact":false}`},
		{"a set of parts is their names", struct{ Stale report.Parts }{report.PartPasses | report.PartTactics},
			`{"schema":7,"stale":["passes","tactics"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := report.MarshalOutput(c.report)
			if err != nil {
				t.Fatal(err)
			}
			var g, w any
			if err := json.Unmarshal(got, &g); err != nil {
				t.Fatalf("%v in %s", err, got)
			}
			if err := json.Unmarshal([]byte(c.want), &w); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(g, w) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	if b, err := report.MarshalOutput(struct{ M map[string]int }{map[string]int{"a": 1}}); err == nil {
		t.Errorf("a map without names gave %s", b)
	}
	if b, err := report.MarshalOutput(report.Head{}, struct{ Model string }{"x"}); err == nil {
		t.Errorf("two models gave %s", b)
	}
	if b, err := report.MarshalOutput(3); err == nil {
		t.Errorf("a number gave %s", b)
	}
}

// TestDecibelsHaveFlags looks at the fields of all reports: what is in decibels has a member beside it that tells equality,
// but for what never is, as bounds and differences, and for the ratio that is equal with another one.
func TestDecibelsHaveFlags(t *testing.T) {
	seen := map[reflect.Type]bool{}
	flags := 0
	var walk func(reflect.Type)
	walk = func(r reflect.Type) {
		for r.Kind() == reflect.Pointer || r.Kind() == reflect.Slice || r.Kind() == reflect.Map {
			r = r.Elem()
		}
		if r.Kind() != reflect.Struct || seen[r] {
			return
		}
		seen[r] = true
		for i := range r.NumField() {
			f := r.Field(i)
			walk(f.Type)
			exact, ok := f.Tag.Lookup("exact")
			if ok {
				flags++
			}
			if f.Tag.Get("unit") == "db" && exact == "" && !slices.Contains([]string{"Tolerance", "PSNR", "MinSQNR", "Gain"}, f.Name) {
				t.Errorf("%s.%s is in decibels and has no member that tells equality", r, f.Name)
			}
			if ok && f.Tag.Get("unit") != "db" {
				t.Errorf("%s.%s tells equality and is not in decibels", r, f.Name)
			}
		}
	}
	walk(reflect.TypeFor[report.Snapshot]())
	walk(reflect.TypeFor[report.Pair]())
	walk(reflect.TypeFor[report.Recording]())
	if flags < 9 {
		t.Errorf("only %d fields tell equality", flags)
	}
}
