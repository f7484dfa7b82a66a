package passes

import (
	"errors"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
)

// roundRows adds what rounds the rows of x.
func (n *net) roundRows(name string, x *graph.Tensor, by graph.RowRange) *graph.Tensor {
	return n.add(name, graph.RoundRows, graph.RoundRowsAttrs{Rows: by}, x)
}

func TestFuseRows(t *testing.T) {
	gemm := graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}
	noBytes := func(l *graph.Layer) error {
		if l.Op == graph.DynamicQuantizeMatMul && l.Outputs[0].Quantized() {
			return errors.New("no bytes")
		}
		return nil
	}
	none := func(l *graph.Layer) error {
		if l.Op == graph.DynamicQuantizeMatMul {
			return errors.New("no kernel")
		}
		return nil
	}
	for _, c := range []struct {
		passCase
		supports func(*graph.Layer) error
	}{
		{passCase: passCase{"columns-bias-gelu", func(n *net) *graph.Network {
			y := n.add("MatMul", graph.MatMul, nil, n.roundRows("Rows", n.input("x", 2, 3, 6), graph.RowsWithZero), n.qweights("w", 1, 6, 5))
			y.Producer.Fuse(elementwise.Binary(elementwise.Add), 0, n.weights("b", -1, 1, 5))
			return n.output(n.elt("Gelu", elementwise.Gelu, nil, y))
		}}},
		{passCase: passCase{"transposed-bias-relu", func(n *net) *graph.Network {
			y := n.add("Gemm", graph.Gemm, gemm, n.roundRows("Rows", n.input("x", 3, 6), graph.RowsSymmetric), n.qweights("w", 0, 5, 6), n.weights("b", -1, 1, 5))
			y.Producer.Fuse(elementwise.Unary(elementwise.Relu), 0)
			return n.output(y)
		}}},
		{passCase: passCase{"shared-bytes", func(n *net) *graph.Network { // rounded once, read twice, one result in bytes
			x := n.roundRows("Rows", n.input("x", 3, 6), graph.RowsWithZero)
			a := n.qdq("A", n.add("MatMul_1", graph.MatMul, nil, x, n.qweights("w", 1, 6, 5)), 1.0/8)
			return n.output(a, n.add("MatMul_2", graph.MatMul, nil, x, n.qweights("v", -1, 6, 4)), x)
		}}},
		{passCase: passCase{"parts", func(n *net) *graph.Network { // of ranges of their own
			y := n.add("MatMul", graph.MatMul, nil, n.roundRows("Rows", n.input("x", 3, 6), graph.RowsWithZero), n.qweights("w", 1, 6, 5))
			split, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: -1, Sizes: []int{2, 3}}, []*graph.Tensor{y}, "q", "k")
			if err != nil {
				n.t.Fatal(err)
			}
			return n.output(n.qdq("A", split.Outputs[0], 1.0/8), n.qdq("B", split.Outputs[1], 1.0/16))
		}}},
		{passCase{"no-bytes", func(n *net) *graph.Network {
			x := n.roundRows("Rows", n.input("x", 3, 6), graph.RowsWithZero)
			return n.output(n.qdq("A", n.add("MatMul", graph.MatMul, nil, x, n.qweights("w", 1, 6, 5)), 1.0/8))
		}}, noBytes},
		{passCase{"no-kernel", func(n *net) *graph.Network {
			x := n.roundRows("Rows", n.input("x", 3, 6), graph.RowsWithZero)
			return n.output(n.add("MatMul", graph.MatMul, nil, x, n.qweights("w", 1, 6, 5)))
		}}, none},
		{passCase: passCase{"scaled", func(n *net) *graph.Network {
			a := gemm
			a.Alpha = 2
			return n.output(n.add("Gemm", graph.Gemm, a, n.roundRows("Rows", n.input("x", 3, 6), graph.RowsSymmetric), n.qweights("w", 0, 5, 6)))
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.build(newNet(t, c.name))
			got, steps := runPass(t, n, Lowering(), pass.Config{Supports: c.supports})
			step := 1e-5
			for _, l := range got.Layers {
				if l.Op == graph.DynamicQuantizeMatMul && l.Outputs[0].Type == numeric.I8 {
					step = 1.0 / 8 // sums that are rounded before their scale, or behind it
				}
			}
			sameOutputs(t, n, got, step)
			golden.RequireEqual(t, []byte(report(n, got, steps)))
		})
	}
}
