package quant

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// A histogram that was written and read is the same: every calibrator finds the same range, and more values may be added.
func TestHistogramJSON(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	values := func(n int, f func() float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(f())
		}
		return x
	}
	for name, x := range map[string][]float32{
		"none": nil, "zeros": {0, 0, 0}, "one": {-3.5}, "normal": values(5000, rnd.NormFloat64),
		"relu":   values(5000, func() float64 { return max(0, rnd.NormFloat64()) }),
		"small":  values(100, func() float64 { return rnd.NormFloat64() * 1e-38 }),
		"large":  {math.MaxFloat32, -math.MaxFloat32, 1},
		"others": {float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 2, -1},
	} {
		h := &Histogram{}
		h.Add(x)
		data, err := json.Marshal(h)
		if err != nil {
			t.Fatal(name, err)
		}
		back := &Histogram{}
		if err := json.Unmarshal(data, back); err != nil {
			t.Fatal(name, err)
		}
		for range 2 {
			if h.Count() != back.Count() || h.Zeros() != back.Zeros() || h.NaNs() != back.NaNs() || h.Infs() != back.Infs() || h.Mean() != back.Mean() || h.Power() != back.Power() {
				t.Errorf("%s: other counts", name)
			}
			for _, m := range Calibrators() {
				c := m.New(m.Value, Scheme{Asymmetric: true})
				if a, b := c.Range(h), c.Range(back); !reflect.DeepEqual(a, b) {
					t.Errorf("%s: %s finds %v, of what was read %v", name, c, a, b)
				}
			}
			more := []float32{9, -1000}
			h.Add(more)
			back.Add(more)
		}
	}
	for _, c := range []struct{ from, to string }{
		{`"count":5000`, `"count":4999`}, {`"exp":`, `"exp":9`}, {`"bins":[`, `"bins":[4096,1,`}, {`"bins":[`, `"bins":[1,`}, {`"min":`, `"min":9`},
		{`"sum":[0`, `"sum":[-1`}, {`"zeros"`, `"zeros":6000,"z"`},
	} {
		h := &Histogram{}
		h.Add(values(5000, func() float64 { return max(0, rnd.NormFloat64()) }))
		data, _ := json.Marshal(h)
		bad := strings.Replace(string(data), c.from, c.to, 1)
		if bad == string(data) {
			t.Errorf("%s is not in %.300s", c.from, data)
		}
		if err := json.Unmarshal([]byte(bad), &Histogram{}); err == nil {
			t.Errorf("%s is read", c.to)
		}
	}
}
