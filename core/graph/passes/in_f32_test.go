package passes

import (
	"errors"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/simplify"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// stored adds a constant of random values of a type of real numbers.
func (n *net) stored(name string, typ numeric.DataType, dims ...int) *graph.Tensor {
	v := numeric.NewValue(typ, dims...)
	reals := numeric.NewValue(numeric.F32, dims...)
	for i := range reals.F32() {
		reals.F32()[i] = float32(n.rng.NormFloat64())
	}
	numeric.Cast(v, reals)
	return n.AddConst(name, v)
}

// TestInF32 computes in F32 what comes in other types. Casts round no more, tables keep their type, and so do inputs, outputs and
// what an If reads.
func TestInF32(t *testing.T) {
	quantises := pass.Config{Quantises: true}
	target := pass.Config{Target: func(l *graph.Layer) error {
		if l.Inputs[0].Type == numeric.BF16 {
			return errors.New("nothing computes in bf16")
		}
		return nil
	}}
	block := func(typ numeric.DataType) func(n *net) *graph.Network {
		return func(n *net) *graph.Network {
			x := n.AddInput("x", typ, symbolic.Shape(1, 2, 4, 4)...)
			y := n.relu("Relu", n.add("Conv", graph.Conv, graph.ConvAttrs{Group: 1}, x, n.stored("w", typ, 3, 2, 1, 1)))
			n.output(y)
			return n.output(n.add("Pool", graph.AveragePool, graph.PoolAttrs{Global: true}, y))
		}
	}
	for _, c := range []struct {
		passCase
		cfg pass.Config
	}{
		{passCase{"bf16", block(numeric.BF16)}, target},
		{passCase{"bf16 that the target computes", block(numeric.BF16)}, pass.Config{}},
		{passCase{"f16 that is not quantised", block(numeric.F16)}, target},
		{passCase{"f16", block(numeric.F16)}, quantises},
		{passCase{"f64", block(numeric.F64)}, quantises},
		{passCase{"switched off", block(numeric.F16)}, pass.Config{Quantises: true, DisableRules: []string{"f16-in-f32"}}},
		{passCase{"a place switched off", block(numeric.F16)}, pass.Config{Quantises: true, DisableSites: []pass.Site{pass.NewSite("f16-in-f32", "Relu")}}},
		{passCase{"casts", func(n *net) *graph.Network {
			h := n.add("Cast_1", graph.Cast, graph.CastAttrs{To: numeric.F16}, n.input("x", 2, 4))
			y := n.add("MatMul", graph.MatMul, nil, h, n.stored("w", numeric.F16, 4, 3))
			n.output(n.add("Cast_3", graph.Cast, graph.CastAttrs{To: numeric.I64}, y))
			return n.output(n.add("Cast_2", graph.Cast, graph.CastAttrs{To: numeric.F32}, y))
		}}, quantises},
		{passCase{"table", func(n *net) *graph.Network {
			rows := n.add("Gather", graph.Gather, graph.GatherAttrs{}, n.stored("table", numeric.F16, 5, 4), n.ints(3, 1))
			return n.output(n.add("MatMul", graph.MatMul, nil, rows, n.stored("w", numeric.F16, 4, 3)))
		}}, quantises},
		{passCase{"type of an attribute", func(n *net) *graph.Network {
			zeros := n.add("Zeros", graph.ConstantOfShape, graph.FillAttrs{Type: numeric.F16}, n.ints(2, 4))
			return n.output(n.add("Sum", graph.MatMul, nil, zeros, n.stored("w", numeric.F16, 4, 3)))
		}}, quantises},
		{passCase{"extents", func(n *net) *graph.Network { // what follows from them does so to the last digit
			rows := n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.F64}, n.AddInput("rows", numeric.I64, symbolic.Const(1)))
			n.output(n.elt("Exp", elementwise.Exp, nil, rows))
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 4), n.weights("w", -1, 1, 4, 3)))
		}}, quantises},
		{defined("branches", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			h := d.MatMul(d.Cast(x, numeric.F16), d.Constant("w", numeric.NewValue(numeric.F16, 3, 3)))
			y := d.Named("choice").If(flag, func(b *graph.Definition) tensors { return tensors{b.Neg(h)} }, func(b *graph.Definition) tensors { return tensors{b.Abs(h)} })
			return tensors{d.Tanh(y[0])}
		}), quantises},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.build(newNet(t, c.name))
			got, steps := runPass(t, n, []pass.Pass{simplify.InF32}, c.cfg)
			sameMeaning(t, n, got, 4e-2) // a sum of a few numbers of BF16
			golden.RequireEqual(t, []byte(report(n, got, steps)))
		})
	}
}
