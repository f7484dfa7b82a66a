package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestONNXData(t *testing.T) {
	dir := t.TempDir()
	for i, dims := range [][]int{{1, 2}, {3, 2}, {2, 2}} {
		name := []string{"test_data_set_0", "test_data_set_2", "test_data_set_10"}[i]
		x := numeric.NewValue(numeric.F32, dims...)
		x.F32()[0] = float32(i)
		write(t, dir, name+"/input_0.pb", onnx.WriteTensor("x", x))
		write(t, dir, name+"/input_1.pb", onnx.WriteTensor("k", numeric.Values(numeric.I64, []int64{int64(i)})))
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 3 || !s.Whole {
		t.Fatalf("%+v", s)
	}
	for i, rows := range []int{1, 3, 2} {
		v, err := s.Batch(i, 1)
		if err != nil || v[0].Dims[0] != rows || v[0].F32()[0] != float32(i) || v[1].I64()[0] != int64(i) || len(v[1].Dims) != 0 {
			t.Errorf("set %d: %v %v", i, v, err)
		}
	}
	if _, err := s.Batch(0, 2); err == nil {
		t.Error("whole items were joined")
	}
	if one, err := Open(filepath.Join(dir, "test_data_set_2"), Options{}); err != nil || one.Len() != 1 {
		t.Errorf("one folder: %v", err)
	}
	write(t, dir, "test_data_set_10/input_1.pb", []byte{0xff})
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "input_1.pb") {
		t.Errorf("broken tensor: %v", err)
	}
}

// Batches in ONNX test data are the items of a network that has a batch, and whole inputs of any other.
func TestONNXBatches(t *testing.T) {
	dir := t.TempDir()
	for set, rows := range []int{3, 1} {
		for k, name := range []string{"x", "y"} {
			v := numeric.NewValue(numeric.F32, rows, 2)
			for i := range v.F32() {
				v.F32()[i] = float32(100*set + 10*k + i)
			}
			write(t, dir, fmt.Sprintf("test_data_set_%d/input_%d.pb", set, k), onnx.WriteTensor(name, v))
		}
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	network := func(x, y symbolic.Dim) []*graph.Tensor {
		n := graph.NewNetwork("n")
		n.AddInput("x", numeric.F32, x, symbolic.Const(2))
		n.AddInput("y", numeric.F32, y, symbolic.Const(2))
		return n.Inputs
	}
	b, err := s.Bind(network(symbolic.Symbol("batch"), symbolic.Symbol("batch")))
	if err != nil || b.Len() != 4 {
		t.Fatalf("%d items of a batch of 3 and one of 1: %v", b.Len(), err)
	}
	for i, want := range [][2]float32{{0, 10}, {2, 12}, {4, 14}, {100, 110}} {
		in, err := b.Inputs(i)
		if err != nil || in["x"].F32()[0] != want[0] || in["y"].F32()[0] != want[1] || !slices.Equal(in["x"].Dims, []int{1, 2}) {
			t.Errorf("item %d: %v %v", i, in, err)
		}
	}
	if b.Set.Identity == s.Identity {
		t.Error("the items of batches are the batches by their identity")
	}
	if b, err := s.Bind(network(symbolic.Symbol("a"), symbolic.Symbol("b"))); err != nil || b.Len() != 4 {
		t.Errorf("two inputs with axes of their own, of one extent: %v", err)
	}
}
