package views

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/words"
)

// TestLogJumps goes from a line about a layer to that layer on the graph, of either network.
func TestLogJumps(t *testing.T) {
	for _, c := range []struct{ layer, title string }{
		{"softmax/Softmax", "Layer softmax/Softmax"},
		{"stem/conv/Conv + stem/norm/BatchNormalization + stem/act/Relu", "Layer stem/conv/Conv +2"},
		{"stem/norm/BatchNormalization", "Layer stem/norm/BatchNormalization"},
	} {
		snap := panetest.Fixture(t)
		snap.Log = []report.LogLine{
			{Time: time.Unix(0, 0), Level: "warning", Text: "in fp32: it has no 8-bit form", Layer: c.layer},
			{Time: time.Unix(1, 0), Level: "info", Text: "built int8"},
		}
		b := newBench(t, ui.Options{NoColor: true}, snap)
		b.size(120, 40)
		b.press("0", "tab")
		b.wants(words.ShortName(c.layer) + ": in fp32")
		b.press("enter")
		b.wants("this line is about no layer")
		b.press("k", "enter")
		b.wants(c.title, "2 Graph", "Passes")
	}
}

// TestLogWraps shows messages whole, whatever the width, and what belongs to them below.
func TestLogWraps(t *testing.T) {
	snap := panetest.Fixture(t)
	text := strings.Repeat("word ", 30) + "end\nfold-batch-norm            16 done"
	snap.Log = []report.LogLine{{Time: time.Unix(0, 0), Level: "info", Text: text, Layer: "stem/conv/Conv"}}
	b := newBench(t, ui.Options{NoColor: true}, snap)
	for _, w := range []int{80, 120, 200} {
		b.size(w, 24)
		b.press("0")
		b.wants("stem/conv/Conv: word", "word end", "   fold-batch-norm            16 done")
		if got := strings.Count(b.screen(), "word"); got != 30 {
			t.Errorf("%d cells: %d of 30 words", w, got)
		}
	}
}
