package views

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// record starts or stops writing a recording.
func (w *workbench) record() tea.Cmd {
	if w.snap.Recording != "" {
		path := w.snap.Recording
		return func() tea.Msg {
			if err := w.o.Recorder.StopRecording(); err != nil {
				return unrecorded(reason(err))
			}
			return ui.StatusMsg{Text: "recorded " + path, Style: ui.Good}
		}
	}
	name := "session"
	if w.snap.Model != nil {
		name = strings.TrimSuffix(filepath.Base(w.snap.Model.Path), filepath.Ext(w.snap.Model.Path))
	}
	now := w.o.Now()
	return func() tea.Msg {
		path, err := w.o.Recordings.New(name, now)
		if err != nil {
			return pane.FailedTo("record", err)
		}
		if err := w.o.Recorder.Record(path); err != nil {
			return pane.FailedTo("record", err)
		}
		return ui.StatusMsg{Text: "recording to " + path, Style: ui.Good}
	}
}
