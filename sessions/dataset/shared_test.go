package dataset

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestShared knows items of the same elements again in whatever part of whatever data they are, and images by their files.
func TestShared(t *testing.T) {
	inputs := []*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(1, 2)}}
	of := func(first, n int) Data {
		v := numeric.NewValue(numeric.F32, n, 2)
		x := v.F32()
		for i := range x {
			x[i] = float32(2*first + i)
		}
		s, err := New("numbers", []Array{{"x", v}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Bind(inputs)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	all := of(0, 10)
	part, err := Subset(all, 8, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a    Data
		n    int
		b    Data
		want int
	}{{all, 10, all, 10}, {all, 4, all, 4}, {part, 2, all, 2}, {all, 8, part, 0}, {of(8, 4), 4, all, 2}, {of(10, 4), 4, all, 0}, {nil, 0, all, 0}} {
		if got := Shared(c.a, c.n, c.b); got != c.want {
			t.Errorf("%d shared, want %d", got, c.want)
		}
	}

	dir := t.TempDir()
	for i, name := range []string{"a.png", "b.png"} {
		m := image.NewGray(image.Rect(0, 0, 2, 2))
		m.SetGray(0, 0, color.Gray{byte(i)})
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	images, err := Open(dir, Options{Scale: 1, Size: Size{2, 2}, Resize: Resize{Shorter: 2}})
	if err != nil {
		t.Fatal(err)
	}
	bound, err := images.Bind([]*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(1, 3, 2, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Subset(bound, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	images.read = nil // nothing is decoded
	if got := Shared(second, 1, bound); got != 1 {
		t.Errorf("of one image %d shared", got)
	}
}
