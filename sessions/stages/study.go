package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// studies prepares studies of configurations.
type studies struct {
	model       *model.Model
	orders      *orders
	told        *Audience
	calibration *calibration
	precisions  *precisions
	tuning      *tuning
	data        dataset.Data // that is evaluated
	together    bool         // errors are of all outputs together, not of the first alone, by which engines are judged
}

// study is a quantised configuration with all that variants of it are made from: each is lowered as the configuration is but for
// some rules and ranges, with the corrections of biases that it has, and is run on a few items from the first layer on that
// differs, in real numbers with what rounding does to them.
type study struct {
	*studies
	config   config.Config
	in       lowering
	source   *build.Optimized
	base     *build.Lowered
	how      build.LowerConfig // of the configuration
	alone    *build.Correction // of a layer that is quantised by itself
	from     dataset.Data      // that variants are run on
	replay   *build.Replay     // from
	variants *build.Variants
	want     build.Outputs // of FP32: the outputs that variants are compared by
	confirm  compared
	noise    float64 // of the configuration
	cost     cost    // of the configuration
	parts    []studied
}

// compared is what networks are compared on that nothing is held of: more items than variants are run on.
type compared struct {
	items *build.Variants // nil before there is anything to compare
	want  build.Outputs
}

// studied is a layer, or a group of layers that read one scale, that is in 8 bits.
type studied struct {
	name   string
	own    []string // names in the network that is lowered
	source []string // names by which precisions are set
	group  bool
}

// cost is what a variant takes, by its plan.
type cost struct {
	time           time.Duration // of all steps, by the tuner
	weights, arena int
}

// NotQuantized is the error of a configuration none of whose layers can be raised.
type NotQuantized struct {
	Why string
	Own bool // the model brings its own quantisation
}

func (e *NotQuantized) Error() string { return "there is nothing to raise: " + e.Why }

// open prepares the study of a configuration.
func (s *studies) open(ctx context.Context, cfg config.Config) (*study, error) {
	switch {
	case s.model.Quantized:
		return nil, &NotQuantized{Why: "the model brings its own quantisation", Own: true}
	case !cfg.Quantizes():
		return nil, &NotQuantized{Why: fmt.Sprintf("the precision is %s", cfg.Precision)}
	case len(cfg.State) > 0:
		return nil, errors.New("variants are run on items by themselves, and the model has a state that goes from item to item")
	}
	if err := s.model.NeedsSource("raising layers"); err != nil {
		return nil, err
	}
	t := &study{studies: s, config: cfg}
	var err error
	if t.base, err = s.precisions.Lower(ctx, cfg); err != nil {
		return nil, err
	}
	if t.in, err = s.orders.lowering(cfg); err != nil {
		return nil, err
	}
	if t.in.Planned { // an engine file has it, as it is: what it was lowered from is made anew
		t.in.Planned, t.in.Of.Planned = false, false
	}
	if t.source, t.how, err = s.precisions.prepare(ctx, t.in); err != nil {
		return nil, err
	}
	if t.base.Quantised == nil {
		if err = t.lowerAgain(ctx); err != nil {
			return nil, err
		}
	}
	if len(t.base.Equalized) > 0 { // each variant as the configuration
		t.how.Equalization = &build.Equalization{Known: t.base.Equalized}
	}
	if t.base.Rounded != nil {
		few, _ := quant.ParseFewBits(t.in.Weights) // an error was found before
		t.how.Rounding = &build.Rounding{By: t.in.Quantized.Rounder(), Few: few, Known: t.base.Rounded}
	}
	if len(t.base.Shifts) > 0 {
		t.how.Correction = &build.Correction{Shifts: t.base.Shifts}
	}
	t.divide()
	if len(t.parts) == 0 {
		return nil, &NotQuantized{Why: "no layer computes on 8-bit weights"}
	}
	return t, t.prepare(ctx)
}

// lowerAgain lowers the configuration where its engine file has only what came of that.
func (t *study) lowerAgain(ctx context.Context) (err error) {
	how := t.how
	if err = t.precisions.calibration.how(ctx, t.in, &how); err != nil {
		return err
	}
	t.base, err = build.Lower(ctx, t.source, how, t.precisions.supports(t.in))
	return err
}

// divide finds the layers that can be raised, and the groups of them.
func (t *study) divide() {
	source := map[string][]string{}
	for _, l := range t.source.Network.Layers {
		source[l.Name] = []string{strings.ReplaceAll(l.Name, ",", "*")}
		if len(l.From) > 0 {
			source[l.Name] = []string{strings.ReplaceAll(l.From[0], ",", "*")} // a comma would end the rule
		}
	}
	for _, name := range quant.Products(t.base.Quantised) {
		t.parts = append(t.parts, studied{name: name, own: []string{name}, source: source[name]})
	}
	for _, group := range quant.Sharing(t.base.Quantised) {
		p := studied{name: strings.Join(group, ", "), own: group, group: true}
		for _, name := range group {
			p.source = append(p.source, source[name]...)
		}
		t.parts = append(t.parts, p)
	}
}

// ErrNoVariants says that variants cannot be compared for lack of items.
var ErrNoVariants = errors.New("there is no data to run variants on")

// prepare runs FP32 and the configuration on the items, and holds what they give.
func (t *study) prepare(ctx context.Context) error {
	if t.from = t.calibration.Data; t.from == nil || t.from.Len() == 0 { // a file of ranges has no items
		t.from = t.data
	}
	if t.from == nil || t.from.Len() == 0 {
		return ErrNoVariants
	}
	collecting, err := t.orders.collecting(t.config)
	if err == nil {
		t.from, err = dataset.At(t.from, collecting.Symbols, 0)
	}
	if err != nil {
		return err
	}
	if t.how.Correction != nil && t.calibration.Items() > 0 {
		found, err := t.calibration.Hist.Of(ctx, collecting)
		if err != nil {
			return err
		}
		t.alone = &build.Correction{Means: found.ChannelMeans()}
	}
	t.calibration.device.Busy.Lock()
	defer t.calibration.device.Busy.Unlock()
	t.told.Progress(report.Progress{Phase: "running FP32 and " + string(t.config.Precision)})
	t.replay = &build.Replay{Backend: t.calibration.host, Env: collecting.Symbols, Batches: inputsOf(t.from, t.from.Len()), Items: t.from.Len()}
	if t.variants, err = build.NewVariants(ctx, t.replay, t.base.Quantised, 2); err != nil {
		return err
	}
	if err := t.variants.Hold(ctx, t.source.Network, t.base.Quantised); err != nil {
		return err
	}
	if t.want, err = t.variants.Run(ctx, t.source.Network); err != nil {
		return err
	}
	t.want = t.judging(t.want)
	got, err := t.variants.Run(ctx, t.base.Quantised)
	t.noise = t.want.Noise(got)
	return err
}

// judging returns the outputs that networks are compared by.
func (t *study) judging(outputs build.Outputs) build.Outputs {
	if t.together {
		return outputs
	}
	return outputs[:min(1, len(outputs))]
}

// variant is how a network differs from that of the study.
type variant struct {
	rules  []quant.Rule             // after those of the configuration
	ranges map[string]numeric.Range // in place of those of the configuration
	alone  bool                     // layers in 8 bits are corrected by what they do by themselves
}

// raised returns the variant in which parts have a precision that there is.
func raised(to config.Precision, parts ...studied) (v variant) {
	for _, p := range parts {
		for _, name := range p.source {
			if r, err := quant.NewRule(name, string(to)); err == nil {
				v.rules = append(v.rules, r)
			}
		}
	}
	return v
}

// only returns the variant in which a part alone is in 8 bits.
func only(p studied) variant {
	v := raised(config.INT8, p)
	v.rules, v.alone = append([]quant.Rule{{Pattern: "*", Precision: numeric.F32}}, v.rules...), true
	return v
}

func (t *study) lowering(v variant) build.LowerConfig {
	how := t.how
	how.Policy.Rules = slices.Concat(how.Policy.Rules, v.rules)
	if len(v.ranges) > 0 {
		how.Ranges = maps.Clone(how.Ranges)
		maps.Copy(how.Ranges, v.ranges)
	}
	if v.alone && t.alone != nil {
		how.Correction = t.alone
	}
	return how
}

// quantised returns the network of a variant in real numbers.
func (t *study) quantised(ctx context.Context, v variant) (*graph.Network, error) {
	l, err := build.Quantise(ctx, t.source, t.lowering(v), t.precisions.supports(t.in))
	if err != nil {
		return nil, err
	}
	return l.Quantised, nil
}

// noiseOf returns the squared error of a variant's outputs that are compared, by the square of FP32's.
func (t *study) noiseOf(ctx context.Context, v variant) (float64, error) {
	n, err := t.quantised(ctx, v)
	if err != nil {
		return 0, err
	}
	t.calibration.device.Busy.Lock()
	defer t.calibration.device.Busy.Unlock()
	got, err := t.variants.Run(ctx, n)
	if err != nil {
		return 0, err
	}
	return t.want.Noise(got), nil
}

// noiseOfOwn returns the squared error of a network of its own, as noiseOf does that of a variant, on more items.
func (t *study) noiseOfOwn(ctx context.Context, n *graph.Network) (float64, error) {
	t.calibration.device.Busy.Lock()
	defer t.calibration.device.Busy.Unlock()
	if t.confirm.items == nil {
		items, err := build.NewVariants(ctx, t.replay, t.base.Quantised, 0)
		if err != nil {
			return 0, err
		}
		want, err := items.Run(ctx, t.source.Network)
		if err != nil {
			return 0, err
		}
		t.confirm = compared{items, t.judging(want)}
	}
	got, err := t.confirm.items.Run(ctx, n)
	if err != nil {
		return 0, err
	}
	return t.confirm.want.Noise(got), nil
}

// costOf returns what a variant takes, with all that fuses in it.
func (t *study) costOf(ctx context.Context, v variant) (cost, error) {
	l, err := build.Lower(ctx, t.source, t.lowering(v), t.precisions.supports(t.in))
	if err != nil {
		return cost{}, err
	}
	in, err := t.orders.planning(t.config)
	if err != nil {
		return cost{}, err
	}
	choices := choicesOf(in.Pin, in.Forbid, l.Network)
	for layer := range choices.Pin { // a layer that is raised has other tactics
		if at := l.Network.Layer(layer); at == nil || slices.ContainsFunc(v.rules, func(r quant.Rule) bool { return r.Matches(at) }) {
			delete(choices.Pin, layer)
		}
	}
	t.calibration.device.Busy.Lock()
	defer t.calibration.device.Busy.Unlock()
	p, err := build.Plan(ctx, l.Network, in.symbols(), t.precisions.backend, build.PlanConfig{Min: in.Min, Max: in.Max, Cache: t.tuning.cache, Choices: choices, InTurn: in.inTurn()})
	if err != nil {
		return cost{}, err
	}
	return costOfPlan(p), nil
}

func costOfPlan(p *run.Plan) cost {
	c := cost{weights: p.Memory.Weights, arena: p.Memory.Peak}
	for _, st := range p.Steps {
		c.time += st.Time
	}
	return c
}

// firstOf returns the name of the first output, where there are others.
func firstOf(m *model.Model) string {
	if out := m.Network.Outputs; len(out) > 1 {
		return out[0].Name
	}
	return ""
}

// set gives layers a precision in a configuration.
func set(cfg config.Config, to config.Precision, layers []string) config.Config {
	cfg = cfg.Clone()
	for _, name := range layers {
		cfg.SetLayerPrecision(name, to)
	}
	return cfg
}
