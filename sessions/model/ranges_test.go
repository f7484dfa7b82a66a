package model

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/config"
)

// TestRangeError: where a model cannot take an end of a range the error has the widest that it can, up to a limit, of multiples, or of the
// best shapes alone, around others where those do not fit, and names the layer that is in the way.
func TestRangeError(t *testing.T) {
	batch, rows := symbolic.Symbol("batch"), symbolic.Symbol("rows")
	table := numeric.Values(numeric.F32, make([]float32, 256), 1, 256)
	places := func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
		n := d.Layer(graph.ShapeOf, graph.ShapeAttrs{Start: 1, End: 2}, x)
		zero, one := d.Constant("zero", numeric.Values(numeric.I64, []int64{0}, 1)), d.Constant("one", numeric.Values(numeric.I64, []int64{1}, 1))
		return d.Named("places").ElementWise(elementwise.Add, x, d.Layer(graph.Slice, graph.SliceAttrs{}, d.Constant("table", table), zero, n, one))
	}
	for _, c := range []struct {
		name           string
		output         func(d *graph.Definition, x *graph.Tensor) *graph.Tensor
		min, opt, max  []int
		layer, axes    string
		least, largest string
	}{
		{"limit", places, []int{1, 2}, []int{2, 64}, []int{4, 600}, "layer places (Add)", "batch=1..4, rows=2..256", "[1 2]", "[4 256]"},
		{"multiples", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Named("eights").Reshape(x, 0, -1, 8)
		}, []int{1, 3}, []int{2, 64}, []int{4, 1001}, "layer eights (Reshape)", "batch=1..4, rows=8..1000", "[1 8]", "[4 1000]"},
		{"limit below the best", places, []int{1, 2}, []int{4, 600}, []int{4, 600}, "layer places (Add)", "batch=1..4, rows=2..256", "[1 2]", "[4 256]"},
		{"neither end", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Named("eights").Reshape(x, -1, 8)
		}, []int{3, 3}, []int{5, 9}, []int{5, 9}, "layer eights (Reshape)", "batch=4, rows=4..8", "[4 4]", "[4 8]"},
		{"alone", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Named("fixed").Reshape(x, 2, 64)
		}, []int{1, 2}, []int{2, 64}, []int{4, 64}, "layer fixed (Reshape)", "batch=2, rows=64", "[2 64]", "[2 64]"},
	} {
		d := graph.Define(c.name)
		y := c.output(d, d.Input("x", numeric.F32, batch, rows))
		d.Output("y", y)
		d.Output("places", d.NonZero(y)) // how many there are is no axis
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		shapes := func(dims []int) map[string][]int { return map[string][]int{"x": dims} }
		_, _, err = RangesOf(&Model{Network: n}, config.Config{Shapes: shapes(c.opt), MinShapes: shapes(c.min), MaxShapes: shapes(c.max)})
		var e *RangeError
		if !errors.As(err, &e) || e.Axes != c.axes || fmt.Sprint(e.Min["x"]) != c.least || fmt.Sprint(e.Max["x"]) != c.largest || e.Alone() != (c.least == c.largest) || !strings.Contains(err.Error(), c.layer) {
			t.Errorf("%s: %v: %+v", c.name, err, e)
		}
		if _, _, err := RangesOf(&Model{Network: n}, config.Config{Shapes: shapes([]int{3, 601}), MinShapes: shapes([]int{3, 601}), MaxShapes: shapes([]int{3, 601})}); errors.As(err, &e) && e == nil || !errors.As(err, new(*ShapesError)) || errors.As(err, new(*RangeError)) {
			t.Errorf("%s, shapes of which none fit: %v", c.name, err)
		}
	}
}
