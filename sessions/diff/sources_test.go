package diff

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestChangedSources names what is not the same of layers that both models have.
func TestChangedSources(t *testing.T) {
	of := func(sum, kind string, layers ...report.Layer) *report.Snapshot {
		return &report.Snapshot{Model: &report.Model{SHA256: sum, Kind: kind, Layers: layers}}
	}
	relu := report.Layer{Name: "relu", Op: "Relu", Precision: "f32"}
	conv := report.Layer{Name: "conv", Op: "Conv", Precision: "f32", Attrs: "pads=[1 1 1 1] group=1", Kernel: []int{3, 3}, Weights: 36}
	wide := conv
	wide.Attrs, wide.Kernel, wide.Weights = "pads=[2 2 2 2] group=1", []int{5, 5}, 100
	half := conv
	half.Precision, half.Weights = "f16", 18
	for _, c := range []struct {
		a, b *report.Snapshot
		want string
	}{
		{of("1", "onnx", relu, conv), of("2", "onnx", relu, wide), "conv: 3x3, pads=[1 1 1 1], weights 36 in A, 5x5, pads=[2 2 2 2], weights 100 in B"},
		{of("1", "onnx", conv), of("1", "onnx", wide), ""},
		{of("1", "onnx", conv), of("2", "engine", wide), ""},
		{of("1", "onnx", conv), of("2", "onnx", half), ""},
		{of("1", "onnx", relu), of("2", "onnx", report.Layer{Name: "relu", Op: "Clip", Attrs: "max=6", Precision: "f32"}), "relu: Relu in A, Clip, max=6 in B"},
	} {
		got := ""
		for _, s := range changedSources(c.a, c.b) {
			got += s.Name + ": " + s.Text(func(n int64) string { return fmt.Sprint(n) })
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
