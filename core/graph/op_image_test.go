package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// file is a portable image whose bytes rise from 0 on.
func file(rows, columns int) numeric.Value {
	b := fmt.Appendf(nil, "P6 %d %d 255\n", columns, rows)
	for i := range 3 * rows * columns {
		b = append(b, byte(i))
	}
	return numeric.Values(numeric.U8, b, len(b))
}

// TestImageDecoder: an image's extents are its own at each run, and so are those of what follows; pixels have the form that is asked for.
func TestImageDecoder(t *testing.T) {
	d := Define("image")
	x := d.Input("x", numeric.U8, symbolic.Symbol("n"))
	y := d.ImageDecoder(x, ImageDecoderAttrs{Pixels: PixelsBGR, Most: 4})
	d.Output("y", y)
	d.Output("sum", d.Reduce(ReduceSum, d.Cast(y, numeric.F32), false, 0, 1))
	d.Output("grey", d.ImageDecoder(x, ImageDecoderAttrs{Pixels: PixelsGrey, Most: 4}))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	for _, extents := range [][2]int{{2, 3}, {4, 1}, {1, 4}} {
		out, err := n.Eval(context.Background(), map[string]numeric.Value{"x": file(extents[0], extents[1])}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, columns := extents[0], extents[1]
		if got := out["y"]; !slices.Equal(got.Dims, []int{rows, columns, 3}) || got.Data[0] != 2 || got.Data[3] != 5 {
			t.Errorf("%v: %v %v", extents, got.Dims, got.Data)
		}
		if got := out["grey"]; !slices.Equal(got.Dims, []int{rows, columns, 1}) || got.Data[1] != 4 {
			t.Errorf("%v: %v %v", extents, got.Dims, got.Data)
		}
		k := rows * columns
		if sum := out["sum"].F32(); sum[2] != float32(3*k*(k-1)/2) {
			t.Errorf("%v: sums %v", extents, sum)
		}
	}
	eval := func(b string) (map[string]numeric.Value, error) {
		return n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.U8, []byte(b), len(b))}, nil)
	}
	if out, err := eval("no image"); err != nil || !slices.Equal(out["y"].Dims, []int{0, 0, 3}) {
		t.Errorf("no image: %v, %v", out["y"].Dims, err)
	}
	for b, want := range map[string]string{
		"P6 5 1 255\n" + strings.Repeat("x", 15):     "an image of 1 rows and 5 columns; 4 of either are planned for",
		"P6 1 1000000000 255\n":                      "an image of 1000000000 rows and 1 columns",
		"\x00\x00\x00\x0cjP  \r\n\x87\n\x00\x00\x00": "JPEG 2000, which is not supported",
	} {
		if _, err := eval(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", b, err)
		}
	}
}
