package cmd

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestAblationText says what a rule is worth only where the difference is one, and draws that with its noise.
func TestAblationText(t *testing.T) {
	speed := func(ratio, low, high float64) report.Speed { return report.NewSpeed(ratio, low, high, true) }
	a := &report.Ablation{Median: 1e6, Idle: []string{"x", "y"}, Rows: []report.AblationRow{
		{Rule: "good", Sites: 3, LayersSaved: 4, BytesSaved: 2048, Without: 2e6, With: 1e6, Worth: speed(2, 1.5, 2)},
		{Rule: "noise", Sites: 1, Without: 1e6, With: 1e6, Worth: speed(1.05, 0.9, 1.2)},
		{Rule: "bad", Sites: 1, Without: 9e5, With: 1e6, Worth: speed(0.9, 0.88, 0.92)},
		{Rule: "twin", Sites: 1, Same: true, Worth: speed(1, 1, 1)},
		{Rule: "needed", Sites: 1, Err: "layer a:\nno kernel"},
	}}
	var out strings.Builder
	writeAblation(&out, report.Head{Model: &report.ModelHead{Name: "m"}, Config: &config.Config{}, Device: &report.Device{Backend: "cpu"}}, a)
	lines := strings.Split(out.String(), "\n")
	for _, c := range []struct{ rule, want string }{
		{"good", "1.000       2.000  ████████████░░░░░░░░░░░░  +100.0 % (+50.0 to +100.0)"},
		{"noise", "no significant difference (-10.0 to +20.0)"},
		{"bad", "-10.0 % (-12.0 to -8.0)"},
		{"twin", "the same engine without it"},
		{"needed", "no engine without it: layer a: no kernel"},
		{"2 other", "2 other rules apply nowhere"},
	} {
		found := false
		for _, l := range lines {
			found = found || strings.HasPrefix(l, c.rule) && strings.Contains(l, c.want)
		}
		if !found {
			t.Errorf("no %q of %s in\n%s", c.want, c.rule, out.String())
		}
		if bars := strings.Count(out.String(), "█"); bars != 12 {
			t.Fatalf("%d cells are solid, want those of one rule", bars)
		}
	}
}

// TestAblateAlone takes no flag that measures something else.
func TestAblateAlone(t *testing.T) {
	for _, other := range [][]string{{"--per-layer"}, {"--sweep", "batch=1..2"}} {
		if _, stderr := command(t, 2, append([]string{"bench", "--ablate"}, other...)...); !strings.Contains(stderr, "--ablate measures whole engines") {
			t.Errorf("stderr is %q", stderr)
		}
	}
}
