package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/overview"
	"github.com/trtui/trtui/views/pane"
)

// workbenchFlags are the flags of the command without a subcommand.
type workbenchFlags struct {
	modelFlags
	screenFlags
	tour      tourFlag
	recording string
	compared  []pane.Mark // A, B and so on; none: one is shown
}

// workbench makes root, called without a subcommand, open the workbench on a model: the embedded one, or the file that
// is named.
func workbench(root *cobra.Command, t tables) {
	f := &workbenchFlags{modelFlags: *onBackends(t)}
	f.usual, f.partly, f.data.speaks = true, true, true
	root.Use = "trtui [MODEL|ENGINE|RECORDING] [B...]"
	root.Long = "Explore, optimise and run neural networks in the terminal.\n\n" +
		"Without a command, trtui opens the workbench on a model, or on the built-in digit classifier. If there is\n" +
		"no terminal it prints the overview as text. Unless --precision is given, a model that brings its own\n" +
		"quantisation starts in int8, and an engine as it was built.\n\n" +
		"The files that trtexec writes of an engine (--exportLayerInfo, --exportProfile, --exportTimes) and a profile of\n" +
		"ONNX Runtime are shown, too, in any order. A recording is shown as by trtui replay.\n\n" +
		"Two that are not of one engine are compared: what trtui diff takes as A and B, a configuration behind @ too, is on\n" +
		"screen 9 as A and B, in front of the second. More of them are there side by side, as a matrix. What is not recorded\n" +
		"is measured first."
	root.Example = examples("the built-in digit classifier", "trtui",
		"a model on images, in the workbench", "trtui model.onnx --data images/ --size 224 --mean 0.485,0.456,0.406",
		"an INT8 engine, and its speed", "trtui build model.onnx --precision int8 --data images/ -o m.engine",
		"its layers one by one", "trtui bench m.engine --per-layer",
		"what trtexec wrote of an engine of TensorRT", "trtui layers.json profile.json times.json",
		"two recordings side by side, or more", "trtui monday.trtui tuesday.trtui",
		"what INT8 changes of each layer", "trtui model.onnx@fp32 model.onnx@int8 --data images/")
	root.Args = f.checkArgs
	f.register(root, takeAll)
	flags := root.Flags()
	names := append(f.registerScreen(flags), f.tour.registerTour(flags))
	flags.StringVar(&f.recording, "recordings", ".", "`FOLDER` of recordings")
	under(root, screenHeading, append(names, "recordings")...)
	flags.Bool("version", false, "print what trtui version prints")
	under(root, outputHeading, "version")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if asked(cmd, "version") {
			return writeVersion(cmd.OutOrStdout(), f.output.json())
		}
		f.commands = paletteOf(cmd.Root())
		return f.show(cmd, args)
	}
}

// check refuses what cannot have been meant before anything is opened.
func (f *workbenchFlags) checkArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && !strings.ContainsAny(args[0], `./\@`) {
		if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			return fmt.Errorf("%q is neither a command nor a file%s", args[0], config.DidYouMean(args[0], names))
		}
	}
	if len(args) > mostSides {
		return fmt.Errorf("the workbench opens one file, or up to %d beside each other, not %d", mostSides, len(args))
	}
	if err := f.checkScreen(); err != nil {
		return err
	}
	return f.modelFlags.check()
}

// begin returns the configuration of a model to begin with; a calibrator that was asked for is written as reports write it.
func (f *workbenchFlags) begin(m *model.Model, x operand) (config.Config, error) {
	cfg, err := f.configOf(m, x)
	if err != nil || m.Engine != nil && !f.config.changed("calibrator", "config") {
		return cfg, err
	}
	if err := m.CheckConfig(cfg); err != nil {
		return cfg, err
	}
	calibrator, err := f.own.calibrators().Parse(cfg.Calibrator, quant.Scheme{})
	if err != nil {
		return cfg, fmt.Errorf("--calibrator: %w", err)
	}
	cfg.Calibrator = calibrator.String()
	return cfg, nil
}

// show shows what is named.
func (f *workbenchFlags) show(cmd *cobra.Command, args []string) error {
	f.look.ASCII = asked(cmd, "ascii")
	if areCompared(args) {
		return f.compare(cmd, parseOperands(args))
	}
	if len(args) != 1 {
		return f.showFiles(cmd, args, operand{path: modelArg(args)})
	}
	x := parseOperand(args[0])
	return f.showFiles(cmd, x.files(), x)
}

// areCompared reports whether arguments are two or more to be compared: not files of one engine.
func areCompared(args []string) bool {
	if kind, err := kindOf(args); len(args) < 2 || err != nil || kind != viewedFiles {
		return len(args) >= 2
	}
	_, err := openViewed(args)
	return exchange.IsTwice(err)
}

// compare shows several beside each other, in front of the last of them; without a screen as trtui diff does.
func (f *workbenchFlags) compare(cmd *cobra.Command, operands []operand) error {
	flags := f.modelFlags
	flags.partly, flags.data.speaks = false, false // both are to be run
	d := diffFlags{modelFlags: &flags, duration: diffDuration}
	_, noScreen := f.look.Detect(os.Getenv, term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()))
	if noScreen != nil || f.output.json() {
		return d.diff(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), operands)
	}
	sides, err := d.sides(cmd.Context(), cmd.ErrOrStderr(), operands)
	if err != nil {
		return err
	}
	f.compared = marksOf(sides)
	last := operands[len(operands)-1]
	return named(f.showFiles(cmd, last.files(), last), last.path)
}

// marksOf are sides as the workbench compares them.
func marksOf(sides []diff.Side) []pane.Mark {
	marks := make([]pane.Mark, len(sides))
	for i, s := range sides {
		marks[i] = pane.Mark{Name: s.Name, Read: func() (*report.Snapshot, error) { return s.Snapshot, nil }, Rival: s.Rival}
	}
	return marks
}

// showFiles shows a recording, what another program wrote of an engine, or a model; x names it, and which of what it holds.
func (f *workbenchFlags) showFiles(cmd *cobra.Command, files []string, x operand) error {
	kind, err := kindOf(files)
	if err != nil {
		return err
	}
	if kind == recordedFile {
		replay := replayFlags{screenFlags: f.screenFlags, tour: f.tour, at: x.which, compared: f.compared}
		if f.output.json() {
			replay.format = "json"
		}
		return replay.replay(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), files[0])
	}
	if kind == viewedFiles {
		err := f.view(cmd, files)
		if len(files) > 1 || !exchange.IsUnknown(err) {
			return err
		}
	}
	ctx, stop := guardTerminal(cmd.Context())
	defer stop()
	p, err := f.openTold(x.path, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	cfg, err := f.begin(p.model, x)
	if err != nil {
		p.close()
		return err
	}
	look, noScreen := f.look.Detect(os.Getenv, term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()))
	if noScreen != nil && p.model.Refused != nil { // the overview is of times
		p.close()
		return p.model.Refused
	}
	if noScreen != nil {
		session := sessions.Open(p.model, p.work, cfg)
		defer closeSoon(func() {
			session.Close()
			p.close()
		})
		return f.printOverview(ctx, session, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	p.work.Peaks = f.device.peaks()
	if f.recording, err = filepath.Abs(f.recording); err != nil {
		p.close()
		return err
	}
	return orSignalled(ctx, f.screen(ctx, p, cfg, x.path, terminal{look: look, keys: f.keys, recordings: f.recording, configs: saver(x.path), own: f.own, tourSeen: f.tour.seen(), compared: f.compared}))
}

// screen shows sessions on a model, one after the other: the next where its file changed and a person asks for the new one. It
// closes the place.
func (f *workbenchFlags) screen(ctx context.Context, p *place, cfg config.Config, path string, t terminal) error {
	type opened struct {
		place   *place
		config  config.Config
		devices bool    // are others than before
		back    opening // undoes it; nil: nothing does
	}
	next := make(chan opened, 1)
	t.at = &ui.GotoMsg{}
	var one sync.Mutex
	if path != "" {
		open := func(cfg config.Config, otherwise bool, back opening) error { // quantised here, or as the model brings it
			one.Lock()
			defer one.Unlock()
			if len(next) > 0 {
				return nil
			}
			before := f.requantized
			f.requantized = before != otherwise
			anew, err := f.reopen(p, path)
			if err != nil {
				f.requantized = before
				return err
			}
			next <- opened{anew, cfg, false, back}
			return nil
		}
		t.reload = func(cfg config.Config) error { return open(cfg, false, nil) }
		back := func(cfg config.Config) error { return open(cfg, true, nil) }
		t.requantise = func(cfg config.Config) error { return open(cfg, true, back) }
	}
	t.threads = func(n int) opening {
		return func(cfg config.Config) error {
			one.Lock()
			defer one.Unlock()
			if len(next) > 0 {
				return nil
			}
			before := f.device.threads
			f.device.threads = n
			anew, err := f.reequip(p, path)
			if err != nil {
				f.device.threads = before
				return err
			}
			next <- opened{anew, cfg, true, nil}
			return nil
		}
	}
	began := cfg
	for {
		f.speak(p)
		if f.commands != nil {
			t.commands = f.commands(f.unflaggedOn(p.model, began))
		}
		session := sessions.Open(p.model, p.work, cfg)
		for _, note := range f.config.quantization.notes() {
			session.Note(note)
		}
		if p.crowded != "" {
			session.Note(p.crowded)
		}
		keepCompared(session, p.model, cfg, t.compared)
		err := t.show(ctx, session, session)
		if err == nil && ctx.Err() == nil && len(next) > 0 {
			session.Close()
			t.tourSeen, t.compared = nil, nil
			one.Lock()
			o := <-next
			if o.devices {
				p.close()
			}
			p, cfg, t.back = o.place, o.config, o.back
			one.Unlock()
			continue
		}
		closeSoon(func() {
			session.Close()
			p.close()
		})
		return err
	}
}

// keepCompared has a session keep what it is compared with of the same model on the same device, so that recordings have it.
func keepCompared(session *sessions.Session, m *model.Model, cfg config.Config, compared []pane.Mark) {
	here := session.Snapshot().Device
	for _, mark := range compared {
		snap, err := mark.Read()
		if err != nil || snap.Replay != "" || snap.Viewed() != "" || snap.Model == nil || snap.Config.SameEngine(cfg, m.Quantized) {
			continue
		}
		if snap.Model.SHA256 == m.SHA256 && snap.Device.Fingerprint == here.Fingerprint && snap.Device.Threads == here.Threads {
			session.Keep(snap)
		}
	}
}

// saver saves configurations to the folder in which the program was started, named after the model.
func saver(model string) *config.Saver {
	folder, err := filepath.Abs(".")
	if err != nil {
		folder = "."
	}
	return config.NewSaver(folder, cmp.Or(model, "embedded"))
}

// closeSoon waits for release, but not for long: one inference of a large model cannot be interrupted, and the end of the
// program frees everything.
func closeSoon(release func()) {
	done := make(chan struct{})
	go func() {
		release()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(300 * time.Millisecond):
	}
}

// printOverview waits until every report is there and prints the overview.
func (f *workbenchFlags) printOverview(ctx context.Context, session *sessions.Session, out, errs io.Writer) error {
	report, stop := f.output.reporter(errs)
	snap, err := awaitSettled(ctx, session, report)
	stop()
	if err != nil {
		return err
	}
	if f.output.json() {
		return writeReport(out, snap.Head(), engineDocument(snap))
	}
	return writeStyled(out, overview.Text(snap, terminalWidth(out)))
}

// awaitSettled returns the first snapshot whose reports all fit its configuration; report, if not nil, is told what is being
// done until then.
func awaitSettled(ctx context.Context, session *sessions.Session, report func(report.Progress)) (*report.Snapshot, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case snap := <-session.Events():
			if snap.Err != "" {
				return nil, errors.New(snap.Err)
			}
			if snap.Settled() {
				return snap, nil
			}
			if snap.Busy != nil && report != nil {
				report(*snap.Busy)
			}
		}
	}
}
