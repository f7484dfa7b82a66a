package describe

import (
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
)

// TestOneRange: products that have no range by token are counted, and the first says why.
func TestOneRange(t *testing.T) {
	by := quant.Decision{Layer: "a", Precision: numeric.I8}
	one := quant.Decision{Layer: "b", Precision: numeric.I8, OneRange: "b has factors"}
	for want, list := range map[string][]quant.Decision{
		"": {by},
		"1 product is quantised by one range, not by token: b: b has factors":   {by, one},
		"2 products are quantised by one range, not by token: b: b has factors": {one, by, {Layer: "c", OneRange: "no kernel"}},
	} {
		var cfg config.Config
		if got := OneRange(cfg, list); got != "" {
			t.Errorf("where trials choose: %q", got)
		}
		cfg.Quantization.Activations = "asymmetric:token"
		if got := OneRange(cfg, list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
