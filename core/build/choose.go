package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// Choice finds by trial how weights are rounded, whether channels are equalised and whether rows have ranges of their own: the network is
// quantised in several ways on a part of the calibration data, and that way is taken whose outputs are nearest to those of FP32 on items
// that were held out.
type Choice struct {
	Replay *Replay // the calibration data
	// Roundings and Equalizations are what there is to choose from, one of each at least. The first stands unless another one is
	// better by more than chance. The rounding is chosen first, and again where channels are equalised: their weights are others.
	Roundings     []*Rounding
	Equalizations []*Equalization
	// Rows are the ranges of rows to choose from, last, in the best way so far; none: they stay as Policy has them. Another one than the
	// first takes time at each inference, and has to be better by more.
	Rows []*RowRanges
	// Ranges, if not nil, are what is found of histograms. Few items hardly tell how far others reach: where either half judges the other,
	// trials have the ranges of their own half.
	Ranges func(map[string]*quant.Histogram) map[string]numeric.Range
	// Moments, if not nil, are those that other choices on the same data have found, and get what this one finds.
	Moments *Moments
	// Made, if not nil, is told what was chosen where anything was compared.
	Made func(Way)
}

// Way is one way to quantise: how weights are rounded, channels equalised and rows quantised.
type Way struct {
	Rounding     *Rounding
	Equalization *Equalization
	Rows         *RowRanges
}

// Tried is one way that a Choice has compared.
type Tried struct {
	Rounding     quant.Rounding
	Equalization quant.Equalizer
	ByToken      bool    // rows have ranges of their own
	Items        int     // that were held out
	SQNR         float64 // of the outputs on them, in dB
	Skipped      string  // why it was not tried; empty where it was
}

func (t Tried) String() string {
	name := t.name("")
	if t.Skipped != "" {
		return name + " not tried: " + t.Skipped
	}
	return fmt.Sprintf("%s %.1f dB", name, t.SQNR)
}

// name names the way, with what it does to weights behind its name.
func (t Tried) name(what string) string {
	name := t.Rounding.String() + what
	if !t.Equalization.IsOff() {
		name += ", equalised by " + t.Equalization.String()
	}
	if t.ByToken {
		name += ", by token"
	}
	return name
}

// Bounds of trials.
const (
	fewestChosen  = 4    // items, of which some are held out
	fewestJudging = 8    // items that are held out, of networks with few outputs
	manyChosen    = 32   // items of which a fourth is enough; of fewer, half
	mostJudging   = 32   // items that are held out
	mostCorrected = 16   // items on which biases are corrected in trials
	leastChosen   = 0.1  // dB by which a way must be better
	leastByToken  = 3    // dB by which ranges of rows must be, half of the noise: with them an inference takes a tenth longer or more
	mostWork      = 1e11 // multiplications of rounding by moments: some ten seconds
)

// chooser is one choice.
type chooser struct {
	*Choice
	ctx       context.Context
	optimized *Optimized
	how       LowerConfig
	supports  func(*graph.Layer) error
	folds     []*fold
	best      *way
	tried     []Tried
	trials    int   // how many there are to be, as far as that is known
	now       Tried // what is being tried
}

// choose sets Rounding and Equalization, and returns what was compared.
func (cfg *LowerConfig) choose(ctx context.Context, o *Optimized, supports func(*graph.Layer) error) ([]Tried, error) {
	c := &chooser{Choice: cfg.Choice, ctx: ctx, optimized: o, how: *cfg, supports: supports}
	if c.Moments == nil {
		c.Moments = &Moments{}
	}
	c.Moments.begin(o.Network)
	c.how.Choice = nil
	if len(c.Rows) == 0 {
		c.Rows = []*RowRanges{cfg.Rows}
	}
	cfg.Choice, cfg.Rounding, cfg.Equalization, cfg.Rows = nil, c.Roundings[0], c.Equalizations[0], c.Rows[0]
	if c.Replay.Items < fewestChosen {
		return nil, nil
	}
	if err := c.divide(); err != nil || len(c.folds) == 0 || c.chance() {
		return nil, err
	}
	if err := c.search(); err != nil {
		return nil, err
	}
	w := c.chosen()
	cfg.Rounding, cfg.Equalization, cfg.Rows = w.Rounding, w.Equalization, w.Rows
	if c.Made != nil {
		c.Made(w)
	}
	return c.tried, nil
}

// search tries the ways, one choice after the other.
func (c *chooser) search() error {
	c.trials = len(c.Roundings) + len(c.Equalizations) + len(c.Rows) - 2
	if err := c.try(Way{c.Roundings[0], c.Equalizations[0], c.Rows[0]}); err != nil {
		return err
	}
	if err := c.tryRoundings(c.Roundings[1:]); err != nil {
		return err
	}
	for _, e := range c.Equalizations[1:] {
		if err := c.try(Way{c.best.Rounding, e, c.Rows[0]}); err != nil {
			return err
		}
	}
	if c.best.Equalization != c.Equalizations[0] {
		c.trials += len(c.Roundings) - 1
		rounding := c.best.Rounding
		if err := c.tryRoundings(slices.DeleteFunc(slices.Clone(c.Roundings), func(r *Rounding) bool { return r == rounding })); err != nil {
			return err
		}
	}
	for _, r := range c.Rows[1:] {
		if err := c.try(Way{c.best.Rounding, c.best.Equalization, r}); err != nil {
			return err
		}
	}
	return nil
}

// tryRoundings tries ways to round in the network whose channels are as in the best way so far.
func (c *chooser) tryRoundings(list []*Rounding) error {
	for _, r := range list {
		if err := c.try(Way{r, c.best.Equalization, c.Rows[0]}); err != nil {
			return err
		}
	}
	return nil
}

// try quantises in one way, and keeps it where it is better than the best so far.
func (c *chooser) try(this Way) error {
	r, e := this.Rounding, this.Equalization
	t := Tried{Items: c.judges(), ByToken: this.Rows != nil && this.Rows.ByToken}
	if r != nil {
		t.Rounding = r.By
	}
	if e != nil {
		t.Equalization = e.By
	}
	c.now = t
	c.tell("")
	if work := c.work(r); work > mostWork {
		t.Skipped = fmt.Sprintf("it takes %.0f billion multiplications", work/1e9)
	} else if work > 0 && c.best != nil && c.best.exact && c.best.Equalization == e && r.Few.Bits == 0 {
		t.Skipped = "nothing is lost of weights by the nearest integers"
	}
	if t.Skipped != "" {
		c.tried = append(c.tried, t)
		return nil
	}
	w := &way{Way: this}
	if err := c.measure(w); err != nil {
		return err
	}
	if this.Rows != c.Rows[0] && !w.rounds {
		t.Skipped = "no product quantises rows"
		c.tried = append(c.tried, t)
		return nil
	}
	if e != nil && len(w.equalized) == 0 && c.best != nil && c.best.Rounding == r && c.best.Rows == this.Rows { // the same network
		if t.Skipped = "no channels reach much farther than others"; len(w.unscaled) > 0 {
			t.Skipped = rangeGiven
		}
		c.tried = append(c.tried, t)
		return nil
	}
	t.SQNR = decibels(sum(w.noise) / float64(len(c.folds)))
	c.tried = append(c.tried, t)
	if c.best == nil || w.better(c.best, c.least(w)) {
		c.best = w
	}
	return nil
}

// least returns the dB by which a way must be better than the best so far.
func (c *chooser) least(w *way) float64 {
	if w.Rows != c.best.Rows {
		return leastByToken
	}
	return leastChosen
}

// tell tells which trial is at hand, and how far that is.
func (c *chooser) tell(item string) {
	c.Replay.tell(c.phase(c.now), item, len(c.tried), c.trials)
}

// phase names the trial of a way, and says what those before it had.
func (c *chooser) phase(t Tried) string {
	text := "trying " + t.name(" rounding")
	for i, done := range c.tried {
		text += []string{"; of those held out ", ", "}[min(i, 1)] + done.String()
	}
	return text
}

// work returns about how many multiplications rounding takes.
func (c *chooser) work(r *Rounding) (work float64) {
	if r == nil || !r.By.NeedsMoments() {
		return 0
	}
	for _, l := range c.optimized.Network.Layers {
		if !l.Op.IsProduct() || len(l.Inputs) < 2 || l.Inputs[1] == nil {
			continue
		}
		if v, ok := l.Inputs[1].Const(); ok {
			if m, err := quant.NewMoments(l, v.Dims); err == nil {
				work += m.Work(v.Len() / max(1, m.Inputs()))
			}
		}
	}
	return work
}

// chosen returns the best way, to be done on all of the data; the ledger says of each choice what was compared. Scales of channels
// that were found by all of it are kept, and so are integers by as many items as rounding looks at.
func (c *chooser) chosen() Way {
	r, e, rows := c.best.Rounding, c.best.Equalization, c.best.Rows
	because := c.because()
	if len(c.Roundings) > 1 {
		to := Rounding{By: c.Roundings[1].By, Declined: true}
		if r != nil && r.By.NeedsMoments() {
			to = *r
			switch {
			case c.Replay.Items > mostHeld && !c.halves(): // rounding would look at no more items
				to.Known = c.best.rounded
			case c.goesOn() && c.Moments.has():
				to.Replay, to.kept, to.more, to.items = c.folds[0].held, c.Moments, true, c.Replay.Items
			}
		} else if r != nil {
			to.Few = r.Few
		}
		to.Because = because
		r = &to
	}
	if len(c.Equalizations) > 1 {
		to := Equalization{By: c.Equalizations[1].By, Given: c.Equalizations[1].Given, Declined: true}
		if e != nil && !e.By.IsOff() {
			if to = *e; !c.halves() {
				to.Known = c.best.equalized
			}
		}
		to.Because = because
		e = &to
	}
	if len(c.Rows) > 1 {
		rows = &RowRanges{ByToken: rows != nil && rows.ByToken, Because: because}
	}
	return Way{r, e, rows}
}

// goesOn reports whether the best way is rounded by the moments that its trial has found and by what they lack, all that was held out.
func (c *chooser) goesOn() bool {
	f := c.folds[0]
	return c.Replay.Items <= mostHeld && f.fit.Items+f.held.Items == c.Replay.Items
}

// because says what was compared.
func (c *chooser) because() string {
	text := fmt.Sprintf("on %d items that were held out: ", c.judges())
	for i, t := range c.tried {
		if i > 0 {
			text += "; "
		}
		text += t.String()
	}
	return text
}
