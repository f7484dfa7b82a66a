package graph

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestCounted: what follows a count has the extents that were counted, at each run those of its data.
func TestCounted(t *testing.T) {
	d := Define("counted")
	x := d.Input("x", numeric.I64, symbolic.Symbol("n"), symbolic.Const(3))
	places := d.Named("places").NonZero(x)
	rows := d.Transpose(places, 1, 0) // [count,2]
	d.Output("rows", rows)
	d.Output("elements", d.GatherND(x, rows, 0))
	d.Output("sum", d.Reduce(ReduceSum, d.Cast(d.GatherND(x, rows, 0), numeric.F32), false, 0))
	d.Output("some", d.Named("again").NonZero(d.GatherND(x, rows, 0)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	if env, err := n.BindShapes(map[string][]int{"x": {4, 3}}); err != nil || env["count_places"] != 12 || env["count_again"] != 12 {
		t.Errorf("%v, %v", env, err)
	}
	for _, list := range [][]int64{{0, 5, 0, 0, 0, 7}, {1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 0}} {
		out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.I64, list, 2, 3)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		sum := float32(0)
		for _, v := range list {
			if v != 0 {
				want = append(want, v)
				sum += float32(v)
			}
		}
		if got := out["elements"].I64(); !slices.Equal(got, want) || len(out["rows"].I64()) != 2*len(want) || out["sum"].F32()[0] != sum {
			t.Errorf("%v: %v, rows %v, sum %v", list, got, out["rows"].Dims, out["sum"].F32())
		}
		if some := out["some"]; !slices.Equal(some.Dims, []int{1, len(want)}) {
			t.Errorf("%v: the second count has the shape %v", list, some.Dims)
		}
	}
}

// TestCountedUnique: how many elements differ, and slices, is counted, and all outputs are as long.
func TestCountedUnique(t *testing.T) {
	d := Define("unique")
	x := d.Input("x", numeric.I64, symbolic.Const(2), symbolic.Const(3))
	y, first, inverse, counts := d.Named("all").Unique(x, UniqueAttrs{Flat: true, Sorted: true})
	columns, _, _, _ := d.Named("columns").Unique(x, UniqueAttrs{Axis: 1})
	for name, t := range map[string]*Tensor{"y": y, "first": first, "inverse": inverse, "counts": counts, "columns": columns} {
		d.Output(name, t)
	}
	d.Output("double", d.Add(y, counts))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x    []int64
		want map[string][]int64
	}{
		{[]int64{5, 2, 5, 1, 9, 1}, map[string][]int64{"y": {1, 2, 5, 9}, "first": {3, 1, 0, 4}, "inverse": {2, 1, 2, 0, 3, 0}, "counts": {2, 1, 2, 1}, "columns": {5, 2, 1, 9}, "double": {3, 3, 7, 10}}},
		{[]int64{4, 4, 4, 4, 4, 4}, map[string][]int64{"y": {4}, "first": {0}, "inverse": {0, 0, 0, 0, 0, 0}, "counts": {6}, "columns": {4, 4}, "double": {10}}},
	} {
		out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.I64, c.x, 2, 3)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.want {
			if got := out[name].I64(); !slices.Equal(got, want) {
				t.Errorf("%v: %s is %v, want %v", c.x, name, got, want)
			}
		}
	}
}

// TestCountsApart: two counts of one symbol are an error.
func TestCountsApart(t *testing.T) {
	n := NewNetwork("n")
	x := n.AddInput("x", numeric.F32, symbolic.Const(4))
	for _, name := range []string{"a", "b"} {
		l, err := n.Add(name, NonZero, NonZeroAttrs{"count"}, []*Tensor{x}, name+".0")
		if err != nil {
			t.Fatal(err)
		}
		n.MarkOutput(l.Outputs[0])
	}
	if err := n.CheckShapes(nil); err == nil || !strings.Contains(err.Error(), "stands for another extent") {
		t.Error(err)
	}
}

// TestCountsInside: a layer inside another counts anew at each iteration; what the body gives cannot have what is counted as an extent.
func TestCountsInside(t *testing.T) {
	for _, gathers := range []bool{false, true} {
		d := Define("inside")
		x := d.Input("x", numeric.I64, symbolic.Const(4))
		two := d.Constant("trips", numeric.Values(numeric.I64, []int64{2}, 1))
		y := d.Named("loop").Loop(two, nil, []*Tensor{x}, func(b *Definition, _, _ *Tensor, v []*Tensor) (*Tensor, []*Tensor) {
			places := b.Named("places").NonZero(v[0])
			next := []*Tensor{b.Add(v[0], b.Reduce(ReduceSum, places, false, 0, 1))}
			if gathers {
				next = append(next, places)
			}
			return nil, next
		})
		d.Output("y", y[0])
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.I64, []int64{0, 1, 0, 2}, 4)}, nil)
		if want := "layer loop (Loop): body: output 2 is i64[1,count_loop_body_places]: how many elements it has depends on the data"; gathers {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		} else if err != nil || !slices.Equal(out["y"].I64(), []int64{10, 11, 10, 12}) {
			t.Errorf("%v, %v", out["y"].I64(), err)
		}
	}
}

// TestCountedTrips: a loop that data end gathers as much as there are iterations, and says where it cannot.
func TestCountedTrips(t *testing.T) {
	define := func(trips int64, numbers bool) (*Network, error) {
		d := Define("trips")
		x := d.Input("x", numeric.I64, symbolic.Const(2))
		most := d.Constant("most", numeric.Values(numeric.I64, []int64{trips}))
		y := d.Named("loop").Loop(most, nil, []*Tensor{x}, func(b *Definition, i, _ *Tensor, v []*Tensor) (*Tensor, []*Tensor) {
			next := b.Add(v[0], v[0])
			list := []*Tensor{next, b.Identity(v[0])}
			if numbers {
				list = append(list, b.Identity(i))
			}
			return b.Less(b.Reduce(ReduceMax, next, false), b.Constant("limit", numeric.Values(numeric.I64, []int64{20}))), list
		})
		d.Output("last", y[0])
		d.Output("all", y[1])
		d.Output("twice", d.Concat(0, y[1], y[1]))
		return d.Network()
	}
	n, err := define(8, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ x, last, all []int64 }{
		{[]int64{5, 1}, []int64{20, 4}, []int64{5, 1, 10, 2}}, {[]int64{30, 0}, []int64{60, 0}, []int64{30, 0}},
		{[]int64{-1, 0}, []int64{-256, 0}, []int64{-1, 0, -2, 0, -4, 0, -8, 0, -16, 0, -32, 0, -64, 0, -128, 0}},
	} {
		out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.I64, c.x, 2)}, nil)
		if err != nil || !slices.Equal(out["last"].I64(), c.last) || !slices.Equal(out["all"].I64(), c.all) || !slices.Equal(out["twice"].I64(), slices.Concat(c.all, c.all)) {
			t.Errorf("%v: %v, %v", c.x, out, err)
		}
	}
	if _, err := define(8, false); err == nil || !strings.Contains(err.Error(), "what is gathered last is not their numbers") {
		t.Error(err)
	}
	if _, err := define(math.MaxInt64, true); err == nil || !strings.Contains(err.Error(), "give the loop a number of iterations") {
		t.Error(err)
	}
}
