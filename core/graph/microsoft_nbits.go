package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Weights that were quantised in the order of their importance have the group of each row, in g_idx: the scale and the zero point of
// row k are those of block g_idx[k], while its bits lie where k says. With rows, and what of x they are multiplied by, in the order of
// their groups, block after block, the product is a plain one.

// byGroup returns x and the weights of a product with rows in the order of their groups.
func (d *Definition) byGroup(x, w, groups *Tensor, a NBitsAttrs) (*Tensor, *Tensor, error) {
	last := len(x.Dims) - 1
	if a.Bits != 2 && a.Bits != 4 && a.Bits != 8 || last < 0 || conflict(x.Dims[last], symbolic.Const(a.K)) {
		return x, w, nil // which inference refuses
	}
	order, err := groupOrder(groups, a)
	if err != nil || slices.IsSorted(order) {
		return x, w, err
	}
	v, _ := w.Const()
	sorted := numeric.NewValue(numeric.U8, v.Dims...)
	column := v.Dims[1] * v.Dims[2]
	for n := range v.Dims[0] {
		from, to := v.Data[n*column:][:column], sorted.Data[n*column:][:column]
		for k, row := range order { // a block is whole bytes, so that rows follow each other across blocks
			to[k*a.Bits/8] |= byte(bitsAt(from, row, a.Bits) << (k % (8 / a.Bits) * a.Bits))
		}
	}
	rows := numeric.NewValue(numeric.I64, len(order))
	for i, row := range order {
		rows.I64()[i] = int64(row)
	}
	return d.Gather(x, d.Constant(d.fresh("order"), rows), last), d.Constant(d.fresh(w.Name), sorted), nil
}

// groupOrder returns the rows of the weights, those of the first group first. Each group must fill its block.
func groupOrder(groups *Tensor, a NBitsAttrs) ([]int, error) {
	v, ok := groups.Const()
	if !ok || v.Type != numeric.I32 || v.Len() < a.K {
		return nil, fmt.Errorf("g_idx %s: want %d constant i32", groups.TypeString(), a.K)
	}
	blocks := (a.K + a.Block - 1) / a.Block
	rows := make([][]int, blocks)
	for k, g := range v.Ints()[:a.K] {
		if g < 0 || g >= int64(blocks) {
			return nil, fmt.Errorf("g_idx: row %d is of group %d of %d", k, g, blocks)
		}
		rows[g] = append(rows[g], k)
	}
	for g, list := range rows {
		if want := min(a.Block, a.K-g*a.Block); len(list) != want {
			return nil, fmt.Errorf("g_idx: group %d has %d rows, not the %d of its block, which is not supported", g, len(list), want)
		}
	}
	return slices.Concat(rows...), nil
}
