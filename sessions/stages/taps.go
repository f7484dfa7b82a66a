package stages

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
)

// stepErrors measures the error at the outputs of a step, and where in the first one it sits.
type stepErrors struct {
	quant.ErrorAccumulator
	unlike   bool // left out in some inference: it has another size than FP32's
	where    errorMap
	channels quant.ChannelErrors
}

// errors sums up.
func (e *stepErrors) errors() report.Errors {
	r := compare.ErrorsOf(e.Errors())
	r.BiasShare = e.channels.Shifted()
	return r
}

// tap runs the engine on a batch step by step and compares each layer's outputs; alone, if not nil, first gives each
// step FP32's inputs, and is told what came of them.
func tap(ctx context.Context, c *run.ExecutionContext, p *run.Plan, batch compare.Batch, want map[string]numeric.Value, scaled build.Equalized, errs []stepErrors, alone *causes) error {
	o := run.Observer{After: func(i int) error {
		if p.Steps[i].Reformat {
			return nil
		}
		for k, out := range p.Steps[i].Out {
			t := p.Slots[out].Tensor
			ref, divided, ok := sourceOf(want, t, scaled)
			if !ok {
				continue
			}
			v, err := c.Read(out)
			if err != nil {
				return err
			}
			at := batch.Axis(t.Dims)
			ref, v = batch.Counted(ref, at), numeric.ToReal(v, t.Range)
			if divided != "" { // an error counts in the channels as they were
				_, v = scaled.Restore(divided, v)
			}
			want, got := ref.Floats(), batch.Counted(v, at).Floats()
			if len(want) != len(got) && sizedByRun(t) {
				errs[i].unlike = true
				continue
			}
			if err := errs[i].Add(want, got); err != nil {
				return fmt.Errorf("layer %s: tensor %s: %w", p.Steps[i].Name, t.Name, err)
			}
			if k > 0 {
				continue
			}
			errs[i].channels.Axis = channelAxis(t)
			errs[i].where.add(want, got, ref.Dims, errs[i].channels.Axis)
			if err := errs[i].channels.Add(want, got, ref.Dims); err != nil {
				return err
			}
			if alone != nil {
				if err := alone.output(i, t, batch, ref, got); err != nil {
					return err
				}
			}
		}
		return nil
	}}
	if alone != nil {
		o.Before = func(i int) error {
			for _, in := range p.Steps[i].In {
				if in < 0 {
					continue
				}
				t := p.Slots[in].Tensor
				ref, divided, ok := sourceOf(want, t, scaled)
				if !ok {
					continue
				}
				if sizedByRun(t) {
					if v, err := c.Read(in); err != nil || v.Len() != ref.Len() {
						continue // as the engine has it
					}
				}
				if divided != "" {
					ref = scaled.Divide(divided, ref)
				}
				if err := c.Write(in, storedAs(ref, p.Slots[in].Desc.Type, t.Range)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return c.Observe(ctx, o)
}

// layerTolerance is the SQNR in dB under which a layer counts as bad: noise of a hundredth of the signal's power.
const layerTolerance = 20

// layerReport fills in the report's layers, and the first one under the tolerance.
func layerReport(p *run.Plan, acc, local []stepErrors, c *causes, r *report.Accuracy) {
	noise, at := c.added()
	for i, step := range p.Steps {
		a := acc[i].Errors()
		if acc[i].unlike || local[i].unlike {
			r.UnlikeLayers = append(r.UnlikeLayers, step.Name)
		}
		if step.Reformat || a.Count == 0 {
			continue
		}
		e := report.LayerError{
			Name: step.Name, Op: graph.OpName(step.Layer), Precision: describe.PrecisionOf(step.Layer), From: step.From,
			Tensor: step.Layer.Outputs[0].Name, Accumulated: acc[i].errors(), Local: local[i].errors(), Cause: c.report(i, noise, at),
			AccumulatedMap: acc[i].where.report(), LocalMap: local[i].where.report(),
		}
		r.Layers = append(r.Layers, e)
		if r.FirstBad == "" && e.AddedSQNR() < r.Tolerance {
			r.FirstBad = e.Name
		}
	}
	if worst := r.WorstLayer(); worst >= 0 && r.Layers[worst].AddedSQNR() < quant.MaxDB {
		r.Worst = r.Layers[worst].Name
	}
}
