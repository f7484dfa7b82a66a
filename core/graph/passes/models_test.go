package passes

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/testdata"
)

// openModel imports a model of the external test data.
func openModel(t *testing.T, path string) *graph.Network {
	t.Helper()
	data := os.Getenv("TRTUI_DATA")
	if data == "" {
		t.Skip("TRTUI_DATA is not set: no models to test with")
	}
	f, err := onnx.Open(graph.Ops(), filepath.Join(data, "models", path))
	if err != nil {
		t.Fatal(err)
	}
	return f.Network
}

// opCounts returns the number of layers of each op, as "AveragePool 1, Conv 9, ...".
func opCounts(n *graph.Network) map[string]int {
	counts := map[string]int{}
	for _, l := range n.Layers {
		counts[l.Op.Name]++
	}
	return counts
}

// models are what passes make of real models. Ops that are not listed must not be left.
var models = []struct {
	path  string
	ops   map[string]int // after the standard passes and lowering
	eval  bool           // small enough to evaluate
	fused []string       // members of some of the fused layers, by the layer's name
}{
	{"mnist-cntk/mnist.onnx", map[string]int{"Conv": 2, "MaxPool": 2, "Reshape": 1, "Gemm": 1}, true,
		[]string{"Convolution28 + Plus30 + ReLU32"}},
	{"mnist-burn/mnist.onnx", map[string]int{"Conv": 3, "Reshape": 1, "Gemm": 2, "Softmax": 1}, true, nil},
	{"cifar10-resnet8/resnet8_fp32.onnx", map[string]int{"Conv": 9, "AveragePool": 1, "Reshape": 1, "Gemm": 1, "Softmax": 1}, true, nil},
	{"cifar10-resnet8/resnet8_torch_export.onnx", map[string]int{"Conv": 9, "AveragePool": 1, "Reshape": 1, "Gemm": 1, "Softmax": 1}, true, nil},
	{"cifar10-resnet8/resnet8_int8_qdq.onnx", map[string]int{"QuantizeLinear": 1, "Conv": 9, "AveragePool": 1,
		"Reshape": 1, "Gemm": 1, "DequantizeLinear": 1, "Softmax": 1}, true, nil},
	{"kws-dscnn/kws_fp32_dequantised.onnx", map[string]int{"Conv": 9, "AveragePool": 1, "Reshape": 1, "Gemm": 1, "Softmax": 1}, true, nil},
	{"kws-dscnn/kws_int8_qdq.onnx", map[string]int{"QuantizeLinear": 1, "Conv": 9, "AveragePool": 1, "Reshape": 1, "Gemm": 1,
		"DequantizeLinear": 1, "Softmax": 1}, true, nil},
	{"mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_fp32.onnx", map[string]int{"Conv": 28, "AveragePool": 1, "Reshape": 1, "Softmax": 1}, false, nil},
	{"mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_uint8_qdq.onnx", map[string]int{"QuantizeLinear": 1, "Conv": 28, "AveragePool": 1,
		"Reshape": 1, "DequantizeLinear": 1, "Softmax": 1}, false, nil},
	{"mobilenet_v2_1.0_224_int8/mobilenet_v2_int8_qdq.onnx", map[string]int{"QuantizeLinear": 2, "Reformat": 1, "Conv": 53,
		"AveragePool": 1, "Reshape": 1, "DequantizeLinear": 2, "Softmax": 1}, false, nil},
	{"squeezenet-fp16/squeezenet_fp16.onnx", map[string]int{"Conv": 26, "Concat": 8, "MaxPool": 3, "AveragePool": 1, "Softmax": 1}, false, nil},
}

func TestModels(t *testing.T) {
	for _, m := range models {
		t.Run(m.path, func(t *testing.T) {
			n := openModel(t, m.path)
			fused, steps := runPass(t, n, Standard(), pass.Config{})
			got, more := runPass(t, fused, Lowering(), pass.Config{Ledger: steps[len(steps)-1].Ledger})
			if counts := opCounts(got); !equalCounts(counts, m.ops) {
				t.Errorf("layers %v, want %v:\n%s", counts, m.ops, got)
			}
			if c := more[len(more)-1].Ledger.Counts(); c.Total() != len(n.Layers) {
				t.Errorf("ledger of %d layers, the model has %d", c.Total(), len(n.Layers))
			}
			for _, name := range m.fused {
				if got.Layer(name) == nil {
					t.Errorf("no layer %q in\n%s", name, got)
				}
			}
			if !m.eval || testing.Short() {
				return
			}
			sameMeaning(t, n, fused, 1e-4)
			sameOutputs(t, n, got, 0.02)
		})
	}
}

func equalCounts(a, b map[string]int) bool {
	for _, m := range []map[string]int{a, b} {
		for op := range m {
			if a[op] != b[op] {
				return false
			}
		}
	}
	return true
}

// digits returns the embedded model and n of its calibration images.
func digits(t *testing.T, n int) (*graph.Network, map[string]numeric.Value) {
	t.Helper()
	net, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	x := testdata.CalibrationImages().Batch(0, n)
	in := net.Inputs[0]
	return net, map[string]numeric.Value{in.Name: numeric.Values(numeric.F32, x, n, 1, 32, 32)}
}

// TestEmbeddedModel checks that every normalisation, activation and residual addition of the embedded model ends in the
// layer before it, in floating point and with calibrated integers.
func TestEmbeddedModel(t *testing.T) {
	n, in := digits(t, 1)
	fused, steps := runPass(t, n, Standard(), pass.Config{})
	want := map[string]int{"Conv": 18, "MaxPool": 1, "Concat": 1, "AveragePool": 2, "Mul": 1, "Reshape": 1, "Gemm": 1, "Softmax": 1}
	if counts := opCounts(fused); !equalCounts(counts, want) {
		t.Errorf("layers %v, want %v:\n%s", counts, want, fused)
	}
	if testing.Short() {
		return
	}
	values := evalAll(t, n, in)
	for name, x := range evalAll(t, fused, in) {
		if w, ok := values[name]; ok && difference(x, w) > 1e-4 {
			t.Errorf("%s differs by %g", name, difference(x, w))
		}
	}
	values["image"] = in["image"].F32()
	ranges := map[string]numeric.Range{}
	for name, x := range values {
		peak := float32(0)
		for _, v := range x {
			peak = max(peak, float32(math.Abs(float64(v))))
		}
		ranges[name] = numeric.PerTensor(max(peak, 1e-6)/127, 0)
	}
	placed := fused.Clone()
	if _, err := quant.Place(placed, ranges, quant.Policy{}); err != nil {
		t.Fatal(err)
	}
	got, more := runPass(t, placed, Lowering(), pass.Config{Ledger: steps[len(steps)-1].Ledger})
	if c := more[len(more)-1].Ledger.Counts(); c.Total() != len(n.Layers) {
		t.Errorf("ledger of %d layers, the model has %d", c.Total(), len(n.Layers))
	}
	for _, l := range got.Layers {
		if (l.Op == graph.Conv || l.Op == graph.Gemm) && (!l.Inputs[0].Quantized() || !l.Inputs[1].Quantized()) {
			t.Errorf("%s does not compute on integers", l)
		}
		if l.Op == graph.Quantize && !n.IsInput(n.Tensor(l.Inputs[0].Name)) || l.Op == graph.Reformat {
			t.Errorf("%s is not fused", l)
		}
		if strings.Contains(l.Name, " + Quantize") || strings.Contains(l.Name, "Dequantize_") && l.Op != graph.Dequantize {
			t.Errorf("layer %q is named after a layer that the model does not have", l.Name)
		}
	}
	out := n.Outputs[0].Name
	a, b := values[out], evalAll(t, got, in)[out]
	if slices.Index(a, slices.Max(a)) != slices.Index(b, slices.Max(b)) || difference(b, a) > 0.2 {
		t.Errorf("probabilities %v, in floating point %v", b, a)
	}
}
