package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

func buildCommand(t tables) *cobra.Command {
	o := onBackends(t)
	var output string
	var keepSource bool
	c := &cobra.Command{
		Use:        "build [MODEL] -o FILE",
		SuggestFor: []string{"engine", "serialize", "compile", "onnx"},
		Short:      "Build an engine and write it to a file, which every other command opens",
		Example: examples("an INT8 engine, calibrated on images", "trtui build model.onnx --precision int8 --data images/ -o model.engine",
			"what the workbench saved with W", "trtui build model.onnx --config model.config.json -o model.engine",
			"for any batch from 1 to 16", "trtui build model.onnx --minShapes x:1x32 --maxShapes x:16x32 -o m.engine",
			"for a GPU, in FP16, with batch 8", "trtui build model.onnx --backend cuda --precision fp16 --batch 8 -o m.engine"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("-o FILE is missing")}
			}
			return buildEngine(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), output, keepSource)
		},
	}
	o.register(c, takeAll&^takeLabels)
	c.Flags().StringVarP(&output, "output", "o", "", "the engine `FILE` to write")
	c.Flags().BoolVar(&keepSource, "keep-source", false, "keep the model in the engine, with which it can be compared, calibrated and built with another configuration; the file is larger by the model's size")
	under(c, outputHeading, "output", "keep-source")
	return c
}

// buildOutput is the JSON of trtui build.
type buildOutput struct {
	File         string
	Bytes        int64
	Steps        int
	Target       string
	ArenaBytes   int
	WeightsBytes int
	Profiles     []report.Profile
	Contents     *report.File
	Unchanged    string `json:",omitempty"` // why the precision changes no layer
}

func buildEngine(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path, output string, keepSource bool) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		warnOfRandomRanges(stderr, r, cfg)
		e, err := builtEngine(ctx, r, cfg, keepSource)
		if err != nil {
			return err
		}
		size, err := host.WriteFile(output, func(w io.Writer) error {
			_, err := e.WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
		_, unchanged, err := r.Identity(ctx, cfg)
		if err != nil {
			return err
		}
		built, profiles := e.Any(), describe.Profiles(e)
		m := built.Memory
		if o.output.json() {
			return writeReport(stdout, r.Head(&cfg), buildOutput{output, size, len(built.Steps), built.Target, m.Peak, m.Weights, profiles, stages.NewFileReport(e.Contents), unchanged})
		}
		fmt.Fprintf(stdout, "%s: %s, %s, %s, arena %s, weights %s\n", output, p.model.Name(), cfg.Precision, count(len(built.Steps), "step"), bytesText(m.Peak), bytesText(m.Weights))
		writeProfiles(stdout, profiles)
		writeFileNumbers(stdout, stages.NewFileReport(e.Contents))
		if unchanged != "" {
			writeNote(stdout, "%s", unchanged)
		}
		return nil
	})
}

// builtEngine returns an engine as its file has it.
func builtEngine(ctx context.Context, r *sessions.Runner, cfg config.Config, keepSource bool) (*run.Engine, error) {
	e, err := r.Engine(ctx, cfg, keepSource)
	if err == nil {
		e.Origin.Commit, e.Origin.Built = ownCommit(), buildDate()
	}
	return e, err
}

// warnOfRandomRanges warns where a file is written that has ranges of random input, which say nothing of real ones.
func warnOfRandomRanges(stderr io.Writer, r *sessions.Runner, cfg config.Config) {
	if why := sessions.RandomCalibration(r, cfg); why != "" {
		warner(stderr)(why)
	}
}

// buildDate returns the present time, or that of SOURCE_DATE_EPOCH, with which a build gives the same bytes again.
func buildDate() string {
	now := time.Now()
	if n, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		now = time.Unix(n, 0)
	}
	return now.UTC().Format(time.RFC3339)
}
