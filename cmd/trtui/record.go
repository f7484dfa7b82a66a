package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

func recordCommand() *cobra.Command {
	o := &options{}
	var precisions, calibrators []string
	var output string
	c := &cobra.Command{
		Use:   "record [MODEL] -o FILE",
		Short: "Profile a model under several configurations and record it all, to be replayed or queried with SQLite",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("-o FILE is missing")}
			}
			return o.record(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), precisions, calibrators, output)
		},
	}
	o.register(c)
	replaceList(c, "precision", &precisions, []string{"fp32", "int8"}, "precisions to record: fp32, fp16, int8")
	replaceList(c, "calibrator", &calibrators, []string{"minmax", "entropy", "percentile", "mse"}, "calibrators to record for int8")
	c.Flags().StringVarP(&output, "output", "o", "", "the recording to write, a new file that ends in "+recording.Extension)
	return c
}

// record runs a session through every configuration while it is recorded.
func (o *options) record(ctx context.Context, stdout, stderr io.Writer, path string, precisions, calibrators []string, output string) error {
	for i, name := range calibrators { // written in full, as the workbench does, so that a replay finds them
		c, err := quant.ParseCalibrator(name, quant.Scheme{})
		if err != nil {
			return usageError{fmt.Errorf("--calibrator: %w", err)}
		}
		calibrators[i] = c.String()
	}
	if _, err := o.configs(precisions, calibrators); err != nil {
		return err
	}
	o.anew = len(calibrators) > 1 && o.changed("calibrator")
	err := o.with(path, stderr, func(p *place, _ *sessions.Runner) error {
		configs, err := o.recorded(p.model, precisions, calibrators)
		if err != nil {
			return err
		}
		s := sessions.Open(p.model, p.work, configs[0])
		defer s.Close()
		if err := s.Record(output); err != nil {
			return err
		}
		return errors.Join(o.runConfigs(ctx, s, configs, stderr), s.StopRecording())
	})
	if err != nil {
		return err
	}
	return o.inspectRecording(stdout, output)
}

// recorded returns the configurations to record: those that the flags list, and where no precision was given the one
// that an engine was built with or --config says, or int8 of a model that brings its own quantisation.
func (o *options) recorded(m *sessions.Model, precisions, calibrators []string) ([]config.Config, error) {
	precisions, calibrators = o.listed(m, precisions, calibrators)
	if m.Engine == nil && m.Quantized && !o.changed("precision") && (o.file == nil || !o.file.Has("precision")) {
		precisions = []string{string(config.INT8)}
	}
	return o.configsFor(m, precisions, calibrators)
}

// listed returns the precisions and calibrators of a command that takes several: those that were given, else the one that
// an engine was built with or --config says, else the lists by default.
func (o *options) listed(m *sessions.Model, precisions, calibrators []string) (p, c []string) {
	base := o.base(m, config.Config{})
	if !o.changed("precision") && base.Precision != "" && (m.Engine != nil || o.file != nil) {
		precisions = []string{string(base.Precision)}
	}
	if !o.changed("calibrator") && base.Calibrator != "" {
		calibrators = []string{base.Calibrator}
	}
	return precisions, calibrators
}

// runConfigs leads a session through configurations, one after the other.
func (o *options) runConfigs(ctx context.Context, s *sessions.Session, configs []config.Config, stderr io.Writer) error {
	report, stop := o.reporter(stderr)
	defer stop()
	for _, cfg := range configs {
		s.Set(cfg)
		if err := o.awaitIdle(ctx, s, cfg, report, stderr); err != nil {
			return err
		}
	}
	return nil
}

// configs returns a configuration for each precision and, for int8, each calibrator.
func (o *options) configs(precisions, calibrators []string) ([]config.Config, error) {
	var configs []config.Config
	for _, p := range precisions {
		o.precision = p
		list := calibrators
		if p != string(config.INT8) {
			list = calibrators[:1]
		}
		for _, cal := range list {
			o.calibrator = cal
			cfg, err := o.config()
			if err != nil {
				return nil, err
			}
			configs = append(configs, cfg)
		}
	}
	return configs, nil
}

// awaitIdle waits until a session has done all that a configuration asks for.
func (o *options) awaitIdle(ctx context.Context, s *sessions.Session, cfg config.Config, report func(report.Progress), stderr io.Writer) error {
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
