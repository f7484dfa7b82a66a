package build_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestQOperatorTwins: a model in the QOperator format of ONNX Runtime's quantiser becomes the layers on integers that its twin in
// QDQ form becomes, and computes what ONNX Runtime does of it up to a few steps; see testdata/twins.py.
func TestQOperatorTwins(t *testing.T) {
	b := cpu.Open(0)
	defer b.Close()
	for _, kind := range []string{"u8", "i8"} {
		t.Run(kind, func(t *testing.T) {
			x, want := readTensor(t, "input.pb"), readTensor(t, "output_"+kind+".pb")
			counts := map[string]map[string]int{}
			for _, form := range []string{"qoperator", "qdq"} {
				f, err := onnx.Open(graph.Ops(), filepath.Join("testdata", "twins", form+"_"+kind+".onnx"))
				if err != nil {
					t.Fatal(err)
				}
				n := loweredFor(t, f.Network, b)
				counts[form] = integerLayers(n)
				out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
				if err != nil {
					t.Fatal(err)
				}
				nearTwin(t, form, out["y"], want)
			}
			for op, n := range counts["qdq"] {
				if counts["qoperator"][op] != n {
					t.Errorf("%d layers %s on integers, its twin has %d", counts["qoperator"][op], op, n)
				}
			}
			if counts["qdq"]["Conv"] != 4 {
				t.Errorf("the twin has layers on integers %v, want 4 convolutions", counts["qdq"])
			}
		})
	}
}

func readTensor(t *testing.T, name string) numeric.Value {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "twins", name))
	if err != nil {
		t.Fatal(err)
	}
	_, v, err := onnx.ReadTensor(data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// loweredFor runs all passes for a backend.
func loweredFor(t *testing.T, n *graph.Network, b run.Backend) *graph.Network {
	t.Helper()
	cfg := pass.Config{Target: build.Target(b, nil)}
	o, err := build.Optimize(context.Background(), n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(context.Background(), o, build.LowerConfig{Precision: numeric.I8, Pass: cfg}, run.Supports(b, nil))
	if err != nil {
		t.Fatal(err)
	}
	return l.Network
}

// integerLayers counts the layers that read quantised tensors, by op; no convolution or product of plain integers may be left.
func integerLayers(n *graph.Network) map[string]int {
	counts := map[string]int{}
	for _, l := range n.Layers {
		if l.Inputs[0].Quantized() || l.Op.Class == graph.ClassIntegers {
			counts[l.Op.Name]++
		}
	}
	return counts
}

// nearTwin allows 3 % of the largest output: steps, of which there are 256, add up over eight layers.
func nearTwin(t *testing.T, form string, got, want numeric.Value) {
	t.Helper()
	largest := 0.0
	for _, y := range want.Floats() {
		largest = max(largest, math.Abs(float64(y)))
	}
	for i, y := range got.Floats() {
		if d := math.Abs(float64(y - want.Floats()[i])); !(d <= 0.03*largest) {
			t.Errorf("%s: output %d is %v, ONNX Runtime's %v", form, i, y, want.Floats()[i])
		}
	}
}
