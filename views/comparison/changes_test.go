package comparison

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// TestVerdictFits: whatever is said of a change fits its column.
func TestVerdictFits(t *testing.T) {
	p := 0.5
	for _, ascii := range []bool{false, true} {
		v := newChangesView(ui.NewLook(ui.Options{ASCII: ascii}), &Pair{})
		width := 0
		for _, c := range v.columns() {
			if c.Title == "is it real?" {
				width = c.Width
			}
		}
		for _, g := range []report.LayerChange{
			{Kind: report.KindAdded}, {Kind: report.KindRemoved}, {Significant: true, Delta: 1}, {Significant: true, Delta: -1}, {P: &p, Delta: 1}, {Delta: 1},
			{Slight: true, Delta: 1}, {Slight: true, Delta: time.Second}, {Slight: true, Delta: 1, Least: 1234 * time.Nanosecond},
		} {
			if text := v.verdict(&g).Text; ui.Width(text) > width || width == 0 {
				t.Errorf("%q is wider than %d cells", text, width)
			}
		}
	}
}
