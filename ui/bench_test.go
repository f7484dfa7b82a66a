package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// BenchmarkKey measures a key press until the picture of the whole screen is
// ready, on every screen of the demonstration at 200x60. The goal is 16 ms.
func BenchmarkKey(b *testing.B) {
	app := demoApp(b, Options{Theme: "dark"})
	send(app, tea.WindowSizeMsg{Width: 200, Height: 60})
	for _, s := range app.screens {
		b.Run(s.Name, func(b *testing.B) {
			press(app, s.Key)
			keys := []tea.KeyPressMsg{Press("j"), Press("j"), Press("k")}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				app.Update(keys[i%len(keys)])
				if app.View().Content == "" {
					b.Fatal("nothing to see")
				}
			}
		})
	}
}

// BenchmarkEvents measures how fast events pass while frames are drawn ten times
// a second at most.
func BenchmarkEvents(b *testing.B) {
	app := demoApp(b, Options{Theme: "dark"})
	send(app, tea.WindowSizeMsg{Width: 200, Height: 60})
	events := make([]any, batchSize)
	for i := range events {
		events[i] = tick{i}
	}
	b.ReportAllocs()
	for b.Loop() {
		app.Update(received{events: events})
		_ = app.View().Content
	}
	b.ReportMetric(float64(len(events)), "events/op")
}

// BenchmarkCanvas measures turning cells into text.
func BenchmarkCanvas(b *testing.B) {
	c := NewLook(Options{}).Canvas(200, 60)
	for y := range c.H {
		for x := range c.W {
			c.Set(x, y, 'x', Series(x/7))
		}
	}
	b.SetBytes(int64(len(c.String())))
	for b.Loop() {
		_ = c.String()
	}
}
