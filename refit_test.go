package trtui_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda"
)

// weighed is a network of any batch with a convolution that takes a normalisation in, an activation and a product; factor sets its
// weights apart.
func weighed(t testing.TB, factor float32) *trtui.Network {
	t.Helper()
	d := trtui.Define("weighed")
	weights := func(name string, low, high float32, dims ...int) *trtui.Tensor {
		w := make([]float32, numeric.Count(dims))
		for i := range w {
			w[i] = low + (high-low)*float32(i*i%29)*factor/29
		}
		return d.Weights(name, w, dims...)
	}
	x := d.Input("x", trtui.F32, trtui.Symbol("n"), trtui.Const(4), trtui.Const(6), trtui.Const(6))
	y := d.Conv(x, weights("w", -1, 1, 16, 4, 3, 3), nil, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1})
	y = d.BatchNorm(y, weights("scale", 1, 2, 16), weights("shift", -1, 1, 16), weights("mean", -1, 1, 16), weights("variance", 1, 2, 16), 1e-5)
	y = d.Reshape(d.AveragePool(d.Relu(y), graph.PoolAttrs{Kernel: []int{6, 6}}), 0, 16)
	d.Output("y", d.MatMul(y, weights("v", -1, 1, 16, 10)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// weightsOf returns the real constants of a network.
func weightsOf(n *trtui.Network) map[string]trtui.Value {
	weights := map[string]trtui.Value{}
	for _, t := range n.Consts() {
		if v, _ := t.Const(); v.Type == trtui.F32 {
			weights[t.Name] = v
		}
	}
	return weights
}

// ramp is an input of weighed.
func ramp(batch int) trtui.Inputs {
	v := trtui.NewValue(trtui.F32, batch, 4, 6, 6)
	for i := range v.F32() {
		v.F32()[i] = float32(i*31%17)/8 - 1
	}
	return trtui.Inputs{"x": v}
}

// TestRefit compares an engine that got other weights with one that was built of them, bit by bit: in every precision, at several
// shapes, on the simulated GPU, and read from a file again.
func TestRefit(t *testing.T) {
	sim, err := cuda.OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	before, after := weighed(t, 1), weighed(t, 0.7)
	ranges := map[string]trtui.Range{}
	for _, l := range before.Layers {
		ranges[l.Outputs[0].Name] = numeric.PerTensor(0.05, 0)
	}
	ranges["x"] = numeric.PerTensor(0.01, 0)
	batches := []trtui.Profile{{Min: map[string][]int{"x": {1, 4, 6, 6}}, Opt: map[string][]int{"x": {2, 4, 6, 6}}, Max: map[string][]int{"x": {3, 4, 6, 6}}}}
	for name, o := range map[string]trtui.Options{
		"fp32": {Profiles: batches}, "fp16": {Precision: trtui.FP16, Profiles: batches},
		"int8": {Precision: trtui.INT8, Ranges: ranges, Profiles: batches}, "one shape": {},
		"gpu": {Backend: sim}, "gpu int8": {Backend: sim, Precision: trtui.INT8, Ranges: ranges},
	} {
		t.Run(name, func(t *testing.T) {
			e, fresh := built(t, before, o), built(t, after, o)
			s, want := session(t, e, trtui.SessionOptions{}), session(t, fresh, trtui.SessionOptions{})
			same := func(s *trtui.Session, batch int) bool {
				got, err := s.Run(t.Context(), ramp(batch))
				if err != nil {
					t.Fatal(err)
				}
				w, err := want.Run(t.Context(), ramp(batch))
				if err != nil {
					t.Fatal(err)
				}
				return bytes.Equal(got["y"].Data, w["y"].Data)
			}
			if same(s, 1) {
				t.Fatal("the weights before give the same")
			}
			if err := e.Refit(t.Context(), weightsOf(after)); err != nil {
				t.Fatal(err)
			}
			sizes := []int{1}
			if o.Profiles != nil {
				sizes = []int{1, 3, 2}
			}
			for _, batch := range sizes {
				if !same(s, batch) {
					t.Errorf("batch %d: other bits than those of an engine of the new weights", batch)
				}
			}
			if o.Backend != nil {
				return
			}
			var file bytes.Buffer
			if _, err := e.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			read, err := trtui.ReadEngine(t.Context(), &file, trtui.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			if !same(session(t, read, trtui.SessionOptions{}), 1) {
				t.Error("read from a file it has other bits")
			}
		})
	}
}

// TestRefitErrors names what is wrong with weights, and leaves the engine as it was.
func TestRefitErrors(t *testing.T) {
	d := trtui.Define("ones")
	x := d.Input("x", trtui.F32, trtui.Const(3))
	y := d.Mul(x, d.Weights("gain", []float32{1}, 1))
	d.Output("y", d.Sigmoid(d.Reshape(d.Reshape(y, 3, 1), 1, 3)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	e := built(t, n, trtui.Options{})
	for _, c := range []struct {
		name string
		v    trtui.Value
		want string
	}{
		{"gane", trtui.ValueOf([]float32{2}), "no such constant"},
		{"gain", trtui.ValueOf([]float32{1, 2}), "F32[2], the network's are F32[1]"},
		{"gain", trtui.ValueOf([]int32{2}), "the network's are F32[1]"},
		{"gain", trtui.Value{Type: trtui.F32, Dims: []int{1}}, "0 bytes"},
		{"gain", trtui.ValueOf([]float32{2}), "decides by the weights"},
	} {
		if err := e.Refit(t.Context(), map[string]trtui.Value{c.name: c.v}); err == nil || !strings.Contains(strings.ToUpper(err.Error()), strings.ToUpper(c.want)) {
			t.Errorf("%s %v: it says %v, want %q", c.name, c.v.Dims, err, c.want)
		}
	}
	undone := (*trtui.Undone)(nil)
	err = e.Refit(t.Context(), map[string]trtui.Value{"gain": trtui.ValueOf([]float32{2})})
	if !errors.As(err, &undone) {
		t.Fatal(err)
	}
	without := built(t, n, trtui.Options{Disable: []string{undone.Pass}})
	if err := without.Refit(t.Context(), map[string]trtui.Value{"gain": trtui.ValueOf([]float32{2})}); err != nil {
		t.Errorf("without pass %s: %v", undone.Pass, err)
	}
	file := filepath.Join(t.TempDir(), "e.engine")
	writeEngine(t, e, file)
	opened, err := trtui.OpenEngine(t.Context(), file, trtui.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if err := opened.Refit(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "opened from a file") {
		t.Error(err)
	}
}

// TestRefitAtOnce has eight contexts at eight shapes run while the weights are exchanged again and again: every inference is that
// of one of the two, whole.
func TestRefitAtOnce(t *testing.T) {
	const users = 8
	networks := []*trtui.Network{weighed(t, 1), weighed(t, 0.7)}
	o := trtui.Options{Profiles: []trtui.Profile{{
		Min: map[string][]int{"x": {1, 4, 6, 6}}, Opt: map[string][]int{"x": {2, 4, 6, 6}}, Max: map[string][]int{"x": {users, 4, 6, 6}},
	}}}
	e := built(t, networks[0], o)
	want := make([][][]byte, users)
	for k, n := range networks {
		s := session(t, built(t, n, o), trtui.SessionOptions{})
		for i := range want {
			out, err := s.Run(t.Context(), ramp(i+1))
			if err != nil {
				t.Fatal(k, err)
			}
			want[i] = append(want[i], out["y"].Data)
		}
	}
	var group sync.WaitGroup
	stop := make(chan struct{})
	for i := range users {
		s := session(t, e, trtui.SessionOptions{Threads: i % 3})
		group.Go(func() {
			for {
				out, err := s.Run(t.Context(), ramp(i+1))
				if err != nil || !slices.ContainsFunc(want[i], func(b []byte) bool { return bytes.Equal(b, out["y"].Data) }) {
					t.Errorf("batch %d: neither the one nor the other: %v", i+1, err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for k := range 6 {
		if err := e.Refit(t.Context(), weightsOf(networks[1-k%2])); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
	out, err := session(t, e, trtui.SessionOptions{}).Run(t.Context(), ramp(1))
	if err != nil || !bytes.Equal(out["y"].Data, want[0][0]) {
		t.Error(fmt.Sprint("the last weights do not hold: ", err))
	}
}

func writeEngine(t *testing.T, e *trtui.Engine, path string) {
	t.Helper()
	var file bytes.Buffer
	_, err := e.WriteTo(&file)
	if err == nil {
		err = os.WriteFile(path, file.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRefitInside: weights inside a loop are those that it is refitted with, as often as it is.
func TestRefitInside(t *testing.T) {
	loop := func(factor float32) *trtui.Network {
		d := trtui.Define("loop")
		x := d.Input("x", trtui.F32, trtui.Symbol("batch"), trtui.Const(4))
		weights := make([]float32, 16)
		for i := range weights {
			weights[i] = factor * float32(i%5) / 8
		}
		w, trips := d.Constant("w", trtui.ValueOf(weights, 4, 4)), d.Layer(graph.ShapeOf, graph.ShapeAttrs{Start: 0, End: 1}, x)
		d.Output("y", d.Loop(trips, nil, []*trtui.Tensor{x}, func(b *trtui.Definition, _, _ *trtui.Tensor, carried []*trtui.Tensor) (*trtui.Tensor, []*trtui.Tensor) {
			return nil, []*trtui.Tensor{b.Tanh(b.MatMul(carried[0], w))}
		})[0])
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	in := trtui.Inputs{"x": trtui.ValueOf([]float32{1, -2, 3, 0.5, 2, 2, -1, 0}, 2, 4)}
	shapes := func(batch int) map[string][]int { return map[string][]int{"x": {batch, 4}} }
	e := built(t, loop(1), trtui.Options{Profiles: []trtui.Profile{{Min: shapes(1), Opt: shapes(2), Max: shapes(5)}}})
	s := session(t, e, trtui.SessionOptions{})
	for _, factor := range []float32{1, 0.5, 2, 1} {
		n := loop(factor)
		weights := map[string]trtui.Value{}
		for _, l := range n.AllLayers() {
			for _, x := range l.Inputs {
				if v, ok := x.Const(); ok && v.Type == trtui.F32 {
					weights[x.Name] = v
				}
			}
		}
		if err := e.Refit(t.Context(), weights); err != nil {
			t.Fatalf("by %g: %v", factor, err)
		}
		out, err := s.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if want := reference(t, n, in)["y"]; !near(out["y"], want, 1e-5) {
			t.Errorf("by %g: %v, want %v", factor, out["y"].F32(), want.F32())
		}
	}
}
