package views

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// recordingExtension is how the names of recordings end.
const recordingExtension = ".trtui"

// recordingsScreen lists the recordings that there are, and opens one. In a replay it first lists the states of the one
// that is shown.
func recordingsScreen(d *desk) *ui.Screen {
	s := &ui.Screen{Key: "9", Name: "Recordings", Views: []ui.View{newRecordingsView(d)}}
	if d.Timeline != nil {
		s.Views = append([]ui.View{newStatesView(d)}, s.Views...)
		s.Layouts = []ui.Box{ui.Stack(ui.Pane(0).Share(3), ui.Pane(1).Share(2))}
	}
	return s
}

// recording is a file in the folder of recordings.
type recording struct {
	name  string
	bytes int64
	time  time.Time
}

// recordingsMsg brings the list of recordings, newest first, or the reason why there is none.
type recordingsMsg struct {
	list []recording
	err  error
}

// listRecordings reads the folder; one that does not exist holds none.
func listRecordings(folder string) tea.Cmd {
	if folder == "" {
		return nil
	}
	return func() tea.Msg {
		entries, err := os.ReadDir(folder)
		if os.IsNotExist(err) {
			return recordingsMsg{}
		}
		var list []recording
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || filepath.Ext(e.Name()) != recordingExtension {
				continue
			}
			list = append(list, recording{e.Name(), info.Size(), info.ModTime()})
		}
		slices.SortFunc(list, func(a, b recording) int {
			return cmp.Or(b.time.Compare(a.time), cmp.Compare(a.name, b.name))
		})
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
	path := filepath.Join(d.Recordings, name+d.Now().Format("-20060102-150405")+recordingExtension)
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
	list  []recording
	err   error
}

func newRecordingsView(d *desk) *recordingsView {
	v := &recordingsView{pane: d.pane(0)}
	v.table.Columns = []ui.Column{
		{Title: "recording", Width: 30, Flex: 1, Cell: func(r int) ui.Cell {
			if v.path(r) == v.snap.Recording && v.snap.Recording != "" {
				return ui.Cell{Text: string(v.Look.Glyphs.Record) + " " + v.list[r].name, Style: ui.Bad}
			}
			return ui.Cell{Text: v.list[r].name}
		}, Order: func(a, b int) int { return cmp.Compare(v.list[a].name, v.list[b].name) }},
		{Title: "size", Width: 10, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Bytes(v.list[r].bytes)} },
			Order: func(a, b int) int { return cmp.Compare(v.list[a].bytes, v.list[b].bytes) }},
		{Title: "written", Width: 16, Cell: func(r int) ui.Cell {
			return ui.Cell{Text: v.list[r].time.Format("2006-01-02 15:04"), Style: ui.Muted}
		}, Order: func(a, b int) int { return v.list[a].time.Compare(v.list[b].time) }},
	}
	return v
}

func (v *recordingsView) path(r int) string { return filepath.Join(v.Recordings, v.list[r].name) }

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
	case *sessions.Snapshot:
		v.take(msg)
	case recordingsMsg:
		v.list, v.err = msg.list, msg.err
		v.table.Rows = len(v.list)
		v.table.Refresh()
	default:
		if r := v.table.Row(); isKey(msg, "enter") && r >= 0 && v.Open != nil {
			return v.Open(v.path(r))
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
