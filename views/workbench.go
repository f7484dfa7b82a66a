package views

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/comparison"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/trials"
)

// workbench drives a controller for its panes, which see it as a [pane.Desk], and says what comes of what they ask for.
type workbench struct {
	o   Options
	ctl Controller
	app *ui.App

	snap       *report.Snapshot // the newest, even while the panes are frozen
	timed      *report.Snapshot // the newest whose times are of its configuration
	config     history          // snap.Config follows what it wants
	work       work
	tried      trials.List
	saves      saves
	comparison comparison.Pair
	several    *comparison.Several // what more than two are compared of; nil: nothing
	cursor     layerCursor
	unrecorded lost
	tour       tour
	scrubTo    int // the state of a recording that was asked for and is not shown yet; 0: none
}

// available returns what decides which keys do something.
func (w *workbench) available() available {
	return available{
		look: w.o.Look, snap: w.snap, want: w.config.want, timeline: w.o.Timeline, front: w.o.Live != nil, recordable: w.o.Recorder != nil, readOnly: w.o.ReadOnly, requantises: w.o.Requantise != nil,
		unrecorded: w.unrecorded != "", undo: len(w.config.past) > 0 || w.o.Back != nil, redo: len(w.config.future) > 0,
	}
}

// Lacks says what the state at hand lacks of what a key needs; "" where the key works.
func (w *workbench) Lacks(n pane.Need) string { return w.available().lacks(n) }

// lacksFor is Lacks for the keys of the whole program.
func (w *workbench) lacksFor(i ui.Intent) string {
	if w.app != nil {
		if text, ok := w.cursor.lacks(w.app, i); ok {
			return text
		}
	}
	if n, ok := intentNeeds(i); ok {
		return w.Lacks(n)
	}
	return ""
}

// header returns what the top lines show now.
func (w *workbench) header() ui.Header {
	h := header(w.snap, w.config.want, w.work.job(w.snap, w.o.Now), midBuild(w.snap, w.o.Timeline))
	if w.o.Timeline != nil && w.o.Timeline.Writing() {
		h.Badges = append(h.Badges, ui.Badge{Text: "being written", Style: ui.Accent})
	}
	if w.unrecorded != "" {
		h.Badges = append(h.Badges, ui.Badge{Text: "NOT RECORDING", Style: ui.Bad | ui.Bold})
	}
	return h
}
