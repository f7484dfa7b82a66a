package cmd

import (
	"encoding/csv"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
)

// unflagged is the configuration that a command has on a model if no flag says otherwise, beside those by which a workbench was
// started and that are not of the configuration.
type unflagged struct {
	config config.Config
	engine bool                    // it is what an engine was built with
	ranges *stages.CalibrationFile // of --ranges; nil: none
	passes []pass.Pass             // beside the standard ones
}

// unflaggedOn returns that of a model which a workbench shows, and which it began with in cfg.
func (f *modelFlags) unflaggedOn(m *model.Model, cfg config.Config) unflagged {
	u := unflagged{config: config.Default(), ranges: f.config.quantization.file, passes: f.config.passes()}
	if built, err := m.BuiltWith(); err == nil {
		u.config, u.engine = built, true
	}
	if f.chosen.Of == nil && !f.config.changed("shapes", "optShapes", "maxShapes", "batch", "config") {
		u.config.Shapes, u.config.Batch = cfg.Shapes, cfg.Batch // as model and data have them
	}
	return u
}

// configWords are the flags by which a command has a configuration.
type configWords struct {
	command *cobra.Command
	words   []string
	lost    []string // what no flag of the command can say
}

// configWords returns the flags by which a command has a configuration, as far as it has such: a command has those that mean
// something to it. own says that the model has ranges of its own.
func (u unflagged) configWords(c *cobra.Command, cfg config.Config, own bool) *configWords {
	w := &configWords{command: c}
	base := u.config
	if cfg.Precision != base.Precision { // tactics are of a precision
		base.Pin, base.Forbid = nil, nil
	}
	if cfg.Batch != base.Batch {
		base.Shapes = nil
	}
	w.precisions(cfg, base, u.engine)
	base.Precision, base.LayerPrecisions, base.Constraints = cfg.Precision, cfg.LayerPrecisions, cfg.Constraints // so that the same has a say
	if u.ranges != nil && u.ranges.Symmetric() {
		base.Quantization.Activations = "symmetric"
	}
	w.quantization(cfg, base, u, own)
	eff, effBase := cfg.Effective(own), base.Effective(own)
	w.value("weights", eff.Weights, effBase.Weights)
	w.value("batch", strconv.Itoa(eff.Batch), strconv.Itoa(effBase.Batch))
	w.value("passes-until", strconv.Itoa(cfg.Until), strconv.Itoa(base.Until))
	w.shapes(eff, effBase)
	w.list("state", joined(cfg.State, "="), joined(base.State, "="), func(list []string) any { s, _ := parseState(strings.Join(list, ",")); return s }, cfg.State, ",")
	w.list("rules", cfg.RuleFiles, base.RuleFiles, nil, nil, "")
	w.list("disable", eff.Disable, effBase.Disable, func(list []string) any { return splitDisabled(list, u.passes...) }, eff.Disable, "")
	w.list("tactic", joined(eff.Pin, "="), joined(effBase.Pin, "="), nil, nil, "")
	w.list("forbid-tactic", forbidden(eff), forbidden(effBase), nil, nil, "")
	return w
}

// has reports whether the command has a flag.
func (w *configWords) has(name string) bool { return w.command.Flags().Lookup(name) != nil }

func (w *configWords) add(name, value string) {
	if w.has(name) {
		w.words = append(w.words, "--"+name, shellWord(value))
	}
}

// value says what a flag of one value is for, where it is not so without.
func (w *configWords) value(name, value, without string) {
	if value != without {
		w.add(name, value)
	}
}

// list says what a flag of several values is for, where it is not so without: none at all cannot be said. Where parse does not read
// what is meant in it, that cannot either. The values stand in one flag, with joint between them, or each in its own.
func (w *configWords) list(name string, list, without []string, parse func([]string) any, meant any, joint string) {
	switch {
	case slices.Equal(list, without) || !w.has(name):
	case len(list) == 0:
		w.lost = append(w.lost, "no --"+name)
	case parse != nil && !reflect.DeepEqual(parse(list), meant):
		w.lost = append(w.lost, "--"+name)
	case joint != "":
		w.add(name, strings.Join(list, joint))
	default:
		for _, value := range list {
			w.add(name, value)
		}
	}
}

// precisions says in which precision the whole and single layers are: the former always of a model.
func (w *configWords) precisions(cfg, base config.Config, engine bool) {
	precision := string(cfg.Precision)
	if !engine || cfg.Precision != base.Precision {
		if !w.has("precision") && w.has(precision) { // as trtexec has it
			w.words = append(w.words, "--"+precision)
		}
		w.add("precision", precision)
	}
	w.value("layer-precisions", commaList(cfg.LayerPrecisions), commaList(base.LayerPrecisions))
	constraints := func(c config.Config) string {
		if c.Constraints == "" {
			return string(config.Prefer)
		}
		return string(c.Constraints)
	}
	w.value("precision-constraints", constraints(cfg), constraints(base))
}

// quantization says how is quantised, where that has a say.
func (w *configWords) quantization(cfg, base config.Config, u unflagged, own bool) {
	if cfg.Effective(own).Calibrator == "" {
		if cfg.Weights != "" { // which are rounded, too
			w.value("rounding", cfg.Quantization.Full().Rounding, base.Quantization.Full().Rounding)
		}
		return
	}
	q, b := cfg.Quantization.Full(), base.Quantization.Full()
	if w.ranges(cfg, q.Ranges, b.Ranges, u) && (!u.engine || config.FullCalibrator(cfg.Calibrator) != config.FullCalibrator(base.Calibrator)) {
		w.add("calibrator", cfg.Calibrator)
	}
	w.value("activations", q.Activations, b.Activations)
	w.value("weight-scales", q.WeightScales, b.WeightScales)
	w.value("weight-ranges", q.WeightRanges, b.WeightRanges)
	w.value("keep", commaList(q.Keep), commaList(b.Keep))
	w.value("equalization", q.Equalization, b.Equalization)
	w.value("rounding", q.Rounding, b.Rounding)
	w.value("bias-correction", string(q.BiasCorrection), string(b.BiasCorrection))
}

// ranges says which ranges were given, and returns whether a calibrator may be named beside them: a file of --ranges that has
// histograms has no ranges where one is.
func (w *configWords) ranges(cfg config.Config, given, base map[string][]float64, u unflagged) (calibrator bool) {
	if u.ranges == nil || !w.has("ranges") {
		w.list("range", rangeWords(given), rangeWords(base), nil, nil, "")
		return true
	}
	of := u.ranges.Ranges()
	free := 0 // tensors of the file whose ranges are the calibrator's again
	for name := range of {
		if given[name] == nil {
			free++
		}
	}
	calibrator = u.ranges.HasHistograms() && (free > 0 || config.FullCalibrator(cfg.Calibrator) != config.FullCalibrator(config.DefaultCalibrator))
	if calibrator {
		of = nil
	} else if free > 0 {
		w.lost = append(w.lost, fmt.Sprintf("no range of %s in --ranges", config.CountOf(free, "tensor", "tensors")))
	}
	maps.DeleteFunc(given, func(name string, r []float64) bool { return slices.Equal(r, of[name]) })
	w.list("range", rangeWords(given), nil, nil, nil, "")
	return calibrator || !u.ranges.HasHistograms()
}

// shapes says at which shapes inputs are, of all profiles.
func (w *configWords) shapes(cfg, base config.Config) {
	profile := func(flags [3]string, p, base config.Profile) {
		for i, sets := range [][2]map[string][]int{{p.Shapes, base.Shapes}, {p.MinShapes, base.MinShapes}, {p.MaxShapes, base.MaxShapes}} {
			parse := func(list []string) any { s, _ := parseShapes("", strings.Join(list, ",")); return s }
			w.list(flags[i], shapeWords(sets[0]), shapeWords(sets[1]), parse, sets[0], ",")
		}
	}
	profile([3]string{"shapes", "minShapes", "maxShapes"}, config.Profile{Shapes: cfg.Shapes, MinShapes: cfg.MinShapes, MaxShapes: cfg.MaxShapes},
		config.Profile{Shapes: base.Shapes, MinShapes: base.MinShapes, MaxShapes: base.MaxShapes})
	switch {
	case reflect.DeepEqual(cfg.Profiles, base.Profiles) || !w.has("profile"):
	case len(cfg.Profiles) == 0:
		w.lost = append(w.lost, "no --profile")
	default:
		for i, p := range cfg.Profiles {
			w.add("profile", strconv.Itoa(i+1))
			profile([3]string{"optShapes", "minShapes", "maxShapes"}, p, config.Profile{})
		}
	}
}

// joined writes the entries of a map, by name.
func joined(m map[string]string, joint string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, name+joint+m[name])
	}
	return list
}

// forbidden writes the tactics that are forbidden, as --forbid-tactic takes them.
func forbidden(c config.Config) (list []string) {
	for _, layer := range slices.Sorted(maps.Keys(c.Forbid)) {
		for _, tactic := range c.Forbid[layer] {
			list = append(list, strings.TrimPrefix(layer+"="+tactic, "="))
		}
	}
	return list
}

// rangeWords writes ranges as --range takes them.
func rangeWords(ranges map[string][]float64) (list []string) {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, name := range slices.Sorted(maps.Keys(ranges)) {
		list = append(list, name+"="+number(ranges[name][0])+":"+number(ranges[name][1]))
	}
	return list
}

// shapeWords writes shapes as --shapes takes them.
func shapeWords(shapes map[string][]int) (list []string) {
	for _, input := range slices.Sorted(maps.Keys(shapes)) {
		list = append(list, input+":"+config.TimesText(shapes[input]))
	}
	return list
}

// commaList writes a list as flags of comma-separated values take it.
func commaList(list []string) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.Write(list); err != nil {
		panic("cmd: comma list: " + err.Error()) // nothing fails that writes to memory
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
