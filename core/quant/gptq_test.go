package quant

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// gptqCase is a case of testdata/gptq.py.
type gptqCase struct {
	Name                     string
	X, W                     []float32
	XDims                    []int `json:"x_dims"`
	WDims                    []int `json:"w_dims"`
	Scale                    []float32
	Most                     float64
	Ordered                  bool
	Groups                   int
	Pads, Strides, Dilations []int
	Want                     []int8
}

func (c gptqCase) layer() *graph.Layer {
	in := []*graph.Tensor{
		{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(c.XDims...)},
		{Name: "w", Type: numeric.F32, Dims: symbolic.Shape(c.WDims...), Weights: numeric.Bytes(c.W)},
	}
	if len(c.WDims) == 2 {
		return &graph.Layer{Name: "l", Op: graph.Gemm, Attrs: graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, Inputs: in}
	}
	return &graph.Layer{Name: "l", Op: graph.Conv, Attrs: graph.ConvAttrs{Group: c.Groups, Pads: c.Pads, Strides: c.Strides, Dilations: c.Dilations}, Inputs: in}
}

// TestMomentsDivided divides the channels of a grouped convolution's input: the moments are those that are collected of what is
// divided, and those of more rows go on from there.
func TestMomentsDivided(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	c := gptqCase{WDims: []int{4, 2, 3, 3}, XDims: []int{1, 4, 9, 7}, Groups: 2, Pads: []int{1, 1, 1, 1}}
	c.W = make([]float32, 4*2*9)
	l, by := c.layer(), []float64{1, 8, 0.5, 4}
	x, divided := make([]float32, 4*63), make([]float32, 4*63)
	for i := range x {
		x[i] = float32(rnd.NormFloat64())
		divided[i] = x[i] / float32(by[i/63])
	}
	of := func(rows ...[]float32) *Moments {
		m, err := NewMoments(l, c.WDims)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range rows {
			if err := m.Add(l, c.WDims, numeric.Values(numeric.F32, x, c.XDims...), 2); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	first := of(x)
	got, err := first.Divided(by)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Add(l, c.WDims, numeric.Values(numeric.F32, divided, c.XDims...), 2); err != nil {
		t.Fatal(err)
	}
	want := of(divided, divided)
	for g := range want.sums {
		for i, v := range want.sums[g] {
			if math.Abs(got.sums[g][i]-v) > 1e-9*math.Abs(v) {
				t.Fatalf("group %d, moment %d is %v, want %v", g, i, got.sums[g][i], v)
			}
		}
	}
	if again := of(x); !slices.Equal(first.sums[1], again.sums[1]) || first.rows != again.rows {
		t.Error("what was divided is not as it was")
	}
	if _, err := first.Divided([]float64{1, 2, 3, 4, 5}); err == nil {
		t.Error("five numbers divide four channels")
	}
}

// TestGPTQ compares with the paper's algorithm, which inverts the moments, in float64 by numpy.
func TestGPTQ(t *testing.T) {
	data, err := os.ReadFile("testdata/gptq.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []gptqCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			l := c.layer()
			m, err := NewMoments(l, c.WDims)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Add(l, c.WDims, numeric.Values(numeric.F32, c.X, c.XDims...), 1); err != nil {
				t.Fatal(err)
			}
			w := numeric.Values(numeric.F32, c.W, c.WDims...)
			rows := weightRows(l, c.WDims)
			for group := range m.groups {
				by, err := newGPTQ(slices.Clone(m.sums[group]), m.k, Rounding{"gptq", c.Ordered}, nil)
				if err != nil {
					t.Fatal(err)
				}
				each := rows.outputs / m.groups
				for o := group * each; o < (group+1)*each; o++ {
					ordered := make([]float32, m.k)
					for j, i := range by.order {
						ordered[j] = c.W[o*m.k+i]
					}
					done, err := by.round(ordered, 1, -c.Most, c.Most, func(int, int) float32 { return c.Scale[o] })
					if err != nil {
						t.Fatal(err)
					}
					q := make([]int8, m.k)
					for j, i := range by.order {
						q[i] = done.now[j]
					}
					if want := c.Want[o*m.k : (o+1)*m.k]; !slices.Equal(q, want) {
						t.Errorf("output %d: %v, want %v", o, q, want)
					}
				}
			}
			q := make([]int8, len(c.W))
			for i, v := range c.W {
				q[i] = int8(max(-c.Most, min(c.Most, math.RoundToEven(float64(v)/float64(c.Scale[i/m.k])))))
			}
			by := Rounding{"gptq", c.Ordered}
			gain, err := by.Improve(l, w, q, grid{-c.Most, c.Most, func(o, _ int) float32 { return c.Scale[o] }}, m)
			if err != nil || !(gain > 0.5) {
				t.Errorf("sums lose %.2f dB less, error %v", gain, err)
			}
		})
	}
}

// Moments that say nothing, and weights that are no numbers, leave the nearest integers.
func TestGPTQDegenerate(t *testing.T) {
	l := gptqCase{XDims: []int{3, 2}, WDims: []int{1, 2}, W: make([]float32, 2)}.layer()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, x := range [][]float32{{0, 0, 0, 0, 0, 0}, {nan, inf, nan, -inf, nan, inf}, {}} {
		m, err := NewMoments(l, []int{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(l, []int{1, 2}, numeric.Values(numeric.F32, x, len(x)/2, 2), 1); err != nil {
			t.Fatal(err)
		}
		q := []int8{5, -7}
		gain, err := (Rounding{kind: "gptq"}).Improve(l, numeric.Values(numeric.F32, []float32{5, -7}, 1, 2), q, grid{-127, 127, func(int, int) float32 { return 1 }}, m)
		if err == nil || gain != 0 || q[0] != 5 || q[1] != -7 {
			t.Errorf("%v: %v by %g dB, error %v", x, q, gain, err)
		}
	}
	m, _ := NewMoments(l, []int{1, 2})
	if err := m.Add(l, []int{1, 2}, numeric.Values(numeric.F32, []float32{1, 2, 3, 4}, 2, 2), 1); err != nil {
		t.Fatal(err)
	}
	q := []int8{127, 0}
	if _, err := (Rounding{kind: "gptq"}).Improve(l, numeric.Values(numeric.F32, []float32{inf, nan}, 1, 2), q, grid{-127, 127, func(int, int) float32 { return 1 }}, m); err != nil || q[0] != 127 || q[1] != 0 {
		t.Errorf("%v, error %v", q, err)
	}
	for _, dims := range [][]int{{4, maxInputs + 1}, {4, 0}} {
		if _, err := NewMoments(l, dims); err == nil {
			t.Errorf("moments of weights %v", dims)
		}
	}
}

// Of many places so many are taken that all items together give enough, and not those of one column of an image.
func TestMomentsSample(t *testing.T) {
	l := gptqCase{XDims: []int{1, 1, 200, 200}, WDims: []int{1, 1, 1, 1}, W: make([]float32, 1), Groups: 1}.layer()
	m, err := NewMoments(l, []int{1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 200*200)
	for i := range x {
		x[i] = float32(i % 200)
	}
	for range 10 {
		if err := m.Add(l, []int{1, 1, 1, 1}, numeric.Values(numeric.F32, x, 1, 1, 200, 200), 10); err != nil {
			t.Fatal(err)
		}
	}
	if mean := m.sums[0][0] / float64(m.rows); m.rows != fewestRows/10*10 || math.Abs(mean-199.*399/6) > 133 {
		t.Errorf("%d places with a second moment of %g", m.rows, mean)
	}
}

// TestGPTQMultiplied compares products of matrices in single precision with plain loops: sums that are rounded once more may round a
// weight the other way, and lose no more on the whole.
func TestGPTQMultiplied(t *testing.T) {
	const k, outputs, seen = 150, 40, 700
	rnd := rand.New(rand.NewPCG(5, 6))
	x, w := make([]float32, seen*k), make([]float32, outputs*k)
	for r := range seen {
		common := rnd.NormFloat64()
		for i := range k {
			x[r*k+i] = float32(common + rnd.NormFloat64()*float64(i%7))
		}
	}
	for i := range w {
		w[i] = float32(rnd.NormFloat64())
	}
	calls := 0
	multiply := func(a, b []float32, rows, k, columns int) ([]float32, error) {
		calls++
		p := make([]float32, rows*columns)
		for i := range rows {
			for c := range k {
				for j := range columns {
					p[i*columns+j] += a[i*k+c] * b[c*columns+j]
				}
			}
		}
		return p, nil
	}
	c := gptqCase{WDims: []int{outputs, k}, W: w, XDims: []int{seen, k}}
	l := c.layer()
	var gains [2]float64
	var integers [2][]int8
	for i, by := range []Multiply{nil, multiply} {
		m, err := NewMoments(l, c.WDims)
		if err != nil {
			t.Fatal(err)
		}
		m.Multiply = by
		if err := m.Add(l, c.WDims, numeric.Values(numeric.F32, x, seen, k), 1); err != nil {
			t.Fatal(err)
		}
		q := make([]int8, len(w))
		for i, v := range w {
			q[i] = int8(math.RoundToEven(float64(v) * 2))
		}
		gains[i], err = (Rounding{kind: "gptq"}).Improve(l, numeric.Values(numeric.F32, w, outputs, k), q, grid{-127, 127, func(int, int) float32 { return 0.5 }}, m)
		if err != nil {
			t.Fatal(err)
		}
		integers[i] = q
	}
	apart := 0
	for i, v := range integers[0] {
		if v != integers[1][i] {
			apart++
		}
	}
	if calls == 0 || gains[0] < 0.5 || math.Abs(gains[0]-gains[1]) > 0.01 || apart > len(w)/100 {
		t.Errorf("%d products; %.3f dB by loops, %.3f by them; %d of %d integers differ", calls, gains[0], gains[1], apart, len(w))
	}
}

// TestFewRows: integers that were found on fewer rows than there are inputs lose less than the nearest on other rows, too.
func TestFewRows(t *testing.T) {
	const k, outputs, factors = 64, 48, 12
	rnd := rand.New(rand.NewPCG(11, 12))
	mix := make([]float32, factors*k) // inputs go together by these
	for i := range mix {
		mix[i] = float32(rnd.NormFloat64())
	}
	row := func(to []float32) {
		clear(to)
		for f := range factors {
			x := float32(rnd.NormFloat64())
			for i := range to {
				to[i] += x * mix[f*k+i]
			}
		}
		for i := range to {
			to[i] += 3 * float32(rnd.NormFloat64())
		}
	}
	c := gptqCase{WDims: []int{outputs, k}, W: make([]float32, outputs*k), Scale: make([]float32, outputs)}
	for i := range c.W {
		c.W[i] = float32(rnd.NormFloat64())
	}
	for o := range c.Scale {
		c.Scale[o] = 0.3
	}
	lost := func(q []int8) (sum float64) { // by other rows
		x := make([]float32, k)
		for range 2000 {
			row(x)
			for o := range outputs {
				var d float64
				for i, v := range x {
					d += float64(v) * (float64(c.W[o*k+i]) - 0.3*float64(q[o*k+i]))
				}
				sum += d * d
			}
		}
		return sum
	}
	nearest := make([]int8, len(c.W))
	for i, w := range c.W {
		nearest[i] = int8(max(-7, min(7, math.RoundToEven(float64(w)/0.3))))
	}
	by, _ := ParseRounding("gptq")
	for _, s := range []struct {
		rows int
		most float64 // dB more than the nearest lose
	}{{k / 4, -0.4}, {k / 2, -0.8}, {16 * k, -1.8}} {
		c.XDims = []int{s.rows, k}
		c.X = make([]float32, s.rows*k)
		for r := range s.rows {
			row(c.X[r*k : (r+1)*k])
		}
		l := c.layer()
		m, err := NewMoments(l, c.WDims)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(l, c.WDims, numeric.Values(numeric.F32, c.X, c.XDims...), 1); err != nil {
			t.Fatal(err)
		}
		q, w := slices.Clone(nearest), numeric.Values(numeric.F32, c.W, c.WDims...)
		if _, err := by.Improve(l, w, q, grid{-7, 7, func(int, int) float32 { return 0.3 }}, m); err != nil {
			t.Fatal(err)
		}
		if more := 10 * math.Log10(lost(q)/lost(nearest)); more > s.most {
			t.Errorf("%d rows: %.2f dB more than the nearest, want %.1f at most", s.rows, more, s.most)
		}
	}
}

// Weights of 7 bits stay so when they are rounded anew: GPTQ moves none beyond 64.
func TestReducedStayReduced(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	c := gptqCase{WDims: []int{8, 16}, XDims: []int{64, 16}, W: make([]float32, 8*16), X: make([]float32, 64*16)}
	for i := range c.W {
		c.W[i] = float32(rnd.NormFloat64())
	}
	for i := range c.X {
		c.X[i] = float32(rnd.NormFloat64())
		if i%16 > 0 {
			c.X[i] += 3 * c.X[i-1] // so that GPTQ has much to gain
		}
	}
	l := c.layer()
	m, err := NewMoments(l, c.WDims)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(l, c.WDims, numeric.Values(numeric.F32, c.X, c.XDims...), 1); err != nil {
		t.Fatal(err)
	}
	gptq, err := ParseRounding("gptq")
	if err != nil {
		t.Fatal(err)
	}
	w := numeric.Values(numeric.F32, c.W, c.WDims...)
	for by, want := range map[string]int8{"percentile:60": 127, "percentile:60/7bit": 64} {
		r, err := ParseWeightRange(by)
		if err != nil {
			t.Fatal(err)
		}
		stored, scales := QuantizeWeights(w, 0, r)
		q, gain, err := gptq.RoundStored(l, w, stored, scales, m)
		if err != nil || gain <= 0 {
			t.Fatalf("%s: a gain of %g dB, %v", by, gain, err)
		}
		var end int8
		for _, v := range numeric.View[int8](q.Data) {
			end = max(end, v, -v)
		}
		if end != want {
			t.Errorf("%s: integers reach to %d, want %d", by, end, want)
		}
	}
}
