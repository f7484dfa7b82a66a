package stages

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestSourceOf: what the source has for a tensor whose channels an engine divides is whole, and the engine's comes back to it.
func TestSourceOf(t *testing.T) {
	source := numeric.Values(numeric.F32, []float32{1, 2, 3, 4, 5, 6}, 1, 3, 2)
	all := map[string]numeric.Value{"relu": source}
	scaled := build.Equalized{"relu_equalized": {Tensor: "relu", Axis: 1, Scales: []float64{2, 4, 0.5}}}
	for name, divided := range map[string]string{"relu_equalized": "relu_equalized", "relu": ""} {
		x := &graph.Tensor{Name: name, Type: numeric.F32, Dims: symbolic.Shape(1, 3, 2)}
		got, by, ok := sourceOf(all, x, scaled)
		if !ok || by != divided || !slices.Equal(got.F32(), source.F32()) {
			t.Errorf("%s: %v, divided as %q, %v", name, got.F32(), by, ok)
		}
	}
	engine := scaled.Divide("relu_equalized", source)
	if want := []float32{0.5, 1, 0.75, 1, 10, 12}; !slices.Equal(engine.Floats(), want) {
		t.Errorf("divided: %v, want %v", engine.Floats(), want)
	}
	if _, back := scaled.Restore("relu_equalized", engine); !slices.Equal(back.Floats(), source.F32()) {
		t.Errorf("restored: %v", back.Floats())
	}
}
