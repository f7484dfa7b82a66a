package stages

import (
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// TestFingerprints knows items again by their elements, in whatever memory they are, and tells others from them.
func TestFingerprints(t *testing.T) {
	item := func(x, y float32) map[string]numeric.Value {
		return map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{x}, 1), "y": numeric.Values(numeric.F32, []float32{y}, 1)}
	}
	var f fingerprints
	if !f.none() || f.has(item(1, 2)) {
		t.Error("an item was seen before any")
	}
	given := 0
	for range f.of(func(yield func(map[string]numeric.Value, error) bool) {
		_ = yield(item(1, 2), nil) && yield(item(3, 4), nil)
	}) {
		given++
	}
	if given != 2 || f.none() || !f.has(item(1, 2)) || !f.has(item(3, 4)) {
		t.Errorf("of %d items that were given not all are known again", given)
	}
	if f.has(item(2, 1)) || f.has(item(1, 4)) {
		t.Error("another item is taken for one that was seen")
	}
}
