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

// TestWholeBeyondMachine: what layers with the same kernels have in common on two occasions is the machine's in the verdict on the whole,
// too, as it is in those on layers.
func TestWholeBeyondMachine(t *testing.T) {
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	for _, c := range []struct {
		b          int
		sideBySide bool
		common     float64
		want       string
	}{
		{130, false, 1.3, "no significant difference beyond the machine's 1.30x, not side by side"},
		{195, false, 1.3, "1.95x slower, with the machine's 1.30x in it, not side by side"},
		{130, false, 1.01, "1.30x slower, not side by side"},
		{130, true, 1.3, "1.30x slower"},
	} {
		ratio := 100 / float64(c.b)
		d := &report.Diff{Common: &report.CommonChange{Layers: 9, Ratio: c.common, Spread: 0.01},
			EndToEnd: report.TimeChange{A: us(100), B: us(c.b), Delta: us(c.b - 100), Speed: report.NewSpeed(ratio, 0.99*ratio, 1.01*ratio, c.sideBySide)}}
		if got := shortTotalWords(d); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
