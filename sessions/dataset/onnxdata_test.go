package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
)

func TestONNXData(t *testing.T) {
	dir := t.TempDir()
	for i, dims := range [][]int{{1, 2}, {3, 2}, {2, 2}} {
		name := []string{"test_data_set_0", "test_data_set_2", "test_data_set_10"}[i]
		x := graph.NewValue(graph.F32, dims...)
		x.F32()[0] = float32(i)
		write(t, dir, name+"/input_0.pb", onnx.WriteTensor("x", x))
		write(t, dir, name+"/input_1.pb", onnx.WriteTensor("k", graph.Values(graph.I64, []int64{int64(i)})))
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
