package build

import (
	"context"
	"crypto/sha256"
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
	// Ranges, if not nil, are what is found of histograms. Few items hardly tell how far others reach: where either half judges the other,
	// trials have the ranges of their own half.
	Ranges func(map[string]*quant.Histogram) map[string]numeric.Range
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
	folds     []*fold
	best      *way
	tried     []Tried
	trials    int   // how many there are to be, as far as that is known
	now       Tried // what is being tried
}

// fold is a division of the data: ways are done on a part of it, and judged by another one.
type fold struct {
	fit, held *Replay
	want      *staged // FP32 on what is held out
	moments   *Moments
	seen      *Collected // of what it is done on
}

// way is what is tried, and what came of it.
type way struct {
	rounding     *Rounding
	equalization *Equalization
	equalized    Equalized
	unscaled     []string // since ranges were given
	rounded      Rounded
	exact        bool      // its integers are the weights of the float network, of which nothing is lost
	noise        []float64 // of the outputs, by item that was held out
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
	if err := c.divide(); err != nil || len(c.folds) == 0 || c.chance() {
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

// divide holds items of the data to quantise on, and others to judge by. Of few items, either half judges the other.
func (c *chooser) divide() error {
	every := everyHeld(c.Replay.Items)
	judges := c.Replay.Items / every
	others := c.Replay.Items - judges
	most := heldItems(c.optimized.Network, c.Replay.Env)
	var items []map[string]numeric.Value
	var held []bool
	i, judge, other := 0, 0, 0
	for in, err := range c.Replay.Batches {
		if err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		judging, n, at, bound := i%every == every-1, others, &other, min(most, mostHeld)
		if judging {
			n, at, bound = judges, &judge, min(most, mostJudging)
		}
		if spread := max(1, (n+bound-1)/bound); *at%spread == 0 && *at/spread < bound {
			items, held = append(items, copyOf(in)), append(held, judging)
		}
		*at++
		i++
	}
	if some := unlike(items); len(some) < len(items) { // one that judges must tell something new
		items, every = some, everyHeld(len(some))
		for i := range items {
			held[i] = i%every == every-1
		}
	}
	if len(items) < fewestChosen {
		return nil
	}
	var parts [2][]map[string]numeric.Value
	for i, in := range items {
		part := 0
		if held[i] {
			part = 1
		}
		parts[part] = append(parts[part], in)
	}
	c.folds = []*fold{{fit: c.replay(parts[0]), held: c.replay(parts[1]), moments: c.Moments}}
	if every == 2 {
		other := &fold{fit: c.replay(parts[1]), held: c.replay(parts[0]), moments: &Moments{}}
		other.moments.begin(c.optimized.Network)
		c.folds = append(c.folds, other)
	}
	return nil
}

// everyHeld is which of so many items is held out: one of so many.
func everyHeld(items int) int {
	if items < manyChosen {
		return 2
	}
	return 4
}

// unlike returns the first of items that are alike.
func unlike(items []map[string]numeric.Value) (list []map[string]numeric.Value) {
	seen := map[[sha256.Size]byte]bool{}
	for _, in := range items {
		if sum := checksum(in); !seen[sum] {
			seen[sum] = true
			list = append(list, in)
		}
	}
	return list
}

// checksum returns what tells an item from others.
func checksum(in map[string]numeric.Value) [sha256.Size]byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(in)) {
		h.Write(in[name].Data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// chance reports whether what is held out is so little that it tells chance.
func (c *chooser) chance() bool {
	n, items := 0, c.folds[0].held.Items
	for _, t := range logits(c.optimized.Network) {
		n += numeric.Count(symbolic.Eval(t.Dims, c.Replay.Env))
	}
	return items < fewestJudging && items*n < fewestCompared
}

// halves reports whether either half of few items judges the other.
func (c *chooser) halves() bool { return len(c.folds) > 1 }

// judges is how many items ways are judged by.
func (c *chooser) judges() (items int) {
	for _, f := range c.folds {
		items += f.held.Items
	}
	return items
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
	t := Tried{Items: c.judges()}
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
	t.SQNR = decibels(sum(w.noise) / float64(len(c.folds)))
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
	for _, f := range c.folds {
		noise, err := c.measureOn(w, f)
		if err != nil {
			return err
		}
		w.noise = append(w.noise, noise...)
	}
	return nil
}

// measureOn quantises in one way on a part of the data, and returns the errors of the outputs on the other one. What w keeps of it is what
// the first part gave.
func (c *chooser) measureOn(w *way, f *fold) ([]float64, error) {
	how := c.how
	if how.Rounding = w.rounding; w.rounding != nil && w.rounding.Replay != nil {
		r := *w.rounding
		r.Replay, r.kept = f.fit, f.moments
		if c.goesOn() {
			r.items = c.Replay.Items
		}
		how.Rounding = &r
	}
	how.Equalization = w.equalization
	if err := c.calibrate(&how, f); err != nil {
		return nil, err
	}
	if how.Correction != nil {
		few := *f.fit
		few.most = mostCorrected
		how.Correction = &Correction{Replay: &few}
	}
	l, n, _, err := placed(c.ctx, c.optimized, how, c.supports)
	if err != nil {
		return nil, err
	}
	if f == c.folds[0] {
		w.equalized, w.unscaled, w.rounded = l.Equalized, l.Unscaled, l.Rounded
		w.exact = allLossless(c.optimized.Network, n)
	}
	float := c.optimized.Network
	want, got := c.compared(float, n, f)
	if f.want == nil || !slices.Equal(f.want.last, namesOf(want)) {
		if f.want, err = c.run(float, want, f); err != nil {
			return nil, err
		}
	}
	s, err := c.run(n, got, f)
	if err != nil {
		return nil, err
	}
	noises := make([]float64, len(s.held))
	for o, t := range got {
		var signal float64
		errs := make([]float64, len(s.held))
		for i, held := range s.held {
			a, b := f.want.held[i][want[o].Name], restored(l.Equalized, t, held[t.Name])
			power, noise := powers(a.Floats(), b.Floats())
			signal, errs[i] = signal+power, noise
		}
		for i, e := range errs {
			if signal > 0 {
				noises[i] += e / signal
			}
		}
	}
	return noises, nil
}

// calibrate has a trial find ranges, and what channels are divided by, on its half of few items.
func (c *chooser) calibrate(how *LowerConfig, f *fold) (err error) {
	if !c.halves() || c.Ranges == nil || how.Ranges == nil {
		return nil
	}
	if f.seen == nil {
		c.tell("collecting activations")
		if f.seen, err = Collect(c.ctx, c.optimized.Network, f.fit.Backend, f.fit.Batches, nil, nil); err != nil {
			return err
		}
	}
	how.Ranges = maps.Clone(how.Ranges)
	maps.Copy(how.Ranges, c.Ranges(f.seen.Histograms))
	if e := how.Equalization; e != nil && e.Known == nil && e.Ranges != nil {
		scaled := *e
		scaled.Spreads = f.seen.Spreads()
		scaled.Ranges = func(ctx context.Context, n *graph.Network, names []string) (map[string]numeric.Range, error) {
			found, err := CollectScaled(ctx, n, f.fit.Backend, f.fit.Batches, nil, names, nil)
			if err != nil {
				return nil, err
			}
			return c.Ranges(found.Histograms), nil
		}
		how.Equalization = &scaled
	}
	return nil
}

// compared returns what two networks are compared by. Where weights are rounded alone, the last product's may be all that are: what it
// reads, which else stands for few outputs, would be the same.
func (c *chooser) compared(float, n *graph.Network, f *fold) (want, got []*graph.Tensor) {
	if r := c.Roundings[0]; r != nil && r.Few.Bits > 0 {
		return logits(float), logits(n)
	}
	return compared(float, n, f.held.Env, f.held.Items)
}

// run runs a network on what is held out, as far as some tensors.
func (c *chooser) run(n *graph.Network, tensors []*graph.Tensor, f *fold) (*staged, error) {
	s, err := f.held.stage(c.ctx, n, f.held.Items)
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
// that were found by all of it are kept, and so are integers by as many items as rounding looks at.
func (c *chooser) chosen() (*Rounding, *Equalization) {
	r, e := c.best.rounding, c.best.equalization
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
	return r, e
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
