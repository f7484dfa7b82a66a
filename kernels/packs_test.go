package kernels

import (
	"slices"
	"testing"
	"unsafe"
)

// Equal data is kept once by those who share; other data, of another type too, stays apart.
func TestShared(t *testing.T) {
	b := Binding{Packs: &Packs{}}
	first := []int8{1, 2, 3}
	if got := Shared(b, first); unsafe.SliceData(got) != unsafe.SliceData(first) {
		t.Error("the first is another one")
	}
	if got := Shared(b, slices.Clone(first)); unsafe.SliceData(got) != unsafe.SliceData(first) {
		t.Error("what is equal is not the first")
	}
	for range 2 {
		if got := Shared(b, []int8{1, 2, 4}); got[2] != 4 {
			t.Errorf("%v", got)
		}
		if got := Shared(b, []float32{1, 2, 3}); got[2] != 3 {
			t.Errorf("%v", got)
		}
	}
	if len(b.Packs.kept) != 3 {
		t.Errorf("%d are kept", len(b.Packs.kept))
	}
	alone := slices.Clone(first)
	if got := Shared(Binding{}, alone); unsafe.SliceData(got) != unsafe.SliceData(alone) {
		t.Error("nobody shares, and it is another one")
	}
}
