package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestEvalRecordedRounds: a configuration that was measured beside the first takes what it took in these rounds, so that the ratio beside
// it is that of the times, and its percentile, which is of the other occasion, is not shown.
func TestEvalRecordedRounds(t *testing.T) {
	state := func(p config.Precision, took time.Duration) *report.Snapshot {
		l := report.Latency{Count: 100, Median: took, P99: 2 * took}
		return &report.Snapshot{Config: config.Config{Precision: p}, Model: &report.Model{}, Memory: &report.Memory{}, Overview: &report.Overview{Latency: l},
			Timings: &report.Timings{EndToEnd: l}, Accuracy: &report.Accuracy{Labels: report.LabelAccuracy{Top1: -1, Agreement: -1}}}
	}
	fp32, int8 := state(config.FP32, 8*time.Millisecond), state(config.INT8, 3*time.Millisecond) // the machine was slower by then
	int8.Timings.Beside = &report.Beside{Config: fp32.Config, Speed: report.NewSpeed(4, 3.9, 4.1, true)}
	rows := recordedRows([]*report.Snapshot{fp32, int8})
	if r := rows[1]; r.Latency != 2*time.Millisecond || !r.InRounds || r.Speed.Ratio != 4 || rows[0].InRounds || rows[0].Latency != 8*time.Millisecond {
		t.Errorf("%+v", rows)
	}
	var text bytes.Buffer
	if err := writeEval(&text, "", rows); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got, "2.000 - 4.00×") || strings.Contains(got, "in rounds") {
		t.Errorf("got\n%s", text.String())
	}
}
