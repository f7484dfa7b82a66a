package sessions_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
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

// In FP16 right runs agree, however different the places are at which they round, and wrong ones do not.
func TestRoundingTellsMistakes(t *testing.T) {
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
		cfg := sessions.Config{Precision: sessions.FP16, Batch: 4}
		how := sessions.Comparing{Tolerance: sessions.Tolerance{Abs: 1e-4, Rel: 1e-4}, Half: sessions.Tolerance{Abs: 3e-2, Rel: 1e-2}, Scaled: true, PerLayer: c.passed}
		wrong, host, eval := sessions.Contender{Name: "mistaken", Backend: b}, sessions.Contender{Name: "host", Backend: w.Host}, sessions.Contender{Name: "eval"}
		for _, contenders := range [][]sessions.Contender{{wrong, host}, {eval, wrong}} {
			r, err := sessions.Compare(context.Background(), embedded(t), w, cfg, contenders, how, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Pairs {
				o := p.Outputs[0]
				if !r.Rounding || o.Rounding == nil || p.Passed != c.passed {
					t.Errorf("%s: %s and %s: passed %v: %+v, %+v", c.name, p.First, p.Second, p.Passed, o.Rounding, o)
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

// A tolerance that was given counts as it is, and so does one for a model that is FP16 or INT8 itself.
func TestRoundingIsMeasuredInFP16Alone(t *testing.T) {
	w := workplace(t, nil)
	how := sessions.Comparing{Tolerance: sessions.Tolerance{Abs: 1e-4, Rel: 1e-4}, Half: sessions.Tolerance{Abs: 1e-3, Rel: 1e-2}}
	on := []sessions.Contender{{Name: "host", Backend: w.Host}, {Name: "eval"}}
	for _, c := range []struct {
		precision sessions.Precision
		scaled    bool
		want      bool
	}{{sessions.FP32, true, false}, {sessions.INT8, true, false}, {sessions.FP16, false, false}, {sessions.FP16, true, true}} {
		how.Scaled = c.scaled
		r, err := sessions.Compare(context.Background(), embedded(t), w, sessions.Config{Precision: c.precision, Calibrator: "minmax", Batch: 1}, on, how, nil)
		if err != nil {
			t.Fatal(err)
		}
		o := r.Pairs[0].Outputs[0]
		if r.Rounding != c.want || (o.Rounding != nil) != c.want || !r.Passed {
			t.Errorf("%s: %+v", c.precision, o)
		}
		if c.want && (o.Tolerance.Abs != o.Rounding.MaxAbs || o.Tolerance.Rel != 0 || math.Abs(o.Rounding.First-75) > 15) {
			t.Errorf("%s: %+v, %+v", c.precision, o.Tolerance, o.Rounding)
		}
	}
}
