package views

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// recordingsScreen lists the recordings that there are, and opens one. In a replay it first lists the states of the one
// that is shown, and where that was opened from a live session the way back to it.
func recordingsScreen(d *desk) *ui.Screen {
	s := &ui.Screen{Key: "9", Name: "Recordings", Views: []ui.View{newRecordingsView(d)}}
	if d.Timeline != nil {
		s.Views = append([]ui.View{newStatesView(d)}, s.Views...)
		s.Layouts = []ui.Box{ui.Stack(ui.Pane(0).Share(3), ui.Pane(1).Share(2))}
	}
	return s
}

// recordingsMsg brings the list of recordings, newest first, or the reason why there is none.
type recordingsMsg struct {
	list []*report.Recording
	err  error
}

// listRecordings sums up what is in the folder.
func listRecordings(folder string) tea.Cmd {
	if folder == "" {
		return nil
	}
	return func() tea.Msg {
		list, err := recording.List(folder)
		return recordingsMsg{list, err}
	}
}

// record starts or stops writing a recording.
func (d *desk) record() tea.Cmd {
	if d.snap.Recording != "" {
		path := d.snap.Recording
		return func() tea.Msg {
			if err := d.Recorder.StopRecording(); err != nil {
				return ui.StatusMsg{Text: "stop recording: " + err.Error(), Style: ui.Bad}
			}
			return ui.StatusMsg{Text: "recorded " + path, Style: ui.Good}
		}
	}
	name := "session"
	if d.snap.Model != nil {
		name = strings.TrimSuffix(filepath.Base(d.snap.Model.Path), filepath.Ext(d.snap.Model.Path))
	}
	path := filepath.Join(d.Recordings, name+d.Now().Format("-20060102-150405")+recording.Extension)
	return func() tea.Msg {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return ui.StatusMsg{Text: "record: " + err.Error(), Style: ui.Bad}
		}
		if err := d.Recorder.Record(path); err != nil {
			return ui.StatusMsg{Text: "record: " + err.Error(), Style: ui.Bad}
		}
		return ui.StatusMsg{Text: "recording to " + path, Style: ui.Good}
	}
}

// recordingsView lists the recordings.
type recordingsView struct {
	pane
	table ui.Table
	list  []*report.Recording
	err   error
}

func newRecordingsView(d *desk) *recordingsView {
	v := &recordingsView{pane: d.pane(0)}
	v.table.Rows = v.before()
	at := v.at
	v.table.Columns = []ui.Column{
		{Title: "recording", Name: true, Width: 30, Flex: 1, Cell: func(r int) ui.Cell {
			if v.live(r) {
				return ui.Cell{Text: "live session", Style: ui.Good}
			}
			name := filepath.Base(at(r).Path)
			if at(r).Path == v.snap.Recording {
				return ui.Cell{Text: string(v.Look.Glyphs.Record) + " " + name, Style: ui.Bad}
			}
			return ui.Cell{Text: name}
		}, Order: func(a, b int) int { return cmp.Compare(at(a).Path, at(b).Path) }},
		{Title: "model", Name: true, Width: 14, Priority: 2, Cell: func(r int) ui.Cell { return ui.Cell{Text: at(r).Model, Style: ui.Accent} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Model, at(b).Model) }},
		{Title: "configurations", Width: 28, Flex: 1, Priority: 3, Cell: func(r int) ui.Cell {
			if at(r).Err != "" {
				return ui.Cell{Text: at(r).Err, Style: ui.Bad}
			}
			return ui.Cell{Text: triedNames(at(r)), Style: ui.Muted}
		}},
		{Title: "state", Width: 9, Priority: 1, Cell: func(r int) ui.Cell {
			switch {
			case v.live(r):
				return ui.Cell{Text: "live", Style: ui.Good}
			case at(r).Path == v.snap.Recording:
				return ui.Cell{Text: "recording", Style: ui.Bad}
			case at(r).Err != "":
				return ui.Cell{Text: "damaged", Style: ui.Bad}
			case at(r).Stopped:
				return ui.Cell{Text: "stopped", Style: ui.Warn}
			case at(r).Complete:
				return ui.Cell{Text: "complete", Style: ui.Good}
			}
			return ui.Cell{Text: "cut short", Style: ui.Warn}
		}},
		{Title: "size", Width: 10, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell {
			if v.live(r) {
				return ui.Cell{}
			}
			return ui.Cell{Text: ui.Bytes(at(r).Bytes)}
		},
			Order: func(a, b int) int { return cmp.Compare(at(a).Bytes, at(b).Bytes) }},
		{Title: "begun", Width: 16, Cell: func(r int) ui.Cell {
			if v.live(r) {
				return ui.Cell{}
			}
			return ui.Cell{Text: at(r).Started.Format("2006-01-02 15:04"), Style: ui.Muted}
		}, Order: func(a, b int) int { return at(a).Started.Compare(at(b).Started) }},
	}
	return v
}

// before is how many rows come before the recordings: the live session's, where there is one to return to.
func (v *recordingsView) before() int {
	if v.Live != nil {
		return 1
	}
	return 0
}

// live reports whether a row is that of the live session.
func (v *recordingsView) live(r int) bool { return r < v.before() }

// at returns the recording of a row; for that of the live session, what it is at.
func (v *recordingsView) at(r int) *report.Recording {
	if !v.live(r) {
		return v.list[r-v.before()]
	}
	s := v.Live.Snapshot()
	report := &report.Recording{Configs: []report.RecordedConfig{{Name: snapshotLabel(s)}}}
	if s.Model != nil {
		report.Model = s.Model.Name
	}
	return report
}

// triedNames lists the configurations that a recording has.
func triedNames(r *report.Recording) string {
	var names []string
	for _, c := range r.Configs {
		names = append(names, c.Name)
	}
	return strings.Join(names, "; ")
}

func (v *recordingsView) Title() string { return "Recordings" }

func (v *recordingsView) Note() (string, ui.Style) {
	switch {
	case v.snap.Recording != "":
		return "recording to " + v.snap.Recording, ui.Bad
	case v.snap.Replay != "":
		return "showing " + v.snap.Replay, ui.Muted
	}
	return v.Recordings, ui.Muted
}

func (v *recordingsView) Keys() []ui.Key {
	keys := v.table.Keys()
	if v.Open != nil {
		keys = append(keys, ui.K("enter", "open", "open the recording: panes show it without the model"))
	}
	return keys
}

func (v *recordingsView) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case *report.Snapshot:
		v.take(msg)
	case recordingsMsg:
		v.list, v.err = msg.list, msg.err
		v.table.Rows = v.before() + len(v.list)
		v.table.Refresh()
	default:
		if r := v.table.Row(); isKey(msg, "enter") && r >= 0 && v.Open != nil {
			if v.live(r) {
				return v.Live.Return
			}
			return v.Open(v.at(r).Path)
		}
		v.table.Update(msg)
	}
	return nil
}

func (v *recordingsView) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		switch {
		case v.err != nil:
			c.Fit(1, 1, w-2, ui.Bad, v.err.Error())
		case v.Live != nil:
			v.table.Draw(c)
		case len(v.list) == 0 && v.Recordings == "":
			c.Fit(1, 1, w-2, ui.Muted, "there is no folder for recordings here")
		case len(v.list) == 0 && v.Recorder == nil:
			c.Fit(1, 1, w-2, ui.Muted, "no recordings in "+v.Recordings)
		case len(v.list) == 0:
			c.Fit(1, 1, w-2, ui.Muted, "no recordings in "+v.Recordings+": press w to record this session")
		default:
			v.table.Draw(c)
		}
	})
}
