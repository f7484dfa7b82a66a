package stages

import (
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
)

// TestWays checks that what a configuration leaves open is tried in every way but the one that trials have chosen, and that what a person
// decided is left alone.
func TestWays(t *testing.T) {
	equalized := build.Equalized{"x": {}}
	residuals, compensated := way{residuals: true}, way{rounding: "compensated"}
	by := func(equalizations ...string) (list []way) {
		for _, e := range equalizations {
			list = append(list, way{equalization: e})
		}
		return list
	}
	roundings := []way{{rounding: "gptq"}, {rounding: "nearest"}}
	for _, c := range []struct {
		rounding, equalization string
		correction             quant.BiasCorrection
		base                   build.Lowered
		want                   []way
		settled                [2]string
	}{
		{"auto", "auto", "", build.Lowered{Rounded: build.Rounded{"a": {}}, Equalized: equalized}, slices.Concat([]way{compensated, residuals}, by("off", "activations:0.75", "activations:0.5"), roundings), [2]string{"gptq", "activations"}},
		{"auto", "auto", "fast", build.Lowered{Rounded: build.Rounded{}}, slices.Concat([]way{residuals}, by("activations", "activations:0.75", "activations:0.5"), roundings), [2]string{"nearest", "off"}},
		{"auto", "off", "exact", build.Lowered{Rounded: build.Rounded{"a": {}}}, slices.Concat([]way{compensated, residuals}, roundings), [2]string{"gptq", "off"}},
		{"nearest", "auto", "", build.Lowered{Equalized: equalized}, slices.Concat([]way{residuals}, by("off", "activations:0.75", "activations:0.5")), [2]string{"nearest", "activations"}},
		{"gptq:ordered", "weights", "", build.Lowered{}, []way{residuals}, [2]string{"gptq:ordered", "weights"}},
	} {
		cfg := config.Default()
		q := &cfg.Quantization
		q.Rounding, q.Equalization, q.BiasCorrection = c.rounding, c.equalization, c.correction
		of := &study{base: &c.base}
		if got := waysOf(q.Full(), &c.base, false); !slices.Equal(got, c.want) {
			t.Errorf("rounding %s, equalization %s: ways %v, want %v", c.rounding, c.equalization, got, c.want)
		}
		of.base.ByToken = len(c.base.Equalized) > 0
		if of.settle(q); q.Activations != map[bool]string{true: "asymmetric:token", false: "asymmetric"}[of.base.ByToken] || [2]string{q.Rounding, q.Equalization} != c.settled {
			t.Errorf("rounding %s, equalization %s: settled to %s, %s and %s, want %v", c.rounding, c.equalization, q.Rounding, q.Equalization, q.Activations, c.settled)
		}
	}
}

// TestWayApplied checks that a way keeps what else a configuration says, and that residual sums stay as an earlier way left them.
func TestWayApplied(t *testing.T) {
	q := config.Quantization{Keep: []string{"first"}, WeightRanges: "mse"}
	kept := q.Keep
	for range 2 {
		way{rounding: "gptq", equalization: "off", residuals: true}.apply(&q)
	}
	way{rounding: "nearest"}.apply(&q)
	way{equalization: "weights"}.apply(&q)
	if !slices.Equal(q.Keep, []string{"first", "residuals"}) || q.WeightRanges != "mse" || q.Rounding != "nearest" || q.Equalization != "weights" || len(kept) != 1 {
		t.Errorf("applied: %+v", q)
	}
}

// TestWayByToken: ranges by token are tried where sequences of rows are multiplied and they were not asked for, and keep the zero points, or the
// lack of them, that was chosen.
func TestWayByToken(t *testing.T) {
	for activations, want := range map[string]string{"": "asymmetric:token", "symmetric:u8": "symmetric:token", "asymmetric:token": "", "symmetric:token": ""} {
		q := config.Quantization{Activations: activations, Rounding: "nearest", Equalization: "off"}
		ways := waysOf(q.Full(), &build.Lowered{ByToken: q.Scheme().ByToken}, true)
		if tried := slices.Contains(ways, way{tokens: true}); tried != (want != "") {
			t.Errorf("%q: %v", activations, ways)
		}
		if want != "" {
			way{tokens: true}.apply(&q)
			if q.Activations != want || q.Check() != nil {
				t.Errorf("%q becomes %q: %v", activations, q.Activations, q.Check())
			}
		}
	}
	for rank, want := range map[int]bool{2: false, 3: true} {
		d := graph.Define("tokens")
		x := d.Input("x", numeric.F32, symbolic.Shape([]int{1, 5, 4}[3-rank:]...)...)
		d.Output("y", d.MatMul(x, d.Constant("w", numeric.NewValue(numeric.F32, 4, 3))))
		n, err := d.Network()
		if err != nil || MultipliesTokens(n) != want {
			t.Errorf("rank %d: %v, %v", rank, !want, err)
		}
	}
}

// TestFirstWayIsTried: where measuring the default took most of the time, the first way is tried, and no other.
func TestFirstWayIsTried(t *testing.T) {
	for _, c := range []struct {
		gone        time.Duration
		first, more bool
	}{{time.Minute, true, true}, {8 * time.Minute, true, false}, {11 * time.Minute, false, false}} {
		g := &searching{Tuning: Tuning{Limit: 10 * time.Minute}, begin: time.Now().Add(-c.gone)}
		if first, more := !g.late(waysShare(0)), !g.late(waysShare(1)); first != c.first || more != c.more {
			t.Errorf("after %v: the first %v, another %v", c.gone, first, more)
		}
	}
}
