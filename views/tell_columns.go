package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// tellColumns says how long each precision took that was measured side by side.
func tellColumns(s *report.Snapshot) tea.Cmd {
	if s.Columns == nil {
		return nil
	}
	var parts []string
	for i := range s.Columns.Columns {
		c := &s.Columns.Columns[i]
		switch {
		case c.Err != "":
			continue
		case c.Unchanged != "":
			parts = append(parts, c.Label+" changes no layer")
		case c.Speed == nil:
			parts = append(parts, c.Label+" "+ui.Duration(c.Latency.Median))
		case !c.Speed.Significant:
			parts = append(parts, c.Label+" "+ui.Duration(c.Latency.Median)+", "+c.Speed.Undecided())
		default:
			parts = append(parts, c.Label+" "+ui.Duration(c.Latency.Median)+", "+c.Speed.Beside(s.Columns.Columns[0].Latency.Median, c.Latency.Median).Faster())
		}
	}
	return pane.News(ui.Good, strings.Join(parts, "; "))
}
