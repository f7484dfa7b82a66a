package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/overview"
	"github.com/trtui/trtui/views/pane"
)

// replayFlags say which recorded state to show, and how.
type replayFlags struct {
	screenFlags
	tour     tourFlag
	at       string
	format   string
	compared []pane.Mark // what is compared at the start; nil: nothing
}

func replayCommand(tables) *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:        "replay FILE[@STATE]",
		SuggestFor: []string{"recording"},
		Short:      "Show a recording in the workbench, without its model or device; as text if there is no terminal",
		Example: examples("in the workbench, from its end", "trtui replay session.trtui",
			"one of its configurations", "trtui replay session.trtui@int8/mse",
			"the state after 14 seconds, as text", "trtui replay session.trtui --at 00:14 --format text"),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.look.ASCII = asked(c, "ascii")
			f.commands = paletteOf(c.Root())
			return f.replay(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args[0])
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.at, "at", "", "the recorded `STATE` to show: its number, from 1, a time after the start, as 00:14 or 14s, or a configuration, as int8/mse; default: the last")
	flags.StringVar(&f.format, "format", "", "text or json: print the state instead of opening the workbench")
	under(c, screenHeading, append(f.registerScreen(flags), f.tour.registerTour(flags))...)
	under(c, outputHeading, "at", "format")
	return c
}

func (f *replayFlags) replay(ctx context.Context, stdout, stderr io.Writer, path string) error {
	if f.format != "" {
		if err := checkFormat(f.format); err != nil {
			return err
		}
	}
	if err := f.checkScreen(); err != nil {
		return err
	}
	x, err := parseOperand(path).at(f.at)
	if err != nil {
		return err
	}
	r, err := recording.Open(x.path)
	if err != nil {
		return err
	}
	defer r.Close()
	state := len(r.Steps()) - 1
	if x.which != "" {
		if state, err = r.Find(x.which); err != nil {
			return err
		}
	}
	snap, err := r.At(state)
	if err != nil {
		return err
	}
	if after, err := report.ParseClock(x.which); err == nil && snap.At.After > after {
		warner(stderr)(fmt.Sprintf("nothing was recorded by %s: this is the first state, %s after the start", x.which, report.Clock(snap.At.After)))
	}
	if f.format == "" {
		look, err := f.look.Detect(os.Getenv, term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()))
		if err == nil {
			r.Seek(state)
			ctx, stop := guardTerminal(ctx)
			defer stop()
			return orSignalled(ctx, terminal{look: look, keys: f.keys, commands: f.commands(unflagged{}), recordings: filepath.Dir(r.Path()), configs: replayConfigs(r), tourSeen: f.tour.seen(), compared: f.compared}.show(ctx, r, nil))
		}
	}
	if f.format == "json" {
		return writeReport(stdout, snap.Head(), snap)
	}
	return writeReplay(stdout, r, snap)
}

// writeReplay prints what was recorded and the overview of one state.
func writeReplay(w io.Writer, r *recording.Replay, snap *report.Snapshot) error {
	rep, err := r.Report()
	if err != nil {
		return err
	}
	writeRecording(w, rep)
	fmt.Fprintf(w, "\n%s\n", snap.At)
	if snap.Settled() && snap.Overview != nil && snap.Passes != nil {
		return writeStyled(w, overview.Text(snap, terminalWidth(w)))
	}
	fmt.Fprintf(w, "%s: this state is not complete", snap.Config.Precision)
	if snap.Busy != nil {
		fmt.Fprintf(w, "; it was recorded while %s %s", snap.Busy.Phase, snap.Busy.Item)
	}
	if snap.Err != "" {
		fmt.Fprintf(w, ": %s", snap.Err)
	}
	fmt.Fprintln(w)
	for i, l := range snap.Log {
		if i >= len(snap.Log)-10 {
			fmt.Fprintf(w, "%s %s: %s\n", l.Time.Format("15:04:05.000"), l.Level, l.Text)
		}
	}
	return nil
}
