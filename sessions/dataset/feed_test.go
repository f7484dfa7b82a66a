package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestBatchAndFeed(t *testing.T) {
	v := numeric.Values(numeric.U8, count(5*4), 5, 2, 2)
	s, err := New("five", []Array{{"", v}}, []int{0, 1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int{{-1, 1}, {0, 0}, {0, 6}, {5, 1}, {4, 2}, {math.MaxInt, 1}, {1, math.MaxInt}} {
		if _, err := s.Batch(r[0], r[1]); err == nil {
			t.Errorf("items %v were returned", r)
		}
	}
	n := graph.NewNetwork("n")
	image := n.AddInput("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(1), symbolic.Const(2), symbolic.Const(2))
	feed, err := s.Feed(n.Inputs, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	got := feed["image"]
	if !slices.Equal(got.Dims, []int{2, 1, 2, 2}) || !slices.Equal(got.F32(), []float32{12, 13, 14, 15, 16, 17, 18, 19}) {
		t.Errorf("fed %v %v", got.Dims, got.F32())
	}
	if l := s.LabelsOf(3, 2); !slices.Equal(l, []int{3, 4}) {
		t.Errorf("labels %v", l)
	}
	var sizes []int
	var last numeric.Value
	for feed, err := range s.Batches(n.Inputs, 2) {
		if err != nil {
			t.Fatal(err)
		}
		last = feed["image"]
		sizes = append(sizes, last.Dims[0])
	}
	if !slices.Equal(sizes, []int{2, 2, 2}) || !slices.Equal(last.F32()[4:], last.F32()[:4]) {
		t.Errorf("batches of %v, the last %v", sizes, last.F32())
	}
	n.Inputs = append(n.Inputs, n.AddInput("other", numeric.F32, symbolic.Const(1)))[:2]
	if _, err := s.Feed(n.Inputs, 0, 1); err == nil || !strings.Contains(err.Error(), "no data for input image") {
		t.Errorf("two inputs: %v", err)
	}
	image.Dims[2] = symbolic.Const(3)
	if _, err := s.Feed(n.Inputs[:1], 0, 1); err == nil || err.Error() != "five: input image: data of shape [1 2 2] does not fit f32[batch,1,3,2]" {
		t.Errorf("another shape: %v", err)
	}
	f, _ := New("f", []Array{{"", numeric.NewValue(numeric.F32, 1, 3)}}, nil)
	n.Inputs[1].Type, n.Inputs[1].Dims = numeric.I64, symbolic.Shape(1, 3)
	if _, err := f.Feed(n.Inputs[1:2], 0, 1); err == nil || !strings.Contains(err.Error(), "data is f32, the network needs i64") {
		t.Errorf("another type: %v", err)
	}
}

func TestBind(t *testing.T) {
	s, err := New("pair", []Array{{"", numeric.Values(numeric.F32, []float32{1, 2}, 2, 1)}}, []int{4, -1})
	if err != nil {
		t.Fatal(err)
	}
	n := graph.NewNetwork("n")
	n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(1))
	b, err := s.Bind(n.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.Inputs(1)
	if err != nil || in["x"].F32()[0] != 2 || b.Len() != 2 || b.Name() != "pair" || b.Random() {
		t.Errorf("%v %v", in, err)
	}
	if l := b.Labels(0); len(l) != 1 || l[0] != 4 {
		t.Errorf("labels %d", l)
	}
	if l := b.Labels(1); l != nil {
		t.Error("an item without label has one")
	}
	n.Inputs[0].Dims[1] = symbolic.Const(2)
	if _, err := s.Bind(n.Inputs); err == nil {
		t.Error("another shape was bound")
	}
}

// Data that feeds nothing to a network is an error; one of its inputs may be empty.
func TestEmptyFeed(t *testing.T) {
	s := &Set{Name: "nothing", Whole: true, length: 1, Inputs: []Input{{"x", numeric.F32, []int{1, 0}}, {"y", numeric.F32, []int{1, 2}}}}
	s.read = func(int, int, *numeric.Value) error { return nil }
	n := graph.NewNetwork("n")
	n.AddInput("x", numeric.F32, symbolic.Const(1), symbolic.Symbol("length"))
	if _, err := s.Bind(n.Inputs); err == nil || !strings.Contains(err.Error(), "item 0: input x of shape [1 0] has no elements") {
		t.Errorf("only an empty input: %v", err)
	}
	n.AddInput("y", numeric.F32, symbolic.Const(1), symbolic.Const(2))
	if _, err := s.Bind(n.Inputs); err != nil {
		t.Errorf("an empty input among others: %v", err)
	}
}

// NaN and infinities are errors that name item, input and element, unless they are asked for; so is what becomes infinite
// in the network's type.
func TestNotFinite(t *testing.T) {
	dir := t.TempDir()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	n := graph.NewNetwork("n")
	n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(2))
	half := graph.NewNetwork("half")
	half.AddInput("x", numeric.F16, symbolic.Symbol("batch"), symbolic.Const(2))
	for _, c := range []struct {
		values  []float32
		inputs  []*graph.Tensor
		options Options
		want    string
	}{
		{[]float32{1, 2, 3, 70000}, n.Inputs, Options{}, ""},
		{[]float32{1, 2, 3, nan}, n.Inputs, Options{}, "input x: item 1: element 1 is NaN as f32"},
		{[]float32{1, 2, -inf, 4}, n.Inputs, Options{}, "item 1: element 0 is -Inf"},
		{[]float32{1, 2, 3, 70000}, half.Inputs, Options{}, "item 1: element 1 is +Inf as f16"},
		{[]float32{1, 2, 3, nan}, n.Inputs, Options{NotFinite: true}, ""},
	} {
		path := write(t, dir, "x.npy", npy(1, "<f4", "(2, 2)", floats(c.values...)))
		s, err := Open(path, c.options)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Bind(c.inputs)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.values, err, c.want)
		}
	}
	path := write(t, dir, "y.npz", npz(t, map[string][]byte{
		"x.npy": npy(1, "<f4", "(1, 2)", floats(1, 2)), "y.npy": npy(1, "<i8", "(1,)", numeric.Bytes([]int64{-1})),
	}, "x.npy", "y.npy"))
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "label -1 of item 0") {
		t.Errorf("a label under 0: %v", err)
	}
}
