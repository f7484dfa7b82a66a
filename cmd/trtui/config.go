package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions"
)

// Bounds of what can be meant.
const (
	maxThreads     = 1024
	maxRandomItems = 1 << 16
)

// usageError is what is wrong with the command line.
type usageError struct{ error }

// config returns the configuration that the flags and their defaults ask for, and reads the file of --config.
func (o *options) config() (sessions.Config, error) {
	cfg := sessions.Config{
		Precision: sessions.Precision(o.precision), Calibrator: o.calibrator, Batch: o.batch,
		Disable: splitDisabled(o.disable), Until: o.until, LayerPrecisions: o.layers,
	}
	if err := o.checkFlags(); err != nil {
		return cfg, usageError{err}
	}
	if c := sessions.Constraints(o.constraints); c != sessions.Prefer { // the zero Config says so
		cfg.Constraints = c
	}
	var err error
	if cfg.Pin, cfg.Forbid, err = o.tactics(); err != nil {
		return cfg, usageError{err}
	}
	if cfg.Shapes, err = parseShapes(o.shapes); err != nil {
		return cfg, usageError{err}
	}
	if err := o.checkData(); err != nil {
		return cfg, usageError{err}
	}
	if _, _, err := findBackend(o.table, "backend", o.backend, o.others...); err != nil {
		return cfg, err
	}
	if !o.changed("backends") {
		if err := o.checkDevice(o.backend); err != nil {
			return cfg, err
		}
	}
	if o.configPath != "" && o.file == nil {
		o.file, err = sessions.ReadConfigFile(o.configPath)
	}
	return cfg, err
}

// checkFlags refuses values that cannot have been meant, by the name of their flag.
func (o *options) checkFlags() error {
	switch sessions.Precision(o.precision) {
	case sessions.FP32, sessions.FP16, sessions.INT8:
	default:
		return fmt.Errorf("--precision %q: want fp32, fp16 or int8", o.precision)
	}
	if o.batch < 1 || o.batch > sessions.MaxBatch {
		return fmt.Errorf("--batch %d: want 1 to %d", o.batch, sessions.MaxBatch)
	}
	if o.randomItems < 1 || o.randomItems > maxRandomItems {
		return fmt.Errorf("--random-items %d: want 1 to %d", o.randomItems, maxRandomItems)
	}
	if last := len(pass.Standard()) + len(pass.Lowering()); o.until < 0 || o.until > last {
		return fmt.Errorf("--passes-until %d: want 1 to %d, or 0 for all passes", o.until, last)
	}
	if o.threads < 0 || o.threads > maxThreads {
		return fmt.Errorf("--threads %d: want 1 to %d, or 0 for all processors", o.threads, maxThreads)
	}
	if _, err := o.maxMemory(); err != nil {
		return err
	}
	if _, err := quant.ParseCalibrator(o.calibrator, quant.Scheme{}); err != nil {
		return fmt.Errorf("--calibrator: %w", err)
	}
	if _, err := quant.ParseRules(strings.Join(o.layers, ",")); err != nil {
		return fmt.Errorf("--layer-precisions: %w", err)
	}
	switch c := sessions.Constraints(o.constraints); c {
	case "", sessions.Prefer, sessions.Obey, sessions.Ignore:
	default:
		return fmt.Errorf("--precision-constraints %q: want prefer, obey or none", o.constraints)
	}
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--format %q: want text or json", o.format)
	}
	return nil
}

// tactics returns the pins of --tactic and the bans of --forbid-tactic, by layer; those for every layer are under "".
func (o *options) tactics() (pin map[string]string, forbid map[string][]string, err error) {
	for _, text := range o.pins {
		at := strings.LastIndexByte(text, '=')
		if at < 1 || at == len(text)-1 {
			return nil, nil, fmt.Errorf("--tactic %q: want LAYER=TACTIC, as trtui inspect tactics names them", text)
		}
		if pin == nil {
			pin = map[string]string{}
		}
		pin[text[:at]] = text[at+1:]
	}
	bans, err := o.banned()
	if err != nil {
		return nil, nil, err
	}
	for _, text := range bans {
		at := strings.LastIndexByte(text, '=')
		if text == "" || at == 0 || at == len(text)-1 {
			return nil, nil, fmt.Errorf("--forbid-tactic %q: want TACTIC or LAYER=TACTIC, as trtui inspect tactics names them", text)
		}
		if forbid == nil {
			forbid = map[string][]string{}
		}
		layer := text[:max(at, 0)]
		forbid[layer] = append(forbid[layer], text[at+1:])
	}
	return pin, forbid, nil
}

// parseShapes reads shapes in trtexec's grammar, "x:1x3x224x224,mask:1x16"; a shape without a name is under "".
func parseShapes(text string) (map[string][]int, error) {
	if text == "" {
		return nil, nil
	}
	shapes := map[string][]int{}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		at := strings.LastIndexByte(item, ':')
		var dims []int
		for word := range strings.SplitSeq(item[at+1:], "x") {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n > sessions.MaxExtent {
				return nil, fmt.Errorf("--shapes %q: %q is no extent of 0 to %d; want INPUT:1x3x224x224, comma separated", item, word, sessions.MaxExtent)
			}
			dims = append(dims, n)
		}
		shapes[item[:max(at, 0)]] = dims
	}
	return shapes, nil
}

// splitDisabled takes comma-separated rules and places apart. The layers of a place are behind commas too: what is no rule
// goes on with the place before it.
func splitDisabled(lists []string) []string {
	rules := sessions.RuleNames()
	var out []string
	for _, list := range lists {
		begins := true // an element
		for word := range strings.SplitSeq(list, ",") {
			rule, _, _ := strings.Cut(word, ":")
			if begins || slices.Contains(rules, rule) || !strings.Contains(out[len(out)-1], ":") {
				out = append(out, word)
			} else {
				out[len(out)-1] += "," + word
			}
			begins = false
		}
	}
	return out
}

// banned returns the values of --forbid-tactic with the lines of the files that it names in place of those.
func (o *options) banned() ([]string, error) {
	var list []string
	for _, value := range o.bans {
		file, named := strings.CutPrefix(value, "@")
		if !named {
			list = append(list, value)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--forbid-tactic: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
	}
	return list, nil
}

// checkData refuses flags that say how data is read where no data is named, and values that cannot have been meant.
func (o *options) checkData() error {
	if _, _, err := o.pictures(); err != nil {
		return err
	}
	if o.layout != "nchw" && o.layout != "nhwc" {
		return fmt.Errorf("--layout %q: want nchw or nhwc", o.layout)
	}
	if o.order != "rgb" && o.order != "bgr" {
		return fmt.Errorf("--channel-order %q: want rgb or bgr", o.order)
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
	for _, flag := range []string{"size", "resize", "mean", "std", "scale", "nhwc", "layout", "channel-order", "allow-not-finite", "shape", "type", "dequantize"} {
		if o.changed(flag) && o.data == "" && o.calData == "" {
			return fmt.Errorf("--%s says how --data or --calib-data is read, and both are missing", flag)
		}
	}
	return nil
}

// configFor returns the configuration for a model: what an engine was built with, int8 for a model that brings its own
// quantisation, over that what the file of --config says, and over that what flags were given for.
func (o *options) configFor(m *sessions.Model) (sessions.Config, error) {
	asked, err := o.config()
	if err != nil {
		return asked, err
	}
	return o.shaped(m, o.over(o.base(m, asked), asked))
}

// base returns what the flags that were given are applied to.
func (o *options) base(m *sessions.Model, asked sessions.Config) sessions.Config {
	base := asked
	if built, err := m.BuiltWith(); err == nil {
		base = built
	} else if m.Quantized && m.Refused == nil && !o.changed("precision") {
		base.Precision = sessions.INT8
	}
	if o.file != nil {
		base = o.file.Over(base)
	}
	return base
}

// over returns base, which an engine was built with or a file says, changed by the flags that were given, whose values are
// in asked. Tactics by layer and shapes of inputs count only where the flags leave precision and batch alone.
func (o *options) over(base, asked sessions.Config) sessions.Config {
	cfg := base
	given(o, "precision", &cfg.Precision, asked.Precision)
	if cfg.Precision != base.Precision {
		cfg.Pin, cfg.Forbid = nil, nil
	}
	given(o, "calibrator", &cfg.Calibrator, asked.Calibrator)
	given(o, "batch", &cfg.Batch, asked.Batch)
	if cfg.Batch != base.Batch {
		cfg.Shapes = nil
	}
	given(o, "shapes", &cfg.Shapes, asked.Shapes)
	given(o, "disable", &cfg.Disable, asked.Disable)
	given(o, "passes-until", &cfg.Until, asked.Until)
	given(o, "layer-precisions", &cfg.LayerPrecisions, asked.LayerPrecisions)
	given(o, "precision-constraints", &cfg.Constraints, asked.Constraints)
	given(o, "tactic", &cfg.Pin, asked.Pin)
	given(o, "forbid-tactic", &cfg.Forbid, asked.Forbid)
	return cfg
}

// given sets what a flag is for, if it was given.
func given[T any](o *options, flag string, to *T, value T) {
	if o.changed(flag) {
		*to = value
	}
}

// shaped gives inputs without a name in --shapes theirs, and where no shapes were given but a model needs them those that
// the data has.
func (o *options) shaped(m *sessions.Model, cfg sessions.Config) (sessions.Config, error) {
	if dims, ok := cfg.Shapes[""]; ok {
		if m.Network == nil || len(m.Network.Inputs) != 1 || len(cfg.Shapes) > 1 {
			return cfg, usageError{errors.New("--shapes: name the inputs, as in x:1x3x224x224: the model has several")}
		}
		cfg.Shapes = map[string][]int{m.Network.Inputs[0].Name: dims}
	}
	if fixed, ok := m.FixedBatch(); ok {
		if o.changed("batch") && cfg.Batch > 1 && cfg.Batch != fixed {
			return cfg, usageError{fmt.Errorf("--batch %d: the model's inputs have a batch of %d; a model with an open first axis takes any", cfg.Batch, fixed)}
		}
		cfg.Batch = 1 // items are what the inputs take, whatever their first axis is
	}
	batch, given := m.BatchOfShapes(cfg.Shapes)
	switch {
	case given && (batch < 1 || batch > sessions.MaxBatch):
		return cfg, usageError{fmt.Errorf("shapes: the batch is %d: want 1 to %d", batch, sessions.MaxBatch)}
	case given && o.changed("batch") && batch != cfg.Batch:
		return cfg, usageError{fmt.Errorf("--batch %d, but the shapes have a batch of %d; give one of the two", cfg.Batch, batch)}
	case given:
		cfg.Batch = batch
	}
	if cfg.Shapes == nil {
		cfg.Shapes = o.dataShapes
	}
	return m.Shaped(cfg), nil
}

// configsFor returns a configuration for each precision and, for int8, each calibrator, over what an engine was built
// with. A model's own ranges leave calibrators no say: the first one stands for all.
func (o *options) configsFor(m *sessions.Model, precisions, calibrators []string) ([]sessions.Config, error) {
	configs, err := o.configs(precisions, calibrators)
	if err != nil {
		return nil, err
	}
	var list []sessions.Config
	for i, asked := range configs {
		if m.Quantized && i > 0 && configs[i-1].Precision == asked.Precision {
			continue
		}
		cfg := o.base(m, asked)
		if precision := asked.Precision; cfg.Precision != precision {
			cfg.Precision, cfg.Pin, cfg.Forbid = precision, nil, nil
		}
		cfg = o.over(cfg, asked)
		cfg.Calibrator = asked.Calibrator
		if cfg, err = o.shaped(m, cfg); err != nil {
			return nil, err
		}
		list = append(list, cfg)
	}
	return list, nil
}
