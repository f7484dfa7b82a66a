package build_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestByToken: of tokens that are as different in size as one to a hundred, those that are small lose their digits to a range for all of
// them; ranges by token keep these, and zero points lose none where numbers lie to one side, most of what is left being that of weights. Biases are corrected behind rounded rows.
func TestByToken(t *testing.T) {
	const rows, width = 16, 96
	d := &linked{graph.Define("tokens"), rand.New(rand.NewPCG(9, 4)), 0}
	x := d.Input("x", numeric.F32, symbolic.Shape(rows, width)...)
	d.Output("y", d.Add(d.MatMul(d.Relu(d.Add(d.MatMul(x, d.weights(width, 2*width)), d.weights(2*width))), d.weights(2*width, width)), d.weights(width)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	var items []map[string]numeric.Value
	for range 8 {
		v := make([]float32, rows*width)
		for i := range v {
			v[i] = float32(rnd.NormFloat64()+2) * float32(math.Pow(100, float64(i/width)/rows-1))
		}
		items = append(items, map[string]numeric.Value{"x": numeric.Values(numeric.F32, v, rows, width)})
	}
	batches := func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range items {
			if !yield(in, nil) {
				return
			}
		}
	}
	b := cpu.Open(1)
	defer b.Close()
	found, err := build.Collect(t.Context(), n, b, batches, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(t.Context(), n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var least []float64 // by scheme: the SQNR of the rows that have least of it
	for _, s := range []quant.Scheme{{Asymmetric: true}, {ByToken: true}, {Asymmetric: true, ByToken: true}} {
		how := build.LowerConfig{Precision: numeric.I8, Policy: quant.Policy{Scheme: s}, Ranges: build.Ranges(found.Histograms, quant.MinMax{Scheme: s}),
			Correction: &build.Correction{Replay: &build.Replay{Backend: b, Batches: batches, Items: len(items)}}}
		l, err := build.Lower(t.Context(), o, how, run.Supports(b, nil))
		if err != nil {
			t.Fatal(err)
		}
		products := 0
		for _, layer := range l.Network.Layers {
			if layer.Op == graph.DynamicQuantizeMatMul {
				if products++; build.PrecisionOf(layer) != numeric.I8 {
					t.Errorf("%s computes on %s", layer.Name, build.PrecisionOf(layer))
				}
			}
		}
		if want := map[bool]int{true: 2}[s.ByToken]; products != want {
			t.Errorf("%s: %d products quantise their rows, want %d", s, products, want)
		}
		if s.ByToken && len(l.Shifts) == 0 {
			t.Errorf("%s: no bias is corrected", s)
		}
		signal, noise := make([]float64, rows), make([]float64, rows)
		for _, in := range items {
			want, err := n.Eval(t.Context(), in, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Network.Eval(t.Context(), in, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range want["y"].Floats() {
				e := float64(got["y"].Floats()[i] - v)
				signal[i/width], noise[i/width] = signal[i/width]+float64(v)*float64(v), noise[i/width]+e*e
			}
		}
		worst := math.Inf(1)
		for r := range rows {
			worst = min(worst, 10*math.Log10(signal[r]/noise[r]))
		}
		least = append(least, worst)
	}
	text := fmt.Sprintf("%.1f dB by one range, %.1f by token, %.1f with zero points", least[0], least[1], least[2])
	t.Log(text)
	if least[1] < least[0]+6 || least[2] <= least[1] {
		t.Error(text)
	}
}
