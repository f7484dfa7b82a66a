package cmd

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/dataset"
)

// TestItemShapes: data whose items differ in shape are calibrated, built for and evaluated without a flag about shapes, also where one
// extent follows others; a range that does not hold an item is an error that names it, and says what helps.
func TestItemShapes(t *testing.T) {
	d := graph.Define("joined")
	batch, width := symbolic.Symbol("batch"), symbolic.Const(4)
	weights := make([]float32, 16)
	for i := range weights {
		weights[i] = float32(i%5) - 2
	}
	all := d.Concat(1, d.Input("past", numeric.F32, batch, symbolic.Symbol("old"), width), d.Input("x", numeric.F32, batch, symbolic.Symbol("new"), width))
	d.Output("y", d.Add(d.MatMul(all, d.Weights("w", weights, 4, 4)), d.Input("mask", numeric.F32, batch, symbolic.Symbol("total"), symbolic.Const(1))))
	var feeds []map[string]numeric.Value
	for i, of := range [][2]int{{3, 2}, {1, 5}, {6, 1}} {
		feed := map[string]numeric.Value{}
		for name, dims := range map[string][]int{"past": {1, of[0], 4}, "x": {1, of[1], 4}, "mask": {1, of[0] + of[1], 1}} {
			v := numeric.NewValue(numeric.F32, dims...)
			for k := range v.F32() {
				v.F32()[k] = float32((k+i)%7) - 3
			}
			feed[name] = v
		}
		feeds = append(feeds, feed)
	}
	dir := t.TempDir()
	file, data, engine := definedFile(t, d), filepath.Join(dir, "items.json"), filepath.Join(dir, "joined.engine")
	if _, err := host.WriteFile(data, func(w io.Writer) error { return dataset.WriteFeeds(w, feeds) }); err != nil {
		t.Fatal(err)
	}
	const said = "engines serve mask:1x5x1 to 1x11x1, past:1x1x4 to 1x6x4, x:1x1x4 to 1x5x4"
	if out, errs := command(t, 0, "calibrate", file, "--data", data, "-q"); !strings.Contains(out, "3 items of items.json") || !strings.Contains(errs, "engines serve ") {
		t.Errorf("calibrate:\n%s%s", out, errs)
	}
	if out, errs := command(t, 0, "build", file, "--calib-data", data, "--precision", "int8", "--keep-source", "-q", "-o", engine); !strings.Contains(out, "past:1x3x4, from 1x1x4 to 1x6x4") {
		t.Errorf("build, want %s:\n%s%s", said, out, errs)
	}
	for _, args := range [][]string{{file, "--precision", "int8", "--calibrator", "mse"}, {engine}} {
		if out, errs := command(t, 0, append(append([]string{"eval"}, args...), "--data", data, "-q")...); !strings.Contains(out, "items.json: 3 items") || !strings.Contains(out, "int8") {
			t.Errorf("eval %v:\n%s%s", args, out, errs)
		}
	}
	const short = "--minShapes=past:1x1x4,x:1x1x4"
	_, errs := command(t, exitFailure, "eval", file, "--data", data, "-q", short, "--optShapes=past:1x3x4,x:1x2x4", "--maxShapes=past:1x5x4,x:1x5x4")
	if !strings.Contains(errs, "item 2: input past: axis 1 (old) is 6, the engine was built for 1 to 5") || !strings.Contains(errs, "--maxShapes") {
		t.Errorf("an item beyond the range: %s", errs)
	}
}
