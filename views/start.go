package views

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/accuracy"
	"github.com/trtui/trtui/views/calibration"
	"github.com/trtui/trtui/views/comparison"
	"github.com/trtui/trtui/views/graph"
	"github.com/trtui/trtui/views/log"
	"github.com/trtui/trtui/views/memory"
	"github.com/trtui/trtui/views/overview"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/recordings"
	"github.com/trtui/trtui/views/runtime"
	"github.com/trtui/trtui/views/tactics"
	"github.com/trtui/trtui/views/timings"
	"github.com/trtui/trtui/views/trials"
)

// NewWorkbench returns the workbench for a controller: the only tea.Model of the program.
func NewWorkbench(ctl Controller, o Options) (*ui.App, error) {
	w, err := newWorkbench(ctl, o)
	if err != nil {
		return nil, err
	}
	return w.app, nil
}

func newWorkbench(ctl Controller, o Options) (*workbench, error) {
	if o.Look == nil {
		o.Look = ui.NewLook(ui.Options{})
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	}
	w := &workbench{o: o, ctl: ctl, snap: ctl.Snapshot(), tour: tour{seen: o.TourSeen}}
	if len(o.Compared) > 2 {
		w.several = comparison.NewSeveral(o.Compared)
	}
	w.config.want, w.comparison.ReadFile, w.comparison.CompleteFile = w.snap.Config, o.ReadFile, o.CompleteFile
	app, err := ui.New(ui.Config{
		Look: o.Look, Screens: w.screens(), Intents: w.intents(), Others: slices.Concat(reloadKeys(), requantiseKeys(), scrubKeys()), Keys: o.Keys,
		OnIntent: w.intent, Lacks: w.lacksFor, Suggest: suggested, OnEvent: w.event, Header: w.header(), Now: o.Now, After: o.After, Pace: o.Pace,
		Entries: paletteEntries(w), Synonyms: synonyms,
		OnScreen: func(digit string) {
			if part, ok := askedFor[digit]; ok && w.Lacks(pane.NeedsModel) == "" {
				ctl.Ask(part)
			}
		},
		OnUpdate: func(msg tea.Msg) tea.Cmd {
			if w.app != nil {
				w.cursor.update(w.app, w.snap, msg)
			}
			if p, ok := msg.(pictureMsg); ok {
				return savePicture(w.app, p.form, o.SavePicture)
			}
			return nil
		},
		Start: func() tea.Cmd {
			_, show := w.app.Update(ctl.Snapshot()) // so that the first frame has it
			return tea.Batch(
				w.tour.open(),
				show,
				beginComparing(w),
				ui.Listen(ctl.Events()),
				recordings.List(o.Recordings),
			)
		},
	})
	w.app = app
	return w, err
}

// paletteEntries are what the palette of a workbench has besides keys and screens.
func paletteEntries(w *workbench) []ui.Entry {
	list := append(settings(w), entries(w.o.Subcommands, func() *report.Snapshot { return w.snap }, w.o.Look.Keys)...)
	if w.o.SavePicture != nil {
		list = append(pictureEntries(), list...)
	}
	return list
}

// KeyContexts lists the keys of the workbench of a controller, as a file of keys makes them; with nil the usual ones.
func KeyContexts(ctl Controller, keys *ui.Keymap) ([]ui.KeyContext, error) {
	app, err := NewWorkbench(ctl, Options{
		Keys: keys, Open: func(string) tea.Cmd { return nil },
		ReadFile:    func(string) (*report.Snapshot, error) { return nil, nil },
		SaveConfig:  func(config.Config) (string, error) { return "", nil },
		SavePicture: func(string, []byte) (string, error) { return "", nil },
	})
	if err != nil {
		return nil, err
	}
	return app.KeyContexts(), nil
}

// screens returns the screens with their layouts: side by side where the terminal is wide, fewer and denser panes where it
// is not. Panes that a layout leaves out are reached with tab. Each gets what it needs and no more.
func (w *workbench) screens() []*ui.Screen {
	look, tried := w.o.Look, &w.tried
	if w.o.Timeline != nil {
		w.tried = *trials.Recorded(w.o.Timeline.Tried(), pane.OwnRanges(w.snap))
	}
	read := trials.ReaderOf(w.o.Timeline, w.o.Read, func() *report.Snapshot { return w.snap })
	more := sideBySide(w)
	if more != nil {
		w.comparison.InTurns = func(a, b *report.Snapshot) tea.Cmd { return more([]config.Config{a.Config, b.Config}, 0) }
	}
	list := []*ui.Screen{
		overview.Screen(look, w, tried, read, w.comparison.Marked, more),
		graph.Screen(look, w, ablating(w)),
		timings.Screen(look, w, tried.BesideOthers, besides(w), recordedBesides(w, read), w.o.hint),
		memory.Screen(look),
		calibration.Screen(look, w, w.o.Timeline != nil),
		accuracy.Screen(look, w, studying(w), w.o.hint),
		tactics.Screen(look, w, w.o.Now),
		runtime.Screen(look, w, splitting(w)),
		recordings.Screen(look, w.o.Timeline, recordings.Shelf{Folder: w.o.Recordings, Live: w.o.Live, Open: w.o.Open, Read: w.o.Read, Marked: w.comparison.Marked, Recordable: w.o.Recorder != nil, After: w.o.After}),
		trials.Screen(look, w, tried, read, w.comparison.Marked, more),
		comparison.Screen(look, &w.comparison),
	}
	if w.several != nil {
		list = append(list, comparison.MatrixScreen(look, w.several, w.comparison.Marked))
	}
	return append(list, log.Screen(look, w.o.hint))
}

// beginComparing compares what a workbench was opened for, once.
func beginComparing(w *workbench) tea.Cmd {
	if w.several != nil {
		return w.several.Begin()
	}
	return w.comparison.Begin(w.o.Compared, w.snap)
}

// intents returns the keys of the whole program that the workbench serves.
func (w *workbench) intents() []ui.IntentKey {
	serves := map[ui.Intent]bool{
		ui.NextPrecision: true, ui.NextCalibrator: true, ui.Rerun: true, ui.Rebuild: true, ui.Undo: true, ui.Redo: true,
		ui.Record: true, ui.SaveConfig: w.o.SaveConfig != nil, ui.SavePicture: w.o.SavePicture != nil, ui.CopyRow: true, ui.CopyPane: true, ui.GoTo: true, ui.Return: true, ui.MarkA: true, ui.MarkB: true, ui.Compare: true,
	}
	var list []ui.IntentKey
	if w.o.Live != nil { // first, since it is the way out
		list = append(list, ui.IntentKey{Intent: ui.Cancel, Key: ui.K("esc", "live", "back to the live session, as it was left")})
	}
	list = append(list, slices.DeleteFunc(ui.Intents(), func(k ui.IntentKey) bool { return !serves[k.Intent] })...)
	if w.o.Reload != nil {
		list = append(list, reloadKeys()...)
	}
	if w.o.Requantise != nil {
		list = append(list, requantiseKeys()...)
	}
	if w.o.Timeline != nil {
		list = append(list, scrubKeys()...)
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
		if len(w.config.past) == 0 && w.o.Back != nil {
			return tea.Sequence(pane.Say(ui.Plain, "opening the model as it was before"), w.o.Back(w.config.want))
		}
		return w.step(w.config.undo, "nothing to undo")
	case ui.Redo:
		return w.step(w.config.redo, "nothing to redo")
	case ui.Record:
		return w.record()
	case ui.SaveConfig:
		return w.saveConfig()
	case ui.SavePicture:
		return savePicture(w.app, ui.PictureForms()[0], w.o.SavePicture)
	case ui.CopyRow:
		return copyRow(w.app)
	case ui.CopyPane:
		return copyPane(w.app)
	case ui.GoTo:
		return w.cursor.choose(w.app, w.snap)
	case ui.Return:
		return w.cursor.back()
	case ui.MarkA:
		return w.comparison.Mark(0, w.app.Focused(), w.tried.Reports(w.snap))
	case ui.MarkB:
		return w.comparison.Mark(1, w.app.Focused(), w.tried.Reports(w.snap))
	case ui.Compare:
		return w.comparison.Compare(w.tried.Reports(w.snap))
	case reload:
		return tea.Sequence(pane.Say(ui.Plain, "opening the model anew"), w.o.Reload(w.config.want)) // what came of it is said last
	case requantise:
		what := "dropping the quantisation that the model brings"
		if w.snap.Model.Requantized {
			what = "leaving the quantisation that the model brings"
		}
		return tea.Sequence(pane.Say(ui.Plain, what), w.o.Requantise(w.config.want))
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

// event looks at a snapshot as it arrives, even while the panes are frozen.
func (w *workbench) event(e any, h *ui.Header) tea.Cmd {
	snap, ok := e.(*report.Snapshot)
	if !ok {
		return nil
	}
	before := w.snap
	recorded, changed, ended := before.Recording, w.changedOnDisk(w.snap, snap), w.unrecorded.follow(w.snap, snap)
	w.snap = snap
	if snap.Replay != "" {
		w.config.want = snap.Config
	}
	*h = w.header()
	switch {
	case w.o.Timeline == nil:
		w.tried.Add(snap)
	case snap.At != nil && before.At != nil && snap.At.States != before.At.States: // it is being written
		w.tried = *trials.Recorded(w.o.Timeline.Tried(), pane.OwnRanges(snap))
	}
	cmds := []tea.Cmd{changed, ended, w.comparison.Follow(snap)}
	if snap.Recording != recorded {
		cmds = append(cmds, recordings.List(w.o.Recordings))
	}
	if w.scrubTo > 0 {
		cmds = append(cmds, w.scrubbed())
	}
	return tea.Batch(append(cmds, w.follow(snap)...)...)
}

// askedFor are the reports that are asked for when a screen is shown, by its digit.
var askedFor = map[string]report.Part{calibration.Key: report.PartCalibration, accuracy.Key: report.PartAccuracy}

// suggested returns what is close at hand in a pane: what is under its cursor can be compared.
func suggested(v ui.View) []ui.Intent {
	if _, ok := v.(pane.Marker); ok {
		return []ui.Intent{ui.MarkA, ui.MarkB, ui.Compare}
	}
	return nil
}
