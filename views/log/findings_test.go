package log

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// TestFindingsHelp has for every remedy a key, or asks for a flag.
func TestFindingsHelp(t *testing.T) {
	asked := map[report.Remedy]bool{}
	v := newFindingsView(ui.NewLook(ui.Options{}), func(f pane.Fact) string {
		asked[f.(pane.Advised).Remedy] = true
		return "flag"
	})
	for _, r := range report.Remedies() {
		if v.help(&report.Finding{Remedy: r}) == "" {
			t.Errorf("nothing helps with %s", r)
		}
	}
	if !asked[report.RemedyPreprocessing] || asked[report.RemedyPrecision] {
		t.Errorf("flags are asked for %v", asked)
	}
	v.in.Snap = &report.Snapshot{Model: &report.Model{Viewed: "TensorRT layer information"}}
	for _, r := range report.Remedies() {
		if text := v.help(&report.Finding{Remedy: r}); strings.Contains(text, "screen ") || text == "flag" {
			t.Errorf("of another program's files %s says %q", r, text)
		}
	}
}
