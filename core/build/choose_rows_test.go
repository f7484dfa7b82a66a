package build_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// feedForward has two products of 12 tokens, the first of which gives numbers that reach as far in every token.
func feedForward(t *testing.T) *graph.Network {
	t.Helper()
	const tokens, width = 12, 48
	d := &linked{graph.Define("feed-forward"), rand.New(rand.NewPCG(5, 6)), 0}
	x := d.Input("x", numeric.F32, symbolic.Shape(1, tokens, width)...)
	inner := d.Tanh(d.Add(d.MatMul(x, d.weights(width, 2*width)), d.weights(2*width)))
	d.Output("y", d.MatMul(inner, d.weights(2*width, width)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// feedForwardItems returns items whose numbers reach as far in every token, but for the first, in which they are so many times as large.
func feedForwardItems(rnd *rand.Rand, n int, first float32) (list []map[string]numeric.Value) {
	for range n {
		v := numeric.NewValue(numeric.F32, 1, 12, 48)
		for i := range v.F32() {
			if v.F32()[i] = 2*rnd.Float32() - 1; i < 48 {
				v.F32()[i] *= first
			}
		}
		list = append(list, map[string]numeric.Value{"x": v})
	}
	return list
}

// TestChoiceByToken: ranges by token are taken where a token is much larger than others, and left where they gain less than they cost in
// time; the ledger says at each product what was compared, and what was chosen is chosen again without a trial.
func TestChoiceByToken(t *testing.T) {
	for _, c := range []struct {
		name  string
		first float32
		taken bool
	}{{"a token apart", 40, true}, {"tokens alike", 1, false}} {
		t.Run(c.name, func(t *testing.T) {
			b := cpu.Open(1)
			defer b.Close()
			f := newChainChoice(t, feedForward(t), b, feedForwardItems(rand.New(rand.NewPCG(7, 8)), 16, c.first))
			var made build.Way
			l := f.lower(t, func(lc *build.LowerConfig) {
				lc.Choice = &build.Choice{Replay: f.replay, Roundings: []*build.Rounding{nil}, Equalizations: []*build.Equalization{nil},
					Rows: []*build.RowRanges{nil, {ByToken: true}}, Made: func(w build.Way) { made = w }}
			})
			t.Log(l.Tried)
			if len(l.Tried) != 2 || l.Tried[0].ByToken || !l.Tried[1].ByToken || l.ByToken != c.taken || made.Rows == nil || made.Rows.ByToken != c.taken {
				t.Fatalf("tried %v, made %+v", l.Tried, made.Rows)
			}
			said := 0
			for _, s := range l.Steps {
				for _, f := range s.Fired {
					if s.Pass == quantise.RangeRows(nil).Name && c.taken && strings.Contains(f.Note, "by token") {
						said++
					}
				}
				for _, m := range s.Missed {
					if s.Pass == quantise.RangeRows(nil).Name && !c.taken && strings.Contains(m.Detail, "by token") {
						said++
					}
				}
			}
			products := 0
			for _, layer := range l.Network.Layers {
				if layer.Op == graph.DynamicQuantizeMatMul {
					products++
				}
			}
			if said != 2 || products != map[bool]int{true: 2}[c.taken] {
				t.Errorf("the ledger tells of %d of 2 products, %d quantise rows", said, products)
			}
			again := f.lower(t, func(lc *build.LowerConfig) { lc.Rows = made.Rows })
			if again.Network.String() != l.Network.String() || len(again.Tried) != 0 {
				t.Errorf("what was chosen is lowered otherwise: %v", again.Tried)
			}
		})
	}
}

// TestChoiceWithoutRows: where the target has no product by rows the way is that of one range once more, and is not tried.
func TestChoiceWithoutRows(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	f := newChainChoice(t, feedForward(t), b, feedForwardItems(rand.New(rand.NewPCG(7, 8)), 16, 40))
	lc := f.how
	lc.Choice = &build.Choice{Replay: f.replay, Roundings: []*build.Rounding{nil}, Equalizations: []*build.Equalization{nil}, Rows: []*build.RowRanges{nil, {ByToken: true}}}
	l, err := build.Lower(t.Context(), f.optimized, lc, func(l *graph.Layer) error {
		if l.Op == graph.DynamicQuantizeMatMul {
			return errors.New("none of those")
		}
		return run.Supports(b, nil)(l)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Tried) != 2 || l.Tried[1].Skipped == "" || l.ByToken {
		t.Errorf("tried %v", l.Tried)
	}
}

// TestRowRangesSwitchedOff: a product whose place is switched off reads real rows.
func TestRowRangesSwitchedOff(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	n := feedForward(t)
	o, err := build.Optimize(t.Context(), n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	how := build.LowerConfig{Precision: numeric.I8, Rows: &build.RowRanges{ByToken: true}}
	for want, off := range map[int][]string{2: nil, 0: {quantise.RowRanges}} {
		how.Pass = pass.Config{}
		how.Pass.Disable(off)
		l, err := build.Quantise(t.Context(), o, how, run.Supports(b, nil))
		if err != nil {
			t.Fatal(err)
		}
		rounded := 0
		for _, layer := range l.Quantised.Layers {
			if layer.Op == graph.RoundRows {
				rounded++
			}
		}
		if rounded != want {
			t.Errorf("without %v: %d tensors have their rows rounded, want %d", off, rounded, want)
		}
	}
}
