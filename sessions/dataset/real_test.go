package dataset

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// dataPath returns a path in the test data beside the project, or skips the test.
func dataPath(t *testing.T, name string) string {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA does not say where the test data is")
	}
	return filepath.Join(dir, name)
}

func TestMNIST(t *testing.T) {
	path := dataPath(t, "eval/mnist/t10k-images-idx3-ubyte.gz")
	s, err := Open(path, Options{Size: Size{32, 32}, Pad: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 10000 || len(s.Labels) != 10000 || s.Labels[0] != 7 || s.Labels[9999] != 6 {
		t.Fatalf("%d items, %d labels", s.Len(), len(s.Labels))
	}
	var sum float64
	for i := 0; i < 10000; i += 1000 {
		for _, v := range batch(t, s, i, 1000, 1000, 1, 32, 32) {
			sum += float64(v)
		}
	}
	// The mean of the 28x28 test images is known to be 0.1325.
	if mean := sum / 10000 / 784; math.Abs(mean-0.1325) > 5e-5 {
		t.Errorf("mean pixel %v", mean)
	}
}

func TestCIFAR(t *testing.T) {
	s, err := Open(dataPath(t, "eval/cifar10/cifar10_train_0000-1999.bin.gz"), Options{First: 500, Scale: 1})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 1500 || len(s.Labels) != 1500 {
		t.Fatalf("%d items", s.Len())
	}
	classes := [10]int{}
	for _, l := range s.Labels {
		classes[l]++
	}
	for c, n := range classes {
		if n < 100 || n > 200 {
			t.Errorf("%d items of class %d", n, c)
		}
	}
	for _, v := range batch(t, s, 1499, 1, 1, 3, 32, 32) {
		if v != float32(byte(v)) {
			t.Fatalf("pixel %v", v)
		}
	}
}

func TestKeywords(t *testing.T) {
	o := Options{Shape: []int{1, 49, 10}, Type: numeric.I8, Range: numeric.PerTensor(0.5847029, 83), Labels: dataPath(t, "eval/kws/kws_labels_300.bin")}
	s, err := Open(dataPath(t, "eval/kws/kws_mfcc_int8_300.bin"), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 300 || len(s.Labels) != 300 {
		t.Fatalf("%d items", s.Len())
	}
	for _, l := range s.Labels {
		if l > 11 {
			t.Fatalf("label %d", l)
		}
	}
	for _, v := range batch(t, s, 0, 300, 300, 1, 49, 10) {
		if v < -124 || v > 26 {
			t.Fatalf("value %v", v)
		}
	}
}

func TestPhotographs(t *testing.T) {
	o := Options{Mean: []float32{.485, .456, .406}, Std: []float32{.229, .224, .225}}
	s, err := Open(dataPath(t, "eval/images_permissive"), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 14 || s.Labels[0] != 22 || s.Labels[13] != 340 {
		t.Fatalf("%d items, labels %v", s.Len(), s.Labels)
	}
	for i := range s.Len() {
		var sum float64
		x := batch(t, s, i, 1, 1, 3, 224, 224)
		for _, v := range x {
			sum += float64(v)
		}
		if mean := sum / float64(len(x)); math.Abs(mean) > 2 {
			t.Errorf("image %d: mean %v", i, mean)
		}
	}
}

func TestONNXTestData(t *testing.T) {
	s, err := Open(dataPath(t, "models/kws-dscnn"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Batch(0, 1); err != nil || v[0].Type != numeric.F32 || v[0].Dims[0] != 8 {
		t.Errorf("%v %v", v, err)
	}
}
