package quant

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// TestCompensation compares with least squares over the rows themselves and the paper's rounding, in float64 by numpy.
func TestCompensation(t *testing.T) {
	data, err := os.ReadFile("testdata/compensate.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		gptqCase
		X, Quantised [][]float32
		Share, Saved float64
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			l := c.layer()
			m, err := NewCompensation(l, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.X {
				x, q := numeric.Values(numeric.F32, c.X[i], c.XDims...), numeric.Values(numeric.F32, c.Quantised[i], c.XDims...)
				if err := m.Add(x, q, 1, i == len(c.X)-1); err != nil {
					t.Fatal(err)
				}
			}
			by := numeric.Range{Scale: c.Scale, Axis: 0}
			stored := numeric.NewValue(numeric.I8, c.WDims...)
			each := stored.Len() / len(c.Scale)
			for i, v := range c.W {
				numeric.View[int8](stored.Data)[i] = int8(math.RoundToEven(float64(v / c.Scale[i/each])))
			}
			got, err := m.Round(stored, by)
			if err != nil {
				t.Fatal(err)
			}
			if want := -10 * math.Log10(1-c.Saved); got.Share != c.Share || math.Abs(got.Gain-want) > 1e-6 {
				t.Errorf("%.9f dB by a share of %g, want %.9f by %g", got.Gain, got.Share, want, c.Share)
			}
			for i, q := range numeric.View[int8](got.Stored.Data) {
				if q != c.Want[i] {
					t.Errorf("weight %d is %d, want %d", i, q, c.Want[i])
				}
			}
		})
	}
}

// TestCompensationRefuses checks what is not solved for, and why.
func TestCompensationRefuses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	c := gptqCase{WDims: []int{4, 6}, XDims: []int{10, 6}, W: make([]float32, 24)}
	for i := range c.W {
		c.W[i] = float32(rnd.NormFloat64())
	}
	draw := func() numeric.Value {
		v := numeric.NewValue(numeric.F32, 10, 6)
		for i := range v.F32() {
			v.F32()[i] = float32(rnd.NormFloat64())
		}
		return v
	}
	same, zero := draw(), numeric.NewValue(numeric.F32, 10, 6)
	nan := draw()
	for i := range nan.F32() {
		nan.F32()[i] = float32(math.NaN())
	}
	for _, d := range []struct {
		name         string
		x, quantised numeric.Value
		held         []bool
		want         string
	}{
		{"nothing lost", same, same, []bool{false, true}, "its input lost nothing"},
		{"nothing held out", draw(), draw(), []bool{false, false}, "too few"},
		{"few rows", numeric.Values(numeric.F32, same.F32()[:30], 5, 6), numeric.Values(numeric.F32, zero.F32()[:30], 5, 6), []bool{false, true}, "6 inputs, and they were seen 5 times"},
		{"zeros", same, zero, []bool{false, true}, "take nothing back"},
		{"not finite", nan, nan, []bool{false, true}, "its input lost nothing"},
		{"other shape", same, numeric.NewValue(numeric.F32, 6, 10), []bool{false}, "it reads [10 6], and [6 10]"},
	} {
		t.Run(d.name, func(t *testing.T) {
			m, err := NewCompensation(c.layer(), nil)
			for _, held := range d.held {
				if err == nil {
					err = m.Add(d.x, d.quantised, 1, held)
				}
			}
			if err == nil {
				_, err = m.Round(numeric.NewValue(numeric.I8, 4, 6), numeric.PerTensor(1, 0))
			}
			if err == nil || !strings.Contains(err.Error(), d.want) {
				t.Errorf("the error is %v, want %q in it", err, d.want)
			}
		})
	}
	wide := gptqCase{WDims: []int{1, maxInputs/2 + 1}, XDims: []int{1, maxInputs/2 + 1}, W: make([]float32, maxInputs/2+1)}
	if _, err := NewCompensation(wide.layer(), nil); err == nil || !strings.Contains(err.Error(), "of up to 2048") {
		t.Errorf("an output of many inputs: %v", err)
	}
}
