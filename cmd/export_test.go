package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/testdata"
)

// The embedded model, as it is and optimised, is written, read again, and computes the same.
func TestExport(t *testing.T) {
	image := map[string]numeric.Value{"image": numeric.Values(numeric.F32, testdata.TestImages().Batch(0, 1), 1, 1, testdata.Padded, testdata.Padded)}
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	want, err := n.Eval(t.Context(), image, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "digits.onnx")
	var layers []int
	for _, flags := range [][]string{nil, {"--optimized"}, {"--optimized", "--disable", "fuse-activation"}} {
		out, _ := command(t, 0, append([]string{"export", "-o", path}, flags...)...)
		if !strings.Contains(out, "digits.onnx: ") {
			t.Errorf("it prints %q", out)
		}
		f, err := onnx.Open(graph.Ops(), path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Network.Eval(t.Context(), image, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range want["probabilities"].F32() {
			if d := p - got["probabilities"].F32()[i]; d > 1e-5 || d < -1e-5 {
				t.Errorf("%v: class %d has %v, want %v", flags, i, got["probabilities"].F32()[i], p)
			}
		}
		layers = append(layers, len(f.Network.Layers))
	}
	if layers[1] >= layers[0] {
		t.Errorf("%d layers, %d of them optimised", layers[0], layers[1])
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"-o FILE is missing", nil},
		{"add --optimized", []string{"-o", path, "--disable", "fuse-activation"}},
		{"is a directory", []string{"-o", t.TempDir()}},
	} {
		if _, text := command(t, exitFailure, append([]string{"export"}, c.args...)...); !strings.Contains(text, c.says) {
			t.Errorf("trtui export %v says %q, want %q", c.args, text, c.says)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("files are left: %v %v", left, err)
	}
}
