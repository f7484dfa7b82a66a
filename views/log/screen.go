package log

import (
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows what rules find in the newest snapshot, and the messages of builds and runs.
func Screen(look *ui.Look, hint func(pane.Fact) string) *ui.Screen {
	return &ui.Screen{
		Key: "0", Name: "Log", Words: []string{"lint", "advice", "findings", "hints", "warnings", "messages", "errors", "problems"}, Views: []ui.View{newFindingsView(look, hint), newLogView(look)},
		Layouts: []ui.Box{ui.Stack(ui.Pane(0).Share(3), ui.Pane(1).Share(2)), ui.Beside(ui.Pane(0), ui.Pane(1))},
	}
}
