package dataset

import (
	"bytes"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// consistent checks that a value has the bytes that its shape says.
func consistent(t *testing.T, v numeric.Value) {
	if len(v.Data) != v.Len()*v.Type.Size() {
		t.Errorf("%s%v with %d bytes", v.Type, v.Dims, len(v.Data))
	}
}

func FuzzNpy(f *testing.F) {
	f.Add(npy(1, "<f4", "(3, 2)", floats(1, 2, 3, 4, 5, 6)), 1)
	f.Add(npy(2, "|u1", "(2,)", []byte{1, 2}), 0)
	f.Add(npy(3, "<f8", "(1000000000000, 100000)", nil), 0)
	f.Fuzz(func(t *testing.T, b []byte, first int) {
		if v, err := readNpy(bytes.NewReader(b), maxBytes, Options{First: first}.part); err == nil {
			consistent(t, v)
		}
	})
}

func FuzzNpz(f *testing.F) {
	members := map[string][]byte{"x.npy": npy(1, "<f4", "(2, 1)", floats(1, 2)), "y.npy": npy(1, "<i8", "(2,)", make([]byte, 16))}
	f.Add(npz(f, members, "x.npy", "y.npy"))
	f.Fuzz(func(t *testing.T, b []byte) {
		arrays, labels, err := readNpz(bytes.NewReader(b), int64(len(b)), Options{})
		if err != nil {
			return
		}
		for _, a := range arrays {
			consistent(t, a.Value)
		}
		if s, err := (Options{}).arrays(arrays, labels); err == nil {
			if _, err := s.Batch(0, s.Len()); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzIdx(f *testing.F) {
	f.Add(idx(8, []int{2, 2, 2}, count(8)), 0)
	f.Add(idx(9, []int{3}, count(3)), 1)
	f.Fuzz(func(t *testing.T, b []byte, first int) {
		v, err := readIdx(bytes.NewReader(b), Options{First: first}.part)
		if err != nil {
			return
		}
		consistent(t, v)
		if s, err := newPixels("", v, nil, Options{}); err == nil {
			if _, err := s.Batch(0, 1); err != nil {
				t.Error(err)
			}
		}
	})
}
