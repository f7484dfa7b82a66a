package graph

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestSTFTOfRank2: a signal without an axis of parts is real; the numbers are ONNX Runtime's.
func TestSTFTOfRank2(t *testing.T) {
	signal := []float32{1, -2, 3, 0, 5, 4, -1, 2, 0, 1, 0, 2, 0, -3, 1, 1}
	for _, c := range []struct {
		name   string
		window []float32
		attrs  STFTAttrs
		want   []float64
	}{
		{"one-sided, with a window", []float32{0, 0.5, 1, 0.5}, STFTAttrs{Step: 2, OneSided: true}, []float64{
			2, 0, -3, 1, 4, 0, 7, 0, -5, 2, 3, 0, 2, 0, 1, -1, -4, 0,
			1.5, 0, 0, 0.5, -1.5, 0, -0.5, 0, 0, -2.5, 0.5, 0, 0, 0, -1, 2, 2, 0,
		}},
		{"whole, of a length", nil, STFTAttrs{Step: 2, Length: 4}, []float64{
			2, 0, -2, 2, 6, 0, -2, -2, 12, 0, -2, 4, 4, 0, -2, -4, 10, 0, 6, -2, -2, 0, 6, 2,
			3, 0, 0, 1, -3, 0, 0, -1, -1, 0, 0, -5, 1, 0, 0, 5, -1, 0, -1, 4, 3, 0, -1, -4,
		}},
	} {
		d := Define("n")
		var window *Tensor
		if c.window != nil {
			window = d.Weights("window", c.window, len(c.window))
		}
		d.Output("y", d.STFT(d.Input("x", numeric.F32, symbolic.Shape(2, 8)...), window, c.attrs))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		all, err := n.Eval(t.Context(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, signal, 2, 8)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := all["y"].Float64s()
		if len(got) != len(c.want) {
			t.Fatalf("%s: %d numbers, want %d", c.name, len(got), len(c.want))
		}
		for i, v := range got {
			if math.Abs(v-c.want[i]) > 1e-5 {
				t.Errorf("%s: %d is %v, want %v", c.name, i, v, c.want[i])
			}
		}
	}
}
