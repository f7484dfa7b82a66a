package products

import (
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// TestPackWeights compares packed weights with their definition, element by element: columns and rows, several taps and
// groups, more rows than are packed together, with a zero point behind the last.
func TestPackWeights(t *testing.T) {
	for _, p := range []product{
		{typ: numeric.F16, c: 5, k: 2*packedTogether + 3, groups: 1, r: 1, s: 1, column: true},
		{typ: numeric.F16, c: 9, k: 7, groups: 1, r: 1, s: 1},
		{typ: numeric.F32, c: 3, k: packedTogether + 1, groups: 2, r: 2, s: 3},
		{typ: numeric.I8, c: 17, k: 40, groups: 1, r: 1, s: 1, column: true, zeroW: 5},
	} {
		n := p.c * p.k * p.groups * p.r * p.s
		p.weight = numeric.NewValue(p.typ, n)
		value := func(i int) float32 { return float32(i%251 - 125) }
		for i := range n {
			switch p.typ {
			case numeric.F16:
				numeric.View[uint16](p.weight.Data)[i] = numeric.F32ToF16(value(i))
			case numeric.F32:
				p.weight.F32()[i] = value(i)
			default:
				p.weight.Data[i] = byte(int8(value(i)))
			}
		}
		for _, lane := range []int{0, 4, 8} {
			tl := Tile{BM: 32, BN: 32, BK: 64}
			if lane > 0 {
				tl = Tile{BM: 32, BN: 64, BK: 128}
			}
			w := tl.packed(&p, lane)
			packed := numeric.Value{Type: p.typ, Dims: []int{len(w.pack()) / p.typ.Size()}, Data: w.pack()}.Floats()
			for o := range emit.RoundUp(p.k, tl.BN) * p.groups {
				group, o := o/emit.RoundUp(p.k, tl.BN), o%emit.RoundUp(p.k, tl.BN)
				for i := range w.steps * tl.BK / p.typ.Size() {
					want := float32(p.zeroW)
					if tap, c := i/p.depthC(), i%p.depthC(); tap < p.r*p.s && c < p.c && o < p.k {
						want = value(p.source(group*p.k+o, c, tap))
					} else if o >= p.k {
						want = 0
					}
					// tile, step, row, piece, byte: pieces of eight rows, or of sixteen of 64 bytes, go round
					b := i * p.typ.Size()
					tile, row, step, piece := group*emit.CeilDiv(p.k, tl.BN)+o/tl.BN, laneRow(o%tl.BN, lane), b/tl.BK, b%tl.BK/16
					piece ^= row * tl.BK / 128 % (tl.BK / 16)
					at := ((tile*w.steps+step)*tl.BN+row)*tl.BK + 16*piece + b%16
					if got := packed[at/p.typ.Size()]; got != want {
						t.Fatalf("%+v on %s: channel %d of group %d, element %d is %v, want %v", p, tl, o, group, i, got, want)
					}
				}
			}
		}
	}
}
