package cmd

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/testdata"
)

// ortScript runs a model on raw images, item by item, by ONNX Runtime as the model is written, and writes the raw outputs.
const ortScript = `
import sys, numpy as np, onnxruntime as rt
o = rt.SessionOptions()
o.graph_optimization_level = rt.GraphOptimizationLevel.ORT_DISABLE_ALL
s = rt.InferenceSession(sys.argv[1], o, providers=["CPUExecutionProvider"])
x = np.fromfile(sys.argv[2], np.float32).reshape(int(sys.argv[4]), 1, 1, int(sys.argv[5]), int(sys.argv[5]))
np.concatenate([s.run(None, {"image": i})[0] for i in x]).tofile(sys.argv[3])
`

// bothScript runs a model on raw images, item by item, in ONNX Runtime as it is written and in OpenVINO, and prints the SQNR in dB of
// each to the first model's outputs.
const bothScript = `
import sys, numpy as np, onnxruntime as rt
try:
    import openvino
except ImportError:
    sys.exit(print("no openvino"))
o = rt.SessionOptions()
o.graph_optimization_level = rt.GraphOptimizationLevel.ORT_DISABLE_ALL
ort = lambda path: rt.InferenceSession(path, o, providers=["CPUExecutionProvider"])
run = lambda s: np.concatenate([s.run(None, {"image": i})[0] for i in x]).astype(float)
x = np.fromfile(sys.argv[3], np.float32).reshape(-1, 1, 1, int(sys.argv[4]), int(sys.argv[4]))
want = run(ort(sys.argv[1]))
c = openvino.Core().compile_model(sys.argv[2], "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
for got in run(ort(sys.argv[2])), np.concatenate([c({"image": i})[0] for i in x]):
    print(10 * np.log10((want**2).sum() / ((want - got)**2).sum()))
`

// TestExportConcatenated writes networks that concatenate as the default quantises them: ONNX Runtime and OpenVINO lose the same, also
// where a clamp follows.
func TestExportConcatenated(t *testing.T) {
	python := os.Getenv("TRTUI_PYTHON")
	if python == "" || testing.Short() {
		t.Skip("needs a Python with onnxruntime and openvino in TRTUI_PYTHON")
	}
	for name, clamp := range map[string]func(*graph.Definition, *graph.Tensor) *graph.Tensor{
		"plain": func(_ *graph.Definition, x *graph.Tensor) *graph.Tensor { return x },
		"relu":  func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Relu(x) },
		"relu6": func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Clip(x, 0, 6) },
	} {
		t.Run(name, func(t *testing.T) { exportConcatenated(t, python, clamp) })
	}
}

func exportConcatenated(t *testing.T, python string, clamp func(*graph.Definition, *graph.Tensor) *graph.Tensor) {
	d := graph.Define("branches")
	random := rand.New(rand.NewPCG(1, 2))
	weights := func(name string, dims ...int) *graph.Tensor {
		x := make([]float32, numeric.Count(dims))
		for i := range x {
			x[i] = float32(random.NormFloat64() / 3)
		}
		return d.Weights(name, x, dims...)
	}
	side := graph.ConvAttrs{Pads: []int{1, 1, 1, 1}}
	x := d.Input("image", numeric.F32, symbolic.Shape(1, 1, testdata.Padded, testdata.Padded)...)
	left, right := d.Conv(x, weights("left", 8, 1, 3, 3), nil, side), d.Conv(x, weights("right", 8, 1, 3, 3), nil, side)
	d.Output("logits", d.Conv(clamp(d, d.Concat(1, left, right)), weights("head", 4, 16, 3, 3), nil, side))
	dir := t.TempDir()
	file, quantised, raw := definedFile(t, d), filepath.Join(dir, "q.onnx"), filepath.Join(dir, "in.raw")
	if err := os.WriteFile(raw, numeric.Bytes(testdata.TestImages().Batch(0, 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, 0, append([]string{"export", file, "--qdq", "-o", quantised, "-q"}, few(t)...)...)
	text, err := exec.CommandContext(t.Context(), python, "-c", bothScript, file, quantised, raw, fmt.Sprint(testdata.Padded)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var ort, openvino float64
	if _, err := fmt.Sscan(string(text), &ort, &openvino); err != nil {
		t.Skipf("%s", text)
	}
	if ort < 30 || math.Abs(ort-openvino) > 0.1 {
		t.Errorf("ONNX Runtime %.2f dB, OpenVINO %.2f", ort, openvino)
	}
}

// TestExportQuantised writes the embedded model as configurations quantise it: read again it loses what the engine loses, and so it
// does in ONNX Runtime, where TRTUI_PYTHON names a Python with it.
func TestExportQuantised(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	const items = 12
	dir := t.TempDir()
	file, raw, made := filepath.Join(dir, "q.onnx"), filepath.Join(dir, "in.raw"), filepath.Join(dir, "out.raw")
	images := testdata.TestImages().Batch(0, items)
	if err := os.WriteFile(raw, numeric.Bytes(images), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	outputs := func(n *graph.Network) (all []float32) {
		for i := range items {
			x := testdata.TestImages().Batch(i, i+1)
			out, err := n.Eval(t.Context(), map[string]numeric.Value{"image": numeric.Values(numeric.F32, x, 1, 1, testdata.Padded, testdata.Padded)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, out["probabilities"].F32()...)
		}
		return all
	}
	want := outputs(source)
	for _, flags := range []string{"", "--rounding nearest --equalization off", "--activations symmetric:u8 --weight-ranges mse --keep first,Gemm --bias-correction fast --rounding nearest --equalization off"} {
		args := append(few(t), strings.Fields(flags)...)
		command(t, 0, append([]string{"export", "--qdq", "-o", file, "-q"}, args...)...)
		f, err := onnx.Open(graph.Ops(), file)
		if err != nil {
			t.Fatal(err)
		}
		got := outputs(f.Network)
		out, _ := command(t, 0, append([]string{"eval", "--precision", "int8", "--calibrator", "mse", "--items", fmt.Sprint(items), "--format", "json"}, args...)...)
		var eval struct {
			Rows []struct {
				SQNR float64 `json:"sqnr_db"`
			}
		}
		if err := json.Unmarshal([]byte(out), &eval); err != nil {
			t.Fatal(err)
		}
		ours := eval.Rows[len(eval.Rows)-1].SQNR
		if db := distance(want, got); math.Abs(db-ours) > 0.1 {
			t.Errorf("%q: %.2f dB, the engine %.2f", flags, db, ours)
		}
		python := os.Getenv("TRTUI_PYTHON")
		if python == "" {
			continue
		}
		if text, err := exec.CommandContext(t.Context(), python, "-c", ortScript, file, raw, made, fmt.Sprint(items), fmt.Sprint(testdata.Padded)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		data, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		theirs := make([]float32, len(data)/4)
		for i := range theirs {
			theirs[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		t.Logf("%q: the engine %.2f dB, the file %.2f, in ONNX Runtime %.2f", flags, ours, distance(want, got), distance(want, theirs))
		if db := distance(want, theirs); math.Abs(db-ours) > 0.1 {
			t.Errorf("%q: %.2f dB in ONNX Runtime, the engine %.2f", flags, db, ours)
		}
	}
	for says, args := range map[string][]string{
		"leave --optimized out":         {"--qdq", "--optimized"},
		"is not quantised":              {"--qdq", "--precision", "fp32"},
		"no tensor \"none\"":            {"--qdq", "--range", "none=1"},
		"the layer of that name gives":  {"--qdq", "--range", "stem/conv/Conv=1"},
		"--activations \"both\": want ": {"--qdq", "--activations", "both"},
	} {
		if _, text := command(t, exitFailure, append([]string{"export", "-o", file, "-q"}, args...)...); !strings.Contains(text, says) {
			t.Errorf("trtui export %v says %q, want %q", args, text, says)
		}
	}
}

// distance returns the signal of want to what got differs from it, in dB.
func distance(want, got []float32) float64 {
	var signal, noise float64
	for i, w := range want {
		signal += float64(w) * float64(w)
		noise += math.Pow(float64(w)-float64(got[i]), 2)
	}
	return 10 * math.Log10(signal/noise)
}

// TestRandomRangesAreTold: files whose ranges come from random input are written with a warning, others without, and --precision says
// nothing of a network that is written as it is.
func TestRandomRangesAreTold(t *testing.T) {
	dir := t.TempDir()
	model, data := filepath.Join("..", "testdata", "digits.onnx"), few(t)
	for _, args := range [][]string{{"export", model, "--qdq", "-o", filepath.Join(dir, "q.onnx")}, {"build", model, "--precision", "int8", "-o", filepath.Join(dir, "q.engine")}} {
		_, told := command(t, 0, args...)
		_, quiet := command(t, 0, append(slices.Clone(args), data...)...)
		if !strings.Contains(told, report.RandomCalibration) || strings.Contains(quiet, report.RandomCalibration) {
			t.Errorf("trtui %s: without data %q, with data %q", strings.Join(args, " "), told, quiet)
		}
	}
	_, told := command(t, exitFailure, "export", model, "--optimized", "--precision", "int8", "-o", filepath.Join(dir, "o.onnx"))
	if !strings.Contains(told, "add --qdq") {
		t.Errorf("--optimized --precision int8: %s", told)
	}
}
