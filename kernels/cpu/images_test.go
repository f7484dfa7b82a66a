package cpu

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestImages runs an engine that decodes images, of which two extents are counted at once, and resizes them, on one after another of
// other extents, against the layers' definition.
func TestImages(t *testing.T) {
	d := graph.Define("images")
	x := d.Input("x", numeric.U8, symbolic.Const(60))
	y := d.Cast(d.ImageDecoder(x, graph.ImageDecoderAttrs{Pixels: graph.PixelsRGB, Most: 12}), numeric.F32)
	d.Output("pixels", y)
	d.Output("first", d.Relu(d.Unsqueeze(d.Transpose(y, 2, 0, 1), 0)))
	d.Output("rows", d.Reduce(graph.ReduceSum, y, false, 1))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := Open(2)
	t.Cleanup(func() { b.Close() })
	c, err := loadUntimed(t, b, n).NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, extents := range [][2]int{{3, 5}, {5, 3}, {1, 12}, {12, 1}, {2, 2}, {4, 4}} {
		file := fmt.Appendf(nil, "P6 %d %d 255\n", extents[1], extents[0])
		for len(file) < 60 {
			file = append(file, byte(7*len(file)))
		}
		in := map[string]numeric.Value{"x": numeric.Values(numeric.U8, file, 60)}
		want, err := n.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetInputs(in); err != nil {
			t.Fatal(err)
		}
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		got, err := c.Outputs()
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range want {
			if !slices.Equal(got[name].Dims, v.Dims) || !slices.Equal(got[name].F32(), v.F32()) {
				t.Errorf("%v: output %s is %v %v, want %v %v", extents, name, got[name].Dims, got[name].F32(), v.Dims, v.F32())
			}
		}
		if !slices.Equal(want["pixels"].Dims, []int{extents[0], extents[1], 3}) {
			t.Errorf("%v: pixels are %v", extents, want["pixels"].Dims)
		}
	}
}
