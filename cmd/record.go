package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

func recordCommand(t tables) *cobra.Command {
	o := onBackends(t)
	var output string
	c := &cobra.Command{
		Use:        "record [MODEL] -o FILE",
		SuggestFor: []string{"session"},
		Short:      "Profile a model under several configurations and record it, to be replayed or queried with SQLite",
		Long: "Profile a model under several configurations and record it, to be replayed or queried with SQLite. Each configuration is built,\n" +
			"judged on the data and measured for --duration, in --rounds, in which the first one has turns, too: what slows the machine\n" +
			"down for a while does so for both. The longer, the smaller the differences that two recordings tell apart.",
		Example: examples("FP32, and INT8 with every calibrator", "trtui record model.onnx --data test.npz -o session.trtui",
			"two precisions", "trtui record model.onnx --precision fp32,fp16 -o session.trtui",
			"each for half a minute", "trtui record model.onnx --duration 30s -o session.trtui"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("-o FILE is missing")}
			}
			if o.live <= 0 {
				return usageError{fmt.Errorf("--duration %v: want a time above 0", o.live)}
			}
			if o.rounds < 1 || o.rounds > maxRounds {
				return usageError{fmt.Errorf("--rounds %d: want 1 to %d", o.rounds, maxRounds)}
			}
			return record(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), output)
		},
	}
	o.data.speaks = true
	o.peaks = true // so that a replay has the roofline
	o.register(c, takeAll)
	o.config.several("record")
	c.Flags().StringVarP(&output, "output", "o", "", "the recording to write, a new `FILE` that ends in "+recording.Extension)
	under(c, outputHeading, "output")
	c.Flags().DurationVar(&o.live, "duration", cmp.Or(o.live, sessions.LiveDuration), "how long each configuration is measured, at least")
	c.Flags().IntVar(&o.rounds, "rounds", compare.Rounds, "in how many rounds each is measured")
	under(c, "Measurement", "duration", "rounds")
	return c
}

// maxRounds bounds those of a measurement: each begins with runs that are not counted.
const maxRounds = 1000

// record runs a session through every configuration while it is recorded.
func record(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path, output string) error {
	for i, name := range o.config.calibrators { // written in full, as the workbench does, so that a replay finds them
		c, err := o.own.calibrators().Parse(name, quant.Scheme{})
		if err != nil {
			return usageError{fmt.Errorf("--calibrator: %w", err)}
		}
		o.config.calibrators[i] = c.String()
	}
	if err := o.check(); err != nil {
		return err
	}
	o.anew = o.config.comparesCalibrators()
	err := o.with(path, stderr, func(p *place, _ *sessions.Runner) error {
		configs, err := o.config.recorded(p.model, o.data.shapes)
		if err != nil {
			return err
		}
		o.speak(p)
		s := sessions.Open(p.model, p.work, configs[0])
		defer s.Close()
		if err := s.Record(output); err != nil {
			return err
		}
		done, err := runConfigs(ctx, &o.output, s, configs, stderr)
		if unwritten := s.RecordingError(); unwritten != nil {
			return unwritten
		}
		if err != nil && done == 0 && ctx.Err() == nil { // its file would be in the way of the next try
			return errors.Join(err, s.DiscardRecording())
		}
		if err != nil {
			s.Unfinished(err.Error())
		}
		return errors.Join(err, s.StopRecording())
	})
	if err != nil {
		return err
	}
	return inspectRecording(stdout, &o.output, output)
}

// recorded returns the configurations to record: those that the flags list, and where no precision was given the one
// that an engine was built with or --config says, or int8 of a model that brings its own quantisation.
func (g *configFlags) recorded(m *model.Model, shapes map[string][]int) ([]config.Config, error) {
	precisions, calibrators := g.listed(m)
	if m.Engine == nil && m.Quantized && !g.changed("precision") && (g.file == nil || !g.file.Has("precision")) {
		precisions = []string{string(config.INT8)}
	}
	return g.eachFor(m, shapes, precisions, calibrators)
}

// runConfigs leads a session through configurations, one after the other, and returns how many were done.
func runConfigs(ctx context.Context, o *outputFlags, s *sessions.Session, configs []config.Config, stderr io.Writer) (int, error) {
	report, stop := o.reporter(stderr)
	defer stop()
	for i, cfg := range configs {
		s.Set(cfg)
		if err := awaitIdle(ctx, o, s, cfg, report, stderr); err != nil {
			return i, fmt.Errorf("configuration %d of %d: %w", i+1, len(configs), err)
		}
	}
	return len(configs), nil
}

// awaitIdle waits until a session has done all that a configuration asks for.
func awaitIdle(ctx context.Context, o *outputFlags, s *sessions.Session, cfg config.Config, report func(report.Progress), stderr io.Writer) error {
	logged := 0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case snap := <-s.Events():
			if o.verbose {
				for _, l := range snap.Log[min(logged, len(snap.Log)):] {
					fmt.Fprintln(stderr, l)
				}
				logged = len(snap.Log)
			}
			if err := s.RecordingError(); err != nil {
				return err
			}
			if !reflect.DeepEqual(snap.Config, cfg) {
				continue
			}
			switch {
			case snap.Err != "":
				return errors.New(snap.Err)
			case snap.Busy != nil && report != nil:
				report(*snap.Busy)
			case snap.Busy == nil && snap.Settled():
				return nil
			}
		}
	}
}
