package sessions_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/testdata"
)

// mistaken is the CPU with one layer's constants changed.
type mistaken struct {
	run.Backend
	op    *graph.Op
	input int // which of the layer's
	wrong func(constant []byte, first int)
	layer string // whose constants are wrong: the first one that has them
}

func (m *mistaken) Tactics(op *graph.Op) []kernels.Tactic {
	var list []kernels.Tactic
	for _, t := range m.Backend.Tactics(op) {
		bind := t.Bind
		t.Bind = func(b kernels.Binding) (kernels.Kernel, error) {
			c, ok := b.Const(m.input)
			if ok && op == m.op && m.layer == "" {
				m.layer = b.Layer.Name
			}
			if ok && b.Layer.Name == m.layer {
				b.Consts = slices.Clone(b.Consts)
				b.Consts[m.input] = slices.Clone(b.Consts[m.input])
				m.wrong(b.Consts[m.input], c.Dims[0])
			}
			return bind(b)
		}
		list = append(list, t)
	}
	return list
}

// untried is INT8 without trials of what loses least.
var untried = config.Quantization{Rounding: "nearest", Equalization: "off"}

// In FP16 and INT8 right runs agree, however different the places are at which they round, and wrong ones do not.
func TestRoundingTellsMistakes(t *testing.T) {
	sessions.NotUnderRace(t)
	swap := func(c []byte, channels int) { // the first two channels
		n := len(c) / channels
		first := slices.Clone(c[:n])
		copy(c[:n], c[n:2*n])
		copy(c[n:2*n], first)
	}
	for _, c := range []struct {
		name   string
		op     *graph.Op
		input  int
		wrong  func(c []byte, channels int)
		passed bool
	}{
		{"right", graph.Conv, 1, func([]byte, int) {}, true},
		{"swapped channels", graph.Conv, 1, swap, false},
		{"no bias", graph.Conv, 2, func(c []byte, _ int) { clear(c) }, false},
		{"no bias behind the last layer", graph.Gemm, 2, func(c []byte, _ int) { clear(c) }, false},
		{"swapped features", graph.Gemm, 1, swap, false},
	} {
		w := workplace(t, nil)
		w.Data = pictures{testdata.TestImages(), 8}
		b := &mistaken{Backend: cpu.Open(1), op: c.op, input: c.input, wrong: c.wrong}
		how := compare.Options{Check: compare.Check{Tolerance: report.Tolerance{Abs: 1e-4, Rel: 1e-4}}, Half: report.Tolerance{Abs: 3e-2, Rel: 1e-2}, Scaled: true, PerLayer: c.passed}
		wrong, host, eval := sessions.Contender{Name: "mistaken", Backend: b}, sessions.Contender{Name: "host", Backend: w.Host}, sessions.Contender{Name: "eval"}
		for _, one := range []struct {
			precision  config.Precision
			contenders []sessions.Contender
		}{{config.FP16, []sessions.Contender{wrong, host}}, {config.FP16, []sessions.Contender{eval, wrong}}, {config.INT8, []sessions.Contender{wrong, host}}} {
			b.layer = ""
			cfg := config.Config{Precision: one.precision, Calibrator: "minmax", Batch: 4, Quantization: untried}
			r, err := sessions.Compare(context.Background(), embedded(t), w, cfg, one.contenders, how, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Pairs {
				o := p.Outputs[0]
				if r.Rounding == nil || o.Rounding == nil || p.Passed != c.passed {
					t.Errorf("%s in %s: %s and %s: passed %v: %+v, %+v", c.name, one.precision, p.First, p.Second, p.Passed, o.Rounding, o)
				}
				for _, l := range p.Layers {
					if !l.Passed {
						t.Errorf("%s: layer %s: %+v, %+v", c.name, l.Layer, l.Rounding, l)
					}
				}
			}
		}
		b.Close()
		if b.layer == "" {
			t.Errorf("%s: no layer has it", c.name)
		}
	}
}

// A tolerance that was given counts as it is. FP32 shows what rounding does to what is lowered, with the factors of the
// precision that rounds most.
func TestRoundingIsMeasured(t *testing.T) {
	sessions.NotUnderRace(t)
	w := workplace(t, nil)
	how := compare.Options{Check: compare.Check{Tolerance: report.Tolerance{Abs: 1e-4, Rel: 1e-4}}, Half: report.Tolerance{Abs: 1e-3, Rel: 1e-2}}
	on := []sessions.Contender{{Name: "host", Backend: w.Host}, {Name: "eval"}}
	for _, c := range []struct {
		precision config.Precision
		layers    string // their precision
		scaled    bool
		want      *report.RoundingFactors
		distance  float64 // of the first run from FP32, about, in dB
	}{
		{config.FP32, "", true, nil, 0}, {config.FP16, "", false, nil, 0}, {config.INT8, "", false, nil, 0},
		{config.FP16, "", true, &report.RoundingFactors{RMS: 1.5, Peak: 2}, 75},
		{config.INT8, "", true, &report.RoundingFactors{RMS: 0.25, Peak: 1}, 40},
		{config.INT8, "*first*:fp16", true, &report.RoundingFactors{RMS: 1.5, Peak: 2}, 55},
		{config.FP16, "stem/conv/Conv:int8", true, &report.RoundingFactors{RMS: 1.5, Peak: 2}, 60},
		{config.FP32, "*first*:int8", true, &report.RoundingFactors{RMS: 0.25, Peak: 1}, 45},
	} {
		how.Scaled = c.scaled
		cfg := config.Config{Precision: c.precision, Calibrator: "minmax", Batch: 1, Quantization: untried}
		if c.layers != "" {
			cfg.LayerPrecisions = []string{c.layers}
		}
		r, err := sessions.Compare(context.Background(), embedded(t), w, cfg, on, how, nil)
		if err != nil {
			t.Fatal(err)
		}
		o := r.Pairs[0].Outputs[0]
		if !reflect.DeepEqual(r.Rounding, c.want) || (o.Rounding != nil) != (c.want != nil) || !r.Passed {
			t.Errorf("%s %s: by %+v: %+v, %+v", c.precision, c.layers, r.Rounding, o.Rounding, o)
		}
		if c.want != nil && (o.Tolerance.Abs != o.Rounding.MaxAbs || o.Tolerance.Rel != 0 || math.Abs(o.Rounding.First-c.distance) > 15) {
			t.Errorf("%s %s: %+v, %+v", c.precision, c.layers, o.Tolerance, o.Rounding)
		}
	}
}
