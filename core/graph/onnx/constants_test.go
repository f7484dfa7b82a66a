package onnx

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// branching is a model whose input c chooses between x and what has one axis less.
func branching() []byte {
	whole := graphField("then_branch", nodeField("Neg", "all", list("x"), list("p")), sub(12, str(1, "p")))
	less := graphField("else_branch", nodeField("Squeeze", "less", list("x"), list("p")), sub(12, str(1, "p")))
	return modelBytes(sub(11, valueBytes("c", 9, 1)), input("x", 1, 4), nodeField("If", "if", list("c"), list("y"), whole, less), output("y"))
}

// TestConstants: an input that chooses between branches of different shapes is named, and as a constant it chooses.
func TestConstants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, branching(), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Open(graph.Ops(), path)
	var refused *ImportError
	if !errors.As(err, &refused) || len(refused.Problems) != 1 || refused.Problems[0].Input != "c" || !strings.Contains(err.Error(), `it is input "c"`) {
		t.Fatalf("without a value: %v", err)
	}
	for _, c := range []struct {
		text, want string
	}{
		{"true", "f32[1,4]"}, {"False", "f32[4]"}, {"1", "f32[1,4]"}, {"0", "f32[4]"}, {"maybe", ""}, {"", ""},
	} {
		f, err := Importer{Ops: graph.Ops(), Constants: map[string]string{"c": c.text}}.Open(path)
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), "want a number, or true or false") || strings.Contains(err.Error(), "no node") {
				t.Errorf("%q: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := f.Network.Outputs[0].TypeString(); got != c.want || len(f.Network.Inputs) != 1 {
			t.Errorf("%q: %s of %d inputs, want %s of one", c.text, got, len(f.Network.Inputs), c.want)
		}
		if v := f.Constants["c"]; v.Type != numeric.Bool || len(v.Dims) != 1 || (v.Data[0] != 0) != (c.want == "f32[1,4]") {
			t.Errorf("%q: the constant is %v", c.text, v)
		}
	}
	if _, err := (Importer{Ops: graph.Ops(), Constants: map[string]string{"d": "1"}}).Open(path); err == nil || !strings.Contains(err.Error(), `"d", and there is no such input; the inputs are "c", "x"`) {
		t.Errorf("another name: %v", err)
	}
	huge := modelBytes(input("x", 1<<20, 1<<20), nodeField("Neg", "n", list("x"), list("y")), output("y"))
	if _, err := (Importer{Ops: graph.Ops(), Constants: map[string]string{"x": "1"}}).Parse("m.onnx", huge); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a huge one: %v", err)
	}
}
