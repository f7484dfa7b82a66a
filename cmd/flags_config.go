package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// configFlags say how a model is built: they make a configuration.
type configFlags struct {
	group
	own          Own // what the program has beside the built-in
	precision    string
	precisions   []string // of a command that takes several
	emulates     bool     // the command takes precisions that are emulated
	calibrator   string
	calibrators  []string
	quantization quantizationFlags
	batch        int
	shapes       string
	ranges       profileFlags
	useProfile   int                // of an engine
	derived      []model.Derived    // extents that nobody gave
	dataMin      map[string][]int   // the least shapes of the data's items, where these differ
	dataMax      map[string][]int   // and the largest
	ofData       bool               // an engine serves these
	sweep        []report.SweepAxis // that the engine is to serve
	state        string
	layers       []string
	constraints  string
	weights      string
	rules        []string // files
	ruleFiles    []model.RuleFile
	disable      []string
	until        int
	pins, bans   []string // of tactics
	path         string
	file         *config.File // that is at path, once it was read
}

func (g *configFlags) define() {
	g.heading = configHeading
	f := g.part(takePrecision)
	f.StringVar(&g.precision, "precision", "fp32", "fp32, fp16 or int8; if it is not given, an engine keeps its own and a quantised model is int8")
	f.StringSliceVar(&g.layers, "layer-precisions", nil, "precision by layer, as in '*head*:fp32,Conv_3:int8'; later ones win")
	f.StringVar(&g.constraints, "precision-constraints", string(config.Prefer), "where a layer cannot have the precision set for it: prefer (a warning), obey (an error) or none (the set precisions are ignored)")
	f.StringVar(&g.weights, "weights", "", "int8 or int4[:`GROUP`][:asymmetric]: what weights of products of real numbers are rounded to, with a scale for each column, or for each group of a column (int4: 32), and a zero point if asymmetric; activations stay as they are")
	f = g.part(takeCalibrator)
	f.StringVar(&g.calibrator, "calibrator", config.DefaultCalibrator, orList(g.calibratorUsage()))
	g.quantization.define(f, g.part(takeRounding))
	f = g.part(takeShapes)
	f.IntVar(&g.batch, "batch", 1, "batch size of a model whose batch axis is open")
	f.StringVar(&g.shapes, "shapes", "", "`SHAPES` of inputs whose axes are symbols, as in x:1x3x640x640, and values of inputs on whose elements shapes depend; default: those of the data")
	g.ranges.define(f)
	f.IntVar(&g.useProfile, "useProfile", 0, "`NUMBER`, from 0, of the profile, of an engine or of those that --profile makes, in which it runs, at that one's best shapes where no others are given; default: the first that serves the shapes")
	f.StringVar(&g.path, "config", "", "configuration `FILE`, as W in the workbench writes it: precisions, calibrator, rules, tactics, shapes; flags override it")
	f = g.part(takeState)
	f.StringVar(&g.state, "state", "", "`STATE` of a recurrent model, which goes from item to item: inputs that are outputs of the item before, as INPUT=OUTPUT, comma separated; where the data has no such input it begins with zeros")
	f = g.part(takePasses)
	f.StringArrayVar(&g.rules, "rules", nil, "rewrite rules of a `FILE` that are applied beside the standard passes; may be repeated; docs/rules.md has their form")
	f.StringArrayVar(&g.disable, "disable", nil, "`RULES`, or places as rule:layer,layer, to switch off, comma separated; trtui inspect passes lists them")
	f.IntVar(&g.until, "passes-until", 0, "stop after so many passes; 0: all")
	f = g.part(takeTactics)
	f.StringArrayVar(&g.pins, "tactic", nil, "the only tactic that a layer may have, as `LAYER=TACTIC`; may be repeated; trtui inspect tactics lists both")
	f.StringArrayVar(&g.bans, "forbid-tactic", nil, "a `TACTIC` that no layer may have, or that LAYER may not, as LAYER=TACTIC; @FILE names a file of them, one per line; may be repeated")
}

// several makes --precision and --calibrator lists, to try each with each.
func (g *configFlags) several(what string) {
	g.precisions, g.calibrators = []string{"fp32", "int8"}, g.own.calibrators().Names()
	replaceList(g.lookup("precision"), &g.precisions, "precisions to "+what+": fp32, fp16, int8")
	replaceList(g.lookup("calibrator"), &g.calibrators, "calibrators to "+what+" for int8: "+strings.Join(g.calibratorUsage(), ", "))
}

// calibratorUsage is what --calibrator may be: names, with a letter for a parameter.
func (g *configFlags) calibratorUsage() (list []string) {
	for _, m := range g.own.calibrators() {
		if m.Param != "" {
			m.Name += "[:" + strings.ToUpper(m.Param[:1]) + "]"
		}
		list = append(list, m.Name)
	}
	return list
}

// orList writes a list of which one is chosen.
func orList(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// replaceList makes a flag of a single value one of a comma-separated list.
func replaceList(f *pflag.Flag, list *[]string, usage string) {
	f.Usage, f.DefValue, f.Value = usage+"; comma separated", strings.Join(*list, ","), &listValue{list}
}

// listValue is a pflag.Value of comma-separated words.
type listValue struct{ list *[]string }

func (v *listValue) String() string { return strings.Join(*v.list, ",") }
func (v *listValue) Type() string   { return "strings" }

func (v *listValue) Set(s string) error {
	*v.list = nil
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return errors.New("the list has an empty item")
		}
		*v.list = append(*v.list, word)
	}
	return nil
}

// check refuses values that cannot have been meant, by the name of their flag.
func (g *configFlags) check() error {
	if g.precisions != nil {
		_, err := g.each(g.precisions, g.calibrators)
		return err
	}
	_, err := g.asked()
	return err
}

// readFile reads the file of --config.
func (g *configFlags) readFile() (err error) {
	if g.path != "" && g.file == nil {
		if g.file, err = config.ReadFile(g.path, g.own.Calibrators...); err != nil {
			return err
		}
	}
	return g.readRules(nil)
}

// readRules reads the files of rules that flags or the file of --config name, or, where neither says which, those that a model was
// built with, if they are there.
func (g *configFlags) readRules(m *model.Model) (err error) {
	paths, given := g.rules, g.changed("rules")
	if !given && g.file != nil && g.file.Has("rule_files") {
		paths, given = g.file.Over(config.Default()).RuleFiles, true
	}
	if m != nil && !given {
		if built, err := m.BuiltWith(); err == nil {
			g.ruleFiles, _ = model.ReadRules(g.own.ops(), built.RuleFiles)
			return nil
		}
	}
	g.ruleFiles, err = model.ReadRules(g.own.ops(), paths)
	return err
}

// passes returns the program's own passes and those of files of rules.
func (g *configFlags) passes() []pass.Pass {
	list := slices.Clone(g.own.Passes)
	for _, r := range g.ruleFiles {
		list = append(list, r.Pass)
	}
	return list
}

// asked returns the configuration that the flags and their defaults ask for.
func (g *configFlags) asked() (config.Config, error) {
	cfg := config.Config{
		Precision: config.Precision(g.precision), Calibrator: g.calibrator, Batch: g.batch,
		RuleFiles: g.rules, Disable: splitDisabled(g.disable, g.passes()...), Until: g.until, LayerPrecisions: g.layers, Weights: g.weights,
	}
	if err := g.checkValues(); err != nil {
		return cfg, usageError{err}
	}
	if c := config.Constraints(g.constraints); c != config.Prefer { // the zero Config says so
		cfg.Constraints = c
	}
	var err error
	if cfg.Pin, cfg.Forbid, err = g.tactics(); err != nil {
		return cfg, usageError{err}
	}
	if cfg.Shapes, err = parseShapes("shapes", g.shapes); err == nil {
		err = g.profiles(&cfg)
	}
	if err != nil {
		return cfg, usageError{err}
	}
	if cfg.State, err = parseState(g.state); err != nil {
		return cfg, usageError{err}
	}
	if cfg.Quantization, err = g.quantization.asked(g.changed("calibrator")); err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

func (g *configFlags) checkValues() error {
	switch config.Precision(g.precision) {
	case config.FP32, config.FP16, config.INT8:
	default:
		switch emulated := config.Precision(g.precision).Emulated(); {
		case emulated && !g.emulates:
			return fmt.Errorf("--precision %s: floats of 8 bits are emulated, which tells their accuracy and no times: trtui eval --precision %s", g.precision, g.precision)
		case !emulated && g.emulates:
			return fmt.Errorf("--precision %q: want fp32, fp16, int8, fp8 or fp8-e5m2", g.precision)
		case !emulated:
			return fmt.Errorf("--precision %q: want fp32, fp16 or int8", g.precision)
		}
	}
	if _, err := quant.ParseFewBits(g.weights); err != nil {
		return fmt.Errorf("--%w", err)
	}
	if g.batch < 1 || g.batch > config.MaxBatch {
		return fmt.Errorf("--batch %d: want 1 to %d", g.batch, config.MaxBatch)
	}
	if last := len(passes.Standard()) + len(passes.Lowering()); g.until < 0 || g.until > last {
		return fmt.Errorf("--passes-until %d: want 1 to %d, or 0 for all passes", g.until, last)
	}
	if _, err := g.own.calibrators().Parse(g.calibrator, quant.Scheme{}); err != nil {
		return fmt.Errorf("--calibrator: %w", err)
	}
	if _, err := quant.ParseRules(strings.Join(g.layers, ",")); err != nil {
		return fmt.Errorf("--layer-precisions: %w", err)
	}
	switch c := config.Constraints(g.constraints); c {
	case "", config.Prefer, config.Obey, config.Ignore:
	default:
		return fmt.Errorf("--precision-constraints %q: want prefer, obey or none", g.constraints)
	}
	return nil
}

// forModel returns the configuration for a model: what an engine was built with, int8 for a model that brings its own
// quantisation, over that what the file of --config says, and over that what flags were given for. shapes are those that the
// data has.
func (g *configFlags) forModel(m *model.Model, shapes map[string][]int) (config.Config, error) {
	if err := g.quantization.fit(m); err != nil {
		return config.Config{}, err
	}
	asked, err := g.asked()
	if err == nil {
		err = g.readFile()
	}
	if err != nil {
		return asked, err
	}
	cfg, err := g.oneProfile(m, g.over(g.base(m, asked), asked))
	if err == nil {
		cfg, err = g.shaped(m, cfg, shapes)
	}
	if err == nil && g.file != nil && m.Network != nil && !g.changed("shapes") && !g.changed("disable") {
		err = g.ofFile(m.CheckConfig(cfg))
	}
	return cfg, err
}

// stateFor returns the state that goes from item to item of a model's data, which must fit it.
func (g *configFlags) stateFor(m *model.Model) (map[string]string, error) {
	asked, err := g.asked()
	if err == nil {
		err = g.readFile()
	}
	if err != nil {
		return nil, err
	}
	cfg := g.over(g.base(m, asked), asked)
	err = model.CheckState(m, cfg)
	if err != nil && g.changed("state") {
		err = usageError{fmt.Errorf("--%w", err)}
	}
	return cfg.State, err
}

// ofFile adds the name of the file of --config to an error about names that there are not; other errors are not its.
func (g *configFlags) ofFile(err error) error {
	if !errors.As(err, new(*model.UnknownNames)) {
		return nil
	}
	return fmt.Errorf("%s: %w", filepath.Base(g.path), err)
}

// base returns what the flags that were given are applied to.
func (g *configFlags) base(m *model.Model, asked config.Config) config.Config {
	base := asked
	if built, err := m.BuiltWith(); err == nil {
		base = built
	} else if m.Quantized && m.Refused == nil && !g.changed("precision") {
		base.Precision = config.INT8
	}
	if g.file != nil {
		base = g.file.Over(base)
	}
	return base
}

// over returns base, which an engine was built with or a file says, changed by the flags that were given, whose values are
// in asked. Tactics by layer count only where the flags leave precision alone, and shapes of inputs where they leave the batch alone,
// but for those of an engine, see shaped.
func (g *configFlags) over(base, asked config.Config) config.Config {
	cfg := base
	given(g, "precision", &cfg.Precision, asked.Precision)
	if cfg.Precision != base.Precision {
		cfg.Pin, cfg.Forbid = nil, nil
	}
	given(g, "calibrator", &cfg.Calibrator, asked.Calibrator)
	g.quantization.over(g, &cfg.Quantization, asked.Quantization)
	given(g, "weights", &cfg.Weights, asked.Weights)
	g.overInputs(&cfg, asked)
	g.overProfiles(&cfg, asked)
	given(g, "rules", &cfg.RuleFiles, asked.RuleFiles)
	given(g, "disable", &cfg.Disable, asked.Disable)
	given(g, "passes-until", &cfg.Until, asked.Until)
	given(g, "layer-precisions", &cfg.LayerPrecisions, asked.LayerPrecisions)
	given(g, "precision-constraints", &cfg.Constraints, asked.Constraints)
	given(g, "tactic", &cfg.Pin, asked.Pin)
	given(g, "forbid-tactic", &cfg.Forbid, asked.Forbid)
	return cfg
}

// overInputs changes what inferences get by the flags that were given.
func (g *configFlags) overInputs(cfg *config.Config, asked config.Config) {
	batch := cfg.Batch
	given(g, "batch", &cfg.Batch, asked.Batch)
	if cfg.Batch != batch {
		cfg.Shapes = nil
	}
	given(g, "shapes", &cfg.Shapes, asked.Shapes)
	given(g, "state", &cfg.State, asked.State)
}

// asBuilt returns the configuration that an engine was built with, with the batch, the shapes and the state that flags or the file of
// --config give. What else they say is of how a model is built.
func (g *configFlags) asBuilt(m *model.Model, shapes map[string][]int) (config.Config, error) {
	cfg, err := m.BuiltWith()
	if err != nil {
		return cfg, err
	}
	asked, err := g.asked()
	if err != nil {
		return cfg, err
	}
	if g.file != nil {
		said := g.file.Over(cfg)
		cfg.Batch, cfg.Shapes, cfg.State = said.Batch, said.Shapes, said.State
	}
	g.overInputs(&cfg, asked)
	return g.shaped(m, cfg, shapes)
}

// given sets what a flag is for, if it was given.
func given[T any](g *configFlags, flag string, to *T, value T) {
	if g.changed(flag) {
		*to = value
	}
}

// shaped gives inputs without a name in --shapes theirs, and where no shapes were given but a model needs them those that
// the data has, or else those that an engine was built with, where --batch sets the batch alone.
func (g *configFlags) shaped(m *model.Model, cfg config.Config, ofData map[string][]int) (config.Config, error) {
	if err := g.named(m, &cfg, ofData); err != nil {
		return cfg, err
	}
	if m.Network != nil {
		if err := m.Network.CheckShared(cfg.Shapes); err != nil {
			return cfg, fmt.Errorf("shapes: %w", err)
		}
	}
	if fixed, ok := m.FixedBatch(); ok {
		if g.changed("batch") && cfg.Batch > 1 && cfg.Batch != fixed {
			return cfg, usageError{fmt.Errorf("--batch %d: the model's inputs have a batch of %d; a model with an open first axis takes any", cfg.Batch, fixed)}
		}
		cfg.Batch = 1 // items are what the inputs take, whatever their first axis is
	}
	batch, given := m.BatchOfShapes(cfg.Shapes)
	if cfg.Shapes == nil {
		g.rangeOfData(&cfg, ofData)
	}
	if cfg.Shapes == nil {
		cfg.Shapes = builtShapes(m)
	}
	if m.Engine == nil {
		g.derived = model.Derive(m, &cfg)
	}
	switch {
	case g.changed("batch") && cfg.Batch > 1 && m.Network != nil && model.Apart(m.Network, cfg.Shapes):
		return cfg, usageError{fmt.Errorf("--batch %d, but the shapes have several extents in the first axes of inputs, so that none counts items", cfg.Batch)}
	case given && (batch < 1 || batch > config.MaxBatch):
		return cfg, usageError{fmt.Errorf("shapes: the batch is %d: want 1 to %d", batch, config.MaxBatch)}
	case given && g.changed("batch") && batch != cfg.Batch:
		return cfg, usageError{fmt.Errorf("--batch %d, but the shapes have a batch of %d; give one of the two", cfg.Batch, batch)}
	case given:
		cfg.Batch = batch
	}
	cfg = m.Shaped(cfg)
	if built, err := m.BuiltWith(); err == nil && len(built.MinShapes)+len(built.MaxShapes)+len(built.Profiles) > 0 && !g.ranges.given() {
		if err := model.Served(m, cfg); err != nil {
			return cfg, err
		}
	}
	return sessions.SweepConfig(m, cfg, g.sweep)
}

// builtShapes returns the shapes that an engine was built with, where another batch may stand in them; nil for any other model.
func builtShapes(m *model.Model) map[string][]int {
	built, err := m.BuiltWith()
	if err != nil || m.Network == nil || model.Apart(m.Network, built.Shapes) {
		return nil
	}
	return built.Shapes
}
