package networks

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
)

// madeByBuilder are the ops that no model has: passes and planner make them.
var madeByBuilder = map[string]bool{"Pointwise": true, "Reformat": true}

// TestEveryOperator: every ONNX operator of the op table is generated, and imported as it was meant.
func TestEveryOperator(t *testing.T) {
	for _, op := range graph.Ops().All() {
		if len(op.Onnx) == 0 && !madeByBuilder[op.Name] {
			t.Errorf("no model has op %s: say who makes it, and reach it", op.Name)
		}
		for _, name := range op.Onnx {
			p, ok := proposals[name]
			if !ok {
				t.Errorf("nothing generates ONNX's %s", name)
				continue
			}
			if !reached(name, op, p) {
				t.Errorf("no model has a layer of ONNX's %s", name)
			}
		}
	}
	for name := range proposals {
		if graph.Ops().Onnx("", name) == nil {
			t.Errorf("%s is generated, but no op imports it", name)
		}
	}
}

// reached reports whether one of some seeds gives a model with the operator.
func reached(name string, op *graph.Op, p proposal) bool {
	opset := max(p.since, 13)
	if p.until != 0 {
		opset = p.until
	}
	for seed := range uint64(40) {
		n, err := onnx.Parse(graph.Ops(), "model.onnx", generate(seed, name, opset).Encode())
		if err != nil {
			continue
		}
		for _, l := range n.Layers {
			if l.Op.Name == op.Name {
				return true
			}
		}
	}
	return false
}

// bench returns a bench with onnxruntime where TORTURE_PYTHON names an interpreter that has it.
func bench(t testing.TB) *Bench {
	b, err := newBench(os.Getenv("TORTURE_PYTHON"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestKept checks what once went wrong.
func TestKept(t *testing.T) {
	b := bench(t)
	dirs, err := filepath.Glob("testdata/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d cases, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		c, err := ReadCase(dir)
		if err != nil {
			t.Fatal(err)
		}
		if f := b.Check(context.Background(), c.Model, c.Setup); f != nil {
			t.Errorf("%s: %v", dir, f)
		}
	}
}

func TestNetworks(t *testing.T) {
	b := bench(t)
	features := FeatureSets()
	for seed := range uint64(30) {
		m := Generate(seed)
		for _, s := range RandomSetups(seed, features) {
			if f := b.Check(context.Background(), m, s); f != nil {
				t.Errorf("seed %d, %+v: %v", seed, s, f)
			}
		}
	}
	t.Logf("%+v", b.Figures)
}
