package sessions_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions"
)

func TestMarshalOutput(t *testing.T) {
	for _, c := range []struct {
		name   string
		report any
		want   string
	}{
		{"a time is milliseconds", sessions.SplitEntry{Precision: "i8", Layers: 2, Time: 1500 * time.Nanosecond},
			`{"schema":6,"precision":"i8","steps":2,"time_ms":0.0015}`},
		{"a map is a list in order", &sessions.Config{Precision: "int8", Calibrator: "mse", Batch: 1, Until: 3,
			Pin: map[string]string{"B": "y", "A": "x"}, Forbid: map[string][]string{"C": {"z"}}, Shapes: map[string][]int{"image": {1, 3}}},
			`{"schema":6,"precision":"int8","calibrator":"mse","batch":1,"shapes":[{"input":"image","shape":[1,3]}],"passes_until":3,
			"pin":[{"layer":"A","tactic":"x"},{"layer":"B","tactic":"y"}],"forbid":[{"layer":"C","tactics":["z"]}]}`},
		{"embedded fields are the outer's", sessions.OutputError{Name: "out", Errors: sessions.Errors{MaxAbs: 0.5, SQNR: math.Inf(1), PSNR: 20}},
			`{"schema":6,"name":"out","max_abs":0.5,"mean_abs":0,"median_abs":0,"max_rel":0,"mean_rel":0,"l2":0,"cosine":0,"sqnr_db":null,"psnr_db":20}`},
		{"lists without elements are there, unless they may go", sessions.LayerTactics{Layer: "Conv_0", Op: "Conv"},
			`{"schema":6,"layer":"Conv_0","op":"Conv","chosen":"","candidates":[]}`},
		{"bytes", sessions.MemoryNumbers{Peak: 1, Naive: 2, LowerBound: 3, IO: 4, Workspace: 5, Weights: 6},
			`{"schema":6,"peak_bytes":1,"naive_bytes":2,"lower_bound_bytes":3,"io_bytes":4,"workspace_bytes":5,"weights_bytes":6}`},
		{"numbers that are not known", sessions.RecordedConfig{ID: 1, First: time.Unix(0, 0).UTC()},
			`{"schema":6,"id":1,"name":"","config":{"precision":"","calibrator":"","batch":0},"first":"1970-01-01T00:00:00Z","settled":false,"runs":0,
			"median_ms":null,"p99_ms":null,"top1_share":null,"agreement_share":null,"sqnr_db":null,"arena_bytes":null,"weights_bytes":null}`},
		{"float32 has its own digits", sessions.CalibratorResult{Amax: 0.1, Clip: 0.25},
			`{"schema":6,"amax":0.1,"scale":0,"zero":0,"clip_share":0.25,"kl_nats":0,"sqnr_db":0}`},
		{"a set of parts is their names", struct{ Stale sessions.Parts }{sessions.PartPasses | sessions.PartTactics},
			`{"schema":6,"stale":["passes","tactics"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sessions.MarshalOutput(c.report)
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
	if b, err := sessions.MarshalOutput(struct{ M map[string]int }{map[string]int{"a": 1}}); err == nil {
		t.Errorf("a map without names gave %s", b)
	}
	if b, err := sessions.MarshalOutput(sessions.Head{}, struct{ Model string }{"x"}); err == nil {
		t.Errorf("two models gave %s", b)
	}
	if b, err := sessions.MarshalOutput(3); err == nil {
		t.Errorf("a number gave %s", b)
	}
}
