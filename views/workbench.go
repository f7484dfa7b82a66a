package views

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// Controller is what the workbench stands in front of: a session, or the replay of a recording. Its methods return at
// once.
type Controller interface {
	Snapshot() *report.Snapshot
	// Events delivers snapshots as they are published; the newest is never lost.
	Events() <-chan *report.Snapshot
	// Set asks for another configuration.
	Set(config.Config)
	// Rerun asks for the measurements to be made again; it ends a re-timing.
	Rerun()
	// Cancel stops what is being done; what it would have made stays stale.
	Cancel()
	// Calibrate asks for the report of calibration where it is not made by itself: of models that bring their own
	// quantisation.
	Calibrate()
	// Retime asks for the tactics of a layer to be timed again.
	Retime(layer string)
	// Note adds a line to the log, where one is kept.
	Note(text string)
	// DropTimings asks for the timing cache to forget what it has of other devices and builds, or all that it has.
	DropTimings(all bool)
}

// Recorder writes what a controller does to a file.
type Recorder interface {
	Record(path string) error
	StopRecording() error
}

// Options are what the workbench needs besides a controller.
type Options struct {
	Look *ui.Look
	// Recorder is nil where nothing can be recorded, as in a replay.
	Recorder Recorder
	// SaveConfig writes a configuration to a file and returns its path; nil where none can be written.
	SaveConfig func(config.Config) (string, error)
	// Reload opens the model anew with a configuration and shows it in place of this one; nil where that cannot be done.
	Reload func(config.Config) tea.Cmd
	// Recordings is where new recordings are written and screen 9 looks for them; nil: nowhere.
	Recordings Folder
	// Open opens a recording; nil where that cannot be done.
	Open func(path string) tea.Cmd
	// Live is the session in front of which a recording is shown; nil: there is none.
	Live *Live
	// Timeline is the controller of a replay, which has states to choose from; nil for a session.
	Timeline Timeline
	// Hint says which flag or command helps with a fact, "" where none does; nil: none ever.
	Hint func(Fact) string
	// Now is the clock, and After gives a message after a time; nil: the system's.
	Now   func() time.Time
	After func(time.Duration, tea.Msg) tea.Cmd
}

// Live is a session that waits, at work, behind the replay of a recording.
type Live struct {
	Snapshot func() *report.Snapshot
	Return   tea.Cmd // shows it again
}

// NewWorkbench returns the workbench for a controller: the only tea.Model of the program.
func NewWorkbench(ctl Controller, o Options) (*ui.App, error) {
	if o.Look == nil {
		o.Look = ui.NewLook(ui.Options{})
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &workbench{o: o, ctl: ctl, snap: ctl.Snapshot()}
	w.config.want = w.snap.Config
	return ui.New(ui.Config{
		Look: o.Look, Screens: w.screens(), Intents: w.intents(),
		OnIntent: w.intent, Lacks: w.lacksFor, OnEvent: w.event, Header: w.header(), Now: o.Now, After: o.After,
		OnScreen: func(digit string) {
			if digit == calibrationKey && w.Lacks(needsModel) == "" {
				ctl.Calibrate()
			}
		},
		Start: func() tea.Cmd {
			return tea.Batch(
				func() tea.Msg { return ctl.Snapshot() },
				ui.Listen(ctl.Events()),
				listRecordings(o.Recordings),
			)
		},
	})
}

// workbench drives a controller for its panes, which see it as a [desk], and says what comes of what they ask for.
type workbench struct {
	o   Options
	ctl Controller

	snap    *report.Snapshot // the newest, even while the panes are frozen
	settled *report.Snapshot // the newest whose reports all fit its configuration
	config  history          // snap.Config follows what it wants
	work    work
	tried   trials
	saves   saves
	scrubTo int // the state of a recording that was asked for and is not shown yet; 0: none
}

// screens returns the screens with their layouts: side by side where the terminal is wide, fewer and denser panes where it
// is not. Panes that a layout leaves out are reached with tab. Each gets what it needs and no more.
func (w *workbench) screens() []*ui.Screen {
	look, tried := w.o.Look, &w.tried
	if w.o.Timeline != nil {
		tried = recordedTrials(w.o.Timeline.Tried(), ownRanges(w.snap))
	}
	return []*ui.Screen{
		overviewScreen(look, w, tried),
		graphScreen(look, w),
		timingsScreen(look, w),
		memoryScreen(look),
		calibrationScreen(look, w, w.o.Timeline != nil),
		accuracyScreen(look, w, w.o.hint),
		tacticsScreen(look, w, w.o.Now),
		recordingsScreen(look, w.o.Timeline, shelf{w.o.Recordings, w.o.Live, w.o.Open, w.o.Recorder != nil}),
		logScreen(look),
	}
}

// intents returns the keys of the whole program that the workbench serves.
func (w *workbench) intents() []ui.IntentKey {
	serves := map[ui.Intent]bool{
		ui.NextPrecision: true, ui.NextCalibrator: true, ui.Rerun: true, ui.Rebuild: true, ui.Undo: true, ui.Redo: true,
		ui.Record: true, ui.SaveConfig: w.o.SaveConfig != nil,
	}
	list := slices.DeleteFunc(ui.Intents(), func(k ui.IntentKey) bool { return !serves[k.Intent] })
	if w.o.Reload != nil {
		list = append(list, reloadKeys()...)
	}
	if w.o.Timeline != nil {
		list = append(list, scrubKeys()...)
	}
	if w.o.Live != nil {
		list = append(list, ui.IntentKey{Intent: ui.Cancel, Key: ui.K("esc", "live", "back to the live session, as it was left")})
	}
	return list
}

// intent fulfils a wish that is not one pane's.
func (w *workbench) intent(i ui.Intent) tea.Cmd {
	switch i {
	case ui.NextPrecision:
		return w.nextPrecision()
	case ui.NextCalibrator:
		return w.nextCalibrator()
	case ui.Rerun, ui.Rebuild:
		w.work.before = nil
		w.ctl.Rerun()
		return w.begin(measuring(w.snap) + " again")
	case ui.Cancel:
		return w.cancel()
	case ui.Undo:
		return w.step(w.config.undo, "nothing to undo")
	case ui.Redo:
		return w.step(w.config.redo, "nothing to redo")
	case ui.Record:
		return w.record()
	case ui.SaveConfig:
		return w.saveConfig()
	case reload:
		return tea.Sequence(say(ui.Plain, "opening the model anew"), w.o.Reload(w.config.want)) // what came of it is said last
	case stateBefore:
		return w.scrub(-1)
	case stateAfter:
		return w.scrub(1)
	case statesBefore:
		return w.scrub(-statesAtATime)
	case statesAfter:
		return w.scrub(statesAtATime)
	}
	return nil
}

// available returns what decides which keys do something.
func (w *workbench) available() available {
	return available{
		snap: w.snap, want: w.config.want, timeline: w.o.Timeline, front: w.o.Live != nil, recordable: w.o.Recorder != nil,
		undo: len(w.config.past) > 0, redo: len(w.config.future) > 0,
	}
}

// Lacks says what the state at hand lacks of what a key needs; "" where the key works.
func (w *workbench) Lacks(n need) string { return w.available().lacks(n) }

// lacksFor is Lacks for the keys of the whole program.
func (w *workbench) lacksFor(i ui.Intent) string {
	if n, ok := intentNeeds(i); ok {
		return w.Lacks(n)
	}
	return ""
}

// cancel stops what is being done, or leaves a replay for the live session behind it. Tactics that were being timed again
// are left for the engine as it was.
func (w *workbench) cancel() tea.Cmd {
	if w.o.Live != nil {
		return w.o.Live.Return
	}
	if w.snap.Retiming != "" {
		return w.endRetiming()
	}
	w.ctl.Cancel()
	w.work.asked = false
	what := "press r to start it again"
	if len(w.config.past) > 0 && !w.snap.Settled() {
		what += ", u to undo the last change"
	}
	return say(ui.Warn, "stopped: "+what)
}

// Retime has the tactics of a layer timed again, or ends that.
func (w *workbench) Retime(layer string) tea.Cmd {
	if w.snap.Retiming != "" {
		return w.endRetiming()
	}
	w.work.before = w.settled
	w.ctl.Retime(layer)
	return w.begin("timing the tactics of " + shortName(layer) + " again; esc or t stops")
}

// endRetiming ends the timing of a layer's tactics.
func (w *workbench) endRetiming() tea.Cmd {
	layer := w.snap.Retiming
	w.ctl.Rerun()
	return w.begin("re-timing of " + shortName(layer) + " is cancelled")
}

// DropTimings has the timing cache forget what it has of other devices and builds, or all that it has.
func (w *workbench) DropTimings(all bool) tea.Cmd {
	w.work.before = nil
	w.ctl.DropTimings(all)
	return w.begin("dropping entries of the timing cache")
}

// header returns what the top lines show now.
func (w *workbench) header() ui.Header {
	return header(w.snap, w.config.want, w.work.job(w.snap, w.o.Now), midBuild(w.snap, w.o.Timeline))
}

// event looks at a snapshot as it arrives, even while the panes are frozen.
func (w *workbench) event(e any, h *ui.Header) tea.Cmd {
	snap, ok := e.(*report.Snapshot)
	if !ok {
		return nil
	}
	recorded, changed := w.snap.Recording, w.changedOnDisk(w.snap, snap)
	w.snap = snap
	if snap.Replay != "" {
		w.config.want = snap.Config
	}
	*h = w.header()
	if w.o.Timeline == nil {
		w.tried.add(snap)
	}
	cmds := []tea.Cmd{changed}
	if snap.Recording != recorded {
		cmds = append(cmds, listRecordings(w.o.Recordings))
	}
	if w.scrubTo > 0 {
		cmds = append(cmds, w.scrubbed())
	}
	return tea.Batch(append(cmds, w.follow(snap)...)...)
}

// say answers a key.
func say(s ui.Style, text string) tea.Cmd {
	line, _, _ := strings.Cut(text, "\n") // the log has the others
	return func() tea.Msg { return ui.StatusMsg{Text: line, Style: s} }
}

// news says what has come about, or shorter what follows.
func news(s ui.Style, text string, shorter ...string) tea.Cmd {
	line, _, _ := strings.Cut(text, "\n")
	return func() tea.Msg { return ui.StatusMsg{Text: line, Shorter: shorter, Style: s, News: true} }
}

func box(b ui.Box) *ui.Box { return &b }
