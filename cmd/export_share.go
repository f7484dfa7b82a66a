package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// shareFlags are the flags of the subcommands of trtui export.
type shareFlags struct {
	*modelFlags
	format exchange.Format
	output string
	at     string // of a recording
}

// shareCommand writes what is known of an engine in one of the forms that others read.
func shareCommand(t tables, format exchange.Format) *cobra.Command {
	o := &shareFlags{modelFlags: onBackends(t), format: format}
	kind, target := "FILE", "m"+format.Extension
	if format.Extension == "" {
		kind, target = "FOLDER", "folder/"
	}
	c := &cobra.Command{
		Use:   fmt.Sprintf("%s [MODEL|ENGINE|RECORDING|LAYERS.json...] -o %s", format.Name, kind),
		Short: "Write " + format.Doc,
		Long:  "Write " + format.Doc + ".\n\nA model or an engine is measured first. Of a recording it is the last state, or that of --at or behind @, and of the files of trtexec\nwhat they tell.",
		Example: examples("of a model in INT8", "trtui export "+format.Name+" model.onnx --precision int8 -o "+target,
			"of a configuration of a recording", "trtui export "+format.Name+" session.trtui@fp32 -o "+target),
		Args: cobra.MaximumNArgs(maxViewed),
		RunE: func(c *cobra.Command, args []string) error {
			if o.output == "" {
				return usageError{fmt.Errorf("-o %s is missing", kind)}
			}
			if err := o.checkFolder(); err != nil {
				return err
			}
			if err := viewedTogether(args); err != nil {
				return err
			}
			return o.share(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args)
		},
	}
	o.register(c, takeAll)
	o.peaks = format.Tables
	what := "the `FILE` to write"
	if format.Extension == "" {
		what = "the `FOLDER` to write files to"
	}
	if format.Extension != "" {
		what += "; " + standardOutput + " for standard output"
		takesStandardOutput(c)
	}
	c.Flags().StringVarP(&o.output, "output", "o", "", what)
	c.Flags().StringVar(&o.at, "at", "", "of a recording the `STATE` to write: its number, from 1, a time after the start, as 00:14 or 14s, or a configuration, as int8/mse; also behind @")
	under(c, outputHeading, "output", "at")
	return c
}

// checkFolder refuses a folder that has the name of a file, where the form is of several files.
func (o *shareFlags) checkFolder() error {
	ext := filepath.Ext(o.output)
	if o.format.Extension != "" || !slices.Contains(fileExtensions, strings.ToLower(ext)) {
		return nil
	}
	if info, err := os.Stat(o.output); err == nil && info.IsDir() {
		return nil
	}
	return usageError{fmt.Errorf("-o %s names a file, and export %s writes several, to a folder: -o %s", o.output, o.format.Name, strings.TrimSuffix(o.output, ext))}
}

// fileExtensions are those by which a person means a file and not a folder.
var fileExtensions = []string{".csv", ".tsv", ".json", ".md", ".html", ".txt", ".zip", ".xlsx"}

// shareOutput is the JSON of the subcommands of trtui export.
type shareOutput struct {
	Files []sharedFile
}

// sharedFile is a file that was written.
type sharedFile struct {
	File  string
	Bytes int64
}

func (o *shareFlags) share(ctx context.Context, stdout, stderr io.Writer, args []string) error {
	snap, err := o.snapshot(ctx, stderr, args)
	if err != nil {
		return err
	}
	files, err := o.format.Make(snap)
	if err != nil {
		return err
	}
	return o.write(stdout, snap, files)
}

// write writes files, and what it wrote to stdout; or the one file there is to stdout, where that is asked for.
func (o *shareFlags) write(stdout io.Writer, snap *report.Snapshot, files []exchange.Output) error {
	if o.output == standardOutput {
		_, err := underlying(stdout).Write(o.shown(files[0].Data))
		return err
	}
	if o.format.Extension == "" {
		if err := os.MkdirAll(o.output, 0o777); err != nil {
			return err
		}
	}
	var out shareOutput
	for _, f := range files {
		path := o.output
		if f.Name != "" {
			path = filepath.Join(path, f.Name)
		}
		size, err := host.WriteFile(path, host.Bytes(o.shown(f.Data)))
		if err != nil {
			return err
		}
		out.Files = append(out.Files, sharedFile{path, size})
	}
	if o.modelFlags.output.json() {
		return writeReport(stdout, snap.Head(), out)
	}
	for _, f := range out.Files {
		fmt.Fprintf(stdout, "%s: %s\n", f.File, bytesText(int(f.Bytes)))
	}
	return nil
}

// shown is what is written of a file: where that is text, names in a user's file may hold what acts on a terminal.
func (o *shareFlags) shown(data []byte) []byte {
	if o.format.Text {
		return []byte(ui.Visible(string(data)))
	}
	return data
}

// snapshot returns what is known of what the arguments name.
func (o *shareFlags) snapshot(ctx context.Context, stderr io.Writer, args []string) (*report.Snapshot, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	path := modelArg(args)
	kind, err := kindOf(args)
	if err != nil {
		return nil, err
	}
	x, err := parseOperand(path).at(o.at)
	if err != nil {
		return nil, err
	}
	snap, err := x.recorded()
	switch {
	case snap != nil || err != nil:
		return snap, err
	case o.at != "":
		return nil, usageError{errors.New("--at chooses a state of a recording")}
	case kind == viewedFiles:
		return openViewed(args)
	}
	err = o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		parts := o.format.Parts
		if parts.Has(report.PartAccuracy) && cfg.Quantizes() && !p.model.Stripped && !p.model.Quantized {
			parts |= report.PartCalibration
		}
		snap, err = r.Report(ctx, cfg, parts, run.Profiling{WarmUp: warmUp, Iterations: 50, Duration: evalTime, PerStep: true})
		return err
	})
	return snap, err
}
