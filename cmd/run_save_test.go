package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/testdata"
)

// The outputs that run saves are those of all items, in their order.
func TestSaveOutputs(t *testing.T) {
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "out.npz")
	command(t, 0, "run", "--items", "3-12", "--batch", "4", "--save-outputs", path)
	saved, err := dataset.Open(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if saved.Len() != 10 {
		t.Fatalf("%d items, want 10", saved.Len())
	}
	for i := range 10 {
		want, err := n.Eval(t.Context(), map[string]numeric.Value{"image": numeric.Values(numeric.F32, testdata.TestImages().Batch(3+i, 4+i), 1, 1, testdata.Padded, testdata.Padded)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := saved.Batch(i, 1)
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range want["probabilities"].F32() {
			if d := p - got[0].F32()[k]; d > 1e-5 || d < -1e-5 {
				t.Errorf("item %d, class %d: %v, want %v", i, k, got[0].F32()[k], p)
			}
		}
	}
	command(t, 0, "run", "--save-outputs", path)
	if saved, err := dataset.Open(path, dataset.Options{}); err != nil || saved.Len() != testdata.TestImages().Len() {
		t.Errorf("without --items %d are saved, of %d: %v", saved.Len(), testdata.TestImages().Len(), err)
	}
	folder := t.TempDir()
	if _, text := command(t, exitFailure, "run", "--items", "1", "--save-outputs", folder); !strings.Contains(text, "is a directory") {
		t.Errorf("it says %q", text)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}
