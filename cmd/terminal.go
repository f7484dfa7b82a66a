package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/recordings"
)

// terminal is where the workbench is shown.
type terminal struct {
	look       ui.Options
	keys       *ui.Keymap
	commands   []views.Subcommand // that the palette finds
	recordings string             // folder
	configs    *config.Saver
	own        Own                        // calibrators that settings may name
	reload     opening                    // gets the model as it is now ready, to be shown when this is over; nil: it cannot
	threads    func(n int) opening        // the same, with so many threads
	requantise opening                    // the same, with the other answer to whether its own quantisation is dropped
	back       opening                    // undoes what the model was opened anew for, in the configuration before; nil: nothing
	program    func() []tea.ProgramOption // of each program; nil: a person's terminal
	remote     *remote                    // the terminal at the other end of a connection; nil: it is here
	tourSeen   func() error               // notes that the tour was seen; nil: none is shown
	at         *ui.GotoMsg                // which screen and pane it begins with, and was left at; nil: the first
	compared   []pane.Mark                // what is compared at the start; nil: nothing
	readOnly   bool                       // nothing can be changed, and no files written
}

// show shows the workbench on a session or a replay until a person quits it. A recording that is opened meanwhile is
// shown in front of it; leaving that leads back to where it was. rec is nil where nothing can be recorded; what it records
// ends here.
func (t terminal) show(ctx context.Context, ctl views.Controller, rec views.Recorder) (err error) {
	if rec != nil {
		defer func() {
			if ctl.Snapshot().Recording != "" {
				err = errors.Join(err, rec.StopRecording())
			}
		}()
	}
	o := views.Options{Recorder: rec, ReadOnly: t.readOnly, TourSeen: t.tourSeen, Compared: t.compared}
	if t.configs != nil {
		o.SaveConfig = t.configs.Save
	}
	if t.reload != nil {
		o.Reload = t.reload.command
	}
	if t.threads != nil {
		o.Threads = func(n int, cfg config.Config) tea.Cmd { return t.threads(n).command(cfg) }
	}
	if t.requantise != nil {
		o.Requantise = t.requantise.command
	}
	if t.back != nil {
		o.Back = t.back.command
	}
	home, err := t.window(ctl, o)
	if err != nil {
		return err
	}
	if t.at != nil {
		if t.at.Screen != "" {
			home.app.Update(*t.at)
		}
		defer func() { *t.at = home.app.Place() }()
	}
	var live *recordings.Live
	if rec != nil {
		live = &recordings.Live{Snapshot: ctl.Snapshot, Return: tea.Quit}
	}
	for {
		opened, err := home.run(ctx)
		if opened == nil {
			return quit(ctx, err)
		}
		for opened != nil && err == nil {
			opened, err = t.replay(ctx, opened, live)
		}
		if err != nil {
			return quit(ctx, err)
		}
	}
}

// errSignalled is the error of a workbench that a signal ended.
var errSignalled = errors.New("stopped")

// orSignalled returns the error of a workbench, which is errSignalled where its context, that of guardTerminal, has ended.
func orSignalled(ctx context.Context, err error) error {
	if err == nil && ctx.Err() != nil {
		return errSignalled
	}
	return err
}

// quit returns the error with which a program ended, nil where a person or its context ended it.
func quit(ctx context.Context, err error) error {
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return err
}

// replay shows a recording until it is left, and closes it; live is the session that it is shown in front of, if any. It
// returns the recording that was opened in its place.
func (t terminal) replay(ctx context.Context, r *recording.Replay, live *recordings.Live) (*recording.Replay, error) {
	// configurations are saved beside the recording that they are in
	w, err := t.window(r, views.Options{Live: live, SaveConfig: replayConfigs(r).Save})
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	next, err := w.run(ctx)
	if closing := r.Close(); err == nil {
		err = closing
	}
	return next, err
}

// replayConfigs saves configurations beside the recording that they are in.
func replayConfigs(r *recording.Replay) *config.Saver {
	return config.NewSaver(filepath.Dir(r.Path()), r.Path())
}

// opening gets a model ready to be shown in a configuration when the program on another is over.
type opening func(config.Config) error

// command ends the program for the model to be shown, where it can be opened.
func (open opening) command(cfg config.Config) tea.Cmd {
	return func() tea.Msg {
		if err := open(cfg); err != nil {
			return ui.StatusMsg{Text: err.Error(), Style: ui.Bad}
		}
		return tea.Quit()
	}
}

// window is the workbench on one session or replay. It keeps what it shows while another one is in front of it.
type window struct {
	app     *ui.App
	events  *relay
	next    chan *recording.Replay
	program func() []tea.ProgramOption
	remote  *remote
}

// window makes the workbench for a controller; o says what it can do besides.
func (t terminal) window(ctl views.Controller, o views.Options) (*window, error) {
	w := &window{events: &relay{Controller: ctl}, next: make(chan *recording.Replay, 1), program: t.program, remote: t.remote}
	o.Set = func(c config.Config, name, value string) (config.Config, error) {
		return config.Set(c, name, value, t.own.Calibrators...)
	}
	o.Keys, o.Subcommands, o.Pace = t.keys, t.commands, time.Second/60 // as Bubble Tea writes pictures
	o.Look, o.Open, o.Read, o.Hint, o.SavePicture = ui.NewLook(t.look), w.open, readState, hintOnFact, savePicture
	if t.readOnly {
		o.SavePicture = nil
	}
	if t.remote == nil && !t.readOnly { // whoever is at the other end of a connection sees no other files of this machine
		o.ReadFile, o.CompleteFile = readFile, completeCompared
	}
	if t.recordings != "" {
		o.Recordings = recording.Folder(t.recordings)
	}
	o.Timeline, _ = ctl.(recordings.Timeline) // nil for a session
	var err error
	w.app, err = views.NewWorkbench(w.events, o)
	return w, err
}

// open opens a recording and ends the program, for the recording to be shown.
func (w *window) open(path string) tea.Cmd {
	return func() tea.Msg {
		r, err := recording.Open(path)
		if err != nil {
			return ui.StatusMsg{Text: err.Error(), Style: ui.Bad}
		}
		select {
		case w.next <- r:
			return tea.Quit()
		default: // another one is being opened
			r.Close()
			return nil
		}
	}
}

// readState reads a state of a recording, or its last that is complete where that is "".
func readState(path, state string) (*report.Snapshot, error) {
	return operand{path: path, which: state}.recorded()
}

// readFile reads a file that a person names to be compared, as trtui diff does, but builds nothing.
func readFile(name string) (*report.Snapshot, error) {
	x := parseOperand(name)
	snap, err := x.read()
	if err != nil || snap != nil {
		return snap, err
	}
	if _, err := os.Stat(x.path); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s is neither a recording nor a file of trtexec or of ONNX Runtime; trtui diff measures models and engines", name)
}

// completeCompared returns the folders and files that a name for readFile may go on to: of several files with commas between
// them, the last. ~/ stands for the home folder.
func completeCompared(text string) []string {
	before := text[:strings.LastIndexByte(text, ',')+1]
	path := text[len(before):]
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(path, "~/") {
		path = home + path[1:]
	}
	found := completePath(path, "trtui", "json")
	for i := range found {
		found[i] = before + found[i]
	}
	return found
}

// run shows the window until it is left; it returns the recording that is to be shown next, if there is one.
func (w *window) run(ctx context.Context) (*recording.Replay, error) {
	w.events.start()
	defer w.events.stop()
	options := []tea.ProgramOption{tea.WithContext(ctx)}
	if w.program != nil {
		options = append(options, w.program()...)
	}
	err := w.runProgram(append(options, tea.WithoutSignalHandler()))
	select {
	case r := <-w.next:
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	default:
		return nil, err
	}
}

// runProgram runs a program on the terminal here, under a shell, or on that at the other end of a connection.
func (w *window) runProgram(options []tea.ProgramOption) error {
	if r := w.remote; r != nil {
		over := make(chan struct{})
		defer close(over)
		program := tea.NewProgram(w.app, append(options, tea.WithFilter(r.filter))...)
		go r.follow(program, over)
		_, err := program.Run()
		return err
	}
	over := make(chan struct{})
	defer close(over)
	if w.program == nil {
		if k := watchKeyboard(over); k != nil {
			options = append(options, tea.WithInput(k))
		}
	}
	jobs := newJobs()
	defer jobs.end()
	program := tea.NewProgram(w.app, append(options, tea.WithFilter(jobs.filter))...)
	go jobs.forward(program)
	_, err := program.Run()
	return err
}

// relay passes a controller's events on to one program at a time: what still listens when that has ended takes none from
// the next, which begins with the newest.
type relay struct {
	views.Controller
	events chan *report.Snapshot
	quit   chan struct{}
	done   chan struct{}
}

// start begins to pass events on to a new program.
func (r *relay) start() {
	r.events, r.quit, r.done = make(chan *report.Snapshot, 1), make(chan struct{}), make(chan struct{})
	r.events <- r.Controller.Snapshot()
	go r.forward()
}

func (r *relay) Events() <-chan *report.Snapshot { return r.events }

// forward keeps the newest event for a program that is slow.
func (r *relay) forward() {
	defer close(r.done)
	for {
		select {
		case <-r.quit:
			return
		case s := <-r.Controller.Events():
			select {
			case <-r.events:
			default:
			}
			r.events <- s
		}
	}
}

func (r *relay) stop() {
	close(r.quit)
	<-r.done
	close(r.events) // for what still listens
}
