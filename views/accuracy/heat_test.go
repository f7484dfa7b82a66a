package accuracy

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// TestHeatScale: below a map of errors the scale of its colours and the last position never run into each other.
func TestHeatScale(t *testing.T) {
	m := &report.ErrorMap{Rows: 4, Columns: 8, Channels: 24, Positions: 1024, Group: 6, RMS: make([]float32, 32)}
	m.RMS[3] = 0.071
	scales := 0
	for w := 24; w <= 120; w++ {
		text := ansi.Strip(ui.NewLook(ui.Options{ASCII: true}).Render(w, 6, func(c *ui.Canvas) { drawErrorMap(c, m) }))
		lines := strings.Split(text, "\n")
		last := strings.Fields(lines[len(lines)-1])
		if last[len(last)-1] != "1023" {
			t.Errorf("at %d cells: %q", w, lines[len(lines)-1])
		}
		if strings.Contains(text, "rms 0 ") {
			scales++
			if last[len(last)-2] != "0.071" {
				t.Errorf("at %d cells: %q", w, lines[len(lines)-1])
			}
		}
	}
	if scales < 60 {
		t.Errorf("the scale is shown in %d of 97 widths", scales)
	}
}
