package onnx_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
)

// networkOf returns a network of one layer that is in none.
func networkOf(l *graph.Layer) (*graph.Network, error) {
	n := graph.NewNetwork("case")
	same := map[*graph.Tensor]*graph.Tensor{}
	var inputs []*graph.Tensor
	for i, t := range l.Inputs {
		if t == nil {
			inputs = append(inputs, nil)
			continue
		}
		if same[t] == nil {
			if v, ok := t.Const(); ok {
				same[t] = n.AddConst(fmt.Sprintf("c%d", i), v)
			} else {
				same[t] = n.AddInput(fmt.Sprintf("x%d", i), t.Type, t.Dims...)
			}
			same[t].Range, same[t].Value = t.Range, t.Value
		}
		inputs = append(inputs, same[t])
	}
	var outputs []string
	for i := range l.Outputs {
		outputs = append(outputs, fmt.Sprintf("y%d", i))
	}
	own := len(l.OpInputs())
	c, err := n.Add("layer", l.Op, l.Attrs, inputs[:own], outputs...)
	if err != nil {
		return nil, err
	}
	if l.Epilogue.Args > 0 {
		c.Fuse(l.Epilogue, 0, inputs[own:]...)
	}
	for i, t := range c.Outputs {
		if t.Type != l.Outputs[i].Type || !t.Range.Equal(l.Outputs[i].Range) {
			return nil, fmt.Errorf("lowered")
		}
		n.MarkOutput(t)
	}
	return n, n.Verify()
}

// given returns values for a network's inputs: small integers, halves, indices below what they choose among.
func given(n *graph.Network, rnd *rand.Rand) map[string]numeric.Value {
	in := map[string]numeric.Value{}
	for _, t := range n.Inputs {
		v, most := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...), 5
		for _, l := range t.Users {
			switch i := slices.Index(l.Inputs, t); l.Role(i) {
			case graph.Parameter: // an axis, or the like
				most = 0
			case graph.Indices:
				for _, d := range l.Op.Chosen(l) {
					c, _ := d.IsConst()
					most = max(0, min(most, c-1))
				}
			}
		}
		if t.Type == numeric.Str {
			in[t.Name] = suite.Random(rnd, t)
			continue
		}
		real := numeric.NewValue(numeric.F32, v.Dims...)
		for i := range real.F32() {
			real.F32()[i] = float32(rnd.NormFloat64())
			if !t.Type.IsFloat() {
				real.F32()[i] = float32(rnd.IntN(most + 1))
			}
		}
		switch {
		case t.Type == numeric.F64:
			for i, f := range real.F32() {
				numeric.View[float64](v.Data)[i] = float64(f)
			}
		case t.Type.IsFloat():
			numeric.FromReal(v, real.F32(), numeric.Range{})
		default:
			for i := range v.Len() {
				v.Data[i*t.Type.Size()] = byte(real.F32()[i]) // little-endian
				if t.Type == numeric.Bool {
					v.Data[i] &= 1
				}
			}
		}
		in[t.Name] = v
	}
	return in
}

// differ says where two values are not the same up to the rounding of other operations.
func differ(got, want numeric.Value) string {
	if got.Type != want.Type || !slices.Equal(got.Dims, want.Dims) {
		return fmt.Sprintf("%s%v, want %s%v", got.Type, got.Dims, want.Type, want.Dims)
	}
	if !got.Type.IsFloat() {
		if !bytes.Equal(got.Data, want.Data) {
			return "other integers"
		}
		return ""
	}
	tolerance := map[numeric.DataType]float64{numeric.F16: 4e-3, numeric.BF16: 3e-2}[got.Type] + 2e-5
	for i, f := range want.Float64s() {
		g := got.Float64s()[i]
		if f != f && g != g || f == g {
			continue
		}
		if d := math.Abs(f - g); !(d <= tolerance*max(1, math.Abs(f))) {
			return fmt.Sprintf("element %d is %v, want %v", i, g, f)
		}
	}
	return ""
}

// roundTrip exports a network, imports it again, and compares what both compute.
func roundTrip(n *graph.Network, rnd *rand.Rand) (model []byte, in, want map[string]numeric.Value, err error) {
	var file bytes.Buffer
	if err := onnx.Export(&file, n); err != nil {
		return nil, nil, nil, err
	}
	model = file.Bytes()
	back, err := onnx.Parse(graph.Ops(), "again", model)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("what was written is not read: %w", err)
	}
	in = given(n, rnd)
	if want, err = n.Eval(context.Background(), in, nil); err != nil {
		return nil, nil, nil, err
	}
	got, err := back.Eval(context.Background(), in, nil)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("what was written is not computed: %w", err)
	}
	for name, w := range want {
		if text := differ(got[name], w); text != "" {
			return nil, nil, nil, fmt.Errorf("output %s: %s", name, text)
		}
	}
	return model, in, want, nil
}

// exportCases returns the layers of the suite that are of no lowered network: those that are small, and one of each op, since
// evaluation is slow.
func exportCases() map[string]*graph.Network {
	cases, ops := map[string]*graph.Network{}, map[string]bool{}
	for _, c := range suite.Layers() {
		n, err := networkOf(c.Layer)
		if err != nil || slices.ContainsFunc(c.Layer.Inputs, func(t *graph.Tensor) bool { return t != nil && t.Quantized() }) {
			continue
		}
		if work := graph.Operations(c.Layer, nil) + int64(size(c.Layer)); work > 20_000 && ops[c.Layer.Op.Name] {
			continue
		}
		cases[c.Name], ops[c.Layer.Op.Name] = n, true
	}
	return cases
}

// noForm are the layers of the suite that have no form in ONNX, by what the error says.
const noForm = "ONNX does not quantise to i32"

// TestExportSuite writes every layer of the suite and reads it again: the same is computed.
func TestExportSuite(t *testing.T) {
	cases, ops := exportCases(), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		n := cases[name]
		if _, _, _, err := roundTrip(n, rand.New(rand.NewPCG(3, 4))); err != nil && !strings.Contains(err.Error(), noForm) {
			t.Errorf("%s: %v", name, err)
		}
		ops[n.Layer("layer").Op.Name] = true
	}
	t.Logf("%d layers of %d ops", len(cases), len(ops))
}

// size returns the elements of a layer's tensors.
func size(l *graph.Layer) (n int) {
	for _, t := range slices.Concat(l.Inputs, l.Outputs) {
		if t != nil {
			n += numeric.Count(symbolic.Eval(t.Dims, nil))
		}
	}
	return n
}

// TestExportModels imports all models of ONNX's own cases that there are, writes them and reads them again.
func TestExportModels(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(os.Getenv("TRTUI_DATA"), "onnx", "*.tar.gz"))
	if err != nil || len(archives) == 0 {
		t.Skip("TRTUI_DATA is not set, or has no onnx/*.tar.gz: no models to test with")
	}
	done, ops := 0, map[string]bool{}
	for _, archive := range archives {
		for name, data := range models(t, archive) {
			n, err := onnx.Parse(graph.Ops(), name, data)
			if err != nil {
				continue // not supported
			}
			if slices.ContainsFunc(n.Inputs, func(t *graph.Tensor) bool { return t.IsShape }) {
				continue // shapes depend on its elements, and random ones fit none
			}
			work := int64(0)
			for _, l := range n.Layers {
				work += graph.Operations(l, nil) + int64(size(l))
			}
			if work > 200_000 {
				continue // evaluation is slow
			}
			_, _, _, err = roundTrip(n, rand.New(rand.NewPCG(3, 4)))
			if err != nil && !strings.Contains(err.Error(), noForm) && !errors.As(err, new(*graph.IndexError)) {
				t.Errorf("%s: %v", name, err)
			}
			done++
			for _, l := range n.Layers {
				ops[l.Op.Name] = true
			}
		}
	}
	t.Logf("%d models of %d ops", done, len(ops))
}

// models yields the models in an archive.
func models(t *testing.T, archive string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		f, err := os.Open(archive)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		for r := tar.NewReader(z); ; {
			h, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if path.Base(h.Name) != "model.onnx" {
				continue
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(path.Base(path.Dir(h.Name)), data) {
				return
			}
		}
	}
}

// TestExportByOthers has ONNX's checker and ONNX Runtime read what is written and compute the same. TRTUI_PYTHON names a Python
// that has both.
func TestExportByOthers(t *testing.T) {
	python := os.Getenv("TRTUI_PYTHON")
	if python == "" {
		t.Skip("TRTUI_PYTHON is not set: it names a Python with onnx and onnxruntime")
	}
	dir := t.TempDir()
	for name, n := range exportCases() {
		model, in, want, err := roundTrip(n, rand.New(rand.NewPCG(3, 4)))
		if err != nil {
			continue // TestExportSuite says so
		}
		if slices.ContainsFunc(n.Outputs, n.IsRandom) {
			continue // others have other numbers
		}
		at := filepath.Join(dir, url.PathEscape(name))
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"model.onnx": model}
		for name, v := range in {
			files[name+".in.pb"] = onnx.WriteTensor(name, v)
		}
		for name, v := range want {
			files[name+".out.pb"] = onnx.WriteTensor(name, v)
		}
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(at, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), python, "testdata/check_export.py", dir).CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("%s", out)
}

// TestExportMaskOfAllQueries: a mask of one row has one for each query in what is written, since ONNX Runtime wants that.
func TestExportMaskOfAllQueries(t *testing.T) {
	for _, c := range []struct {
		q, k, mask []int
		heads      int
		expands    bool
	}{
		{[]int{2, 4, 5, 8}, []int{2, 4, 7, 8}, []int{2, 1, 1, 7}, 0, true},
		{[]int{2, 5, 32}, []int{2, 7, 32}, []int{2, 1, 1, 7}, 4, true},
		{[]int{2, 4, 5, 8}, []int{2, 4, 7, 8}, []int{1, 7}, 0, true},
		{[]int{2, 4, 5, 8}, []int{2, 4, 7, 8}, []int{5, 7}, 0, false},
		{[]int{2, 4, 1, 8}, []int{2, 4, 7, 8}, []int{1, 7}, 0, false},
	} {
		d := graph.Define("mask")
		in := func(name string, dims []int) *graph.Tensor {
			return d.Input(name, numeric.F32, symbolic.Shape(dims...)...)
		}
		d.Output("y", d.Attention(in("q", c.q), in("k", c.k), in("v", c.k), in("mask", c.mask), graph.AttentionAttrs{Heads: c.heads, KVHeads: c.heads}))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		model, _, _, err := roundTrip(n, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Errorf("%v %v: %v", c.q, c.mask, err)
		}
		if has := bytes.Contains(model, []byte("Expand")); has != c.expands {
			t.Errorf("%v %v: it is expanded: %v", c.q, c.mask, has)
		}
	}
}
