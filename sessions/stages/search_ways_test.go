package stages

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/sessions/config"
)

// TestWays checks that what a configuration leaves open is tried in every way but the one that trials have chosen, and that what a person
// decided is left alone.
func TestWays(t *testing.T) {
	equalized := build.Equalized{"x": {}}
	shares := []way{{"", "activations:0.75", false}, {"", "activations:0.5", false}}
	for _, c := range []struct {
		rounding, equalization string
		base                   build.Lowered
		want                   []way
	}{
		{"auto", "auto", build.Lowered{Rounded: build.Rounded{"a": {}}, Equalized: equalized}, []way{{"gptq", "activations", true}, {"gptq", "off", false}, {"nearest", "activations", false}, {"nearest", "off", false}, shares[0], shares[1]}},
		{"auto", "auto", build.Lowered{Rounded: build.Rounded{}}, []way{{"nearest", "off", true}, {"gptq", "activations", false}, {"gptq", "off", false}, {"nearest", "activations", false}, shares[0], shares[1]}},
		{"auto", "off", build.Lowered{Rounded: build.Rounded{"a": {}}}, []way{{"gptq", "off", true}, {"nearest", "off", false}}},
		{"nearest", "auto", build.Lowered{Equalized: equalized}, []way{{"nearest", "activations", true}, {"nearest", "off", false}, shares[0], shares[1]}},
		{"gptq:ordered", "weights", build.Lowered{}, []way{{"gptq:ordered", "weights", true}}},
	} {
		cfg := config.Default()
		cfg.Quantization.Rounding, cfg.Quantization.Equalization = c.rounding, c.equalization
		g := &searching{config: cfg, study: &study{base: &c.base}}
		if got := g.ways(); !slices.Equal(got, c.want) {
			t.Errorf("rounding %s, equalization %s: ways %v, want %v", c.rounding, c.equalization, got, c.want)
		}
	}
}

// TestWayApplied checks that a way keeps what else a configuration says, and that residual sums stay as an earlier way left them.
func TestWayApplied(t *testing.T) {
	q := config.Quantization{Keep: []string{"first"}, WeightRanges: "mse"}
	kept := q.Keep
	for range 2 {
		way{"gptq", "off", true}.apply(&q)
	}
	way{"nearest", "off", false}.apply(&q)
	way{"", "weights", false}.apply(&q)
	if !slices.Equal(q.Keep, []string{"first", "residuals"}) || q.WeightRanges != "mse" || q.Rounding != "nearest" || q.Equalization != "weights" || len(kept) != 1 {
		t.Errorf("applied: %+v", q)
	}
}
