package cmd

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/report"
)

// Data with a NaN in its last item is refused by every command that opens it, whichever items the command uses, and taken by
// all of them with --allow-not-finite.
func TestNotFiniteData(t *testing.T) {
	raw := make([]byte, 10*32*32*4)
	binary.LittleEndian.PutUint32(raw[len(raw)-4:], math.Float32bits(float32(math.NaN())))
	path := filepath.Join(t.TempDir(), "digits.raw")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"bench --iterations 1 --duration 1ms --warm-up 1ms", "run", "eval --precision fp32", "inspect memory", "inspect model", "inspect passes", "calibrate --compare",
	} {
		for _, allowed := range []bool{false, true} {
			args := append(withCache(strings.Fields(command), "none"), "-q", "--shape", "1,32,32", "--type", "f32", "--data", path)
			if allowed {
				args = append(args, "--allow-not-finite")
			}
			var errOut strings.Builder
			code := executeOn(t.Context(), quick, args, io.Discard, &errOut)
			refused := code == exitFailure && strings.Contains(errOut.String(), "item 9: element 1023 is NaN")
			if refused == allowed || allowed && code != 0 {
				t.Errorf("%v: exit code %d, %s", args, code, &errOut)
			}
		}
	}
}

// Two runs that agree in nothing but NaN pass, and the verdict says what that is worth.
func TestPassedOnNaN(t *testing.T) {
	outputs := []report.TensorDifference{
		{Name: "y", Count: 10, BothNotFinite: 10, Passed: true}, {Name: "z", Count: 4, Passed: true}, {Name: "w", Count: 2, BothNotFinite: 1, Passed: true},
	}
	var out bytes.Buffer
	writePair(&out, report.Pair{First: "cpu", Second: "eval", Outputs: outputs})
	if want := "PASSED, but 10 of 10 elements of output y are NaN or infinite on both sides, 1 of 2 elements of output w is NaN or infinite on both sides\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is not in\n%s", want, &out)
	}
	outputs[1].Passed = false
	out.Reset()
	writePair(&out, report.Pair{First: "cpu", Second: "eval", Outputs: outputs})
	if text := out.String(); !strings.Contains(text, "FAILED: 1 of 3 outputs over the tolerance") || strings.Contains(text, "PASSED") {
		t.Error(text)
	}
}

// Random input that is too large keeps nothing from being looked at; where it is needed the error names the model.
func TestTooLargeToRun(t *testing.T) {
	model := filepath.Join(os.Getenv("TRTUI_DATA"), "models", "yunet-face", "yunet_n_dynamic.onnx")
	if _, err := os.Stat(model); err != nil || os.Getenv("TRTUI_DATA") == "" {
		t.Skip("TRTUI_DATA names no folder with the models")
	}
	for _, c := range []struct {
		command string
		code    int
		says    string
	}{{"inspect model", 0, ""}, {"bench", exitFailure, "yunet_n_dynamic.onnx: random data: with input input of shape [1 3 16000000 16000000]"}} {
		var errOut bytes.Buffer
		args := append(withCache(strings.Fields(c.command), "none"), model, "-q", "--shapes", "input:1x3x16000000x16000000")
		if code := executeOn(t.Context(), quick, args, io.Discard, &errOut); code != c.code || !strings.Contains(errOut.String(), c.says) {
			t.Errorf("%s: exit code %d, %s", c.command, code, &errOut)
		}
	}
}

// Image files are brought to the size and the channels that a model takes, where these are fixed or were given.
func TestImageForm(t *testing.T) {
	n, open := symbolic.Symbol("n"), func(name string) symbolic.Dim { return symbolic.Symbol(name) }
	c := symbolic.Const
	for _, k := range []struct {
		dims   []symbolic.Dim
		shapes map[string][]int
		nhwc   bool
		want   dataset.Size
		of     int
	}{
		{[]symbolic.Dim{n, c(3), c(48), c(80)}, nil, false, dataset.Size{Height: 48, Width: 80}, 3},
		{[]symbolic.Dim{n, c(1), c(48), c(80)}, nil, false, dataset.Size{Height: 48, Width: 80}, 1},
		{[]symbolic.Dim{n, c(7), c(48), c(80)}, nil, false, dataset.Size{Height: 48, Width: 80}, 0},
		{[]symbolic.Dim{n, c(48), c(80), c(3)}, nil, true, dataset.Size{Height: 48, Width: 80}, 3},
		{[]symbolic.Dim{n, c(3), open("h"), open("w")}, nil, false, dataset.Size{}, 3},
		{[]symbolic.Dim{n, c(3), open("h"), c(80)}, nil, false, dataset.Size{}, 3},
		{[]symbolic.Dim{n, c(3), open("h"), open("w")}, map[string][]int{"x": {1, 3, 64, 96}}, false, dataset.Size{Height: 64, Width: 96}, 3},
		{[]symbolic.Dim{n, c(3), open("h"), open("w")}, map[string][]int{"": {1, 3, 64, 96}}, false, dataset.Size{Height: 64, Width: 96}, 3},
		{[]symbolic.Dim{n, c(3)}, nil, false, dataset.Size{}, 0},
	} {
		inputs := []*graph.Tensor{{Name: "x", Dims: k.dims}}
		if got, of := imageForm(inputs, k.shapes, k.nhwc); got != k.want || of != k.of {
			t.Errorf("%v %v: %v of %d channels, want %v of %d", k.dims, k.shapes, got, of, k.want, k.of)
		}
		if got, of := imageForm(append(inputs, inputs[0]), k.shapes, k.nhwc); got != (dataset.Size{}) || of != 0 {
			t.Errorf("two inputs: %v of %d channels", got, of)
		}
	}
}

// An array of a .npz that is called as labels are is an input where the model has one of that name.
func TestInputCalledY(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, write func(w io.Writer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d := graph.Define("product")
	x, y := d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(2)), d.Input("y", numeric.F32, symbolic.Symbol("n"), symbolic.Const(2))
	d.Output("z", d.Mul(x, y))
	model := definedFile(t, d)
	arrays := map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{1, 2}, 1, 2), "y": numeric.Values(numeric.F32, []float32{3, 4}, 1, 2)}
	data := file("xy.npz", func(w io.Writer) error { return dataset.WriteNpz(w, arrays) })
	results := filepath.Join(dir, "z.json")
	command(t, 0, "run", model, "--data", data, "--save-outputs", results, "-q")
	runs, err := dataset.ReadResults(results)
	if err != nil {
		t.Fatal(err)
	}
	if z := runs[0].Iterations[0]["z"]; !slices.Equal(z.F32(), []float32{3, 8}) {
		t.Errorf("z is %v", z.F32())
	}
	arrays["labels"] = numeric.Values(numeric.F32, []float32{0.5}, 1)
	if _, errs := command(t, exitFailure, "run", model, "--data", file("labels.npz", func(w io.Writer) error { return dataset.WriteNpz(w, arrays) })); !strings.Contains(errs, "array labels: labels must be a list of integers") {
		t.Errorf("labels that are none: %s", errs)
	}
}
