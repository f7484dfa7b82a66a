package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestParseFewBits(t *testing.T) {
	for text, want := range map[string]FewBits{"": {}, "int8": {8, 0, false}, "int8:64": {8, 64, false}, "int4": {4, 32, false}, "int4:128": {4, 128, false},
		"int8:asymmetric": {8, 0, true}, "int8:64:asymmetric": {8, 64, true}, "int4:asymmetric": {4, 32, true}} {
		if got, err := ParseFewBits(text); err != nil || got != want || got.String() != text {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"int2", "fp8", "int4:", "int4:7", "int4:-8", "int4:0", "int8:99999999", ":32", ":asymmetric", "int8:asymmetric:64"} {
		if got, err := ParseFewBits(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestParseRounding(t *testing.T) {
	for _, text := range []string{"nearest", "gptq", "gptq:ordered"} {
		if got, err := ParseRounding(text); err != nil || got.String() != text || got.NeedsMoments() != (text != "nearest") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "up", "nearest:ordered", "gptq:", "gptq:128"} {
		if got, err := ParseRounding(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Weights of 8 bits are within half a step of what they were; those of 4 lose no more than by the scale of the largest, and all are
// what the Dequantize says.
func TestFewBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, f := range []FewBits{{8, 0, false}, {8, 16, false}, {4, 32, false}, {4, 8, false}, {8, 0, true}, {8, 16, true}, {4, 32, true}, {4, 8, true}} {
		for _, shape := range [][2]int{{1, 1}, {7, 3}, {33, 4}, {64, 2}} {
			for _, turned := range []bool{false, true} {
				testFewBits(t, rnd, f, shape[0], shape[1], turned)
			}
		}
	}
}

func testFewBits(t *testing.T, rnd *rand.Rand, f FewBits, k, n int, turned bool) {
	v := numeric.NewValue(numeric.F32, k, n)
	step, element := n, 1
	if turned {
		v, step, element = numeric.NewValue(numeric.F32, n, k), 1, k
	}
	for i := range v.F32() {
		v.F32()[i] = float32(rnd.NormFloat64())
	}
	w := &graph.Tensor{Name: "w", Type: numeric.F32, Dims: symbolic.Shape(v.Dims...), Weights: v.Data}
	x := &graph.Tensor{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(1, k)}
	l := &graph.Layer{Name: "l", Op: graph.Gemm, Attrs: graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: turned}, Inputs: []*graph.Tensor{x, w}}
	q, _, err := f.Quantize(l, v, Rounding{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Attrs.Type = numeric.F32
	in := []numeric.Value{q.Stored}
	d := &graph.Layer{Name: "d", Op: graph.Dequantize, Attrs: q.Attrs, Inputs: []*graph.Tensor{{Name: "q", Type: q.Stored.Type, Dims: w.Dims}}, Outputs: []*graph.Tensor{{Name: "y"}}}
	if q.Scales != nil {
		in = append(in, *q.Scales)
		d.Inputs = append(d.Inputs, &graph.Tensor{Name: "s", Type: numeric.F32, Dims: symbolic.Shape(q.Scales.Dims...), Weights: q.Scales.Data})
	}
	if q.Zeros != nil {
		in = append(in, *q.Zeros)
		d.Inputs = append(d.Inputs, &graph.Tensor{Name: "z", Type: q.Zeros.Type, Dims: symbolic.Shape(q.Zeros.Dims...), Weights: q.Zeros.Data})
	}
	if err := d.Op.Infer(d); err != nil {
		t.Fatalf("%+v %v: %v", f, v.Dims, err)
	}
	out := numeric.NewValue(numeric.F32, v.Dims...)
	if err := d.Op.Eval(d, in, []numeric.Value{out}); err != nil {
		t.Fatal(err)
	}
	group := f.Group
	if group == 0 {
		group = k
	}
	var sum, plain float64
	for o := range n {
		for first := 0; first < k; first += group {
			var largest, low, high float64
			for i := first; i < min(first+group, k); i++ {
				at := float64(v.F32()[i*step+o*element])
				largest, low, high = max(largest, math.Abs(at)), min(low, at), max(high, at)
			}
			scale := largest / float64(int(1)<<(f.Bits-1)-1)
			if f.Asymmetric { // of which one end is moved by rounding the zero point
				scale = (high - low) / float64(int(1)<<f.Bits-1)
			}
			for i := first; i < min(first+group, k); i++ {
				at := i*step + o*element
				real := float64(v.F32()[at])
				off, nearest := float64(out.F32()[at])-real, math.RoundToEven(real/scale)*scale-real
				if f.Bits == 8 && math.Abs(off) > scale*map[bool]float64{false: 0.5001, true: 1.0001}[f.Asymmetric] {
					t.Fatalf("%+v %v: %g is off by %g, the scale is %g", f, v.Dims, real, off, scale)
				}
				sum, plain = sum+off*off, plain+nearest*nearest
			}
		}
	}
	if sum > plain*1.001+1e-9 {
		t.Errorf("%+v %v: squared error %g, by the largest weight %g", f, v.Dims, sum, plain)
	}
}
