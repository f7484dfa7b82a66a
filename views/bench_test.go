package views

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

func (b *bench) clock() time.Time { return b.now }

// BenchmarkKeyPress measures a key press until the picture of 200x60 cells is ready, on every screen, while snapshots
// stream in ten times a second of a person's fast typing. The goal is 16 ms.
func BenchmarkKeyPress(b *testing.B) {
	snap := panetest.Fixture(b)
	w := newBench(b, ui.Options{Theme: "dark"}, snap)
	w.size(200, 60)
	keys := []tea.KeyPressMsg{ui.Press("down"), ui.Press("down"), ui.Press("k"), ui.Press("right")}
	for _, digit := range screenKeys("9") {
		b.Run(digit, func(b *testing.B) {
			w.press(digit)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%3 == 0 { // a new snapshot between key presses
					later := *snap
					timings := *snap.Timings
					later.Timings, later.Seq = &timings, i+2
					for _, s := range []tea.Msg{&later} {
						w.app.Update(s)
					}
				}
				w.app.Update(keys[i%len(keys)])
				if w.app.View().Content == "" {
					b.Fatal("nothing to see")
				}
			}
		})
	}
}
