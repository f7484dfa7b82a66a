package sessions

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

var (
	// halfRounding is FP16's: each run is as far from FP32 as FP16 makes the network, and two that had nothing in common
	// were sqrt(2) as far from each other.
	halfRounding = report.RoundingFactors{RMS: 1.5, Peak: 2}
	// byteRounding is INT8's. All runs compute the same integers, but for the few that are quantised from real numbers which
	// lie so near to the middle of a step that one run rounds them up and another down.
	byteRounding = report.RoundingFactors{RMS: 0.25, Peak: 1}
)

const (
	// A few elements say less of the noise: below so many the factors grow with the root of what is missing.
	roundingElements = 64
	// Whatever was measured, an RMS of half a unit in the last place of a signal's is allowed, and a few units of its largest
	// element; and no more than a tenth of either (20 dB), since what a precision does not serve at all explains nothing.
	leastRMS, leastPeak = 1.0 / 2048, 1.0 / 256
	mostRounding        = 0.1
)

// rounding returns the factors of a configuration that lowers an FP32 network, so that FP32 shows what its rounding does;
// nil for others.
func (m *Model) rounding(cfg config.Config) *report.RoundingFactors {
	lowest, rules, err := cfg.Lowering()
	if err != nil || lowest == graph.F32 {
		return nil
	}
	for _, l := range m.Network.Layers {
		for _, t := range l.Outputs {
			if t.Type == graph.F16 || t.Type == graph.BF16 {
				return nil
			}
		}
	}
	half := func(r quant.Rule) bool { return r.Precision == graph.F16 }
	if lowest == graph.F16 || slices.ContainsFunc(rules, half) {
		return &halfRounding
	}
	return &byteRounding
}

// reference32 runs the network in FP32 on the host.
type reference32 struct {
	factors         *report.RoundingFactors
	context         *run.ExecutionContext
	all             *build.Reference // nil where layers are not compared
	outputs, layers map[string]graph.Value
}

// newReference32 prepares FP32 for the batches of a configuration.
func (s *stages) newReference32(ctx context.Context, cfg config.Config, perLayer bool) (r *reference32, err error) {
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
	factors report.RoundingFactors
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
func (r *rounding) report() *report.Rounding {
	first, second := r.errors[0].Errors(), r.errors[1].Errors()
	near := first
	if second.NotFinite < first.NotFinite || second.NotFinite == first.NotFinite && second.RMSE < first.RMSE {
		near = second
	}
	few := max(1, math.Sqrt(roundingElements/max(1, float64(r.count))))
	rms := math.Sqrt(r.squares / max(1, float64(r.count)))
	return &report.Rounding{
		First: first.SQNRdB, Second: second.SQNRdB,
		MaxAbs: within(r.factors.Peak*few*near.MaxAbs, r.largest, leastPeak),
		RMS:    within(r.factors.RMS*few*near.RMSE, rms, leastRMS),
	}
}

// within keeps a bound between shares of the signal.
func within(bound, signal, least float64) float64 {
	return min(max(bound, least*signal), mostRounding*signal)
}
