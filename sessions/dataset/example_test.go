package dataset_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
)

// Arrays as numpy writes them are a set of items; Open reads images, idx, CIFAR and ONNX test data in the same way.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var archive bytes.Buffer
	err = dataset.WriteNpz(&archive, map[string]numeric.Value{
		"x": numeric.Values(numeric.F32, []float32{1, 2, 3, 4, 5, 6}, 3, 2),
		"y": numeric.Values(numeric.I64, []int64{0, 1, 1}, 3),
	})
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "data.npz")
	if err := os.WriteFile(path, archive.Bytes(), 0o600); err != nil {
		log.Fatal(err)
	}
	set, err := dataset.Open(path, dataset.Options{First: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Len(), "items,", set.Inputs[0].Type, set.Inputs[0].Dims, "labels", set.Labels)
	// Output:
	// 2 items, f32 [2] labels [1 1]
}
