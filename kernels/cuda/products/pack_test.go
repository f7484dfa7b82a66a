package products

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
)

// TestPackWeights compares packed weights with their definition, element by element: columns and rows, several taps and
// groups, more rows than are packed together, with a zero point behind the last.
func TestPackWeights(t *testing.T) {
	for _, p := range []product{
		{typ: graph.F16, c: 5, k: 2*packedTogether + 3, groups: 1, r: 1, s: 1, column: true},
		{typ: graph.F16, c: 9, k: 7, groups: 1, r: 1, s: 1},
		{typ: graph.F32, c: 3, k: packedTogether + 1, groups: 2, r: 2, s: 3},
		{typ: graph.I8, c: 17, k: 40, groups: 1, r: 1, s: 1, column: true, zeroW: 5},
	} {
		n := p.c * p.k * p.groups * p.r * p.s
		p.weight = graph.NewValue(p.typ, n)
		value := func(i int) float32 { return float32(i%251 - 125) }
		for i := range n {
			switch p.typ {
			case graph.F16:
				graph.View[uint16](p.weight.Data)[i] = graph.F32ToF16(value(i))
			case graph.F32:
				p.weight.F32()[i] = value(i)
			default:
				p.weight.Data[i] = byte(int8(value(i)))
			}
		}
		packed := graph.Value{Type: p.typ, Dims: []int{p.k * p.groups, p.depth()}, Data: p.packWeights()}.Floats()
		for o := range p.k * p.groups {
			for i := range p.depth() {
				want := float32(p.zeroW)
				if tap, c := i/p.depthC(), i%p.depthC(); tap < p.r*p.s && c < p.c {
					want = value(p.source(o, c, tap))
				}
				if got := packed[o*p.depth()+i]; got != want {
					t.Fatalf("%+v: row %d, element %d is %v, want %v", p, o, i, got, want)
				}
			}
		}
	}
}
