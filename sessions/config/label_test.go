package config

import (
	"slices"
	"testing"
)

// TestBeside: shapes that all configurations have are said once, others in each label.
func TestBeside(t *testing.T) {
	of := func(p Precision, length int) Config {
		return Config{Precision: p, Batch: 1, Shapes: map[string][]int{"ids": {1, length}, "mask": {1, length}}}
	}
	for _, c := range []struct {
		list   []Config
		labels []string
		shapes string
	}{
		{[]Config{of(FP32, 128), of(FP16, 128)}, []string{"fp32", "fp16"}, "ids 1x128, mask 1x128"},
		{[]Config{of(FP32, 128), of(FP32, 64)}, []string{"fp32, ids 1x128, mask 1x128", "fp32, ids 1x64, mask 1x64"}, ""},
		{[]Config{of(FP32, 128)}, []string{"fp32, ids 1x128, mask 1x128"}, ""},
		{[]Config{{Precision: FP32, Batch: 1}, {Precision: FP16, Batch: 1}}, []string{"fp32", "fp16"}, ""},
	} {
		if labels, shapes := Beside(c.list, false); !slices.Equal(labels, c.labels) || shapes != c.shapes {
			t.Errorf("%q at %q, want %q at %q", labels, shapes, c.labels, c.shapes)
		}
	}
}
