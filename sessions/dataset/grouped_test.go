package dataset

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestGrouped: inputs whose first axis is fixed take items of one several at a time, in their order and with their labels.
func TestGrouped(t *testing.T) {
	data := make([]float32, 10*3)
	for i := range data {
		data[i] = float32(i)
	}
	set, err := New("ten", []Array{{"x", numeric.Values(numeric.F32, data, 10, 3)}}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	if err != nil {
		t.Fatal(err)
	}
	four := []*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: []symbolic.Dim{symbolic.Const(4), symbolic.Const(3)}}}
	b, err := set.Bind(four)
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() != 3 || b.Name() != "ten, 4 at once" || !slices.Equal(b.Labels(1), []int{4, 5, 6, 7}) || !slices.Equal(b.Labels(2), []int{8, 9, -1, -1}) {
		t.Errorf("%d items of %s, labels %v and %v", b.Len(), b.Name(), b.Labels(1), b.Labels(2))
	}
	var got []float32
	for i := range b.Len() {
		in, err := b.Inputs(i)
		if err != nil {
			t.Fatal(err)
		}
		if x := in["x"]; !slices.Equal(x.Dims, []int{4, 3}) {
			t.Errorf("item %d is %v", i, x.Dims)
		}
		got = append(got, in["x"].F32()...)
	}
	want := slices.Concat(data, data[27:], data[27:])
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	whole, err := New("two", []Array{{"x", numeric.Values(numeric.F32, data[:24], 2, 4, 3)}}, []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if b, err = whole.Bind(four); err != nil || b.Len() != 2 {
		t.Errorf("%v, %v", b, err)
	} else if in, err := b.Inputs(1); err != nil || !slices.Equal(in["x"].F32(), data[12:24]) {
		t.Errorf("%v, %v", in, err)
	}
	data[17] = float32(math.NaN())
	if set, err = New("ten", []Array{{"x", numeric.Values(numeric.F32, data, 10, 3)}}, nil); err != nil {
		t.Fatal(err)
	}
	var bad *NotFiniteError
	if _, err := set.Bind(four); !errors.As(err, &bad) || bad.Item != 5 || bad.Element != 2 {
		t.Errorf("NaN at item 5, element 2: %v", err)
	}
	if _, err := set.Bind([]*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: []symbolic.Dim{symbolic.Const(4), symbolic.Const(5)}}}); err == nil {
		t.Error("items of three are taken for items of five")
	}
}
