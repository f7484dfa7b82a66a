package onnx

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// TestNotes checks what is said of models that can be run, and that the others are silent.
func TestNotes(t *testing.T) {
	relu, truth := nodeField("Relu", "r", list("x"), list("y")), func(name string, v uint8) []byte {
		return initializer(name, numeric.Values(numeric.Bool, []uint8{v}))
	}
	ratio := initializer("ratio", numeric.Values(numeric.F32, []float32{0.1}))
	drop := func(name, x, y, training string) []byte {
		return nodeField("Dropout", name, list(x, "ratio", training), list(y))
	}
	for _, c := range []struct {
		name  string
		model []byte
		notes []string
	}{
		{"as declared", modelBytes(input("x", "n", 2), relu, output("y", 4, 2)), nil},
		{"declared shape", modelBytes(input("x", "n", 2), relu, output("y", 4, 3)), list(`output "y" is declared with shape [4,3], but the graph computes f32[n,2]; the declaration is ignored`)},
		{"dropout of inference", modelBytes(input("x", 2), ratio, truth("off", 0), drop("d", "x", "y", "off"), output("y", 2)), nil},
		{"dropout at work", modelBytes(input("x", 2), ratio, truth("on", 1), drop("d", "x", "a", "on"), drop("e", "a", "y", "on"), output("y", 2)),
			list("Dropout (2 nodes: d, e): training_mode is true, so that elements are dropped at random; export the model in eval mode")},
		{"dropout that an input turns on", modelBytes(input("x", 2), ratio, sub(11, valueBytes("on", 9, 1)), drop("d", "x", "y", "on"), output("y", 2)),
			list("Dropout (node d): training_mode is not constant, and where it is true, elements are dropped at random; export the model in eval mode")},
	} {
		path := filepath.Join(t.TempDir(), "m.onnx")
		if err := os.WriteFile(path, c.model, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(graph.Ops(), path)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.Equal(f.Notes, c.notes) {
			t.Errorf("%s: got %q, want %q", c.name, f.Notes, c.notes)
		}
	}
}
