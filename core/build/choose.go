package build

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
)

// Choice finds by trial how weights are rounded and whether channels are equalised: the network is quantised in several ways on a part
// of the calibration data, and that way is taken whose outputs are nearest to those of FP32 on items that were held out.
type Choice struct {
	Replay *Replay // the calibration data
	// Roundings and Equalizations are what there is to choose from, one of each at least. The first stands unless another one is
	// better by more than chance. The rounding is chosen first, and again where channels are equalised: their weights are others.
	Roundings     []*Rounding
	Equalizations []*Equalization
	// Moments, if not nil, are those that other choices on the same data have found, and get what this one finds.
	Moments *Moments
	// Made, if not nil, is told what was chosen where anything was compared.
	Made func(*Rounding, *Equalization)
}

// Tried is one way that a Choice has compared.
type Tried struct {
	Rounding     quant.Rounding
	Equalization quant.Equalizer
	Items        int     // that were held out
	SQNR         float64 // of the outputs on them, in dB
	Skipped      string  // why it was not tried; empty where it was
}

func (t Tried) String() string {
	name := t.Rounding.String()
	if !t.Equalization.IsOff() {
		name += ", equalised by " + t.Equalization.String()
	}
	if t.Skipped != "" {
		return name + " not tried: " + t.Skipped
	}
	return fmt.Sprintf("%s %.1f dB", name, t.SQNR)
}

// Bounds of trials.
const (
	fewestChosen  = 4    // items, of which some are held out
	fewestJudging = 8    // items that are held out, of networks with few outputs
	manyChosen    = 32   // items of which a fourth is enough; of fewer, half
	mostJudging   = 32   // items that are held out
	mostCorrected = 16   // items on which biases are corrected in trials
	leastChosen   = 0.1  // dB by which a way must be better
	mostWork      = 1e11 // multiplications of rounding by moments: some ten seconds
)

// chooser is one choice.
type chooser struct {
	*Choice
	ctx       context.Context
	optimized *Optimized
	how       LowerConfig
	supports  func(*graph.Layer) error
	fit, held *Replay
	want      *staged // FP32 on what is held out
	best      *way
	tried     []Tried
	trials    int   // how many there are to be, as far as that is known
	now       Tried // what is being tried
}

// way is what is tried, and what came of it.
type way struct {
	rounding     *Rounding
	equalization *Equalization
	equalized    Equalized
	unscaled     []string // since ranges were given
	rounded      Rounded
	exact        bool      // its integers are the weights of the float network, of which nothing is lost
	noise        []float64 // of the outputs, by item
}

// choose sets Rounding and Equalization, and returns what was compared.
func (cfg *LowerConfig) choose(ctx context.Context, o *Optimized, supports func(*graph.Layer) error) ([]Tried, error) {
	c := &chooser{Choice: cfg.Choice, ctx: ctx, optimized: o, how: *cfg, supports: supports}
	if c.Moments == nil {
		c.Moments = &Moments{}
	}
	c.Moments.begin(o.Network)
	c.how.Choice = nil
	cfg.Choice, cfg.Rounding, cfg.Equalization = nil, c.Roundings[0], c.Equalizations[0]
	if c.Replay.Items < fewestChosen {
		return nil, nil
	}
	if err := c.divide(); err != nil || c.chance() {
		return nil, err
	}
	if err := c.search(); err != nil {
		return nil, err
	}
	cfg.Rounding, cfg.Equalization = c.chosen()
	if c.Made != nil {
		c.Made(cfg.Rounding, cfg.Equalization)
	}
	return c.tried, nil
}

// search tries the ways, one choice after the other.
func (c *chooser) search() error {
	c.trials = len(c.Roundings) + len(c.Equalizations) - 1
	if err := c.try(c.Roundings[0], c.Equalizations[0]); err != nil {
		return err
	}
	if err := c.tryRoundings(c.Roundings[1:]); err != nil {
		return err
	}
	for _, e := range c.Equalizations[1:] {
		if err := c.try(c.best.rounding, e); err != nil {
			return err
		}
	}
	if c.best.equalization == c.Equalizations[0] {
		return nil
	}
	c.trials += len(c.Roundings) - 1
	rounding := c.best.rounding
	return c.tryRoundings(slices.DeleteFunc(slices.Clone(c.Roundings), func(r *Rounding) bool { return r == rounding }))
}

// tryRoundings tries ways to round in the network whose channels are as in the best way so far.
func (c *chooser) tryRoundings(list []*Rounding) error {
	for _, r := range list {
		if err := c.try(r, c.best.equalization); err != nil {
			return err
		}
	}
	return nil
}

// divide holds items of the data to quantise on, and others to judge by.
func (c *chooser) divide() error {
	every := 4
	if c.Replay.Items < manyChosen {
		every = 2
	}
	judges := c.Replay.Items / every
	others := c.Replay.Items - judges
	most := heldItems(c.optimized.Network, c.Replay.Env)
	var fit, held []map[string]numeric.Value
	i, judge, other := 0, 0, 0
	for in, err := range c.Replay.Batches {
		if err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		list, n, at, bound := &fit, others, &other, min(most, mostHeld)
		if i%every == every-1 {
			list, n, at, bound = &held, judges, &judge, min(most, mostJudging)
		}
		if spread := max(1, (n+bound-1)/bound); *at%spread == 0 && len(*list) < bound {
			*list = append(*list, copyOf(in))
		}
		*at++
		i++
	}
	c.fit, c.held = c.replay(fit), c.replay(held)
	return nil
}

// chance reports whether what is held out is so little that it tells chance.
func (c *chooser) chance() bool {
	n := 0
	for _, t := range logits(c.optimized.Network) {
		n += numeric.Count(symbolic.Eval(t.Dims, c.Replay.Env))
	}
	return c.held.Items < fewestJudging && c.held.Items*n < fewestCompared
}

// replay returns items as data.
func (c *chooser) replay(items []map[string]numeric.Value) *Replay {
	r := *c.Replay
	r.Items = len(items)
	r.Progress = func(phase, _ string, done, of int) { c.tell(fmt.Sprintf("%s %d/%d", phase, done, of)) }
	r.Batches = func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range items {
			if !yield(maps.Clone(in), nil) {
				return
			}
		}
	}
	return &r
}

// try quantises in one way, and keeps it where it is better than the best so far.
func (c *chooser) try(r *Rounding, e *Equalization) error {
	t := Tried{Items: c.held.Items}
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
	} else if work > 0 && c.best != nil && c.best.exact && c.best.equalization == e && r.Few.Bits == 0 {
		t.Skipped = "nothing is lost of weights by the nearest integers"
	}
	if t.Skipped != "" {
		c.tried = append(c.tried, t)
		return nil
	}
	w := &way{rounding: r, equalization: e}
	if err := c.measure(w); err != nil {
		return err
	}
	if e != nil && len(w.equalized) == 0 && c.best != nil && c.best.rounding == r { // the same network
		if t.Skipped = "no channels reach much farther than others"; len(w.unscaled) > 0 {
			t.Skipped = rangeGiven
		}
		c.tried = append(c.tried, t)
		return nil
	}
	t.SQNR = decibels(sum(w.noise))
	c.tried = append(c.tried, t)
	if c.best == nil || w.better(c.best) {
		c.best = w
	}
	return nil
}

// tell tells which trial is at hand, and how far that is.
func (c *chooser) tell(item string) {
	c.Replay.tell(c.phase(c.now), item, len(c.tried), c.trials)
}

// phase names the trial of a way, and says what those before it had.
func (c *chooser) phase(t Tried) string {
	text := "trying " + t.Rounding.String() + " rounding"
	if !t.Equalization.IsOff() {
		text += ", equalised by " + t.Equalization.String()
	}
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

// measure quantises in one way, and measures the outputs.
func (c *chooser) measure(w *way) error {
	how := c.how
	if how.Rounding = w.rounding; w.rounding != nil && w.rounding.Replay != nil {
		r := *w.rounding
		r.Replay, r.kept = c.fit, c.Moments
		if c.goesOn() {
			r.items = c.Replay.Items
		}
		how.Rounding = &r
	}
	how.Equalization = w.equalization
	if how.Correction != nil {
		few := *c.fit
		few.most = mostCorrected
		how.Correction = &Correction{Replay: &few}
	}
	l, n, _, err := placed(c.ctx, c.optimized, how, c.supports)
	if err != nil {
		return err
	}
	w.equalized, w.unscaled, w.rounded = l.Equalized, l.Unscaled, l.Rounded
	w.exact = allLossless(c.optimized.Network, n)
	float := c.optimized.Network
	want, got := c.compared(float, n)
	if c.want == nil || !slices.Equal(c.want.last, namesOf(want)) {
		if c.want, err = c.run(float, want); err != nil {
			return err
		}
	}
	s, err := c.run(n, got)
	if err != nil {
		return err
	}
	w.noise = make([]float64, len(s.held))
	for o, t := range got {
		var signal float64
		errs := make([]float64, len(s.held))
		for i, held := range s.held {
			a, b := c.want.held[i][want[o].Name], restored(l.Equalized, t, held[t.Name])
			power, noise := powers(a.Floats(), b.Floats())
			signal, errs[i] = signal+power, noise
		}
		for i, e := range errs {
			if signal > 0 {
				w.noise[i] += e / signal
			}
		}
	}
	return nil
}

// compared returns what two networks are compared by. Where weights are rounded alone, the last product's may be all that are: what it
// reads, which else stands for few outputs, would be the same.
func (c *chooser) compared(float, n *graph.Network) (want, got []*graph.Tensor) {
	if r := c.Roundings[0]; r != nil && r.Few.Bits > 0 {
		return logits(float), logits(n)
	}
	return compared(float, n, c.held.Env, c.held.Items)
}

// run runs a network on what is held out, as far as some tensors.
func (c *chooser) run(n *graph.Network, tensors []*graph.Tensor) (*staged, error) {
	s, err := c.held.stage(c.ctx, n, c.held.Items)
	if err != nil {
		return nil, err
	}
	s.last = namesOf(tensors)
	return s, s.finish(n, tensors)
}

// restored returns what a tensor of a network whose channels are scaled is without that. The integers that a product reads the real
// numbers of have the tensor's name.
func restored(e Equalized, t *graph.Tensor, v numeric.Value) numeric.Value {
	if l := t.Producer; l != nil && l.Op == graph.Dequantize {
		t = l.Inputs[0]
	}
	for _, name := range []string{t.Name, quant.SourceTensor(t.Name)} {
		if _, ok := e[name]; ok {
			_, v = e.Restore(name, v)
			break
		}
	}
	return v
}

// better reports whether a way has less noise than another by more than the standard error of the difference, and enough of it. Of few
// items the standard error itself is hardly known, and the difference has to be twice that.
func (w *way) better(other *way) bool {
	n := float64(len(w.noise))
	mine, theirs := sum(w.noise), sum(other.noise)
	mean, squares := (theirs-mine)/n, 0.0
	for i, v := range w.noise {
		d := other.noise[i] - v - mean
		squares += d * d
	}
	by := 1.0
	if len(w.noise) < fewestJudging {
		by = 2
	}
	return decibels(mine) > decibels(theirs)+leastChosen && theirs-mine > by*math.Sqrt(squares*n/max(1, n-1))
}

func sum(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// chosen returns the best way, to be done on all of the data; the ledger says of either choice what was compared. Scales of channels
// that were found are kept, and so are integers by as many items as rounding looks at.
func (c *chooser) chosen() (*Rounding, *Equalization) {
	r, e := c.best.rounding, c.best.equalization
	because := c.because()
	if len(c.Roundings) > 1 {
		to := Rounding{By: c.Roundings[1].By, Declined: true}
		if r != nil && r.By.NeedsMoments() {
			to = *r
			switch {
			case c.Replay.Items > mostHeld: // rounding would look at no more items
				to.Known = c.best.rounded
			case c.goesOn() && c.Moments.has():
				to.Replay, to.kept, to.more, to.items = c.held, c.Moments, true, c.Replay.Items
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
			to = *e
			to.Known = c.best.equalized
		}
		to.Because = because
		e = &to
	}
	return r, e
}

// goesOn reports whether the best way is rounded by the moments that its trial has found and by what they lack, all that was held out.
func (c *chooser) goesOn() bool {
	return c.Replay.Items <= mostHeld && c.fit.Items+c.held.Items == c.Replay.Items
}

// because says what was compared.
func (c *chooser) because() string {
	text := fmt.Sprintf("on %d items that were held out: ", c.held.Items)
	for i, t := range c.tried {
		if i > 0 {
			text += "; "
		}
		text += t.String()
	}
	return text
}
