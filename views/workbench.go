package views

import (
	"cmp"
	"fmt"
	"reflect"
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
	// Recordings is the folder of recordings: where new ones are written and screen 9 looks for them. Empty: none.
	Recordings string
	// Open opens a recording; nil where that cannot be done.
	Open func(path string) tea.Cmd
	// Live is the session in front of which a recording is shown; nil: there is none.
	Live *Live
	// Timeline is the controller of a replay, which has states to choose from; nil for a session.
	Timeline Timeline
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
	d := &desk{Options: o, ctl: ctl, snap: ctl.Snapshot()}
	d.want = d.snap.Config
	return ui.New(ui.Config{
		Look: o.Look, Screens: screens(d), Intents: d.intents(),
		OnIntent: d.intent, Lacks: d.lacksFor, OnEvent: d.event, Header: d.header(), Now: o.Now, After: o.After,
		OnScreen: func(digit string) {
			if digit == calibrationKey && d.lacks(needsModel) == "" {
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

// desk is what the workbench keeps besides its panes: which configuration is asked for, and how it came to that.
type desk struct {
	Options
	ctl Controller

	snap   *report.Snapshot // the newest, even while the panes are frozen
	want   config.Config    // asked for; snap.Config follows
	past   []config.Config
	future []config.Config

	settled *report.Snapshot // the newest whose reports all fit its configuration
	before  *report.Snapshot // what settled was when another configuration was asked for
	tried   []trial          // what came of each configuration so far
	asked   bool             // work that is not over yet was asked for
	told    bool             // what came of it is in the status line
	failed  string           // the error last reported

	saves saves

	scrubTo int // the state of a recording that was asked for and is not shown yet; 0: none

	jobStart time.Time // of the work that was asked for or is being done; zero: none
}

// intents returns the keys of the whole program that the workbench serves.
func (d *desk) intents() []ui.IntentKey {
	serves := map[ui.Intent]bool{
		ui.NextPrecision: true, ui.NextCalibrator: true, ui.Rerun: true, ui.Rebuild: true, ui.Undo: true, ui.Redo: true,
		ui.Record: true, ui.SaveConfig: d.SaveConfig != nil,
	}
	list := slices.DeleteFunc(ui.Intents(), func(k ui.IntentKey) bool { return !serves[k.Intent] })
	if d.Timeline != nil {
		list = append(list, scrubKeys()...)
	}
	if d.Live != nil {
		list = append(list, ui.IntentKey{Intent: ui.Cancel, Key: ui.K("esc", "live", "back to the live session, which is as it was left")})
	}
	return list
}

// intent fulfils a wish that is not one pane's.
func (d *desk) intent(i ui.Intent) tea.Cmd {
	switch i {
	case ui.NextPrecision:
		return d.nextPrecision()
	case ui.NextCalibrator:
		return d.nextCalibrator()
	case ui.Rerun, ui.Rebuild:
		d.before = nil
		d.ctl.Rerun()
		return d.begin(d.measuring() + " again")
	case ui.Cancel:
		return d.cancel()
	case ui.Undo:
		return d.step(&d.past, &d.future, "nothing to undo")
	case ui.Redo:
		return d.step(&d.future, &d.past, "nothing to redo")
	case ui.Record:
		return d.record()
	case ui.SaveConfig:
		return d.saveConfig()
	case stateBefore:
		return d.scrub(-1)
	case stateAfter:
		return d.scrub(1)
	case statesBefore:
		return d.scrub(-statesAtATime)
	case statesAfter:
		return d.scrub(statesAtATime)
	}
	return nil
}

// calibrators are what c cycles through, unless the report says which there are.
var calibrators = []string{"minmax", "entropy", "percentile:99.99", "mse"}

func (d *desk) nextPrecision() tea.Cmd {
	if d.Timeline == nil {
		return d.change(func(c *config.Config) { c.Precision = c.Precision.Next() })
	}
	var all []string
	for _, p := range precisions {
		all = append(all, string(p))
	}
	precision := func(c config.Config) string { return string(c.Precision) }
	return d.showRecorded(all, precision, func(config.Config) bool { return true })
}

// showRecorded shows the recorded configuration that is the next one by what of gives.
func (d *desk) showRecorded(all []string, of func(config.Config) string, among func(config.Config) bool) tea.Cmd {
	next, ok := d.nextRecorded(all, of, among)
	if !ok {
		return nil
	}
	return d.change(func(c *config.Config) { *c = next.Clone() })
}

func (d *desk) nextCalibrator() tea.Cmd {
	list := calibrators
	if r := d.snap.Calibration; r != nil && len(r.Calibrators) > 0 {
		list = r.Calibrators
	}
	if d.Timeline != nil {
		return d.showRecorded(list, func(c config.Config) string { return c.Calibrator }, d.otherCalibrator)
	}
	at := slices.Index(list, d.want.Calibrator)
	return d.change(func(c *config.Config) { c.Calibrator = list[(at+1)%len(list)] })
}

// working reports whether something is being done that can be stopped.
func (d *desk) working() bool { return d.snap.Busy != nil && d.snap.Replay == "" }

// cancel stops what is being done, or leaves a replay for the live session behind it. Tactics that were being timed again are left for the engine as it was.
func (d *desk) cancel() tea.Cmd {
	if d.Live != nil {
		return d.Live.Return
	}
	if d.snap.Retiming != "" {
		return d.endRetiming()
	}
	d.ctl.Cancel()
	d.asked = false
	what := "r starts it again"
	if len(d.past) > 0 && !d.snap.Settled() {
		what += ", u takes the last change back"
	}
	return say(ui.Warn, "stopped: "+what)
}

// endRetiming ends the timing of a layer's tactics.
func (d *desk) endRetiming() tea.Cmd {
	layer := d.snap.Retiming
	d.ctl.Rerun()
	return d.begin("re-timing of " + shortName(layer) + " is cancelled")
}

// measuring says what is done to get times: on a backend without a device they are a cost model's.
func (d *desk) measuring() string {
	if d.snap.Device.Estimated {
		return "estimating"
	}
	return "measuring"
}

// change asks for the configuration that edit makes of the present one.
func (d *desk) change(edit func(*config.Config)) tea.Cmd {
	cfg := d.want.Clone()
	edit(&cfg)
	if reflect.DeepEqual(cfg, d.want) {
		return nil
	}
	const depth = 200
	d.past = append(d.past[max(0, len(d.past)-depth):], d.want)
	d.future = nil
	return d.set(cfg)
}

// step goes back or forth in the history of configurations.
func (d *desk) step(from, to *[]config.Config, nothing string) tea.Cmd {
	n := len(*from)
	if n == 0 {
		return say(ui.Plain, nothing)
	}
	cfg := (*from)[n-1]
	*from = (*from)[:n-1]
	*to = append(*to, d.want)
	return d.set(cfg)
}

// set asks for a configuration. One that builds the same engine, which is there or being made, begins no work.
func (d *desk) set(cfg config.Config) tea.Cmd {
	was, own := d.want, ownRanges(d.snap)
	d.want = cfg
	d.ctl.Set(cfg)
	if d.snap.Replay == "" && d.snap.Err == "" && !d.snap.Stopped && cfg.SameEngine(was, own) {
		h := d.header()
		return tea.Batch(func() tea.Msg { return h }, say(ui.Warn, withoutSay(was, cfg)))
	}
	d.before = d.settled
	return d.begin(cfg.Label(own) + ": rebuilding; esc stops")
}

// withoutSay says why a change of the configuration changes no engine.
func withoutSay(was, cfg config.Config) string {
	switch {
	case was.Calibrator != cfg.Calibrator:
		return cfg.Calibrator + ": calibrators matter for INT8 only; press f to get there"
	case was.Constraints != cfg.Constraints:
		return string(cmp.Or(cfg.Constraints, config.Prefer)) + ": it matters where the precision of a layer is set; nothing is to be rebuilt"
	}
	return "the engine stays the same: nothing is to be rebuilt"
}

// begin says what work has been asked for; the line goes away when the work is over. A replay does none.
func (d *desk) begin(what string) tea.Cmd {
	d.asked, d.told, d.failed, d.jobStart = true, false, "", d.Now()
	h := d.header()
	header := func() tea.Msg { return h }
	if d.snap.Replay != "" {
		return header
	}
	return tea.Batch(header, func() tea.Msg { return ui.StatusMsg{Text: what, Job: true} })
}

// event looks at a snapshot as it arrives, even while the panes are frozen.
func (d *desk) event(e any, h *ui.Header) tea.Cmd {
	snap, ok := e.(*report.Snapshot)
	if !ok {
		return nil
	}
	recorded := d.snap.Recording
	d.snap = snap
	if snap.Replay != "" {
		d.want = snap.Config
	}
	*h = d.header()
	d.try(snap)
	var cmds []tea.Cmd
	if snap.Recording != recorded {
		cmds = append(cmds, listRecordings(d.Recordings))
	}
	if d.scrubTo > 0 {
		cmds = append(cmds, d.scrubbed())
	}
	if !reflect.DeepEqual(snap.Config, d.want) {
		return tea.Batch(cmds...)
	}
	if snap.Err != d.failed {
		if d.failed = snap.Err; snap.Err != "" {
			cmds = append(cmds, news(ui.Bad, snap.Err))
		}
	}
	settled := snap.Settled() && snap.Retiming == ""
	if settled {
		d.settled = snap
		cmds = append(cmds, d.tell())
	}
	if d.asked && snap.Busy == nil && (settled || snap.Refused() || snap.Err != "" && snap.Retiming == "") {
		d.asked, d.jobStart = false, time.Time{}
		cmds = append(cmds, func() tea.Msg { return ui.IdleMsg{} })
	}
	return tea.Batch(cmds...)
}

// tell states what the last change of the configuration made of latency and agreement, once and when the measurement is
// over: until then medians still move, and what is said would not be what the table of configurations comes to show. In a
// replay nothing moves.
func (d *desk) tell() tea.Cmd {
	now, was := d.settled, d.before
	if !d.asked || d.told || now.Timings.EndToEnd.Median == 0 || now.Busy != nil && now.Replay == "" {
		return nil
	}
	d.told = true
	if p := now.Passes; p != nil && p.Unchanged != "" && (was == nil || was.Config.Precision != now.Config.Precision) {
		return news(ui.Warn, p.Unchanged)
	}
	if was == nil || was.Timings == nil || was.Timings.EndToEnd.Median == 0 {
		return news(ui.Good, snapshotLabel(now)+": "+ui.Duration(now.Timings.EndToEnd.Median))
	}
	latency, measured := d.took(was, now)
	if sameKernels(was, now) {
		return news(ui.Good, fmt.Sprintf("%s: the same kernels as before; %s, before %s", snapshotLabel(now),
			d.medianOf(now.Config, now.Timings.EndToEnd), d.medianOf(was.Config, latency)))
	}
	speed := now.Timings.Measured(now.Config).Over(measured, ownRanges(now))
	lines := delta(was.Config, latency, now, speed, d.medianOf)
	return news(ui.Good, lines[0], lines[1:]...)
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
