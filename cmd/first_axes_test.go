package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/dataset"
)

// TestFirstAxes: inputs whose first axes are symbols of their own have the extents there that shapes, ranges and data give them, in
// every command.
func TestFirstAxes(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, write func(*os.File) error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err == nil {
			err = write(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model := func(name string, join func(d *graph.Definition, a, b *graph.Tensor) *graph.Tensor) string {
		t.Helper()
		d := graph.Define(name)
		a := d.Input("a", numeric.F32, symbolic.Symbol("n"), symbolic.Const(4))
		d.Output("y", join(d, a, d.Input("b", numeric.F32, symbolic.Symbol("m"), symbolic.Const(4))))
		return definedFile(t, d)
	}
	stacked := model("stacked", func(d *graph.Definition, a, b *graph.Tensor) *graph.Tensor { return d.Neg(d.Concat(0, a, b)) })
	added := model("added", func(d *graph.Definition, a, b *graph.Tensor) *graph.Tensor { return d.Add(a, b) })
	data := save("ab.npz", func(f *os.File) error {
		return dataset.WriteNpz(f, map[string]numeric.Value{"a": numeric.NewValue(numeric.F32, 2, 4), "b": numeric.NewValue(numeric.F32, 5, 4)})
	})
	engine := filepath.Join(dir, "engine")
	for _, c := range []struct {
		args []string
		code int
		want string // by what is said
	}{
		{[]string{"run", stacked, "--shapes", "a:2x4,b:5x4", "--backends", "cpu,eval"}, 0, "y f32[7 4]"},
		{[]string{"run", stacked, "--shapes", "a:2x4,b:2x4", "--backends", "cpu,eval"}, 0, "y f32[4 4]"},
		{[]string{"run", stacked, "--batch", "3", "--backends", "cpu,eval"}, 0, "y f32[6 4]"},
		{[]string{"run", stacked, "--shapes", "a:2x4,b:5x4", "--format", "json"}, 0, `"input": "b", "shape": [5, 4]`},
		{[]string{"run", stacked, "--data", data, "--backends", "cpu,eval"}, 0, "y f32[7 4]"},
		{[]string{"run", stacked, "--data", data, "--items", "1"}, 2, "do not all count items"},
		{[]string{"run", stacked, "--data", data, "--batch", "2"}, 2, "none counts items"},
		{[]string{"run", stacked, "--shapes", "a:2x4,b:5x4", "--batch", "2"}, 2, "none counts items"},
		{[]string{"run", added, "--shapes", "a:2x4,b:3x4", "--backends", "cpu,eval"}, 2, "2 meets 3"},
		{[]string{"run", added, "--shapes", "a:3x4,b:3x4", "--backends", "cpu,eval"}, 0, "y f32[3 4]"},
		{[]string{"eval", stacked, "--data", data, "--precision", "fp16"}, 0, "1 item"},
		{[]string{"build", stacked, "--minShapes", "a:1x4,b:1x4", "--optShapes", "a:2x4,b:5x4", "--maxShapes", "a:2x4,b:9x4", "-o", engine}, 0, "b:5x4, from 1x4 to 9x4"},
		{[]string{"run", engine, "--shapes", "a:1x4,b:7x4"}, 0, "y f32[8 4]"},
		{[]string{"run", engine}, 0, "y f32[7 4]"},
		{[]string{"bench", engine, "--shapes", "a:2x4,b:9x4", "--duration", "1ms", "--iterations", "1", "--format", "json"}, 0, `"input": "b", "shape": [9, 4]`},
		{[]string{"bench", stacked, "--sweep", "n=1..2,m=3..5", "--duration", "1ms", "--iterations", "1", "-q"}, 0, "5"},
	} {
		out, errs := command(t, c.code, c.args...)
		if text := strings.ReplaceAll(strings.ReplaceAll(out+errs, " ", ""), "\n", ""); !strings.Contains(text, strings.ReplaceAll(c.want, " ", "")) {
			t.Errorf("%q: want %q\n%.400s%s", c.args, c.want, out, errs)
		}
	}
}
