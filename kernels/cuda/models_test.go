package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/testdata"
)

// modelCase is a network with inputs: it runs on the simulator and on the CPU in the given precisions.
type modelCase struct {
	name       string
	network    *graph.Network
	env        map[string]int
	inputs     map[string]numeric.Value
	samples    []map[string]numeric.Value // to calibrate with
	precisions []numeric.DataType
}

// TestEmbeddedModel takes the embedded model in all precisions through lowering, plan and simulated launches, and compares
// with the CPU on the same lowered network.
func TestEmbeddedModel(t *testing.T) {
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	images := testdata.CalibrationImages()
	image := func(i, count int) map[string]numeric.Value {
		x := images.Batch(i, i+count)
		return map[string]numeric.Value{"image": numeric.Values(numeric.F32, x, count, 1, testdata.Padded, testdata.Padded)}
	}
	c := modelCase{name: "digits", network: n, env: map[string]int{"batch": 2}, inputs: image(20, 2)}
	for i := range 4 {
		c.samples = append(c.samples, image(2*i, 2))
	}
	c.precisions = []numeric.DataType{numeric.F32, numeric.F16, numeric.I8}
	c.run(t)
}

// TestModels does so with the trained models beside the project that are small enough for the simulator.
func TestModels(t *testing.T) {
	root := os.Getenv("TRTUI_DATA")
	if root == "" {
		t.Skip("TRTUI_DATA is not set: the trained models are not here")
	}
	all := []numeric.DataType{numeric.F32, numeric.F16, numeric.I8}
	own := []numeric.DataType{numeric.I8} // the model brings its quantisation
	for _, m := range []struct {
		file, data string
		precisions []numeric.DataType
	}{
		{"mnist-cntk/mnist.onnx", "mnist-cntk/test_data_set_0", all},
		{"mnist-burn/mnist.onnx", "mnist-burn/test_data_set_0", all[:1]},
		{"kws-dscnn/kws_fp32_dequantised.onnx", "kws-dscnn/test_data_set_0", all},
		{"kws-dscnn/kws_int8_qdq.onnx", "kws-dscnn/test_data_set_qdq", own},
		{"cifar10-resnet8/resnet8_fp32.onnx", "cifar10-resnet8/test_data_set_0", all[1:2]},
		{"cifar10-resnet8/resnet8_int8_qdq.onnx", "cifar10-resnet8/test_data_set_qdq", own},
	} {
		n := readModel(t, filepath.Join(root, "models", m.file))
		c := modelCase{name: filepath.Base(m.file), network: n, inputs: readInputs(t, filepath.Join(root, "models", m.data), n), precisions: m.precisions}
		c.env = bindShapes(n, c.inputs)
		c.samples = []map[string]numeric.Value{c.inputs}
		c.run(t)
	}
}

// TestSupport lists the layers of larger models that have no kernel.
func TestSupport(t *testing.T) {
	root := os.Getenv("TRTUI_DATA")
	if root == "" {
		t.Skip("TRTUI_DATA is not set: the trained models are not here")
	}
	b := simulated(t)
	for _, m := range []struct{ file, data string }{
		{"cifar10-resnet8/resnet8_torch_export.onnx", "cifar10-resnet8/test_data_set_torch_export"},
		{"squeezenet-fp16/squeezenet_fp16.onnx", "squeezenet-fp16/test_data_set_0"},
		{"mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_fp32.onnx", "mobilenet_v1_0.25_128/test_data_set_0"},
		{"mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_uint8_qdq.onnx", "mobilenet_v1_0.25_128/test_data_set_qdq"},
		{"mobilenet_v2_1.0_224_int8/mobilenet_v2_int8_qdq.onnx", "mobilenet_v2_1.0_224_int8/test_data_set_qdq"},
	} {
		n := readModel(t, filepath.Join(root, "models", m.file))
		c := modelCase{name: m.file, network: n, inputs: readInputs(t, filepath.Join(root, "models", m.data), n)}
		c.env = bindShapes(n, c.inputs)
		for _, p := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
			l, err := c.lower(b, p)
			if err != nil {
				t.Errorf("%s in %s: %v", m.file, p, err)
				continue
			}
			if _, err := run.NewPlan(context.Background(), l, c.env, b, run.BestGuess); err != nil {
				t.Errorf("%s in %s: %v", m.file, p, brief(err))
			}
		}
	}
}

// brief shortens the reasons of layers that nothing computes.
func brief(err error) error {
	var u *run.Unsupported
	if !errors.As(err, &u) {
		return err
	}
	s := ""
	for _, l := range u.Layers {
		s += fmt.Sprintf("\n%s (%s)", l.Layer, l.Op)
		seen := map[string]bool{}
		for _, r := range l.Reasons {
			if !seen[r.Reason] && len(seen) < 4 {
				s += fmt.Sprintf("\n    %s: %s", r.Tactic, r.Reason)
			}
			seen[r.Reason] = true
		}
	}
	return errors.New(s)
}

func readModel(t *testing.T, path string) *graph.Network {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := onnx.Parse(graph.Ops(), filepath.Base(path), data)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func readInputs(t *testing.T, dir string, n *graph.Network) map[string]numeric.Value {
	t.Helper()
	values := map[string]numeric.Value{}
	for i, x := range n.Inputs {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("input_%d.pb", i)))
		if err != nil {
			t.Fatal(err)
		}
		_, v, err := onnx.ReadTensor(data)
		if err != nil {
			t.Fatal(err)
		}
		values[x.Name] = v
	}
	return values
}

// bindShapes gives the inputs' symbols their values.
func bindShapes(n *graph.Network, inputs map[string]numeric.Value) map[string]int {
	env := map[string]int{}
	for _, x := range n.Inputs {
		for i, d := range x.Dims {
			if _, ok := d.IsConst(); !ok {
				env[d.String()] = inputs[x.Name].Dims[i]
			}
		}
	}
	return env
}

// lower brings the network to a precision for a backend.
func (c modelCase) lower(b run.Backend, precision numeric.DataType) (*graph.Network, error) {
	ctx := context.Background()
	o, err := build.Optimize(ctx, c.network, pass.Config{Shapes: c.env})
	if err != nil {
		return nil, err
	}
	lc := build.LowerConfig{Precision: precision, Pass: pass.Config{Shapes: c.env}}
	if precision == numeric.I8 && c.samples != nil {
		host := cpu.Open(1)
		defer host.Close()
		hist, err := build.Collect(ctx, c.network, host, func(yield func(map[string]numeric.Value, error) bool) {
			for _, s := range c.samples {
				if !yield(s, nil) {
					return
				}
			}
		}, nil, nil)
		if err != nil {
			return nil, err
		}
		lc.Ranges = build.Ranges(hist.Histograms, quant.MinMax{})
	}
	l, err := build.Lower(ctx, o, lc, run.Supports(b, c.env))
	if err != nil {
		return nil, err
	}
	return l.Network, nil
}

// run compares the backends.
func (c modelCase) run(t *testing.T) {
	b, host := simulated(t), cpu.Open(1)
	defer host.Close()
	for _, p := range c.precisions {
		t.Run(fmt.Sprintf("%s_%s", c.name, p), func(t *testing.T) {
			n, err := c.lower(b, p)
			if err != nil {
				t.Fatal(err)
			}
			x, y := load(t, n, c, host), load(t, n, c, b)
			tol := suite.Tolerance{Real: 1e-4}
			if p == numeric.F16 {
				tol.Real = 2e-3
			}
			compareOutputs(t, x, y, tol)
			compareLayers(t, x, y, tol)
		})
	}
}

// compareOutputs runs both contexts and compares what comes out.
func compareOutputs(t *testing.T, x, y loadedModel, tol suite.Tolerance) {
	t.Helper()
	for _, c := range []loadedModel{x, y} {
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
	}
	want, err := x.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	got, err := y.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		if err := suite.Near(got[name], w, numeric.Range{}, tol); err != nil {
			t.Errorf("output %s: %v", name, err)
		}
	}
}

// compareLayers runs every layer of y on what x computed, one by one, and compares: bytes must be equal, but where a
// transcendental function decides the last bit of what is rounded.
func compareLayers(t *testing.T, x, y loadedModel, tol suite.Tolerance) {
	t.Helper()
	want := map[string]numeric.Value{}
	plan := x.plan
	read := func(c loadedModel, slot int) numeric.Value {
		v, err := c.Read(slot)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i, s := range plan.Slots {
		if s.Tensor != nil && plan.Network.IsInput(s.Tensor) && s.Of < 0 && s.First == -1 {
			want[s.Tensor.Name] = read(x, i)
		}
	}
	err := x.Observe(context.Background(), run.Observer{After: func(step int) error {
		for _, slot := range plan.Steps[step].Out {
			want[plan.Slots[slot].Tensor.Name] = read(x, slot)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	plan = y.plan
	exact := tol
	err = y.Observe(context.Background(), run.Observer{
		Before: func(step int) error {
			for _, slot := range plan.Steps[step].In {
				if slot < 0 || plan.Steps[step].Tactic == run.InMemory {
					continue
				}
				if err := y.Write(slot, want[plan.Slots[slot].Tensor.Name]); err != nil {
					return err
				}
			}
			return nil
		},
		After: func(step int) error {
			s := plan.Steps[step]
			exact.Step = 0
			if transcendental(s.Layer) {
				exact.Step = 1
			}
			for _, slot := range s.Out {
				out := plan.Slots[slot].Tensor
				if err := suite.Near(read(y, slot), want[out.Name], out.Range, exact); err != nil {
					t.Errorf("layer %s by %s: %v", s.Name, s.Tactic, err)
				}
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// transcendental reports whether a layer's elements are more than sums, products and comparisons.
func transcendental(l *graph.Layer) bool {
	programs := []elementwise.Program{l.Epilogue}
	if e, ok := l.Attrs.(graph.Elementwise); ok {
		programs = append(programs, e.Program)
	}
	for _, p := range programs {
		for _, in := range p.Code {
			switch in.Op {
			case elementwise.Relu, elementwise.Clamp, elementwise.Add, elementwise.Sub, elementwise.Mul, elementwise.Max, elementwise.Min, elementwise.Const:
			default:
				return true
			}
		}
	}
	return l.Op == graph.Softmax
}

// loadedModel is a network that is ready to run.
type loadedModel struct {
	*run.ExecutionContext
	plan *run.Plan
}

// load plans and loads a lowered network.
func load(t *testing.T, n *graph.Network, c modelCase, b run.Backend) loadedModel {
	t.Helper()
	p, err := build.Plan(t.Context(), n, c.env, b, build.PlanConfig{Untimed: true})
	if err != nil {
		t.Fatal(brief(err))
	}
	x := ready(t, b, p)
	if err := x.SetInputs(c.inputs); err != nil {
		t.Fatal(err)
	}
	return loadedModel{x, p}
}
