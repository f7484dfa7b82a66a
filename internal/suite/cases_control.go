package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// controls have networks inside: one of two, of which both read an input, a loop whose body captures one, and a Scan from the
// end on.
func (m *maker) controls() {
	for _, dims := range [][]int{{}, {7}, {2, 3, 5}} {
		x := func() *graph.Tensor { return m.tensor(numeric.F32, numeric.Range{}, dims...) }
		attrs := func(build func(d *graph.Definition, x, y, flag, two *graph.Tensor) []*graph.Tensor) any {
			d := graph.Define("suite")
			two := d.Constant("two", numeric.Values(numeric.I64, []int64{2}))
			x, y := d.Input("a", numeric.F32, symbolic.Shape(dims...)...), d.Input("b", numeric.F32, symbolic.Shape(dims...)...)
			d.Output("y", build(d.Named("it"), x, y, d.Input("flag", numeric.Bool), two)[0])
			n, err := d.Network()
			if err != nil {
				panic(fmt.Sprintf("suite: %v", err))
			}
			return n.Layer("it").Attrs
		}
		branches := attrs(func(d *graph.Definition, x, y, flag, _ *graph.Tensor) []*graph.Tensor {
			return d.If(flag, func(b *graph.Definition) []*graph.Tensor { return []*graph.Tensor{b.Sub(x, y)} },
				func(b *graph.Definition) []*graph.Tensor { return []*graph.Tensor{b.Tanh(y)} })
		})
		m.add(fmt.Sprintf("if_%v", dims), m.layer(graph.If, branches, m.tensor(numeric.Bool, numeric.Range{}), x(), x()), Tolerance{Real: 1e-6})
		loop := attrs(func(d *graph.Definition, x, y, _, two *graph.Tensor) []*graph.Tensor {
			return d.Loop(two, nil, []*graph.Tensor{x}, func(b *graph.Definition, _, _ *graph.Tensor, c []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
				return nil, []*graph.Tensor{b.Tanh(b.Add(c[0], y))}
			})
		})
		m.add(fmt.Sprintf("loop_%v", dims), m.layer(graph.Loop, loop, m.integers(2), nil, x(), x()), Tolerance{Real: 1e-6})
		if len(dims) == 0 {
			continue
		}
		backwards := graph.ScanAttrs{InAxes: []int{-1}, InBackwards: []bool{true}}
		scan := attrs(func(d *graph.Definition, x, _, _, _ *graph.Tensor) []*graph.Tensor {
			return d.Scan(nil, []*graph.Tensor{x}, backwards, func(b *graph.Definition, _, e []*graph.Tensor) []*graph.Tensor {
				return []*graph.Tensor{b.Sigmoid(e[0])}
			})
		})
		m.add(fmt.Sprintf("scan_%v", dims), m.layer(graph.Scan, scan, x()), Tolerance{Real: 1e-6})
	}
}
