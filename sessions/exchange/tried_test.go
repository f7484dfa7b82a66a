package exchange

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestTried: a recording's page has all that was tried, and latency against the best measure that two have.
func TestTried(t *testing.T) {
	recorded := func(name string, p config.Precision, median time.Duration, top1, sqnr float64) report.RecordedConfig {
		c := report.RecordedConfig{Name: name, Config: config.Config{Precision: p}, Median: &median, SQNR: &sqnr, Settled: true}
		if top1 >= 0 {
			c.Top1 = &top1
		}
		return c
	}
	failed := report.RecordedConfig{Name: "broken", Err: "no kernel"}
	snap := &report.Snapshot{Model: &report.Model{Name: "m"}, Timings: &report.Timings{Layers: []report.LayerTiming{{Name: "conv"}}}, Tried: []report.RecordedConfig{
		recorded("fp32", config.FP32, 2*time.Millisecond, 0.9, report.MaxDB), recorded("int8 <x>", config.INT8, time.Millisecond, 0.8, 30), failed}}
	page, err := HTML(snap)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h2>Configurations tried</h2>", "top-1 % over latency", "2 front", "Configurations tried: 3 rows", "int8 &lt;x&gt;", "no kernel", ">90.0<"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	snap.Tried[1].Top1 = nil // only the ratio is known of two
	if p, ok := triedPicture(snap.Tried, false); !ok || !strings.Contains(p.caption, "SQNR dB") || !strings.Contains(p.svg, "exact") {
		t.Errorf("%v %s", ok, p.caption)
	}
	if p, _ := triedPicture(snap.Tried, true); !strings.Contains(p.caption, "SQNR dB against FP32 with the model's Q/DQ over latency") {
		t.Errorf("of a quantised model: %s", p.caption)
	}
	if p := accuracyPicture(&report.Accuracy{OwnQuantization: true, Layers: []report.LayerError{{Name: "conv"}}}); !strings.Contains(p.caption, "against the FP32 model with the model's Q/DQ,") {
		t.Errorf("layers of a quantised model: %s", p.caption)
	}
	if _, ok := triedPicture(snap.Tried[:1], false); ok {
		t.Error("one point is drawn")
	}
}
