package stages

import (
	"cmp"
	"context"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// way is how a configuration quantises in which all layers stay in 8 bits.
type way struct {
	rounding, equalization string // none: as the best so far
	residuals              bool   // residual sums stay in floating point
	tokens                 bool   // products of rows have ranges by token
}

// inINT8 looks for the most accuracy with all layers in 8 bits. Ways to quantise are compared by engines: what trials on the few items
// that are held out of calibration cannot tell apart, the data can. The range of each tensor is chosen behind the best of them.
func (g *searching) inINT8(ctx context.Context, ways []way) error {
	best, _, err := g.measure(ctx, nil, g.study.noise, "as configured")
	if err != nil {
		return err
	}
	try := func(cfg config.Config, t *study, why string) error {
		was := g.config
		g.config = cfg
		p, _, err := g.measure(ctx, nil, t.noise, why)
		if err != nil || p.SQNR == nil || *p.SQNR <= *best.SQNR {
			g.config = was
			return err
		}
		best, g.study = p, t
		return nil
	}
	if best.SQNR == nil { // nothing tells them apart
		ways = nil
	}
	for i, w := range ways {
		if g.late(waysShare(i)) || len(g.report.Points)+1 >= g.Most { // ranges have an engine, too
			break
		}
		g.studies.told.Progress(report.Progress{Phase: "trying ways to quantise", Item: w.String(), Done: i, Total: len(ways)})
		cfg := g.config.Clone()
		w.apply(&cfg.Quantization)
		t, err := g.studies.open(ctx, cfg)
		if err != nil {
			return err
		}
		if t.noise == g.study.noise { // the same network
			continue
		}
		if err := try(cfg, t, w.String()); err != nil {
			return err
		}
	}
	t, cfg := g.study, g.config
	if err := g.chooseRanges(ctx, refinedUntil); err != nil || g.study == t || len(g.report.Points) >= g.Most {
		return err
	}
	chosen, ranged := g.config, g.study
	g.config, g.study = cfg, t
	return try(chosen, ranged, "ranges chosen by the error of "+g.report.Predicts())
}

// waysShare is the share of a search's time after which no further way is tried: the first is, where anything is left when the
// default has been measured, since it wins most.
func waysShare(tried int) float64 {
	if tried == 0 {
		return 1
	}
	return waysUntil
}

// waysOf returns what is tried in turn, each on top of those before it that were better: weights that compensate, which trials do not choose
// from; residual sums in floating point; ranges by token where there are products of rows; what the configuration leaves to be chosen in every way but the one that was; and all channels
// equalised by the same share, in place of that which is estimated to be the best for each tensor.
func waysOf(q config.Quantization, base *build.Lowered, rows bool) (list []way) {
	if q.Rounder().IsAuto() && q.BiasCorrection == quant.CorrectExact {
		list = append(list, way{rounding: "compensated"})
	}
	list = append(list, way{residuals: true})
	if rows && !base.ByToken {
		list = append(list, way{tokens: true})
	}
	if q.Equalizer().IsAuto() {
		other := "off"
		if len(base.Equalized) == 0 {
			other = "activations"
		}
		for _, e := range []string{other, "activations:0.75", "activations:0.5"} {
			list = append(list, way{equalization: e})
		}
	}
	if q.Rounder().IsAuto() {
		list = append(list, way{rounding: "gptq"}, way{rounding: "nearest"})
	}
	return list
}

// settle goes on with what trials have chosen in the place of what the configuration leaves to them: they would be made anew for each
// way and for other ranges, and might choose otherwise for the layers of a configuration that is read again. What an engine file brings
// stays as it is, since it need not be found.
func (g *searching) settle(ctx context.Context) (err error) {
	in, cfg := g.study.in, g.config.Clone()
	if in.Ranges == nil || g.studies.orders.Stored.found(in.Ranges.By) != nil {
		return nil
	}
	g.study.settle(&cfg.Quantization)
	if key(cfg) == key(g.config) {
		return nil
	}
	g.config = cfg
	g.study, err = g.studies.open(ctx, cfg)
	return err
}

// settle makes of what q leaves to be chosen what was.
func (t *study) settle(q *config.Quantization) {
	if q.Full().Rounder().IsAuto() {
		if q.Rounding = "gptq"; len(t.base.Rounded) == 0 {
			q.Rounding = "nearest"
		}
	}
	if q.Full().Equalizer().IsAuto() {
		if q.Equalization = "activations"; len(t.base.Equalized) == 0 {
			q.Equalization = "off"
		}
	}
	if config.ChoosesRows(*q) {
		q.Activations = q.WithRows(t.base.ByToken)
	}
}

func (w way) apply(q *config.Quantization) {
	q.Rounding, q.Equalization = cmp.Or(w.rounding, q.Rounding), cmp.Or(w.equalization, q.Equalization)
	if w.tokens {
		q.Activations = q.WithRows(true)
	}
	if w.residuals && !slices.Contains(q.Keep, "residuals") {
		q.Keep = append(slices.Clone(q.Keep), "residuals")
	}
}

func (w way) String() string {
	switch {
	case w.residuals:
		return "residual sums in floating point"
	case w.tokens:
		return "ranges by token"
	case w.rounding != "":
		return "rounding " + w.rounding
	}
	return "equalization " + w.equalization
}
