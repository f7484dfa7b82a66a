package trtui_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/core/quant"
)

// TestRoundingAndEqualization builds a network whose inputs go together, and whose channels between two products differ widely, in
// several ways: the steps of the build tell how its weights became integers and what was done to its channels.
func TestRoundingAndEqualization(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	wide := func(c int) float32 {
		if c%11 == 0 {
			return 60
		}
		return 1
	}
	w1, w2 := make([]float32, 64*48), make([]float32, 16*64)
	for i := range w1 {
		w1[i] = float32(rnd.NormFloat64()) * wide(i/48)
	}
	for i := range w2 {
		w2[i] = float32(rnd.NormFloat64()) / wide(i%64)
	}
	d := trtui.Define("chain")
	x := d.Input("x", trtui.F32, trtui.Const(8), trtui.Const(48))
	y := d.Relu(d.FullyConnected(x, d.Weights("w1", w1, 64, 48), nil))
	d.Output("y", d.FullyConnected(y, d.Weights("w2", w2, 16, 64), nil))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	batches := func(yield func(trtui.Inputs, error) bool) {
		rnd := rand.New(rand.NewPCG(3, 4))
		for range 40 {
			v := trtui.NewValue(trtui.F32, 8, 48)
			for row := range 8 {
				common := rnd.NormFloat64()
				for c := range 48 {
					v.F32()[row*48+c] = float32(common + rnd.NormFloat64()/2)
				}
			}
			if !yield(trtui.Inputs{"x": v}, nil) {
				return
			}
		}
	}
	for _, c := range []struct {
		rounding, equalization string
		rounded, equalized     bool
		heldOut                bool
	}{
		{"nearest", "off", false, false, false},
		{"gptq", "off", true, false, false},
		{"nearest", "activations", false, true, false},
		{"auto", "auto", true, true, true},
	} {
		t.Run(c.rounding+" "+c.equalization, func(t *testing.T) {
			o := trtui.Options{Precision: trtui.INT8, Calibration: batches, Untimed: true, Threads: 1}
			o.Rounding, _ = quant.ParseRounding(c.rounding)
			o.Equalization, _ = quant.ParseEqualizer(c.equalization)
			e := built(t, n, o)
			rounded, equalized, heldOut := false, false, false
			for _, s := range e.Passes() {
				for _, f := range s.Fired {
					rounded = rounded || strings.Contains(f.Note, "less error of its sums")
					equalized = equalized || strings.Contains(f.Note, "(channel ")
					heldOut = heldOut || strings.Contains(f.Note, "held out")
				}
			}
			if rounded != c.rounded || equalized != c.equalized || heldOut != c.heldOut {
				t.Errorf("rounded by moments: %v, want %v; equalised: %v, want %v; by trial: %v, want %v", rounded, c.rounded, equalized, c.equalized, heldOut, c.heldOut)
			}
			if err := e.Refit(t.Context(), map[string]trtui.Value{"w2": trtui.ValueOf(w2, 16, 64)}); err != nil {
				t.Error(err)
			}
		})
	}
}
