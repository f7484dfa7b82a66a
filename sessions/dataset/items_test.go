package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestItems: items lie along the first axis of arrays whose inputs count items there; of the others every item has the whole.
func TestItems(t *testing.T) {
	array := func(name string, dims ...int) Array {
		data := make([]float32, numeric.Count(dims))
		for i := range data {
			data[i] = float32(i)
		}
		return Array{name, numeric.Values(numeric.F32, data, dims...)}
	}
	n, m, k := symbolic.Symbol("n"), symbolic.Symbol("m"), symbolic.Symbol("k")
	three, four := symbolic.Const(3), symbolic.Const(4)
	input := func(name string, dims ...symbolic.Dim) *graph.Tensor {
		return &graph.Tensor{Name: name, Type: numeric.F32, Dims: dims}
	}
	for _, c := range []struct {
		what   string
		arrays []Array
		labels int
		inputs []*graph.Tensor
		want   string // how many items, and the shapes and first elements of the last; or what the error says
	}{
		{"one symbol", []Array{array("a", 5, 4), array("b", 5, 4)}, 5, []*graph.Tensor{input("a", n, k), input("b", n, four)}, "5: a [1 4] from 16, b [1 4] from 16"},
		{"two symbols, one extent", []Array{array("a", 5, 4), array("b", 5, 4)}, 0, []*graph.Tensor{input("a", n, k), input("b", m, four)}, "5: a [1 4] from 16, b [1 4] from 16"},
		{"two symbols, two extents", []Array{array("a", 2, 4), array("b", 5, 4)}, 0, []*graph.Tensor{input("a", n, k), input("b", m, four)}, "1: a [2 4] from 0, b [5 4] from 0"},
		{"one symbol, two extents", []Array{array("a", 2, 4), array("b", 5, 4)}, 0, []*graph.Tensor{input("a", n, k), input("b", n, four)}, "array b has 5 items, but a has 2"},
		{"a fixed input", []Array{array("a", 6, 3), array("b", 3)}, 6, []*graph.Tensor{input("a", n, three), input("b", three)}, "6: a [1 3] from 15, b [3] from 0"},
		{"as many items as a fixed input has", []Array{array("a", 3, 3), array("b", 3)}, 0, []*graph.Tensor{input("a", n, three), input("b", three)}, "3: a [1 3] from 6, b [3] from 0"},
		{"a number", []Array{array("a", 6, 3), array("b")}, 0, []*graph.Tensor{input("a", n, three), input("b")}, "6: a [1 3] from 15, b [] from 0"},
		{"a batch of one", []Array{array("a", 6, 3), array("b", 1)}, 0, []*graph.Tensor{input("a", symbolic.Const(1), three), input("b", symbolic.Const(1))}, "6: a [1 3] from 15, b [1] from 0"},
		{"all fixed", []Array{array("a", 4, 3), array("b", 3)}, 0, []*graph.Tensor{input("a", four, three), input("b", three)}, "1: a [4 3] from 0, b [3] from 0"},
		{"an axis of another", []Array{array("a", 6, 3), array("b", 3)}, 0, []*graph.Tensor{input("a", n, k), input("b", k)}, "6: a [1 3] from 15, b [3] from 0"},
		{"square", []Array{array("", 4, 4)}, 0, []*graph.Tensor{input("a", n, n)}, "1: a [4 4] from 0"},
		{"labels of others", []Array{array("a", 6, 3), array("b", 3)}, 5, []*graph.Tensor{input("a", n, three), input("b", three)}, "5 labels for 6 items"},
		{"neither items nor whole", []Array{array("a", 6, 3), array("b", 5, 3)}, 0, []*graph.Tensor{input("a", symbolic.Const(1), three), input("b", symbolic.Const(1), three)}, "array b has 5 items, but a has 6"},
	} {
		var labels []int
		if c.labels > 0 {
			labels = make([]int, c.labels)
		}
		s, err := New("arrays", c.arrays, labels)
		var b *Bound
		if err == nil {
			b, err = s.Bind(c.inputs)
		}
		got := fmt.Sprint(err)
		if err == nil {
			in, err := b.Inputs(b.Len() - 1)
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
				continue
			}
			var list []string
			for _, t := range c.inputs {
				list = append(list, fmt.Sprintf("%s %v from %g", t.Name, in[t.Name].Dims, in[t.Name].Floats()[0]))
			}
			got = fmt.Sprintf("%d: %s", b.Len(), strings.Join(list, ", "))
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%s: %s; want %s", c.what, got, c.want)
		}
	}
}

// TestEmptyPast: one input of several may have no elements, as keys and values before the first token.
func TestEmptyPast(t *testing.T) {
	s, err := New("prefill", []Array{
		{"ids", numeric.Values(numeric.I64, []int64{1, 2, 3, 4, 5, 6}, 2, 3)}, {"past", numeric.NewValue(numeric.F32, 2, 4, 0, 8)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := symbolic.Symbol("n")
	b, err := s.Bind([]*graph.Tensor{
		{Name: "ids", Type: numeric.I64, Dims: []symbolic.Dim{n, symbolic.Symbol("s")}},
		{Name: "past", Type: numeric.F32, Dims: []symbolic.Dim{n, symbolic.Const(4), symbolic.Symbol("p"), symbolic.Const(8)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.Inputs(1)
	if err != nil || b.Len() != 2 || fmt.Sprint(in["past"].Dims) != "[1 4 0 8]" || in["ids"].I64()[0] != 4 {
		t.Errorf("%d items, the last %v: %v", b.Len(), in, err)
	}
	if _, err := New("nothing", []Array{{"past", numeric.NewValue(numeric.F32, 2, 0)}}, nil); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("nothing at all: %v", err)
	}
}
