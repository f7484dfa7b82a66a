package sessions

import (
	"context"
	"fmt"
	"math"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
)

// Factors by which FP16's difference from FP32 explains that of two runs in FP16. Two right ones round in different places:
// a product is summed in another order, an intermediate result is kept wider. Each is as far from FP32 as FP16 makes the
// network, and not further from the other, which grows from layer to layer: it may be 100 dB below the signal behind the
// first layer and 40 dB behind the last. No fixed tolerance serves both. So the difference from FP32 is measured, on the
// same items, and one between the runs that it does not explain is an error. It is that of the run which is nearer to
// FP32: a wrong kernel in the other does not widen its own tolerance.
const (
	RoundingRMS  = 1.5 // times the RMS of the difference from FP32: sqrt(2) of two that have nothing in common
	RoundingPeak = 2   // times its largest element, of which there is one in a tensor
	// A few elements say less of the noise: below so many the factors grow with the root of what is missing.
	roundingElements = 64
	// Whatever was measured, an RMS of half a unit in the last place of a signal's is allowed, and a few units of its largest
	// element; and no more than a tenth of either (20 dB), since what FP16 does not serve at all explains nothing.
	leastRMS, leastPeak = 1.0 / 2048, 1.0 / 256
	mostRounding        = 0.1
)

// roundsToHalf reports whether the configuration lowers an FP32 network to FP16 and no further, so that FP32 shows what
// the rounding does. Where layers run in 8 bits all runs compute the same integers.
func (m *Model) roundsToHalf(cfg Config) bool {
	if lowest, _, err := cfg.lowering(); err != nil || lowest != graph.F16 {
		return false
	}
	for _, l := range m.Network.Layers {
		for _, t := range l.Outputs {
			if t.Type == graph.F16 || t.Type == graph.BF16 {
				return false
			}
		}
	}
	return true
}

// reference32 runs the network in FP32 on the host.
type reference32 struct {
	context         *run.ExecutionContext
	all             *build.Reference // nil where layers are not compared
	outputs, layers map[string]graph.Value
}

// newReference32 prepares FP32 for the batches of a configuration.
func (s *stages) newReference32(ctx context.Context, cfg Config, perLayer bool) (r *reference32, err error) {
	base := s.fp32(cfg)
	loaded, err := s.loadReference(ctx, base)
	if err != nil {
		return nil, err
	}
	r = &reference32{}
	if r.context, err = loaded.NewContext(); err != nil || !perLayer {
		return r, err
	}
	env, err := s.env(base)
	if err == nil {
		r.all, err = build.NewReference(ctx, s.model.Network, env, s.host())
	}
	return r, err
}

func (r *reference32) close() {
	if r.context != nil {
		r.context.Close()
	}
	if r.all != nil {
		r.all.Close()
	}
}

// run computes a batch, of which these are the inputs.
func (r *reference32) run(ctx context.Context, batch itemBatch, in map[string]graph.Value) error {
	if err := r.context.SetInputs(in); err != nil {
		return err
	}
	if err := r.context.Execute(); err != nil {
		return err
	}
	all, err := r.context.Outputs()
	if err != nil {
		return err
	}
	r.outputs = batch.outputs(all)
	if r.all != nil {
		r.layers, err = r.all.Tensors(ctx, in)
	}
	return err
}

// layer returns what FP32 has for a tensor of a layer, of the items that count.
func (r *reference32) layer(batch itemBatch, t *graph.Tensor) (graph.Value, bool) {
	v, ok := sourceTensor(r.layers, t)
	if !ok {
		return v, false
	}
	return batch.counted(v, batch.axis(t.Dims)), true
}

// rounding gathers how far two runs of a tensor are from FP32.
type rounding struct {
	errors  [2]quant.ErrorAccumulator
	largest float64 // of FP32
	squares float64
	count   int
}

// add takes in what FP32 and the two runs made of the same items.
func (r *rounding) add(ref, a, b graph.Value) error {
	want := float64s(ref)
	for i, v := range []graph.Value{a, b} {
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
func (r *rounding) report() *RoundingReport {
	first, second := r.errors[0].Errors(), r.errors[1].Errors()
	near := first
	if second.NotFinite < first.NotFinite || second.NotFinite == first.NotFinite && second.RMSE < first.RMSE {
		near = second
	}
	few := max(1, math.Sqrt(roundingElements/max(1, float64(r.count))))
	rms := math.Sqrt(r.squares / max(1, float64(r.count)))
	return &RoundingReport{
		First: first.SQNRdB, Second: second.SQNRdB,
		MaxAbs: within(RoundingPeak*few*near.MaxAbs, r.largest, leastPeak),
		RMS:    within(RoundingRMS*few*near.RMSE, rms, leastRMS),
	}
}

// within keeps a bound between shares of the signal.
func within(bound, signal, least float64) float64 {
	return min(max(bound, least*signal), mostRounding*signal)
}
