//go:build unix

package views

import (
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// BenchmarkUpdate measures a key press without its picture, on every screen, with a network of 5,000 layers: what keys that were typed
// ahead take each.
func BenchmarkUpdate(b *testing.B) {
	w := newBench(b, ui.Options{Theme: "dark"}, panetest.Large(b, 5000))
	w.size(200, 60)
	for _, s := range w.app.Screens() {
		b.Run(s.Name, func(b *testing.B) {
			w.send(w.app.PlaceOf(s, 0))
			for range 20 {
				w.app.Update(ui.Press("pgdown"))
			}
			w.app.View()
			b.ReportAllocs()
			begin, n := cpuTime(b), 0
			for ; b.Loop(); n++ {
				w.app.Update(ui.Press([]string{"down", "up"}[n%2]))
			}
			b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/1e3/float64(n), "cpu-ms")
		})
	}
}
