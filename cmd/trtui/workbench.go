package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/testdata"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views"
)

// workbenchFlags are the flags of the command without a subcommand.
type workbenchFlags struct {
	precision, calibrator  string
	batch, threads         int
	backend                string
	look                   ui.Options
	timingCache, recording string
}

// workbench makes root, called without a subcommand, open the workbench on a model: the embedded one, or the file that
// is named.
func workbench(root *cobra.Command) {
	var f workbenchFlags
	root.Use = "trtui [MODEL]"
	root.Long = "Explore, optimise and run neural networks in the terminal.\n\n" +
		"Without a subcommand, trtui opens the workbench on MODEL (an ONNX file or an engine), or on the\n" +
		"digit classifier that it carries. Where there is no terminal it prints the overview as text."
	root.Args = f.check
	flags := root.Flags()
	flags.StringVar(&f.precision, "precision", "", "precision to begin with: fp32, fp16 or int8 (default fp32; int8 for a model that is quantised already)")
	flags.StringVar(&f.calibrator, "calibrator", "entropy", "calibrator to begin with: minmax, entropy, percentile[:P] or mse")
	flags.IntVar(&f.batch, "batch", 1, "items an inference, where the model leaves that open")
	flags.IntVar(&f.threads, "threads", 0, "threads of the CPU backend; 0: one for each processor")
	flags.StringVar(&f.backend, "backend", "cpu", "where to run: cpu")
	flags.BoolVar(&f.look.NoColor, "no-color", false, "no colours (also: NO_COLOR)")
	flags.BoolVar(&f.look.ASCII, "ascii", false, "ASCII only; the default where the locale is not UTF-8")
	flags.StringVar(&f.look.Theme, "theme", "", "dark or light; the default follows the terminal")
	flags.StringVar(&f.timingCache, "timing-cache", "", "file that keeps the times of tactics; \"none\" for none (default in the user's cache folder)")
	flags.StringVar(&f.recording, "recordings", ".", "folder of recordings")
	root.RunE = func(cmd *cobra.Command, args []string) error { return f.open(cmd, args) }
}

// check refuses what cannot have been meant before anything is opened.
func (f *workbenchFlags) check(cmd *cobra.Command, args []string) error {
	if err := cobra.MaximumNArgs(1)(cmd, args); err != nil {
		return err
	}
	if len(args) == 1 && !strings.ContainsAny(args[0], `./\`) {
		if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
			text := fmt.Sprintf("%q is neither a command nor a file", args[0])
			if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
				text += "; did you mean " + strings.Join(similar, " or ") + "?"
			}
			return errors.New(text)
		}
	}
	_, err := f.config()
	return err
}

// open opens the model and shows it.
func (f *workbenchFlags) open(cmd *cobra.Command, args []string) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	model, place, err := f.workplace(args)
	if err != nil {
		return err
	}
	defer model.Close()
	if cfg.Precision == "" {
		cfg.Precision = sessions.FP32
		if model.Quantized {
			cfg.Precision = sessions.INT8
		}
	}
	defer place.Backend.Close()
	session := sessions.Open(model, place, cfg)
	defer session.Close()
	look, err := f.look.Detect(os.Getenv, term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()))
	if err != nil {
		return printOverview(cmd.Context(), session, cmd.OutOrStdout())
	}
	if f.recording, err = filepath.Abs(f.recording); err != nil {
		return err
	}
	return terminal{look, f.recording}.show(cmd.Context(), session, session)
}

func (f *workbenchFlags) config() (sessions.Config, error) {
	cfg := sessions.Config{Precision: sessions.Precision(strings.ToLower(f.precision)), Calibrator: f.calibrator, Batch: f.batch}
	switch {
	case cfg.Precision != "" && cfg.Precision != sessions.FP32 && cfg.Precision != sessions.FP16 && cfg.Precision != sessions.INT8:
		return cfg, fmt.Errorf("--precision %s: use fp32, fp16 or int8", f.precision)
	case f.batch < 1:
		return cfg, fmt.Errorf("--batch %d: must be at least 1", f.batch)
	case f.backend != "cpu":
		return cfg, fmt.Errorf("--backend %s: use cpu", f.backend)
	case f.look.Theme != "" && f.look.Theme != "dark" && f.look.Theme != "light":
		return cfg, fmt.Errorf("--theme %s: use dark or light", f.look.Theme)
	}
	if f.calibrator == "percentile" {
		cfg.Calibrator = "percentile:99.99"
	}
	if _, err := quant.ParseCalibrator(cfg.Calibrator, quant.Scheme{}); err != nil {
		return cfg, fmt.Errorf("--calibrator: %w", err)
	}
	return cfg, nil
}

// randomItems is how many inputs are made up for a model that comes without data.
const randomItems = 32

// workplace opens the model and what a session needs besides it.
func (f *workbenchFlags) workplace(args []string) (*sessions.Model, sessions.Workplace, error) {
	var w sessions.Workplace
	cache, path, err := openTimingCache(f.timingCache)
	if err != nil {
		return nil, w, err
	}
	w.Cache, w.SaveTo = cache, path
	var model *sessions.Model
	if len(args) == 0 {
		model, err = sessions.ParseModel(graph.Ops(), "embedded", testdata.Model())
		w.Data = digits{testdata.TestImages(), "1,000 embedded digits"}
		w.CalData = digits{testdata.CalibrationImages(), "300 embedded digits"}
	} else {
		if model, err = sessions.OpenModel(graph.Ops(), args[0]); err == nil {
			w.Data, err = sessions.RandomData(model.Network, randomItems, 1)
			w.CalData = w.Data
		}
	}
	if err != nil {
		return nil, w, err
	}
	w.Backend = cpu.Open(f.threads)
	return model, w, nil
}

// openTimingCache opens the cache file that a flag names; by default it lies in the user's cache folder.
func openTimingCache(flag string) (*build.TimingCache, string, error) {
	switch flag {
	case "none":
		return build.NewTimingCache(), "", nil
	case "":
		dir, err := os.UserCacheDir()
		if err != nil { // no home folder: measure anew each time
			return build.NewTimingCache(), "", nil
		}
		flag = filepath.Join(dir, "trtui", "timing.cache")
	}
	if err := os.MkdirAll(filepath.Dir(flag), 0o755); err != nil {
		return nil, "", fmt.Errorf("timing cache: %w", err)
	}
	cache, err := build.OpenTimingCache(flag)
	return cache, flag, err
}

// printOverview waits until every report is there and prints the overview.
func printOverview(ctx context.Context, session *sessions.Session, out io.Writer) error {
	snap, err := awaitSettled(ctx, session)
	if err != nil {
		return err
	}
	_, err = lipgloss.Fprintln(out, views.OverviewText(snap, 100))
	return err
}

// awaitSettled returns the first snapshot whose reports all fit its configuration.
func awaitSettled(ctx context.Context, session *sessions.Session) (*sessions.Snapshot, error) {
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
		}
	}
}
