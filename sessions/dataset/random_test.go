package dataset

import (
	"bytes"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestRandom(t *testing.T) {
	n := graph.NewNetwork("n")
	n.AddInput("x", numeric.F16, symbolic.Symbol("batch"), symbolic.Const(3))
	n.AddInput("k", numeric.I64, symbolic.Symbol("batch"))
	s, err := Random(n.Inputs, map[string]int{"batch": 4}, 5, 1)
	if err != nil || !s.Random || s.Whole {
		t.Fatalf("%+v %v", s, err)
	}
	all, err := s.Feed(n.Inputs, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	third, err := s.Feed(n.Inputs, 2, 1)
	if err != nil || !bytes.Equal(all["x"].Data[12:18], third["x"].Data) || !bytes.Equal(all["k"].Data[16:24], third["k"].Data) {
		t.Errorf("an item depends on its batch: %v %v %v", all, third, err)
	}
	other, _ := Random(n.Inputs, nil, 5, 2)
	if v, _ := other.Batch(0, 5); bytes.Equal(v[0].Data, all["x"].Data) {
		t.Error("another seed gives the same data")
	}
	n.AddInput("s", numeric.F32)
	w, err := Random(n.Inputs, map[string]int{"batch": 4}, 2, 1)
	if err != nil || !w.Whole {
		t.Fatalf("%+v %v", w, err)
	}
	if v, err := w.Feed(n.Inputs, 1, 1); err != nil || v["x"].Dims[0] != 4 || len(v["s"].Dims) != 0 {
		t.Errorf("%v %v", v, err)
	}
	first := graph.NewNetwork("first")
	first.AddInput("s", numeric.F32)
	first.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3))
	if w, err := Random(first.Inputs, map[string]int{"batch": 4}, 2, 1); err != nil || !w.Whole || w.Inputs[1].Dims[0] != 4 {
		t.Errorf("an input without axes before others: %+v %v", w, err)
	}
	fixed := graph.NewNetwork("fixed")
	fixed.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(4))
	f, err := Random(fixed.Inputs, nil, 3, 1)
	if err != nil || !f.Whole {
		t.Fatalf("%+v %v", f, err)
	}
	if bound, err := f.Bind(fixed.Inputs); err != nil || bound.Len() != 3 {
		t.Errorf("a batch that is fixed to 2: %v", err)
	}
}

// Random data that is too large is an error that names the input and what to give instead.
func TestRandomTooLarge(t *testing.T) {
	for _, c := range []struct {
		name  string
		dims  []symbolic.Dim
		items int
		want  string
	}{
		{"small", symbolic.Shape(1, 3), 1 << 16, ""},
		{"the most", symbolic.Shape(1, 1<<28), 16, ""},
		{"an item", symbolic.Shape(1, 1<<28+1), 1, "input x of shape [1 268435457] an item has 1.074e+09 bytes, and the limit is 1073741824; give a model whose input is smaller"},
		{"overflow", []symbolic.Dim{symbolic.Symbol("batch"), symbolic.Symbol("wide"), symbolic.Const(1 << 40), symbolic.Const(1 << 40)}, 1, "give smaller shapes"},
		{"items", symbolic.Shape(1, 1<<28), 17, "17 items have 1.825e+10 bytes, and the limit is 17179869184; give 16 items or fewer"},
		{"empty", symbolic.Shape(0, 1<<40), 1, ""},
		{"negative", []symbolic.Dim{symbolic.Const(1), symbolic.Symbol("n").AddN(-4)}, 1, "has extent -3 on axis 1"},
	} {
		n := graph.NewNetwork("n")
		n.AddInput("x", numeric.F32, c.dims...)
		_, err := Random(n.Inputs, map[string]int{"wide": 1 << 24}, c.items, 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	n := graph.NewNetwork("two")
	n.AddInput("x", numeric.F32, symbolic.Shape(1, 1<<27+1)...)
	n.AddInput("y", numeric.F32, symbolic.Shape(1, 1<<27)...)
	if _, err := Random(n.Inputs, nil, 1, 1); err == nil || !strings.Contains(err.Error(), "input y") {
		t.Errorf("two inputs that are too large together: %v", err)
	}
}
