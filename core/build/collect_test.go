package build_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cpu"
)

// What is collected does not depend on how many processors count, nor on chance, to the last bit; an error in the data ends it.
func TestCollectInParallel(t *testing.T) {
	n := residual(t, rand.New(rand.NewPCG(1, 2)))
	b := cpu.Open(1)
	defer b.Close()
	collect := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		rnd := rand.New(rand.NewPCG(7, 8))
		found, err := build.Collect(context.Background(), n, b, func(yield func(map[string]numeric.Value, error) bool) {
			for range 20 {
				x := make([]float32, 3*36)
				for i := range x {
					x[i] = float32(rnd.NormFloat64())
				}
				if !yield(map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, 1, 3, 6, 6)}, nil) {
					return
				}
			}
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(struct{ H, M any }{found.Histograms, found.ChannelMeans()})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	one := collect(1)
	for _, processors := range []int{1, 2, 5, 40} {
		if collect(processors) != one {
			t.Errorf("%d processors find something else", processors)
		}
	}
	if _, err := build.Collect(context.Background(), n, b, func(yield func(map[string]numeric.Value, error) bool) {
		yield(nil, context.Canceled)
	}, nil, nil); err != context.Canceled {
		t.Errorf("an error of the data: %v", err)
	}
}

// TestCollectShapes: items of different shapes are collected each at its own, to the ranges that collections of each alone have together,
// also where the extents of one are the sum of others', so that no shape is between all.
func TestCollectShapes(t *testing.T) {
	d := graph.Define("open")
	rnd := rand.New(rand.NewPCG(3, 4))
	weights := make([]float32, 64)
	for i := range weights {
		weights[i] = float32(rnd.NormFloat64())
	}
	x := d.Input("x", numeric.F32, symbolic.Symbol("rows"), symbolic.Const(8))
	past := d.Input("past", numeric.F32, symbolic.Symbol("past"), symbolic.Const(8))
	mask := d.Input("mask", numeric.F32, symbolic.Symbol("total"), symbolic.Const(1))
	all := d.Concat(0, past, d.Relu(d.MatMul(x, d.Weights("w", weights, 8, 8))))
	d.Output("y", d.Add(all, mask))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	var items []map[string]numeric.Value
	for _, rows := range [][2]int{{5, 2}, {3, 9}, {9, 1}, {5, 2}, {4, 4}, {1, 1}, {12, 12}} {
		item := map[string]numeric.Value{}
		for name, dims := range map[string][]int{"x": {rows[0], 8}, "past": {rows[1], 8}, "mask": {rows[0] + rows[1], 1}} {
			v := make([]float32, numeric.Count(dims))
			for i := range v {
				v[i] = float32(rnd.NormFloat64())
			}
			item[name] = numeric.Values(numeric.F32, v, dims...)
		}
		items = append(items, item)
	}
	ends := func(items []map[string]numeric.Value) map[string][2]float32 {
		found, err := build.Collect(t.Context(), n, b, func(yield func(map[string]numeric.Value, error) bool) {
			for _, in := range items {
				if !yield(in, nil) {
					return
				}
			}
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		list := map[string][2]float32{}
		for name, h := range found.Histograms {
			list[name] = [2]float32{h.Min(), h.Max()}
		}
		return list
	}
	want := map[string][2]float32{}
	for i := range items {
		for name, e := range ends(items[i : i+1]) {
			if had, ok := want[name]; ok {
				e = [2]float32{min(e[0], had[0]), max(e[1], had[1])}
			}
			want[name] = e
		}
	}
	if got := ends(items); !reflect.DeepEqual(got, want) {
		t.Errorf("together %v, one by one %v", got, want)
	}
}
