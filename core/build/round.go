package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
)

// Rounding says how the weights of products become integers.
type Rounding struct {
	By     quant.Rounding // of all that do
	Few    quant.FewBits  // what those of products of real numbers become; zero: they stay
	Replay *Replay        // data that By sees what weights are multiplied by on; nil: weights are rounded to the nearest
	State  run.State      // of the data
	// Known, if not nil, is what an earlier rounding by moments found, and is done again: Replay is not read.
	Known Rounded
	// Because, if not empty, says why By was chosen; with Declined, why it was not, so that the nearest integers stay.
	Because  string
	Declined bool

	kept  *Moments // of the network before its channels were equalised, where others have found them
	more  bool     // Replay has items that kept have not seen
	items int      // of which Replay's are some; 0: all
}

// rounder is one run of the pass.
type rounder struct {
	*Rounding
	ctx       context.Context
	before    *graph.Network // with weights that are not integers yet
	equalized Equalized      // what its channels are divided by
	moments   map[string]*quant.Moments
	complete  map[string]bool // layers whose moments need no data
	rounded   Rounded
	matrix    multiplier
}

// roundTask is a layer whose weights are to be rounded.
type roundTask struct {
	layer  *graph.Layer // in the network that is lowered
	before *graph.Layer // of the same name in the float network; nil where that has none
	site   *pass.Candidate
	few    bool // a product of real numbers
}

// round rounds the weights of n, which the quantiser made of before, and notes in l what it did.
func (l *Lowered) round(ctx context.Context, c *Rounding, before, n *graph.Network, pc *pass.Config) (*graph.Network, error) {
	r := &rounder{Rounding: c, ctx: ctx, before: before, equalized: l.Equalized, moments: map[string]*quant.Moments{}, complete: map[string]bool{}, rounded: Rounded{}}
	if c.Replay != nil {
		r.matrix = multiplier{ctx: ctx, backend: c.Replay.Backend}
		defer r.matrix.close()
	}
	sub := *pc
	sub.Until, sub.Extra = 0, nil
	n, steps, err := passes.Run(ctx, n, []pass.Pass{quantise.RoundWeights(func(w *pass.Rewrite) {
		if err := r.run(w); err != nil {
			w.Fail(fmt.Errorf("rounding weights: %w", err))
		}
	})}, sub)
	if err != nil {
		return nil, err
	}
	l.Steps = append(l.Steps, steps...)
	if c.By.NeedsMoments() {
		l.Rounded = r.rounded
	}
	pc.Ledger = steps[0].Ledger
	return n, nil
}

func (r *rounder) run(w *pass.Rewrite) error {
	n := w.Network()
	tasks := r.tasks(w)
	if r.Declined {
		tasks = r.decline(tasks)
	}
	for first := true; len(tasks) > 0; first = false {
		now, later, err := r.atOnce(tasks)
		if err != nil {
			return err
		}
		if err := r.collect(now); err != nil {
			return err
		}
		if first && len(later) == 0 {
			r.keep()
		}
		stored := map[string]*graph.Tensor{} // integers of few bits, by what they are of
		for i, t := range now {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			if r.Replay != nil {
				r.Replay.tell("rounding weights", t.layer.Name, i, len(now))
			}
			if t.few {
				r.fewBits(n, t, stored)
			} else {
				r.integers(n, t)
			}
		}
		clear(r.moments)
		tasks = later
	}
	return nil
}

// decline records that layers have the nearest integers, and returns those whose weights are rounded all the same.
func (r *rounder) decline(tasks []roundTask) (few []roundTask) {
	nearest := *r.Rounding
	nearest.By = quant.Rounding{}
	for _, t := range tasks {
		if t.few {
			few = append(few, t)
		} else {
			t.site.Miss(pass.NoGain, "%s", r.Because)
		}
	}
	r.Rounding = &nearest
	return few
}

// tasks returns the layers whose weights are to be rounded, and records why others' are not.
func (r *rounder) tasks(w *pass.Rewrite) []roundTask {
	var list []roundTask
	for _, l := range w.Network().Layers {
		if !l.Op.IsProduct() || len(l.Inputs) < 2 || l.Inputs[1] == nil {
			continue
		}
		t := roundTask{layer: l, before: r.before.Layer(l.Name)}
		if t.before != nil && (t.before.Op != l.Op || !t.before.Inputs[1].IsConst()) {
			t.before = nil
		}
		weights := l.Inputs[1]
		switch d := weights.Producer; {
		case weights.IsConst() && r.Few.Bits > 0 && (l.Op == graph.MatMul || l.Op == graph.Gemm):
			t.few, t.site = true, w.Candidate(quantise.FewBits, l)
			if !realProduct(l) {
				t.site.Miss(pass.WrongType, "%s is no product of f32 by one matrix", l.Name)
				continue
			}
		case d != nil && d.Op == graph.Dequantize && d.Inputs[0].IsConst() && r.By.NeedsMoments():
			t.site = w.Candidate(quantise.Rounding, l)
			switch {
			case t.before == nil:
				t.site.Miss(pass.NotConstant, "its weights before they were integers are not known")
				continue
			case len(weights.Users) > 1:
				t.site.Miss(pass.SecondConsumer, "%d layers have these weights", len(weights.Users))
				continue
			case lossless(t.before, d) && !r.knows(t):
				t.site.Miss(pass.NoGain, "nothing is lost of its weights by the nearest integers")
				continue
			}
		default:
			continue
		}
		if t.site.Enabled() {
			list = append(list, t)
		}
	}
	return list
}

// leastLost is the share of the power of weights that rounding loses at least, where it loses any: of real numbers evenly distributed,
// which lose least, 8 bits lose 48 dB less than there is.
const leastLost = 1e-6

// lossless reports whether the integers that a Dequantize reads are the weights of a product, as where those are integers times scales.
func lossless(product, dequantize *graph.Layer) bool {
	w, _ := product.Inputs[1].Const()
	q, ok := storedReals(dequantize)
	if !ok {
		return false
	}
	signal, noise := powers(w.Floats(), q.Floats())
	return noise <= leastLost*signal
}

// allLossless reports whether that is so of all products of a network that are quantised in n.
func allLossless(real, n *graph.Network) bool {
	for _, l := range n.Layers {
		before := real.Layer(l.Name)
		if !l.Op.IsProduct() || len(l.Inputs) < 2 || l.Inputs[1] == nil || before == nil || before.Op != l.Op || !before.Inputs[1].IsConst() {
			continue
		}
		if d := l.Inputs[1].Producer; d != nil && d.Op == graph.Dequantize && d.Inputs[0].IsConst() && !lossless(before, d) {
			return false
		}
	}
	return true
}

// realProduct reports whether l multiplies real numbers by one matrix of them.
func realProduct(l *graph.Layer) bool {
	x, w, y := l.Inputs[0], l.Inputs[1], l.Outputs[0]
	return x != nil && x.Type == numeric.F32 && !x.Quantized() && !y.Quantized() && y.Type == numeric.F32 && w.Type == numeric.F32 && len(w.Dims) == 2
}

// integers rounds the weights of a quantised product anew.
func (r *rounder) integers(n *graph.Network, t roundTask) {
	d := t.layer.Inputs[1].Producer
	old, _ := d.Inputs[0].Const()
	if r.Known != nil {
		r.again(n, t, old)
		return
	}
	m := r.moments[t.layer.Name]
	w, _ := t.before.Inputs[1].Const()
	if m == nil {
		t.site.Miss(pass.WrongShape, "%s", r.unseen(t, w))
		return
	}
	a := d.Attrs.(graph.QuantAttrs)
	q, gain, err := r.By.RoundStored(t.before, w, old, a.Range, m)
	switch {
	case err != nil:
		t.site.Miss(pass.WrongShape, "%v", err)
	case gain == 0:
		t.site.Miss(pass.NoGain, "its sums lose no less than by the nearest integers")
	default:
		r.rounded[t.key()] = newRoundedWeights(old, q)
		r.put(n, t, q)
		t.site.Note("%s: %.1f dB less error of its sums expected%s", r.By.ByMoments(), gain, behind(r.Because))
		t.site.Fire(t.layer)
	}
}

// behind returns a text as the end of another.
func behind(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}

// again gives a quantised product the integers that an earlier rounding found.
func (r *rounder) again(n *graph.Network, t roundTask, nearest numeric.Value) {
	known, ok := r.Known[t.key()]
	if !ok {
		t.site.Miss(pass.NoGain, "it has the nearest integers: no others were kept")
		return
	}
	r.rounded[t.key()] = known
	q, err := known.of(nearest)
	if err != nil {
		t.site.Note("to the nearest: %v", err)
	} else {
		r.put(n, t, q)
		t.site.Note("%s, as it was found before%s", r.By, behind(r.Because))
	}
	t.site.Fire(t.layer)
}

// put makes a quantised product read other integers.
func (r *rounder) put(n *graph.Network, t roundTask, q numeric.Value) {
	d := t.layer.Inputs[1].Producer
	c := n.AddConst(d.Inputs[0].Name+"_rounded", q)
	c.Range = d.Inputs[0].Range
	d.SetInput(0, c)
}

// knows reports whether integers are kept of a layer: those that compensate are others than the nearest where these lose nothing.
func (r *rounder) knows(t roundTask) bool {
	_, known := r.Known[t.key()]
	return known
}

// key names the layer that a task is about, whatever is fused with it.
func (t roundTask) key() string { return t.site.Layers()[0] }

// unseen says why there are no moments of what a layer reads.
func (r *rounder) unseen(t roundTask, w numeric.Value) string {
	if t.before == nil {
		return "it is inside another layer"
	}
	if r.Replay == nil {
		return "there is no data to see on what its weights are multiplied by"
	}
	if _, err := quant.NewMoments(t.before, w.Dims); err != nil {
		return err.Error()
	}
	return "what it reads was not seen"
}

// fewBits makes a product of real numbers read integers of few bits through a Dequantize.
func (r *rounder) fewBits(n *graph.Network, t roundTask, stored map[string]*graph.Tensor) {
	l, note := t.layer, r.Few.String()
	if r.By.Compensates() {
		note += ", which do not compensate"
	}
	weights := l.Inputs[1]
	w, _ := weights.Const()
	by, m := r.By.ByMoments(), r.moments[l.Name]
	_, known := r.Known[t.key()]
	switch {
	case r.Known != nil:
		by = quant.Rounding{}
	case by.NeedsMoments() && m == nil:
		by, note = quant.Rounding{}, note+", to the nearest: "+r.unseen(t, w)
	}
	q, gain, err := r.Few.Quantize(l, w, by, m)
	if err != nil && by.NeedsMoments() {
		note += ", to the nearest: " + err.Error()
		q, gain, err = r.Few.Quantize(l, w, quant.Rounding{}, nil)
	}
	if err != nil {
		t.site.Miss(pass.WrongType, "%v", err)
		return
	}
	switch {
	case gain > 0:
		r.rounded[t.key()] = newRoundedWeights(q.Nearest, q.Stored)
		note += fmt.Sprintf(", %s: %.1f dB less error of its sums expected", by, gain)
	case known:
		r.rounded[t.key()] = r.Known[t.key()]
		if v, err := r.Known[t.key()].of(q.Stored); err == nil {
			q.Stored = v
			note += fmt.Sprintf(", %s as it was found before", r.By)
		} else {
			note += ", to the nearest: " + err.Error()
		}
	}
	key := fmt.Sprint(weights.Name, q.Attrs.Range.Axis, q.Attrs.Block)
	if stored[key] == nil || by.NeedsMoments() || known {
		name := l.Name + "_" + weights.Name
		inputs := []*graph.Tensor{n.AddConst(name+"_"+q.Stored.Type.String(), q.Stored)}
		if q.Scales != nil {
			inputs = append(inputs, n.AddConst(name+"_scales", *q.Scales))
		}
		if q.Zeros != nil {
			inputs = append(inputs, n.AddConst(name+"_zeros", *q.Zeros))
		}
		q.Attrs.Type = weights.Type
		out := n.NewTensor(name+"_dequantized", weights.Type, weights.Dims)
		n.Insert(&graph.Layer{Name: "Dequantize_" + name, Op: graph.Dequantize, Attrs: q.Attrs, From: slices.Clone(l.From), Inputs: inputs, Outputs: []*graph.Tensor{out}})
		stored[key] = out
	}
	d := stored[key].Producer
	l.SetInput(1, stored[key])
	t.site.Note("%s%s", note, behind(r.Because))
	t.site.Fire(l, d)
}
