package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions"
)

// Bounds of what can be meant.
const (
	maxBatch   = 1 << 16
	maxThreads = 1024
	maxSize    = 1 << 14 // of images
)

// usageError is what is wrong with the command line.
type usageError struct{ error }

// config returns the configuration that the flags and their defaults ask for.
func (o *options) config() (sessions.Config, error) {
	cfg := sessions.Config{
		Precision: sessions.Precision(o.precision), Calibrator: o.calibrator, Batch: o.batch,
		Disable: o.disable, Until: o.until, LayerPrecisions: o.layers,
	}
	switch cfg.Precision {
	case sessions.FP32, sessions.FP16, sessions.INT8:
	default:
		return cfg, usageError{fmt.Errorf("--precision %q: want fp32, fp16 or int8", o.precision)}
	}
	if o.batch < 1 || o.batch > maxBatch {
		return cfg, usageError{fmt.Errorf("--batch %d: want 1 to %d", o.batch, maxBatch)}
	}
	if last := len(pass.Standard()) + len(pass.Lowering()); o.until < 0 || o.until > last {
		return cfg, usageError{fmt.Errorf("--passes-until %d: want 1 to %d, or 0 for all passes", o.until, last)}
	}
	if o.threads < 0 || o.threads > maxThreads {
		return cfg, usageError{fmt.Errorf("--threads %d: want 1 to %d, or 0 for all processors", o.threads, maxThreads)}
	}
	if _, err := quant.ParseCalibrator(o.calibrator, quant.Scheme{}); err != nil {
		return cfg, usageError{fmt.Errorf("--calibrator: %w", err)}
	}
	if _, err := quant.ParseRules(strings.Join(o.layers, ",")); err != nil {
		return cfg, usageError{fmt.Errorf("--layer-precisions: %w", err)}
	}
	switch c := sessions.Constraints(o.constraints); c {
	case "", sessions.Prefer: // the zero Config says so
	case sessions.Obey:
		cfg.Constraints = c
	default:
		return cfg, usageError{fmt.Errorf("--precision-constraints %q: want prefer or obey", o.constraints)}
	}
	if err := o.checkData(); err != nil {
		return cfg, usageError{err}
	}
	tactics, err := o.forbidden()
	if err != nil {
		return cfg, usageError{err}
	}
	if len(tactics) > 0 {
		cfg.Forbid = map[string][]string{"": tactics}
	}
	if _, _, err := findBackend(o.table, o.backend); err != nil {
		return cfg, err
	}
	if o.format != "text" && o.format != "json" {
		return cfg, usageError{fmt.Errorf("--format %q: want text or json", o.format)}
	}
	return cfg, nil
}

// forbidden returns the tactics of --forbid, in order, with those of the files that it names.
func (o *options) forbidden() ([]string, error) {
	var list []string
	for _, name := range o.forbid {
		file, named := strings.CutPrefix(name, "@")
		if !named {
			list = append(list, name)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--forbid: %w", err)
		}
		list = append(list, strings.Fields(string(text))...)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// checkData refuses flags that say how data is read where no data is named, and values that cannot have been meant.
func (o *options) checkData() error {
	if o.changed("size") && (o.size < 1 || o.size > maxSize) {
		return fmt.Errorf("--size %d: want 1 to %d", o.size, maxSize)
	}
	if o.data == "" && o.labelOffset != 0 {
		return errors.New("--label-offset is for the labels of --data, which is missing")
	}
	if o.data == "" && o.labels != "" {
		return errors.New("--labels is for the items of --data, which is missing")
	}
	if o.calItems != "" && o.calData == "" {
		return errors.New("--calib-items chooses from --calib-data, which is missing")
	}
	for _, flag := range []string{"size", "mean", "std", "scale", "nhwc", "shape", "type", "dequantize"} {
		if o.changed(flag) && o.data == "" && o.calData == "" {
			return fmt.Errorf("--%s says how --data or --calib-data is read, and both are missing", flag)
		}
	}
	return nil
}

// configFor returns the configuration for a model: what an engine was built with, int8 for a model that brings its own
// quantisation, and over that what flags were given for.
func (o *options) configFor(m *sessions.Model) (sessions.Config, error) {
	cfg, err := o.config()
	if err != nil {
		return cfg, err
	}
	built, err := m.BuiltWith()
	if err == nil {
		return o.over(built, cfg), nil
	}
	if m.Quantized && !o.changed("precision") {
		cfg.Precision = sessions.INT8
	}
	return cfg, nil
}

// over returns what an engine was built with, changed by the flags that were given, whose values are in asked. The
// engine's tactics by layer and its shapes of inputs count only where the flags leave precision and batch alone.
func (o *options) over(built, asked sessions.Config) sessions.Config {
	cfg := built
	if o.changed("precision") {
		cfg.Precision = asked.Precision
	}
	if cfg.Precision != built.Precision {
		cfg.Pin, cfg.Forbid = nil, nil
	}
	if o.changed("forbid") {
		cfg.Forbid = asked.Forbid
	}
	if o.changed("calibrator") {
		cfg.Calibrator = asked.Calibrator
	}
	if o.changed("batch") {
		cfg.Batch = asked.Batch
	}
	if cfg.Batch != built.Batch {
		cfg.Shapes = nil
	}
	if o.changed("disable") {
		cfg.Disable = asked.Disable
	}
	if o.changed("passes-until") {
		cfg.Until = asked.Until
	}
	if o.changed("layer-precisions") {
		cfg.LayerPrecisions = asked.LayerPrecisions
	}
	if o.changed("precision-constraints") {
		cfg.Constraints = asked.Constraints
	}
	return cfg
}

// configsFor returns a configuration for each precision and, for int8, each calibrator, over what an engine was built
// with. A model's own ranges leave calibrators no say: the first one stands for all.
func (o *options) configsFor(m *sessions.Model, precisions, calibrators []string) ([]sessions.Config, error) {
	configs, err := o.configs(precisions, calibrators)
	if err != nil {
		return nil, err
	}
	built, err := m.BuiltWith()
	var list []sessions.Config
	for i, cfg := range configs {
		if m.Quantized && i > 0 && configs[i-1].Precision == cfg.Precision {
			continue
		}
		if err == nil {
			precision, calibrator, forbid := cfg.Precision, cfg.Calibrator, cfg.Forbid
			cfg = o.over(built, cfg)
			if precision != built.Precision {
				cfg.Pin, cfg.Forbid = nil, forbid
			}
			cfg.Precision, cfg.Calibrator = precision, calibrator
		}
		list = append(list, cfg)
	}
	return list, nil
}
