package build_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// chain is a network of two products by matrices with a Relu between, of whose channels in between every eleventh is so many times as
// large as the others, and weighs as much less; with weights in steps of their scales, rounding loses nothing.
func chain(t *testing.T, rnd *rand.Rand, outlier float32, exact bool) *graph.Network {
	t.Helper()
	return chainOf(t, rnd, outlier, exact, 16)
}

// chainOf is a chain of so many outputs a row.
func chainOf(t *testing.T, rnd *rand.Rand, outlier float32, exact bool, outputs int) *graph.Network {
	t.Helper()
	d := graph.Define("chain")
	weights := func(name string, scale func(in, out int) float32, in, out int) *graph.Tensor {
		v := numeric.NewValue(numeric.F32, in, out)
		for i := range v.F32() {
			w := float32(rnd.NormFloat64())
			if exact {
				w = float32(math.Round(float64(w) * 30))
				if i < out {
					w = 127
				}
			}
			v.F32()[i] = w * scale(i/out, i%out)
		}
		return d.Constant(name, v)
	}
	size := func(channel int) float32 {
		if channel%11 == 0 {
			return outlier
		}
		return 1
	}
	x := d.Input("x", numeric.F32, symbolic.Shape(8, 48)...)
	y := d.Relu(d.MatMul(x, weights("w1", func(_, out int) float32 { return size(out) }, 48, 64)))
	d.Output("y", d.MatMul(y, weights("w2", func(in, _ int) float32 { return 1 / size(in) }, 64, outputs)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// chainItems returns inputs of a chain, whose columns go together.
func chainItems(rnd *rand.Rand, n int) (list []map[string]numeric.Value) {
	for range n {
		v := numeric.NewValue(numeric.F32, 8, 48)
		for row := range 8 {
			common := rnd.NormFloat64()
			for c := range 48 {
				v.F32()[row*48+c] = float32(common + rnd.NormFloat64()/2)
			}
		}
		list = append(list, map[string]numeric.Value{"x": v})
	}
	return list
}

// TestChoice lets lowering choose how to round and equalise: what it takes is no worse on other data.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		name              string
		outlier           float32
		exact             bool
		items             int
		tried             int
		rounded, equalize bool
	}{
		{"inputs that go together", 1, false, 40, 4, true, true},
		{"wide channels", 60, false, 40, 4, true, true},
		{"wide channels of integers, which only equalised ones lose by", 60, true, 40, 4, true, true},
		{"nothing to gain", 1, true, 40, 3, false, false},
		{"few items", 1, false, 12, 3, false, false},
		{"too few items", 1, false, 3, 0, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 4))
			n := chain(t, rnd, c.outlier, c.exact)
			b := cpu.Open(1)
			defer b.Close()
			l, sqnr := chooseChain(t, n, b, chainItems(rnd, c.items), chainItems(rnd, 20))
			if len(l.Tried) != c.tried || len(l.Rounded) > 0 != c.rounded || len(l.Equalized) > 0 != c.equalize {
				t.Errorf("tried %v; %d rounded, %d equalised", l.Tried, len(l.Rounded), len(l.Equalized))
			}
			if sqnr["chosen"] < sqnr["nearest"]-0.1 || c.equalize && sqnr["chosen"] < sqnr["gptq"] {
				t.Errorf("on other data: %v", sqnr)
			}
			said := 0
			for _, s := range l.Steps {
				for _, m := range s.Missed {
					if s.Pass == quantise.RoundWeights(nil).Name && (strings.Contains(m.Detail, "held out") || c.exact && strings.Contains(m.Detail, "nothing is lost")) {
						said++
					}
				}
				for _, f := range s.Fired {
					if s.Pass == quantise.RoundWeights(nil).Name && strings.Contains(f.Note, "held out") {
						said++
					}
				}
			}
			if c.tried > 0 && said != 2 {
				t.Errorf("the ledger says at %d layers how their weights were rounded, want 2", said)
			}
		})
	}
}

// TestChoiceJudges: of many items a fourth judges, of few either half judges the other, and of items that are alike one counts, or a way
// would be judged by what it was found on.
func TestChoiceJudges(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	rnd := rand.New(rand.NewPCG(3, 4))
	n := chain(t, rnd, 1, false)
	for _, c := range []struct {
		name                  string
		items, copies, judges int
	}{
		{"many", 40, 1, 10},
		{"few", 12, 1, 12},
		{"few, each three times", 12, 3, 12},
		{"many, each twice", 40, 2, 10},
		{"too few, each twenty times", 3, 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			items := chainItems(rnd, c.items)
			data := make([]map[string]numeric.Value, 0, c.items*c.copies)
			for range c.copies {
				data = append(data, items...)
			}
			l, _ := chooseChain(t, n, b, data, chainItems(rnd, 4))
			judges := 0
			for _, tried := range l.Tried {
				judges = tried.Items
			}
			if judges != c.judges {
				t.Errorf("%d items judge, want %d; tried %v", judges, c.judges, l.Tried)
			}
		})
	}
}

// TestChoiceOfFewOutputs: where there are so few outputs that what the last product reads stands for them, that is compared as it
// was before its channels were scaled.
func TestChoiceOfFewOutputs(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	rnd := rand.New(rand.NewPCG(3, 4))
	l, sqnr := chooseChain(t, chainOf(t, rnd, 60, false, 4), b, chainItems(rnd, 40), chainItems(rnd, 20))
	if len(l.Equalized) == 0 || sqnr["chosen"] < sqnr["gptq"]+3 {
		t.Errorf("tried %v, of which none is equalised; on other data %v", l.Tried, sqnr)
	}
}

// TestChoiceOfGivenRanges: a tensor whose range was given is not equalised, and that is what trial and ledger give as the reason.
func TestChoiceOfGivenRanges(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	rnd := rand.New(rand.NewPCG(3, 4))
	c := newChainChoice(t, chain(t, rnd, 60, false), b, chainItems(rnd, 40))
	c.equalization.Given = map[string]bool{}
	for name := range c.how.Ranges {
		c.equalization.Given[name] = true
	}
	const reason = "the range was given"
	l := c.lower(t, func(lc *build.LowerConfig) { c.choose(lc, nil) })
	if len(l.Equalized) != 0 || len(l.Unscaled) != 1 || !strings.Contains(l.Tried[len(l.Tried)-1].Skipped, reason) {
		t.Errorf("%v equalised, %q not; tried %v", l.Equalized, l.Unscaled, l.Tried)
	}
	if m := l.Steps[0].Missed; len(m) != 1 || !strings.Contains(m[0].Detail, reason) {
		t.Errorf("the ledger says %+v", m)
	}
}

// TestChoiceKeepsMoments chooses again by moments that were kept: the integers are the same, even where the items that were seen before
// are others now; without what was kept they are not.
func TestChoiceKeepsMoments(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	rnd := rand.New(rand.NewPCG(3, 4))
	c := newChainChoice(t, chain(t, rnd, 60, false), b, chainItems(rnd, 40))
	others := func(of build.Batches) build.Batches {
		return func(yield func(map[string]numeric.Value, error) bool) {
			i := 0
			for in := range of {
				if i++; i%4 != 0 { // every fourth is held out
					in = chainItems(rnd, 1)[0]
				}
				if !yield(in, nil) {
					return
				}
			}
		}
	}
	kept := &build.Moments{}
	choose := func(moments *build.Moments) *build.Lowered {
		l := c.lower(t, func(lc *build.LowerConfig) { c.choose(lc, moments) })
		if len(l.Rounded) == 0 || len(l.Equalized) == 0 {
			t.Fatalf("%d layers rounded, %d tensors equalised: %v", len(l.Rounded), len(l.Equalized), l.Tried)
		}
		return l
	}
	first, alone := choose(kept), choose(nil)
	if !reflect.DeepEqual(first.Rounded, alone.Rounded) {
		t.Error("other integers where nothing is kept")
	}
	c.replay.Batches = others(c.replay.Batches)
	if again := choose(kept); !reflect.DeepEqual(again.Rounded, first.Rounded) {
		t.Error("other integers by what was kept")
	}
	if other := choose(nil); reflect.DeepEqual(other.Rounded, first.Rounded) {
		t.Error("the same integers by other data")
	}
}

// chainChoice is what there is to lower a chain with.
type chainChoice struct {
	optimized    *build.Optimized
	backend      run.Backend
	calibrator   quant.Calibrator
	how          build.LowerConfig // by the nearest integers
	replay       *build.Replay
	rounding     *build.Rounding
	equalization *build.Equalization
}

func newChainChoice(t *testing.T, n *graph.Network, b run.Backend, items []map[string]numeric.Value) *chainChoice {
	t.Helper()
	batches := func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range items {
			if !yield(in, nil) {
				return
			}
		}
	}
	found, err := build.Collect(t.Context(), n, b, batches, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(t.Context(), n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	calibrator := quant.MSE{Scheme: quant.Scheme{Asymmetric: true}}
	replay := &build.Replay{Backend: b, Batches: batches, Items: len(items)}
	gptq, _ := quant.ParseRounding("gptq")
	activations, _ := quant.ParseEqualizer("activations")
	return &chainChoice{
		optimized: o, backend: b, calibrator: calibrator, replay: replay, rounding: &build.Rounding{By: gptq, Replay: replay},
		how: build.LowerConfig{Precision: numeric.I8, Ranges: build.Ranges(found.Histograms, calibrator), Policy: quant.Policy{Scheme: calibrator.Scheme}, Correction: &build.Correction{Replay: replay}},
		equalization: &build.Equalization{By: activations, Spreads: found.Spreads(), Ranges: func(ctx context.Context, n *graph.Network, names []string) (map[string]numeric.Range, error) {
			scaled, err := build.CollectScaled(ctx, n, b, batches, nil, names, nil)
			if err != nil {
				return nil, err
			}
			return build.Ranges(scaled.Histograms, calibrator), nil
		}},
	}
}

// TestChoiceTells: of a trial is told what is done within it, layer by layer where weights are rounded.
func TestChoiceTells(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	rnd := rand.New(rand.NewPCG(3, 4))
	c, items := newChainChoice(t, chain(t, rnd, 1, false), b, chainItems(rnd, 40)), map[string]int{}
	c.replay.Progress = func(phase, item string, done, of int) {
		if strings.HasPrefix(phase, "trying gptq rounding") && !strings.Contains(phase, "equalised") && done == 1 && of == 3 {
			what, _, _ := strings.Cut(item, " ")
			items[what]++
		}
	}
	c.lower(t, func(lc *build.LowerConfig) { c.choose(lc, nil) })
	if items["collecting"] == 0 || items["rounding"] < 2 || items["correcting"] == 0 {
		t.Errorf("of the trial it tells %v", items)
	}
}

// choose has lowering choose.
func (c *chainChoice) choose(lc *build.LowerConfig, moments *build.Moments) {
	lc.Choice = &build.Choice{
		Replay: c.replay, Roundings: []*build.Rounding{nil, c.rounding}, Equalizations: []*build.Equalization{nil, c.equalization}, Moments: moments,
		Ranges: func(seen map[string]*quant.Histogram) map[string]numeric.Range {
			return build.Ranges(seen, c.calibrator)
		},
	}
}

func (c *chainChoice) lower(t *testing.T, change func(*build.LowerConfig)) *build.Lowered {
	t.Helper()
	lc := c.how
	change(&lc)
	l, err := build.Lower(t.Context(), c.optimized, lc, run.Supports(c.backend, nil))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// chooseChain lowers a network by a choice on items, and returns with it what that and other ways have on others in dB.
func chooseChain(t *testing.T, n *graph.Network, b run.Backend, items, others []map[string]numeric.Value) (*build.Lowered, map[string]float64) {
	t.Helper()
	c := newChainChoice(t, n, b, items)
	ways := map[string]*build.Lowered{
		"nearest":   c.lower(t, func(*build.LowerConfig) {}),
		"gptq":      c.lower(t, func(lc *build.LowerConfig) { lc.Rounding = c.rounding }),
		"equalised": c.lower(t, func(lc *build.LowerConfig) { lc.Equalization = c.equalization }),
		"gptq, equalised": c.lower(t, func(lc *build.LowerConfig) {
			lc.Rounding, lc.Equalization = c.rounding, c.equalization
		}),
		"chosen": c.lower(t, func(lc *build.LowerConfig) { c.choose(lc, nil) }),
	}
	sqnr := map[string]float64{}
	for how, l := range ways {
		sqnr[how] = sqnrOf(t, n, l, others)
	}
	t.Log(sqnr, ways["chosen"].Tried)
	return ways["chosen"], sqnr
}

// sqnrOf returns what a chain that was lowered has on some items, in dB.
func sqnrOf(t *testing.T, n *graph.Network, l *build.Lowered, items []map[string]numeric.Value) float64 {
	t.Helper()
	var e quant.ErrorAccumulator
	for _, in := range items {
		want, err := n.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Network.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(want["y"].Floats(), got["y"].Floats()); err != nil {
			t.Fatal(err)
		}
	}
	return e.Errors().SQNRdB
}
