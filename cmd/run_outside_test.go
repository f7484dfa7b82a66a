package cmd

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/onnxruntime"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
)

// A small model, its inputs, and the outputs y (f32) and k (i64) of them that Polygraphy saved of ONNX Runtime.
const pgFolder = "../sessions/dataset/testdata/polygraphy/"

// changedResults writes Polygraphy's outputs with one element of y moved.
func changedResults(t *testing.T, by float32) string {
	t.Helper()
	return otherResults(t, func(list []map[string]numeric.Value) { list[1]["y"].F32()[2] += by })
}

// otherResults writes Polygraphy's outputs as change leaves them, an iteration each.
func otherResults(t *testing.T, change func(iterations []map[string]numeric.Value)) string {
	t.Helper()
	results, err := dataset.ReadResults(pgFolder + "outputs.json")
	if err != nil {
		t.Fatal(err)
	}
	change(results[0].Iterations)
	path := filepath.Join(t.TempDir(), "changed.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := dataset.WriteResults(f, results); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAsItIs: another runtime is given the model as it is, and that is said where the configuration has another precision.
func TestAsItIs(t *testing.T) {
	for p, want := range map[config.Precision]string{config.FP32: "", config.FP16: "as it is and not in fp16", config.INT8: "as it is and not in int8 (trtui export --qdq"} {
		if got := asItIs(config.Config{Precision: p}); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", p, got)
		}
	}
}

// TestValidate: outputs with NaN fail where they are to be finite, alone and beside others that have the same.
func TestValidate(t *testing.T) {
	x := numeric.NewValue(numeric.F32, 1, 1, 32, 32)
	x.F32()[5] = float32(math.NaN())
	path := filepath.Join(t.TempDir(), "nan.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := dataset.WriteNpz(f, map[string]numeric.Value{"image": x}); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "--data", path, "--allow-not-finite", "-q"}
	command(t, 0, args...)
	if out, _ := command(t, exitNo, append(args, "--validate")...); !strings.Contains(out, "FAILED: cpu: output probabilities has 10 elements of 10 that are NaN or infinite") {
		t.Error(out)
	}
	command(t, 0, "run", "--items", "1", "--validate", "-q")
}

// TestFunctionNames: functions that are not here, or given by Polygraphy's other name of the flag, are refused with what is meant.
func TestFunctionNames(t *testing.T) {
	for args, want := range map[string]string{"--compare-func perceptual_metrics": "LPIPS is computed by a network", "--compare l2": "names a function by which outputs are judged, and not a model: --compare-func l2"} {
		if _, errs := command(t, exitFailure, append([]string{"run"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %s", args, errs)
		}
	}
}

func TestLoadOutputs(t *testing.T) {
	changed := changedResults(t, 0.01)
	short := otherResults(t, func(list []map[string]numeric.Value) {
		for _, one := range list {
			delete(one, "k")
		}
	})
	for _, c := range []struct {
		code int
		args string
		want string
	}{
		{0, "--load-outputs " + pgFolder + "outputs.json", "PASSED: the outputs agree"},
		{exitNo, "--load-outputs " + changed, "item 2 [0,2]"}, // the third row of four
		{0, "--atol y:0.02 --load-outputs " + changed, "0 of 12 elements over 0.02 + 0.0001 |b|"},
		{0, "--atol 0.02 --load-outputs " + changed, "0 of 12 elements over 0.02"},
		{exitNo, "--atol 0.02,y:1e-3 --load-outputs " + changed, "1 of 12 elements over 0.001"},
		{exitNo, "--atol 1e-3 --rtol 1e-3 --load-outputs " + changed, "1 of 12 elements over 0.001"},
		{0, "--atol 1e-3 --rtol 1e-3 --check-error-stat mean --load-outputs " + changed, "passed: mean |a - b| 0.0008333"},
		{0, "--atol 1e-3 --rtol 1e-3 --check-error-stat y:median --load-outputs " + changed, "passed: median |a - b| 0,"},
		{exitNo, "--atol 1e-3 --rtol 1e-3 --check-error-stat max --load-outputs " + changed, "FAILED: max |a - b| 0.01"},
		{exitFailure, "--load-outputs " + pgFolder + "inputs.json", "neither a .npz archive nor results that Polygraphy saved"},
		{exitNo, "--items 1 --load-outputs " + pgFolder + "outputs.json", "FAILED: other shapes in 2 inferences, as [1 3] and [2 3]"},
		{exitFailure, "--load-outputs " + short, "(outputs saved in " + short + "): it has no output k"},
		{exitFailure, "--atol z:1", "it has y, k"},
		{exitFailure, "--atol y:x", "want a number of 0 or more"},
		{exitFailure, "--rtol y:1,y:2", "given for that output already"},
		{exitFailure, "--check-error-stat y:least", "want elemwise, max, mean, median or quantile"},
		{0, "--atol 1e-3 --rtol 1e-3 --check-error-stat quantile --error-quantile 0.9 --load-outputs " + changed, "passed: quantile 0.9 |a - b| 0,"},
		{exitNo, "--atol 1e-3 --rtol 1e-3 --check-error-stat quantile --error-quantile y:1 --load-outputs " + changed, "FAILED: quantile 1 |a - b| 0.01"},
		{exitFailure, "--error-quantile 0.9", "is for --check-error-stat quantile"},
		{exitFailure, "--check-error-stat quantile --error-quantile 99", "from 0 to 1"},
		{exitFailure, "--load-inputs a.json", "is the same as --data"},
		{0, "--compare-func cosine_similarity,snr --load-outputs " + changed, "passed: snr"},
		{exitNo, "--compare-func l2 --load-outputs " + changed, "FAILED: l2 0.01, at most 1e-05"},
		{0, "--compare-func l2 --l2-threshold y:0.011 --load-outputs " + changed, "passed: l2 0.01, at most 0.011"},
		{exitNo, "--compare-func simple,quality_metrics --atol 1e-3 --rtol 1e-3 --load-outputs " + changed, "1 of 12 elements over 0.001"},
		{0, "--compare-func indices --postprocess y:top-1 --load-outputs " + changed, "passed: indices 0, at most 0"},
		{exitFailure, "--snr-threshold 3", "is for --compare-func snr"},
		{exitFailure, "--compare-func l2 --atol 3", "are for --compare-func simple"},
		{exitFailure, "--compare-func lpips", "want simple, l2, cosine_similarity, psnr, snr, indices, distance_metrics or quality_metrics"},
		{exitFailure, "--compare-func l2 --l2-threshold z:3", "it has y, k"},
		{exitFailure, "--postprocess z:top-1", "it has y, k"},
		{exitFailure, "--postprocess best", "want top-K"},
	} {
		args := append([]string{"run", pgFolder + "model.onnx", "--data", pgFolder + "inputs.json"}, strings.Fields(c.args)...)
		out, errs := command(t, c.code, args...)
		if !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: it says\n%s%s\nwant %q", c.args, out, errs, c.want)
		}
	}
}

// What is saved compares as equal with what makes it again, whatever the form and however the items are cut.
func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"o.npz", "o.json"} {
		path, inputs := filepath.Join(dir, file), filepath.Join(dir, "in-"+file)
		command(t, 0, "run", pgFolder+"model.onnx", "--data", pgFolder+"inputs.json", "--backends", "cpu,eval", "--batch", "3", "--save-outputs", path, "--save-inputs", inputs)
		text, _ := command(t, 0, "run", pgFolder+"model.onnx", "--load-inputs", inputs, "--load-outputs", path, "--atol", "0", "--rtol", "0")
		if file == "o.json" && !strings.Contains(text, "cpu (a) against eval (b)") {
			t.Errorf("it has not both runs:\n%s", text)
		}
	}
}

// ONNX Runtime and the engine agree, also layer by layer, and in JSON.
func TestRunOnnxruntime(t *testing.T) {
	if os.Getenv(onnxruntime.PythonVariable) == "" {
		t.Skip(onnxruntime.PythonVariable + " is not set: it names a Python with onnxruntime")
	}
	text, _ := command(t, 0, "run", "--items", "2", "--backends", "cpu,onnxruntime", "--per-layer", "--format", "json")
	var got struct {
		Pairs []struct {
			Second string
			Passed bool
			Layers []struct{ Layer string }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Pairs) != 1 || got.Pairs[0].Second != "onnxruntime" || !got.Pairs[0].Passed || len(got.Pairs[0].Layers) < 20 {
		t.Errorf("%+v", got)
	}
	file := filepath.Join(t.TempDir(), "m.engine")
	command(t, 0, "build", "--keep-source", "-o", file)
	command(t, 0, "run", file, "--items", "1", "--backends", "onnxruntime,cpu", "--per-layer")
	text, _ = command(t, 0, append(rough(t), "run", "--items", "4", "--backends", "cpu,onnxruntime", "--precision", "int8")...)
	if !strings.Contains(text, "<= 0.03 RMS(b) + 0.01 |b|") {
		t.Errorf("int8 has the tolerance of\n%s", text)
	}
}

// A quantised model's nodes are compared as they are written: what ONNX Runtime fuses them to rounds otherwise, and shows by how much the
// engine may.
func TestRunOnnxruntimeQuantised(t *testing.T) {
	data := os.Getenv("TRTUI_DATA")
	if os.Getenv(onnxruntime.PythonVariable) == "" || data == "" {
		t.Skip("needs a Python with onnxruntime in " + onnxruntime.PythonVariable + ", and TRTUI_DATA")
	}
	file := filepath.Join(t.TempDir(), "q.onnx")
	command(t, 0, "export", filepath.Join(data, "models/kws-dscnn/kws_fp32_dequantised.onnx"), "--qdq", "-o", file, "-q", "--rounding", "nearest", "--equalization", "off", "--bias-correction", "off")
	text, _ := command(t, 0, "run", file, "--items", "4", "--backends", "cpu,onnxruntime", "--format", "json")
	var got struct {
		Runs  []struct{ Device struct{ Device string } }
		Pairs []struct {
			Outputs []struct {
				SQNR     float64 `json:"sqnr_db"`
				Passed   bool
				Rounding struct {
					From string
					RMS  float64
					RMSE float64
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Pairs) != 1 || !strings.Contains(got.Runs[1].Device.Device, "as they are written") {
		t.Fatalf("%+v", got)
	}
	if o := got.Pairs[0].Outputs[0]; !o.Passed || o.SQNR < 80 || o.Rounding.From != withFusions || !(o.Rounding.RMSE < o.Rounding.RMS) {
		t.Errorf("%+v", o)
	}
	if text, _ = command(t, 0, "run", file, "--items", "2", "--backends", "cpu,onnxruntime", "-q"); !strings.Contains(text, "as "+withFusions+" show it") || !strings.Contains(text, "from "+withFusions+": cpu ") {
		t.Errorf("it says\n%s", text)
	}
	if text, _ = command(t, 0, "run", file, "--items", "2", "--backends", "cpu,onnxruntime", "--atol", "0.1", "-q"); strings.Contains(text, "fusions") {
		t.Errorf("with a tolerance that is given it says\n%s", text)
	}
}

// dynamicScript writes a product whose activations are quantised as it runs, and one of texts, whose inputs cannot be moved.
const dynamicScript = `
import sys, numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper
w = np.random.default_rng(1).integers(-127, 128, (16, 8)).astype(np.int8)
table = np.random.default_rng(2).standard_normal((4, 16)).astype(np.float32)
nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), helper.make_node("MatMulInteger", ["q", "w", "z"], ["sums"]),
         helper.make_node("Cast", ["sums"], ["real"], to=TensorProto.FLOAT), helper.make_node("Mul", ["real", "s"], ["y"])]
def save(path, nodes, given, x):
    graph = helper.make_graph(nodes, "d", [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 8])], [numpy_helper.from_array(v, k) for k, v in given])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
save(sys.argv[1], nodes, [("w", w)], helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 16]))
save(sys.argv[2], [helper.make_node("Gather", ["table", "ids"], ["x"])] + nodes, [("w", w), ("table", table)], helper.make_tensor_value_info("ids", TensorProto.INT64, [2]))
`

// What a model that quantises as it runs makes of inputs that are moved a little shows by how much an engine may differ from it.
func TestRunDynamicallyQuantised(t *testing.T) {
	python := os.Getenv(onnxruntime.PythonVariable)
	if python == "" {
		t.Skip(onnxruntime.PythonVariable + " is not set: it names a Python with onnxruntime")
	}
	file, text := filepath.Join(t.TempDir(), "d.onnx"), filepath.Join(t.TempDir(), "text.onnx")
	if out, err := exec.CommandContext(t.Context(), python, "-c", dynamicScript, file, text).CombinedOutput(); err != nil {
		t.Skipf("needs a Python with onnx: %v, %s", err, out)
	}
	for name, says := range map[string]string{file: "as moved inputs show it", text: "tolerance: |a - b| <= "} {
		if out, _ := command(t, 0, "run", name, "--items", "4", "--backends", "cpu,onnxruntime", "-q"); !strings.Contains(out, says) || !strings.Contains(out, "PASSED") {
			t.Errorf("no %q in\n%s", says, out)
		}
	}
}

// qgemmScript writes a product of integers that ONNX Runtime cannot fuse where the processor has AVX2 and no VNNI: there it makes unsigned
// weights of those that are signed and large, which QGemm takes with unsigned activations alone.
const qgemmScript = `
import sys, numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper
given = [("s", np.float32(0.1)), ("za", np.int8(3)), ("zb", np.int8(0)), ("b", np.zeros(2, np.int32)),
         ("w", np.array([[127, -128], [100, 3], [-90, 4], [127, 127]], np.int8))]
nodes = [helper.make_node("QuantizeLinear", ["x", "s", "za"], ["q"]),
         helper.make_node("QGemm", ["q", "s", "za", "w", "s", "zb", "b", "s", "za"], ["g"], domain="com.microsoft"),
         helper.make_node("DequantizeLinear", ["g", "s", "za"], ["y"])]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])], [numpy_helper.from_array(np.asarray(v), k) for k, v in given])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8), sys.argv[1])
`

// Where ONNX Runtime cannot load a quantised model with its fusions, the model is compared without them, and that is said.
func TestRunWithoutFusions(t *testing.T) {
	python := os.Getenv(onnxruntime.PythonVariable)
	if python == "" {
		t.Skip(onnxruntime.PythonVariable + " is not set: it names a Python with onnxruntime")
	}
	file := filepath.Join(t.TempDir(), "q.onnx")
	if text, err := exec.CommandContext(t.Context(), python, "-c", qgemmScript, file).CombinedOutput(); err != nil {
		t.Skipf("needs a Python with onnx: %v, %s", err, text)
	}
	fused, err := onnxruntime.Open(t.Context(), onnxruntime.Options{Optimize: true})
	if err != nil {
		t.Skip(err)
	}
	defer fused.Close()
	if fused.Load(t.Context(), onnxruntime.Model{Path: file}) == nil {
		t.Skip("ONNX Runtime can fuse the model on this processor")
	}
	text, notes := command(t, 0, "run", file, "--items", "4", "--backends", "cpu,onnxruntime", "-q")
	if !strings.Contains(text, "PASSED") || !strings.Contains(text, "without its fusions, which fail") || strings.Contains(text, "fusions and") {
		t.Errorf("it says\n%s", text)
	}
	if !strings.Contains(notes, "warning: compared without ONNX Runtime's fusions") || !strings.Contains(notes, "QGemm") {
		t.Errorf("it notes\n%s", notes)
	}
}

// A Python without ONNX Runtime is an error that says how to get one.
func TestNoOnnxruntime(t *testing.T) {
	t.Setenv(onnxruntime.PythonVariable, filepath.Join(t.TempDir(), "python"))
	if _, text := command(t, exitFailure, "run", "--items", "1", "--backends", "cpu,onnxruntime"); !strings.Contains(text, "is not there") || !strings.Contains(text, "pip install onnxruntime") {
		t.Errorf("it says %q", text)
	}
}

// Saved iterations are cut by items: as many iterations as items, or rows behind each other.
func TestSavedPart(t *testing.T) {
	row := func(v ...float32) map[string]numeric.Value {
		return map[string]numeric.Value{"y": numeric.Values(numeric.F32, v, len(v)/2, 2)}
	}
	for _, c := range []struct {
		name       string
		iterations []map[string]numeric.Value
		span       compare.Span
		want       []float32
	}{
		{"one", []map[string]numeric.Value{row(1, 2)}, compare.Span{First: 0, Count: 1, Of: 1}, []float32{1, 2}},
		{"an iteration an item", []map[string]numeric.Value{row(1, 2), row(3, 4), row(5, 6)}, compare.Span{First: 1, Count: 2, Of: 3}, []float32{3, 4, 5, 6}},
		{"larger iterations", []map[string]numeric.Value{row(1, 2, 3, 4), row(5, 6, 7, 8)}, compare.Span{First: 1, Count: 2, Of: 4}, []float32{3, 4, 5, 6}},
		{"rows of an item", []map[string]numeric.Value{row(1, 2, 3, 4, 5, 6, 7, 8)}, compare.Span{First: 1, Count: 1, Of: 2}, []float32{5, 6, 7, 8}},
	} {
		got, err := savedPart(c.iterations, c.span)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		y := got["y"].F32()
		if len(y) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, y, c.want)
			continue
		}
		for i := range y {
			if math.Abs(float64(y[i]-c.want[i])) > 0 {
				t.Errorf("%s: %v, want %v", c.name, y, c.want)
			}
		}
	}
}

// TestSaturating: of products of integers those with signed weights are named, since ONNX Runtime's sums of them saturate on processors
// without VNNI.
func TestSaturating(t *testing.T) {
	d := graph.Define("m")
	x := d.Input("x", numeric.U8, symbolic.Shape(2, 4)...)
	signed, unsigned := d.Input("s", numeric.I8, symbolic.Shape(4, 3)...), d.Input("u", numeric.U8, symbolic.Shape(4, 3)...)
	for i, w := range []*graph.Tensor{signed, unsigned, signed} {
		d.Output(fmt.Sprint("y", i), d.MatMulInteger(x, w, nil, nil))
	}
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	names := saturating(n)
	if want := []string{n.Layers[0].Name, n.Layers[2].Name}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if text := saturationText(names); !strings.Contains(text, "in "+names[0]+" and 1 more it may be wrong") {
		t.Error(text)
	}
}
