package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/simplify"
	"github.com/trtui/trtui/core/graph/symbolic"
)

type tensors = []*graph.Tensor

// defined returns a case whose network is defined by methods; build returns its outputs.
func defined(name string, build func(d *graph.Definition, x, flag *graph.Tensor) tensors) passCase {
	return passCase{name, func(n *net) *graph.Network {
		d := graph.Define(name)
		outputs := build(d, d.Input("x", numeric.F32, symbolic.Shape(2, 3)...), d.Input("flag", numeric.Bool))
		for i, t := range outputs {
			d.Output([]string{"y", "z"}[i], t)
		}
		net, err := d.Network()
		if err != nil {
			n.t.Fatal(err)
		}
		return net
	}}
}

func integer(d *graph.Definition, name string, v int64) *graph.Tensor {
	return d.Constant(name, numeric.Values(numeric.I64, []int64{v}))
}

// tanhLoop carries Tanh of x, and gathers what it was before.
func tanhLoop(d *graph.Definition, trips, goes, x *graph.Tensor) tensors {
	return d.Named("loop").Loop(trips, goes, tensors{x}, func(b *graph.Definition, i, _ *graph.Tensor, c tensors) (*graph.Tensor, tensors) {
		return nil, tensors{b.Tanh(b.Add(c[0], b.Cast(i, numeric.F32))), b.Neg(c[0])}
	})
}

func TestControlFlow(t *testing.T) {
	testPass(t, simplify.ControlFlow, []passCase{
		defined("branch that is taken", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			yes := d.Constant("yes", numeric.Values(numeric.Bool, []uint8{1}))
			return d.Named("choice").If(yes, func(b *graph.Definition) tensors { return tensors{b.Exp(b.Neg(x))} }, func(b *graph.Definition) tensors { return tensors{b.Abs(x)} })
		}),
		defined("branch by a computed condition", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			rows := d.Gather(d.ShapeOf(x), integer(d, "zero", 0), 0)
			return d.Named("choice").If(d.Equal(rows, integer(d, "one", 1)), func(b *graph.Definition) tensors { return tensors{b.Neg(x)} }, func(b *graph.Definition) tensors { return tensors{x} })
		}),
		defined("condition that depends on data", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return d.Named("choice").If(flag, func(b *graph.Definition) tensors { return tensors{b.Neg(x)} }, func(b *graph.Definition) tensors { return tensors{b.Abs(x)} })
		}),
		defined("loop", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return tanhLoop(d, integer(d, "trips", 2), nil, x)
		}),
		defined("loop of no iteration", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return tensors{tanhLoop(d, integer(d, "trips", 0), nil, d.Abs(x))[0]}
		}),
		defined("long loop", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return tanhLoop(d, integer(d, "trips", 65), nil, x)
		}),
		defined("loop that data ends", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return d.Named("loop").Loop(integer(d, "trips", 3), flag, tensors{x}, func(b *graph.Definition, _, _ *graph.Tensor, c tensors) (*graph.Tensor, tensors) {
				return nil, tensors{b.Tanh(c[0])}
			})
		}),
		defined("scan from the end on", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			state := d.Weights("state", []float32{1, 2}, 2)
			return d.Named("scan").Scan(tensors{state}, tensors{x}, graph.ScanAttrs{InAxes: []int{1}, InBackwards: []bool{true}, OutAxes: []int{-1}, OutBackwards: []bool{true}},
				func(b *graph.Definition, s, e tensors) tensors {
					sum := b.Add(s[0], e[0])
					return tensors{sum, b.Exp(sum)}
				})
		}),
		defined("loop in a loop that stays", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return d.Named("outer").Loop(nil, flag, tensors{x}, func(b *graph.Definition, _, goes *graph.Tensor, c tensors) (*graph.Tensor, tensors) {
				y := b.Named("inner").Loop(integer(b, "trips", 2), nil, c, func(b *graph.Definition, _, _ *graph.Tensor, c tensors) (*graph.Tensor, tensors) {
					return nil, tensors{b.Tanh(c[0])}
				})
				return b.Xor(goes, goes), y
			})
		}),
	})
}

func TestTrimBodies(t *testing.T) {
	testPasses(t, []pass.Pass{simplify.TrimBodies, simplify.DeadShapes}, []passCase{
		defined("what does not change", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			w := d.Abs(x)
			return tensors{d.Named("loop").Loop(integer(d, "trips", 3), flag, tensors{x}, func(b *graph.Definition, _, _ *graph.Tensor, c tensors) (*graph.Tensor, tensors) {
				return nil, tensors{b.Mul(c[0], b.Neg(b.Exp(w)))}
			})[0]}
		}),
		defined("what nothing reads", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return tensors{d.Named("choice").If(flag, func(b *graph.Definition) tensors { return tensors{b.Neg(x), b.Exp(d.Named("abs").Abs(x))} },
				func(b *graph.Definition) tensors { return tensors{b.Abs(x), b.Neg(x)} })[0]}
		}),
		defined("gathered for nothing", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			return tensors{d.Named("scan").Scan(tensors{d.Weights("s", []float32{1, 2, 3}, 3)}, tensors{x}, graph.ScanAttrs{OutAxes: []int{0, 1}}, func(b *graph.Definition, s, e tensors) tensors {
				sum := b.Add(s[0], e[0])
				return tensors{sum, b.Exp(sum), b.Neg(sum)}
			})[2]}
		}),
	})
	testPasses(t, []pass.Pass{simplify.FoldConstants, simplify.TrimBodies}, []passCase{
		defined("constant", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
			w := d.Neg(d.Weights("w", []float32{1, 2, 3}, 3))
			return d.Named("choice").If(flag, func(b *graph.Definition) tensors { return tensors{b.Mul(x, b.Exp(w))} }, func(b *graph.Definition) tensors { return tensors{b.Add(x, w)} })
		}),
	})
}

// TestInsideBodies has passes work inside bodies, and their rules switched off there.
func TestInsideBodies(t *testing.T) {
	c := defined("inside", func(d *graph.Definition, x, flag *graph.Tensor) tensors {
		w := d.Weights("w", []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
		return d.Named("choice").If(flag,
			func(b *graph.Definition) tensors {
				return tensors{b.Named("relu").Relu(b.Named("product").MatMul(x, w))}
			},
			func(b *graph.Definition) tensors { return tensors{b.Mul(x, b.Neg(b.Weights("k", []float32{2}, 1)))} })
	})
	n := c.build(newNet(t, c.name))
	got, steps := runPass(t, n, Standard(), pass.Config{})
	sameMeaning(t, n, got, 1e-5)
	branches := got.Layer("choice").Bodies()
	if l := branches[0].Network.Layers; len(l) != 1 || l[0].Op != graph.Gemm || l[0].Epilogue.Args == 0 {
		t.Errorf("%s", got)
	}
	if counts := steps[len(steps)-1].Ledger.Counts(); counts.Total() != 5 || counts.Folded != 1 || counts.Fused != 2 {
		t.Errorf("%+v", counts)
	}
	site := pass.NewSite("fuse-activation", "choice/then/product", "choice/then/relu")
	got, steps = runPass(t, n, Standard(), pass.Config{DisableSites: []pass.Site{site}})
	sameMeaning(t, n, got, 1e-5)
	if l := got.Layer("choice").Bodies()[0].Network.Layers; len(l) != 2 {
		t.Errorf("%s", got)
	}
	found := false
	for _, s := range steps {
		for _, m := range s.Missed {
			found = found || m.Site.Equal(site) && m.Reason == pass.Disabled
		}
	}
	if !found {
		t.Errorf("no miss of %s", site)
	}
}
