package recordings

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen lists the recordings that there are, and opens one. In a replay it first lists the states of the one
// that is shown, and where that was opened from a live session the way back to it.
func Screen(look *ui.Look, t Timeline, others Shelf) *ui.Screen {
	s := &ui.Screen{Key: pane.CompareKey, Name: "Recordings", Words: []string{"sessions", "record", "replay", "history"}, Short: "Rec", Views: []ui.View{newRecordingsView(look, others)}}
	if t != nil {
		s.Views = append([]ui.View{newStatesView(look, t, others)}, s.Views...)
		s.Layouts = []ui.Box{ui.Stack(ui.Pane(0).Share(3), ui.Pane(1).Share(2))}
	}
	return s
}

// recordingsMsg brings the list of recordings, newest first, or the reason why there is none.
type recordingsMsg struct {
	list  []*report.Recording
	err   error
	names string // of the files then
}

// lookMsg says that it is time to look whether the files in the folder are others, unless they were listed since; sameMsg that they
// are not.
type (
	lookMsg struct{ listing int }
	sameMsg struct{}
)

// lookEvery is how often the folder is looked at.
const lookEvery = 2 * time.Second

// look lists what is in the folder where its files are others than they were.
func look(folder Folder, names string) tea.Cmd {
	return func() tea.Msg {
		if folder.Names() == names {
			return sameMsg{}
		}
		return List(folder)()
	}
}

// List sums up what is in the folder.
func List(folder Folder) tea.Cmd {
	if folder == nil {
		return nil
	}
	return func() tea.Msg {
		names := folder.Names()
		list, err := folder.List()
		return recordingsMsg{list, err, names}
	}
}

// recordingsView lists the recordings.
type recordingsView struct {
	in     pane.Input
	others Shelf
	table  ui.Table
	list   []*report.Recording
	listed bool // list is what there is
	names  string
	lists  int // how often it was listed or looked at
	err    error
}

func newRecordingsView(look *ui.Look, others Shelf) *recordingsView {
	v := &recordingsView{in: pane.NewInput(look, 0), others: others}
	v.table.Rows = v.before()
	at := v.at
	v.table.Columns = []ui.Column{
		{Title: "recording", Name: true, Files: true, Width: 16, Flex: 1, Cell: func(r int) ui.Cell {
			if v.live(r) {
				return ui.Cell{Text: "live session" + others.Marked(liveMark(v.others.Live.Snapshot())), Style: ui.Good}
			}
			name := filepath.Base(at(r).Path)
			name += others.Marked(name)
			if at(r).Path == v.in.Snap.Recording {
				return ui.Cell{Text: string(v.in.Look.Glyphs.Record) + " " + name, Style: ui.Bad}
			}
			return ui.Cell{Text: name}
		}, Order: func(a, b int) int { return cmp.Compare(at(a).Path, at(b).Path) }},
		{Title: "model", Name: true, Files: true, Width: 14, Flex: 1, Priority: 2, Cell: func(r int) ui.Cell { return ui.Cell{Text: at(r).Model, Style: ui.Accent} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Model, at(b).Model) }},
		{Title: "configurations", Width: 20, Flex: 1, Priority: 3, Cell: func(r int) ui.Cell {
			if at(r).Err != "" {
				return ui.Cell{Text: at(r).Reason(), Style: ui.Bad}
			}
			return ui.Cell{Text: triedNames(at(r)), Style: ui.Muted}
		}},
		{Title: "state", Width: 9, Priority: 1, Cell: func(r int) ui.Cell {
			switch {
			case v.live(r):
				return ui.Cell{Text: "live", Style: ui.Good}
			case at(r).Path == v.in.Snap.Recording:
				return ui.Cell{Text: "recording", Style: ui.Bad}
			case at(r).Err != "":
				return ui.Cell{Text: "damaged", Style: ui.Bad}
			case at(r).Writing:
				return ui.Cell{Text: "writing", Style: ui.Accent}
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
		{Title: "started", Width: 16, Cell: func(r int) ui.Cell {
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
	if v.others.Live != nil {
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
	s := v.others.Live.Snapshot()
	report := &report.Recording{Configs: []report.RecordedConfig{{Name: pane.Label(s)}}}
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
	case v.in.Snap.Recording != "":
		return "recording to " + v.in.Snap.Recording, ui.Bad
	case v.in.Snap.Replay != "":
		return "showing " + v.in.Snap.Replay, ui.Muted
	}
	return v.folder(), ui.Muted
}

// folder names where the recordings are.
func (v *recordingsView) folder() string {
	if v.others.Folder == nil {
		return ""
	}
	return v.others.Folder.String()
}

func (v *recordingsView) Keys() []ui.Key {
	keys := v.table.Keys()
	if v.others.Open != nil {
		keys = append(keys, ui.K("enter", "open", "open the recording: the panes show it without the model"))
	}
	return keys
}

// liveMark names the live session, as it is, as something to compare.
func liveMark(s *report.Snapshot) string { return "live session: " + pane.Label(s) }

// Mark is the last complete state of the recording under the cursor, or the live session.
func (v *recordingsView) Mark() (pane.Mark, bool) {
	r := v.table.Row()
	switch {
	case r >= 0 && v.live(r):
		snap := v.others.Live.Snapshot()
		return pane.Mark{Name: liveMark(snap), Read: func() (*report.Snapshot, error) { return snap, nil }}, true
	case r < 0 || v.others.Read == nil:
		return pane.Mark{}, false
	}
	path := v.at(r).Path
	return pane.Mark{Name: filepath.Base(path), Read: func() (*report.Snapshot, error) { return v.others.Read(path, "") }}, true
}

func (v *recordingsView) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case *report.Snapshot:
		v.in.Take(msg)
	case recordingsMsg:
		first := v.list == nil
		v.list, v.listed, v.err = msg.list, true, msg.err
		v.table.Rows = v.before() + len(v.list)
		v.table.Refresh()
		if i := slices.IndexFunc(v.list, func(r *report.Recording) bool { return r.Path == v.in.Snap.Replay }); first && i >= 0 {
			v.table.Select(v.before() + i) // the one that is shown
		}
		v.names = msg.names
		return v.again()
	case sameMsg:
		return v.again()
	case lookMsg:
		if msg.listing == v.lists {
			return look(v.others.Folder, v.names)
		}
	default:
		if r := v.table.Row(); pane.IsKey(msg, "enter") && r >= 0 && v.others.Open != nil {
			if v.live(r) {
				return v.others.Live.Return
			}
			return v.others.Open(v.at(r).Path)
		}
		v.table.Refresh() // names grow where they are marked
		v.table.Update(msg)
	}
	return nil
}

// again has the folder looked at in a while.
func (v *recordingsView) again() tea.Cmd {
	if v.others.After == nil || v.others.Folder == nil {
		return nil
	}
	v.lists++
	return v.others.After(lookEvery, lookMsg{v.lists})
}

func (v *recordingsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		switch {
		case v.err != nil:
			c.Fit(1, 1, w-2, ui.Bad, v.err.Error())
		case v.others.Live != nil:
			v.table.Draw(c)
		case v.others.Folder != nil && !v.listed:
			c.Fit(1, 1, w-2, ui.Muted, "reading the recordings in "+v.folder())
		case len(v.list) == 0 && v.others.Folder == nil:
			c.Fit(1, 1, w-2, ui.Muted, "there is no folder for recordings here")
		case len(v.list) == 0 && !v.others.Recordable:
			c.Fit(1, 1, w-2, ui.Muted, "no recordings in "+v.folder())
		case len(v.list) == 0:
			c.Fit(1, 1, w-2, ui.Muted, "no recordings in "+v.folder()+v.in.Look.Keys(": press {w} to record this session"))
		default:
			v.table.Draw(c)
		}
	})
}
