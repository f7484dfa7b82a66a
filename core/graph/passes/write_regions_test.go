package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/passes/simplify"
)

func (n *net) slice(x *graph.Tensor, axis, first, end int) *graph.Tensor {
	return n.add("Slice", graph.Slice, graph.SliceAttrs{Starts: []int{first}, Ends: []int{end}, Axes: []int{axis}}, x)
}

func (n *net) concat(axis int, x ...*graph.Tensor) *graph.Tensor {
	return n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: axis}, x...)
}

// rows returns indices of rows.
func (n *net) rows(v ...int64) *graph.Tensor {
	return n.AddConst("rows", numeric.Values(numeric.I64, v, len(v), 1))
}

// places returns the indices of a part of the first two axes.
func (n *net) places(from, rows, at, columns int) *graph.Tensor {
	var v []int64
	for i := range rows {
		for j := range columns {
			v = append(v, int64(from+i), int64(at+j))
		}
	}
	return n.AddConst("places", numeric.Values(numeric.I64, v, rows, columns, 2))
}

func (n *net) scatter(x, indices, u *graph.Tensor) *graph.Tensor {
	return n.add("ScatterND", graph.ScatterND, graph.ScatterAttrs{Reduction: "none"}, x, indices, u)
}

// TestWriteRegions checks what is made of assignments to a part of a tensor.
func TestWriteRegions(t *testing.T) {
	testPass(t, simplify.WriteRegions, []passCase{
		{"rows", func(n *net) *graph.Network {
			return n.output(n.scatter(n.input("x", 5, 4), n.rows(1, -3, 3), n.input("u", 3, 4)))
		}},
		{"a-part-of-two-axes", func(n *net) *graph.Network {
			return n.output(n.scatter(n.input("x", 4, 6, 2), n.places(1, 3, 1, 4), n.input("u", 3, 4, 2)))
		}},
		{"all-of-it", func(n *net) *graph.Network {
			return n.output(n.relu("Relu", n.scatter(n.input("x", 3, 2, 2), n.places(0, 3, 0, 2), n.input("u", 3, 2, 2))))
		}},
		{"into-zeros", func(n *net) *graph.Network {
			zeros := n.AddConst("zeros", numeric.NewValue(numeric.F32, 5, 4))
			return n.output(n.scatter(zeros, n.rows(2), n.input("u", 1, 4)))
		}},
		{"few-places", func(n *net) *graph.Network {
			return n.output(n.scatter(n.input("x", 5, 4), n.rows(1), n.input("u", 1, 4)))
		}},
		{"out-of-order", func(n *net) *graph.Network {
			return n.output(n.scatter(n.input("x", 5, 4), n.rows(1, 3, 2), n.input("u", 3, 4)))
		}},
		{"columns-between-transpositions", func(n *net) *graph.Network { // x[:, 1:] = u
			y := n.scatter(n.transpose("T", n.input("x", 3, 5), 1, 0), n.rows(1, 2, 3, 4), n.transpose("T", n.input("u", 3, 4), 1, 0))
			return n.output(n.transpose("T", y, 1, 0))
		}},
		{"transposition-of-another-kind", func(n *net) *graph.Network {
			y := n.scatter(n.transpose("T", n.input("x", 3, 5, 2), 1, 0, 2), n.rows(4), n.input("u", 1, 3, 2))
			return n.output(n.transpose("T", y, 0, 2, 1), n.relu("Relu", y))
		}},
		{"added-to-a-part-and-written-back", func(n *net) *graph.Network { // x[1:, 1:] += r, as TorchScript writes it
			x := n.input("x", 5, 5)
			s := n.slice(n.slice(x, 0, 1, 5), 1, 1, 5)
			places := n.places(1, 4, 1, 4)
			y := n.scatter(x, places, n.binary("Add", elementwise.Add, s, n.input("r", 4, 4)))
			y = n.scatter(y, places, n.slice(n.slice(y, 0, 1, 5), 1, 1, 5))
			return n.output(n.relu("Relu", y))
		}},
		{"added-for-each-row", func(n *net) *graph.Network {
			x := n.input("x", 3, 5)
			return n.output(n.concat(1, n.slice(x, 1, 0, 2), n.binary("Add", elementwise.Add, n.input("r", 3), n.slice(x, 1, 2, 5))))
		}},
		{"added-is-repeated", func(n *net) *graph.Network {
			x := n.input("x", 3, 5)
			return n.output(n.concat(1, n.slice(x, 1, 0, 2), n.binary("Add", elementwise.Add, n.slice(x, 1, 2, 5), n.input("r", 3, 1))))
		}},
		{"sum-has-another-reader", func(n *net) *graph.Network {
			x := n.input("x", 3, 5)
			sum := n.binary("Add", elementwise.Add, n.slice(x, 1, 2, 5), n.input("r", 3, 3))
			return n.output(n.concat(1, n.slice(x, 1, 0, 2), sum), n.relu("Relu", sum))
		}},
		{"parts-of-what-is-joined", func(n *net) *graph.Network {
			y := n.concat(1, n.input("a", 3, 2), n.input("b", 3, 5))
			return n.output(n.relu("All", n.slice(y, 1, 2, 7)), n.relu("Some", n.slice(y, -1, 3, 5)), n.relu("Both", n.slice(y, 1, 1, 3)),
				n.relu("Rows", n.slice(y, 0, 1, 2)))
		}},
		{"parts-in-order", func(n *net) *graph.Network {
			x := n.input("x", 3, 5)
			return n.output(n.relu("All", n.concat(1, n.slice(x, 1, 0, 2), n.slice(x, 1, 2, 5))),
				n.relu("Swapped", n.concat(1, n.slice(x, 1, 2, 5), n.slice(x, 1, 0, 2))),
				n.relu("Less", n.concat(1, n.slice(x, 1, 0, 2), n.slice(x, 1, 2, 4))))
		}},
	})
}
