package quant

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestPlaceFloat8 compares a product with what ml_dtypes rounds its inputs to, and says of other layers why they stay.
func TestPlaceFloat8(t *testing.T) {
	data, err := os.ReadFile("testdata/float8.json")
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		X, W  []float32
		Cases []struct {
			Type string
			Want []float64
		}
	}
	if err := json.Unmarshal(data, &of); err != nil {
		t.Fatal(err)
	}
	types := map[string]numeric.DataType{"f8e4m3fn": numeric.F8E4M3FN, "f8e5m2": numeric.F8E5M2}
	for _, c := range of.Cases {
		d := graph.Define("f8")
		x := d.Input("x", numeric.F32, symbolic.Shape(4, 9)...)
		y := d.MatMul(x, d.Constant("w", numeric.Values(numeric.F32, of.W, 9, 5)))
		d.Output("y", y)
		d.Output("z", d.Relu(d.MatMul(d.Transpose(y, 1, 0), x)))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		var most float64
		for _, v := range of.X {
			most = max(most, math.Abs(float64(v)))
		}
		decisions, err := PlaceFloat8(n, types[c.Type], map[string]numeric.Range{"x": Scheme{}.Range(-most, most)}, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, d := range decisions {
			if d.Precision == types[c.Type] {
				count++
			} else if d.Precision != numeric.F32 || d.Reason == "" {
				t.Errorf("%+v", d)
			}
		}
		if count != 1 {
			t.Errorf("%d products in %s: %+v", count, c.Type, decisions)
		}
		out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, of.X, 4, 9)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out["y"].F32() {
			if math.Abs(float64(v)-c.Want[i]) > 1e-5*math.Abs(c.Want[i])+1e-4 {
				t.Errorf("%s: element %d is %g, want %g", c.Type, i, v, c.Want[i])
			}
		}
		if _, err := PlaceFloat8(n, numeric.F16, nil, Policy{}); err == nil {
			t.Error("F16 was taken")
		}
	}
}
