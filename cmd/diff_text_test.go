package cmd

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestDiffNames: a group that is aligned by what its layers are is called what each side calls it, in text and in Markdown.
func TestDiffNames(t *testing.T) {
	side := func(name string) []report.LayerSide { return []report.LayerSide{{Layer: name, Time: 1000}} }
	d := &report.Diff{Groups: []report.LayerChange{
		{Name: "/conv", Kind: report.KindTactic, Alike: true, A: side("Conv_0"), B: side("/conv"), Share: 1},
		{Name: "/fc", Kind: report.KindTactic, Alike: true, A: side("/fc"), B: side("/fc"), Share: 1},
	}}
	var text, markdown strings.Builder
	writeDiff(&text, d, true)
	writeDiffMarkdown(&markdown, d, true)
	for _, out := range []string{text.String(), markdown.String()} {
		if !strings.Contains(out, "Conv_0 -> /conv") || strings.Contains(out, "/fc -> ") {
			t.Errorf("got\n%s", out)
		}
	}
}
