package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/reduce"
)

// TestWriteSmallFails: where a model cannot be written, the one that was there keeps its inputs, and nothing is left beside them.
func TestWriteSmallFails(t *testing.T) {
	dir := t.TempDir()
	file, data := filepath.Join(dir, "small.onnx"), filepath.Join(dir, "small.onnx.data")
	of := func(n int) *reduce.Model {
		return &reduce.Model{Inputs: []reduce.Input{{Name: "x", Open: []string{""}, Feed: numeric.NewValue(numeric.F32, n)}}}
	}
	if _, err := writeSmall(file, data, of(1)); err != nil {
		t.Fatal(err)
	}
	input := filepath.Join(data, "test_data_set_0", "input_0.pb")
	before, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o755); err != nil { // what is no file cannot be replaced by one
		t.Fatal(err)
	}
	if _, err := writeSmall(file, data, of(2)); err == nil {
		t.Fatal("a folder was written to")
	}
	if after, err := os.ReadFile(input); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the inputs that were there: %v", err)
	}
	if list, _ := os.ReadDir(data); len(list) != 1 {
		t.Errorf("%d things are beside the inputs", len(list)-1)
	}
}
