package stages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// TapItems is on how many items layers are compared where nobody says.
const TapItems = 8

// accuracy compares engines with FP32.
type accuracy struct {
	model      *model.Model
	orders     *orders
	told       *Audience
	device     *device
	data       dataset.Data
	task       Task
	tapItems   int // items on which layers are compared
	engines    *engines
	references *references
	inferences *inferences
	links      *links
	kept       *stage[examining, *report.Accuracy]
}

func newAccuracy(m *model.Model, w Workplace, o *orders, told *Audience, e *engines, r *references, i *inferences) *accuracy {
	a := &accuracy{links: &links{m, e.tuning.precisions.passes}, model: m, orders: o, told: told, device: e.device, data: w.Data, task: w.Task, tapItems: w.TapItems, engines: e, references: r, inferences: i}
	if a.tapItems <= 0 {
		a.tapItems = TapItems
	}
	a.kept = newStage(a.make)
	return a
}

// Possible returns why an engine cannot be judged: without the model that it was built from, only labels of the data tell of it.
func (a *accuracy) Possible(perLayer bool) error {
	_, boxes := dataset.TruthOf(a.data, 0)
	switch labelled := a.data.Labels(0) != nil; {
	case perLayer:
		return a.model.NeedsSource("comparing layers with FP32")
	case a.task.Kind == report.TaskOutputs:
		return a.model.NeedsSource("comparing outputs with FP32")
	case a.task.Kind == report.TaskDetection && !boxes, !labelled && !boxes:
		return a.model.NeedsSource("judging it on data without labels")
	}
	return nil
}

// Of compares a configuration's engine with FP32: outputs and labels over all data, layers over a few items. An engine without its
// model is compared with the labels alone.
func (a *accuracy) Of(ctx context.Context, cfg config.Config, perLayer bool) (*report.Accuracy, error) {
	in, err := a.orders.examining(cfg, perLayer)
	if err != nil {
		return nil, err
	}
	if r, ok := a.kept.known(in); ok {
		return r, nil
	}
	if err := a.Possible(perLayer); err != nil {
		return nil, err
	}
	if !in.Reference.Own {
		if err := a.references.prepare(ctx, cfg); err != nil {
			return nil, err
		}
	}
	if _, err := a.engines.Load(ctx, cfg); err != nil {
		return nil, err
	}
	if in, err = a.orders.examining(cfg, perLayer); err != nil { // a plan in the engine file may have turned out to be stale
		return nil, err
	}
	return a.kept.Of(ctx, in)
}

// IsReference reports whether a configuration's engine is the one that others are compared with.
func (a *accuracy) IsReference(cfg config.Config) bool {
	in, err := a.orders.examining(cfg, false)
	return err == nil && a.same(in)
}

// same reports whether an engine would be compared with itself.
func (a *accuracy) same(in examining) bool {
	return in.Reference.Own || !a.references.apart && key(in.Of) == key(in.Reference.Of)
}

// make compares an engine that is loaded.
func (a *accuracy) make(ctx context.Context, in examining) (*report.Accuracy, error) {
	begin := time.Now()
	ref, err := a.references.kept.Of(ctx, in.Reference)
	if err != nil {
		return nil, err
	}
	loaded, err := a.engines.kept.Of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	r := &report.Accuracy{Precision: string(in.Of.Of.Precision), Tolerance: layerTolerance, Random: a.data.Random(), Reference: a.same(in), OwnQuantization: a.model.Quantized}
	if ranges := in.Of.Of.Ranges; ranges != nil {
		r.Calibrator, r.Ranges, r.RandomRanges = in.Calibrator, a.orders.Stored.rangesFrom(ranges.By), a.orders.Stored.RandomRanges(ranges.By)
		if c := a.engines.tuning.precisions.calibration; !c.read.none() {
			r.Shared = c.Shared()
			r.Ranges += sharedText(r.Shared, c.Items())
		}
	}
	if err := a.compareOutputs(ctx, in, loaded, ref, r); err != nil {
		return nil, err
	}
	if in.Layers {
		if err := a.compareLayers(ctx, in, loaded, ref, r); err != nil {
			return nil, err
		}
	}
	if in.Reference.Own {
		r.Forget()
		if making, err := a.model.Making(); err == nil && making.Data != "" {
			r.Calibrator, r.Ranges, r.RandomRanges = in.Calibrator, "the engine's own, found on "+making.Data, making.Random
		}
	}
	a.told.Log.accuracy(r, begin)
	return r, nil
}

// compareOutputs compares an engine's outputs with FP32's over all data, and both with the labels.
func (a *accuracy) compareOutputs(ctx context.Context, in examining, loaded *run.Loaded, ref *reference, r *report.Accuracy) error {
	errs := make([]quant.ErrorAccumulator, len(a.model.Network.Outputs))
	powers, unlike := make([]inferencePowers, len(errs)), make([]report.UnlikeOutput, len(errs))
	all, err := a.inferences.Batches(in.Reference.Batch, in.Shapes, 0)
	if err != nil {
		return err
	}
	score := newScore(a.model.Network, a.data, in.Reference.Batch, a.task)
	if err := score.checkLabels(ref.outputs); err != nil {
		return err
	}
	var differs error
	add := func(b int, out map[string]numeric.Value) bool {
		want, got := all.At(b).Outputs(ref.outputs[b]), all.At(b).Outputs(out)
		for i, t := range a.model.Network.Outputs {
			w, g, u := want[t.Name], got[t.Name], &unlike[i]
			u.Name, u.Number, u.OfItems = t.Name, i, u.OfItems+all.At(b).Count
			if !slices.Equal(w.Dims, g.Dims) {
				if u.Items == 0 {
					u.Shape, u.FP32Shape = g.Dims, w.Dims
				}
				u.Items += all.At(b).Count
				continue
			}
			if e := errs[i].Add(w.Floats(), g.Floats()); e != nil {
				differs = fmt.Errorf("output %s: %w", t.Name, e)
				return false
			}
			powers[i].add(w.Floats(), g.Floats())
		}
		if differs = score.add(b, ref.outputs[b], out); differs != nil {
			return false
		}
		return b+1 < len(ref.outputs)
	}
	if r.Reference { // it was run already
		for b, out := range ref.outputs {
			if !add(b, out) {
				break
			}
		}
	} else {
		err = a.inferences.forEach(ctx, in.Reference.Batch, in.Reference.State, loaded, "comparing outputs", add)
	}
	if err = cmp.Or(err, differs); err != nil {
		return err
	}
	for i, t := range a.model.Network.Outputs {
		if unlike[i].Items > 0 {
			r.Unlike = append(r.Unlike, unlike[i])
		}
		if unlike[i].Items == 0 || unlike[i].Items < unlike[i].OfItems {
			r.Outputs = append(r.Outputs, report.OutputError{Name: t.Name, Errors: compare.ErrorsOf(errs[i].Errors()), SQNRWithin: powers[i].sqnr()})
		}
	}
	r.Labels, r.Items, err = score.result()
	r.Task = score.task.Kind
	return err
}

// compareLayers compares every engine layer's output with the source network's FP32 tensor of that name. The engine
// stays as it is: what is compared is read where the fused layers leave it. A layer's accumulated error is that of the
// engine as it runs, its local error that of the layer alone on FP32's inputs. A state is that of FP32, for both.
func (a *accuracy) compareLayers(ctx context.Context, in examining, l *run.Loaded, ref *reference, r *report.Accuracy) error {
	lowered, err := a.engines.tuning.precisions.kept.Of(ctx, in.Of.Of)
	if err != nil {
		return err
	}
	a.device.Busy.Lock()
	defer a.device.Busy.Unlock()
	engine, err := l.NewContext()
	if err != nil {
		return err
	}
	defer engine.Close()
	acc := make([]stepErrors, len(l.Plan.Steps))
	local := make([]stepErrors, len(l.Plan.Steps))
	all, err := a.inferences.Batches(in.Reference.Batch, in.Shapes, a.tapItems)
	if err != nil {
		return err
	}
	taps := 0 // three for each batch
	now := func() report.Progress {
		return report.Progress{Phase: "comparing layers", Done: taps, Total: 3 * all.Count()}
	}
	float := a.references.float(ctx)
	defer float.Close()
	why := newCauses(l.Plan, lowered.Equalized, lowered.Shifts)
	a.inferences.Watch(ctx, engine, func() (report.Progress, int) { return now(), 1 })
	for b := range all.Count() {
		a.told.Progress(now())
		batch := all.At(b)
		inputs, err := batch.Inputs()
		if err == nil && b > 0 && b <= len(ref.outputs) {
			err = in.Reference.State.Carry(inputs, ref.outputs[b-1])
		}
		if err != nil {
			return err
		}
		want, err := a.references.at(ctx, float, in.Of.symbols(), b, inputs)
		if err != nil {
			return err
		}
		if err := why.given(want, func(given map[string]map[string]numeric.Value) (map[string]numeric.Value, error) {
			return float.TensorsGiven(ctx, inputs, given)
		}); err != nil {
			return err
		}
		taps++
		for _, errs := range []struct {
			of    []stepErrors
			alone *causes
		}{{acc, nil}, {local, why}} {
			if err := compare.Feed(engine, inputs, b*max(1, in.Reference.Batch), batch.Count); err != nil {
				return err
			}
			if err := tap(ctx, engine, l.Plan, batch, want, lowered.Equalized, errs.of, errs.alone); err != nil {
				return err
			}
			taps++
		}
		r.TapItems += batch.Count
	}
	if err := why.findCures(ctx, a.links, in.Of.Of, lowered); err != nil {
		return err
	}
	layerReport(l.Plan, acc, local, why, r)
	return nil
}

// sharedText says how many of the items that ranges were found on are evaluated, too; nothing where none is.
func sharedText(shared, items int) string {
	switch shared {
	case 0:
		return ""
	case items:
		return ", on items that are evaluated, too"
	}
	return fmt.Sprintf(", %d of its %d items evaluated, too", shared, items)
}
