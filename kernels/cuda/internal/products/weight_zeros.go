package products

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Bytes multiply as they are. What the zero point of the weights adds to a sum, sum(x)*zero, is taken off at the end: the sum
// of the pixels' bytes under the window is counted beside the products, of each row of the tile once for all channels. What
// the zero point of the input adds is known beforehand ([product.zeroSums]).

// weightZeros are the zero points of the weights.
type weightZeros struct {
	zero      int32 // of all channels
	byChannel bool
	table     ptx.GlobalPtr // times -1, by channel; of channels a group
	channels  int
}

// addRows adds the bytes of a fragment to the sums of its two rows.
func (e *tensor) addRows(sums [2]ptx.Int, a [4]ptx.Word) {
	add := e.Dp4aUnsigned
	if e.signed[0] {
		add = e.Dp4aSigned
	}
	for i, w := range a {
		sum := sums[i%2]
		e.SetS(sum, add(w, ptx.W(0x01010101), sum))
	}
}

// subtractRows takes what the zero points of the weights add off the sums: the four lanes of a row share its sum.
func (e *tensor) subtractRows() {
	if e.rowSums == nil {
		return
	}
	for _, rows := range e.rowSums {
		for h, sum := range rows {
			for _, mask := range []int{1, 2} {
				sum = e.AddS(sum, e.ShuffleXorWord(sum.Word(), mask).Int())
			}
			e.SetS(rows[h], sum)
		}
	}
	for j := range e.acc[0] {
		zeros := e.negativeZeros(j)
		for i, rows := range e.rowSums {
			for c, sum := range e.acc[i][j] {
				e.acc[i][j][c] = e.MadS(rows[c/2], zeros[c%2], sum.Int()).Word()
			}
		}
	}
}

// negativeZeros returns the zero points, times -1, of this lane's two columns among 8 of the warp's.
func (e *tensor) negativeZeros(j int) [2]ptx.Int {
	z := e.zeros
	if !z.byChannel {
		zero := ptx.I(-int(z.zero))
		return [2]ptx.Int{zero, zero}
	}
	first := e.Add(e.Mad(e.group, ptx.U(z.channels), e.block.column), e.firstColumn())
	zeros := e.LoadConst(e.Offset(z.table, first, 4).At(4*e.columnOf(j)), 2)
	return [2]ptx.Int{zeros[0].Int(), zeros[1].Int()}
}

// zeroTable returns the zero points of the weights, times -1, by channel, as far as the last tile reaches.
func (t Tile) zeroTable(p *product) []byte {
	zeros := make([]int32, p.k*(p.groups-1)+emit.RoundUp(p.k, t.BN))
	for i, zero := range p.zeros {
		zeros[i] = -zero
	}
	return numeric.Bytes(zeros)
}
