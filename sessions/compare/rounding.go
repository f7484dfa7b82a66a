package compare

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// SourceTensor returns what the source network has for a tensor of the engine, if that is a tensor of numbers there.
func SourceTensor(all map[string]numeric.Value, t *graph.Tensor) (numeric.Value, bool) {
	v, ok := all[t.Name]
	if !ok {
		v, ok = all[quant.SourceTensor(t.Name)]
	}
	return v, ok && t.RealType().IsFloat()
}

const (
	// A few elements say less of the noise: below so many the factors grow with the root of what is missing.
	roundingElements = 64
	// Whatever was measured, an RMS of half a unit in the last place of a signal's is allowed, and a few units of its largest
	// element; and no more than a tenth of either (20 dB), since what a precision does not serve at all explains nothing.
	leastRMS, leastPeak = 1.0 / 2048, 1.0 / 256
	mostRounding        = 0.1
)

// Reference is the network in FP32 on the host, whose difference explains that of others.
type Reference struct {
	Factors *report.RoundingFactors
	Context *run.ExecutionContext
	Tensors func(context.Context, map[string]numeric.Value) (map[string]numeric.Value, error) // of all layers; nil where they are not compared

	outputs, layers map[string]numeric.Value
}

// run computes a batch, of which these are the inputs.
func (r *Reference) run(ctx context.Context, batch Batch, in map[string]numeric.Value) error {
	if err := Feed(r.Context, in, batch.first, batch.Count); err != nil {
		return err
	}
	if err := r.Context.Execute(); err != nil {
		return err
	}
	all, err := r.Context.Outputs()
	if err != nil {
		return err
	}
	r.outputs = batch.Outputs(all)
	if r.Tensors != nil {
		r.layers, err = r.Tensors(ctx, in)
	}
	return err
}

// layer returns what FP32 has for a tensor of a layer, of the items that count.
func (r *Reference) layer(batch Batch, t *graph.Tensor) (numeric.Value, bool) {
	v, ok := SourceTensor(r.layers, t)
	if !ok {
		return v, false
	}
	return batch.Counted(v, batch.Axis(t.Dims)), true
}

// rounding gathers how far two runs of a tensor are from FP32.
type rounding struct {
	factors report.RoundingFactors
	errors  [2]quant.ErrorAccumulator
	largest float64 // of FP32
	squares float64
	count   int
}

// add takes in what FP32 and the two runs made of the same items. Where FP32 has another shape, as where it finds fewer boxes, it
// explains nothing, and only the least that always may be is allowed.
func (r *rounding) add(ref, a, b numeric.Value) error {
	if !slices.Equal(ref.Dims, b.Dims) {
		ref, a = b, b
	}
	want := float64s(ref)
	for i, v := range []numeric.Value{a, b} {
		if err := r.errors[i].AddWide(want, float64s(v)); err != nil {
			return fmt.Errorf("FP32's %w", err)
		}
	}
	for _, x := range want {
		if abs := math.Abs(x); abs <= math.MaxFloat64 {
			r.largest = max(r.largest, abs)
			r.squares += x * x
			r.count++
		}
	}
	return nil
}

// report returns what the rounding explains.
func (r *rounding) report() *report.Rounding {
	first, second := r.errors[0].Errors(), r.errors[1].Errors()
	near := first
	if second.NotFinite < first.NotFinite || second.NotFinite == first.NotFinite && second.RMSE < first.RMSE {
		near = second
	}
	few := max(1, math.Sqrt(roundingElements/max(1, float64(r.count))))
	rms := math.Sqrt(r.squares / max(1, float64(r.count)))
	return &report.Rounding{
		From: r.factors.From, First: first.SQNRdB, Second: second.SQNRdB,
		MaxAbs: within(r.factors.Peak*few*near.MaxAbs, r.largest, leastPeak),
		RMS:    within(r.factors.RMS*few*near.RMSE, rms, leastRMS),
	}
}

// within keeps a bound between shares of the signal.
func within(bound, signal, least float64) float64 {
	return min(max(bound, least*signal), mostRounding*signal)
}

// float64s returns the elements of a value as numbers; those of F64 and integers are exact up to 2^53.
func float64s(v numeric.Value) []float64 {
	if v.Type == numeric.F64 {
		return numeric.View[float64](v.Data)
	}
	out := make([]float64, v.Len())
	if v.Type.IsFloat() {
		for i, f := range v.Floats() {
			out[i] = float64(f)
		}
		return out
	}
	for i, n := range v.Ints() {
		out[i] = float64(n)
	}
	return out
}
