package sessions

import (
	"bytes"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
)

func TestRandomData(t *testing.T) {
	input := func(typ graph.DataType, dims ...graph.Dim) *graph.Network {
		return &graph.Network{Inputs: []*graph.Tensor{{Name: "x", Type: typ, Dims: dims}}}
	}
	for _, c := range []struct {
		net   *graph.Network
		bytes int
		err   string // empty: none
	}{
		{input(graph.F32, graph.Symbol("n"), graph.Const(3)), 12, ""},
		{input(graph.F16, graph.Const(5)), 10, ""},
		{input(graph.BF16, graph.Const(5)), 10, ""},
		{input(graph.F64), 8, ""},
		{input(graph.I64, graph.Const(2), graph.Const(0)), 0, ""},
		{input(graph.U8, graph.Const(7)), 7, ""},
		{input(graph.Bool, graph.Const(7)), 7, ""},
		{input(graph.F32, graph.Const(1<<20), graph.Const(1<<20)), 0, "input x f32: too large"},
		{input(graph.F32, graph.Const(1<<62), graph.Const(1<<62)), 0, "too large"},
		{input(graph.Invalid, graph.Const(1)), 0, "input x: no data"},
	} {
		d, err := RandomData(c.net, 4, 7)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: error %v, want %q", c.net.Inputs[0], err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		a, _ := d.Inputs(1)
		again, _ := d.Inputs(1)
		other, _ := d.Inputs(2)
		if v := a["x"]; len(v.Data) != c.bytes || v.Type != c.net.Inputs[0].Type {
			t.Errorf("%v: %d bytes of %s", c.net.Inputs[0], len(v.Data), v.Type)
		}
		if !bytes.Equal(a["x"].Data, again["x"].Data) {
			t.Errorf("%v: item 1 is not the same twice", c.net.Inputs[0])
		}
		if c.bytes > 7 && bytes.Equal(a["x"].Data, other["x"].Data) {
			t.Errorf("%v: items 1 and 2 are the same", c.net.Inputs[0])
		}
		if typ := c.net.Inputs[0].Type; typ == graph.U8 || typ == graph.Bool {
			for _, b := range a["x"].Data {
				if b > 1 {
					t.Errorf("%s: element %d", typ, b)
				}
			}
		}
		if _, labelled := d.Label(0); labelled || !d.Random() || d.Len() != 4 {
			t.Errorf("%v: labelled, not random or %d items", c.net.Inputs[0], d.Len())
		}
	}
}
