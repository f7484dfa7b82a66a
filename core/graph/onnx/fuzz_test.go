package onnx

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// maxFuzzElements bounds the tensors of the networks that FuzzParse evaluates.
const maxFuzzElements = 1 << 10

// checkLook checks that a model that can be looked at is consistent, goes through the passes that depend on nothing, and is
// refused by what would run it just where Parse refuses it.
func checkLook(t *testing.T, b []byte) {
	got, err := Importer{Ops: graph.Ops()}.parse("fuzz.onnx", b, nil, true)
	n, refused := got.network, got.refused
	if err != nil {
		return
	}
	_, strict := Parse(graph.Ops(), "fuzz.onnx", b)
	if (refused == nil) != (strict == nil) {
		t.Errorf("to look at: %v; to run: %v", refused, strict)
	}
	if refused != nil && strings.Contains(refused.Error(), "internal error") {
		t.Error(refused)
	}
	_ = n.String()
	for _, l := range n.Layers {
		_ = graph.FLOPs(l, map[string]int{})
	}
	if len(n.Layers) > 1000 {
		return
	}
	if err := n.Clone().Infer(); err != nil {
		t.Error(err)
	}
}

// FuzzParse checks that whatever the bytes are, Parse returns an error or a network that prints, is consistent and can
// be evaluated, without a panic.
func FuzzParse(f *testing.F) {
	for _, c := range slices.Concat(readNodes(f, "testdata/nodes.json"), readNodes(f, "testdata/microsoft.json"), readNodes(f, "testdata/older.json"), readNodes(f, "testdata/narrow.json")) {
		f.Add(c.model(f, false))
	}
	for _, c := range controlCases(f, "testdata/control.json") {
		f.Add(c.Model)
	}
	for _, c := range importCases {
		f.Add(c.model)
		f.Add(c.model[:len(c.model)*2/3])
	}
	for _, c := range importErrorCases {
		f.Add(c.model)
	}
	for _, c := range lookCases {
		f.Add(c.model)
	}
	for _, model := range nodeModels(f) {
		f.Add(model)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkLook(t, b)
		n, err := Importer{Ops: graph.Ops(), MaxExtent: 64}.Parse("fuzz.onnx", b)
		if err != nil {
			if strings.Contains(err.Error(), "internal error") || len(err.Error()) > 1<<15 {
				t.Error(err)
			}
			return
		}
		if err := n.Verify(); err != nil {
			t.Error(err)
		}
		_ = n.String()
		evaluateSmall(t, n)
	})
}

// nodeModels returns the small models of ONNX's own node cases, where the external data is.
func nodeModels(f *testing.F) [][]byte {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		return nil
	}
	file, err := os.Open(filepath.Join(dir, "onnx", "onnx-node-open.tar.gz"))
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		f.Fatal(err)
	}
	var models [][]byte
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return models
		}
		if err != nil {
			f.Fatal(err)
		}
		if path.Base(h.Name) != "model.onnx" || h.Size > 1<<11 {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			f.Fatal(err)
		}
		models = append(models, b)
	}
}

// evaluateSmall evaluates a network whose tensors are small on zeros; symbols are 2.
func evaluateSmall(t *testing.T, n *graph.Network) {
	symbols := map[string]bool{}
	for _, x := range n.Inputs {
		for _, d := range x.Dims {
			d.Symbols(symbols)
		}
	}
	env := map[string]int{}
	for s := range symbols {
		env[s] = 2
	}
	small := func(x *graph.Tensor) bool {
		if x == nil {
			return true
		}
		elements := 1
		for _, d := range symbolic.Eval(x.Dims, env) {
			if d > maxFuzzElements || elements*max(d, 1) > maxFuzzElements {
				return false
			}
			elements *= max(d, 1)
		}
		return true
	}
	inputs := map[string]numeric.Value{}
	for _, x := range n.Inputs {
		if !small(x) {
			return
		}
		inputs[x.Name] = numeric.NewValue(x.Type, symbolic.Eval(x.Dims, env)...)
	}
	for _, l := range n.AllLayers() {
		if l.Runs(env) > maxFuzzElements {
			return
		}
		for _, x := range append(l.Inputs, l.Outputs...) {
			if !small(x) {
				return
			}
		}
	}
	out, err := n.Eval(context.Background(), inputs, nil)
	if err != nil {
		return
	}
	for _, y := range n.Outputs {
		if v := out[y.Name]; v.Type != y.Type || len(v.Data) != v.Len()*v.Type.Size() {
			t.Errorf("output %s has %d bytes", y, len(v.Data))
		}
	}
}
