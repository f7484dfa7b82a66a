package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestSharedExtent: shapes that contradict each other in an axis that inputs share are an error of every command, of models and engines
// alike, and so are those of ranges.
func TestSharedExtent(t *testing.T) {
	d := graph.Define("two")
	batch := symbolic.Symbol("batch")
	d.Output("y", d.MatMul(d.Input("src", numeric.F32, batch, symbolic.Symbol("n")), d.Input("tgt", numeric.F32, batch, symbolic.Symbol("n"), symbolic.Symbol("m"))))
	file, engine := definedFile(t, d), filepath.Join(t.TempDir(), "two.engine")
	command(t, 0, "build", file, "-q", "-o", engine, "--minShapes", "src:1x4,tgt:1x4x5", "--maxShapes", "src:4x4,tgt:4x4x5")
	const shapes, want = "--shapes=src:3x4,tgt:2x4x5", "batch is 3 on axis 0 of input src, but 2 on axis 0 of input tgt"
	for _, args := range [][]string{
		{"exec", "--onnx=" + file, shapes}, {"exec", "--loadEngine=" + engine, shapes}, {"bench", file, shapes}, {"bench", engine, shapes},
		{"build", file, shapes, "-o", engine}, {"run", engine, shapes}, {"eval", file, shapes}, {"inspect", "model", file, shapes}, {file, shapes},
		{"bench", file, shapes, "--sweep", "m=1..4"},
		{"bench", file, "--minShapes=src:3x4,tgt:2x4x5", "--maxShapes=src:4x4,tgt:4x4x5"},
		{"bench", file, "--maxShapes=src:4x4,tgt:4x4x5", "--profile=1", "--optShapes=src:3x4,tgt:2x4x5"},
	} {
		if _, errs := command(t, exitFailure, args...); !strings.Contains(errs, want) {
			t.Errorf("%v: %s, want %q", args, errs, want)
		}
	}
}
