package stages

import (
	"cmp"
	"context"
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// way is how a configuration quantises in which all layers stay in 8 bits.
type way struct {
	rounding, equalization string // of the former none: as the best so far
	residuals              bool   // residual sums stay in floating point
}

// inINT8 looks for the most accuracy with all layers in 8 bits. Ways to quantise are compared by engines: what trials on the few items
// that are held out of calibration cannot tell apart, the data can. The range of each tensor is chosen behind the best of them.
func (g *searching) inINT8(ctx context.Context) error {
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
	ways := g.ways()
	if best.SQNR == nil { // nothing tells them apart
		ways = nil
	}
	for i, w := range ways {
		if g.late(waysUntil) || len(g.report.Points)+1 >= g.Most { // ranges have an engine, too
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
	return try(chosen, ranged, "ranges chosen by the error of the outputs")
}

// ways returns what is tried in turn, each on top of those before it that were better: residual sums in floating point, then what the
// configuration leaves to be chosen in every way but the one that was, and all channels equalised by the same share, which is none of
// what trials choose from: for each tensor they take the share that is estimated to be its best.
func (g *searching) ways() []way {
	q, base := g.config.Quantization.Full(), g.study.base
	now := way{rounding: q.Rounding, equalization: q.Equalization}
	roundings, equalizations := []string{q.Rounding}, []string{q.Equalization}
	if q.Rounder().IsAuto() {
		roundings = []string{"gptq", "nearest"}
		if now.rounding = roundings[0]; len(base.Rounded) == 0 {
			now.rounding = roundings[1]
		}
	}
	if q.Equalizer().IsAuto() {
		equalizations = []string{"activations", "off"}
		if now.equalization = equalizations[0]; len(base.Equalized) == 0 {
			now.equalization = equalizations[1]
		}
	}
	list := []way{{now.rounding, now.equalization, true}}
	for _, r := range roundings {
		for _, e := range equalizations {
			if w := (way{r, e, false}); w != now {
				list = append(list, w)
			}
		}
	}
	if q.Equalizer().IsAuto() {
		list = append(list, way{"", "activations:0.75", false}, way{"", "activations:0.5", false})
	}
	return list
}

func (w way) apply(q *config.Quantization) {
	q.Rounding, q.Equalization = cmp.Or(w.rounding, q.Rounding), w.equalization
	if w.residuals && !slices.Contains(q.Keep, "residuals") {
		q.Keep = append(slices.Clone(q.Keep), "residuals")
	}
}

func (w way) String() string {
	text := "equalization " + w.equalization
	if w.rounding != "" {
		text = "rounding " + w.rounding + ", " + text
	}
	if w.residuals {
		text += ", residual sums in floating point"
	}
	return text
}
