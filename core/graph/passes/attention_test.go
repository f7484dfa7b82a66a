package passes

import (
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/recognise"
)

// attnNet writes attention out: of 2 items, 6 queries, 4 heads of 8.
type attnNet struct{ *net }

func (n attnNet) op(name string, op elementwise.Op, x ...*graph.Tensor) *graph.Tensor {
	return n.elt(name, op, nil, x...)
}

func (n attnNet) matmul(a, b *graph.Tensor) *graph.Tensor {
	return n.add("MatMul", graph.MatMul, nil, a, b)
}

func (n attnNet) softmax(x *graph.Tensor) *graph.Tensor {
	return n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, x)
}

// cut returns a projection [2, 6, heads*8] with its heads in an axis of their own, in the order of perm.
func (n attnNet) cut(name string, heads int64, perm ...int) *graph.Tensor {
	x := n.input(name, 2, 6, int(heads)*8)
	return n.transpose("Transpose", n.reshape("Reshape", x, 2, 6, heads, 8), perm...)
}

func (n attnNet) q() *graph.Tensor { return n.cut("q", 4, 0, 2, 1, 3) }
func (n attnNet) k() *graph.Tensor { return n.cut("k", 4, 0, 2, 3, 1) }
func (n attnNet) v() *graph.Tensor { return n.cut("v", 4, 0, 2, 1, 3) }

func (n attnNet) scaled(s *graph.Tensor) *graph.Tensor {
	return n.op("Mul", elementwise.Mul, s, n.scalar(float32(1/math.Sqrt(8))))
}

// joined returns [2, 4, 6, 8] as [2, 6, 32].
func (n attnNet) joined(y *graph.Tensor) *graph.Tensor {
	return n.reshape("Reshape", n.transpose("Transpose", y, 0, 2, 1, 3), 2, 6, 32)
}

// triangle returns a constant [6, 6], low on and below the diagonal and high above it.
func (n attnNet) triangle(low, high float32) *graph.Tensor {
	v := numeric.NewValue(numeric.F32, 6, 6)
	for i := range v.F32() {
		if v.F32()[i] = low; i%6 > i/6 {
			v.F32()[i] = high
		}
	}
	return n.AddConst("triangle", v)
}

func (n attnNet) causal() *graph.Tensor {
	v := numeric.NewValue(numeric.Bool, 6, 6)
	for i := range v.Data {
		if i%6 <= i/6 {
			v.Data[i] = 1
		}
	}
	return n.AddConst("causal", v)
}

func (n attnNet) where(c, x, y *graph.Tensor) *graph.Tensor {
	return n.op("Where", elementwise.Select, c, x, y)
}

// plain returns attention of scores that f makes of the scaled products.
func (n attnNet) plain(f func(s *graph.Tensor) *graph.Tensor) *graph.Tensor {
	return n.joined(n.matmul(n.softmax(f(n.scaled(n.matmul(n.q(), n.k())))), n.v()))
}

var inf = float32(math.Inf(-1))

// TestRecogniseAttention checks each way in which exporters spell attention out, and what looks like one.
func TestRecogniseAttention(t *testing.T) {
	full := graph.AttentionAttrs{Heads: 4, KVHeads: 4, Scale: float32(1 / math.Sqrt(8))}
	causal, grouped, capped, single := full, full, full, full
	causal.Causal, grouped.KVHeads, capped.Softcap, single.Heads, single.KVHeads = true, 2, 20, 1, 1
	for _, c := range []struct {
		name   string
		want   graph.AttentionAttrs // of the only layer that is no view; the zero value if there are several
		inputs int
		build  func(n attnNet) *graph.Tensor
	}{
		{"plain", full, 3, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor { return s })
		}},
		{"divided", full, 3, func(n attnNet) *graph.Tensor {
			s := n.op("Div", elementwise.Div, n.matmul(n.q(), n.k()), n.scalar(float32(math.Sqrt(8))))
			return n.joined(n.matmul(n.softmax(s), n.v()))
		}},
		{"scaled before, half of it each", full, 3, func(n attnNet) *graph.Tensor {
			half := n.scalar(float32(math.Pow(8, -.25)))
			x := n.input("q", 2, 6, 32)
			q := n.transpose("Transpose", n.reshape("Reshape", n.op("Mul", elementwise.Mul, x, half), 2, 6, 4, 8), 0, 2, 1, 3)
			return n.joined(n.matmul(n.softmax(n.matmul(q, n.op("Mul", elementwise.Mul, half, n.k()))), n.v()))
		}},
		{"keys transposed twice", full, 3, func(n attnNet) *graph.Tensor {
			k := n.reshape("Reshape", n.cut("k", 4, 0, 2, 1, 3), 8, 6, 8)
			k = n.reshape("Reshape", n.transpose("Transpose", k, 0, 2, 1), 2, 4, 8, 6)
			return n.joined(n.matmul(n.softmax(n.scaled(n.matmul(n.q(), k))), n.v()))
		}},
		{"batch and heads in one axis", full, 4, func(n attnNet) *graph.Tensor {
			q := n.reshape("Reshape", n.q(), 8, 6, 8)
			k := n.reshape("Reshape", n.k(), 8, 8, 6)
			s := n.reshape("Reshape", n.scaled(n.matmul(q, k)), 2, 4, 6, 6)
			s = n.op("Add", elementwise.Add, s, n.input("mask", 2, 1, 1, 6))
			p := n.reshape("Reshape", n.softmax(n.reshape("Reshape", s, 8, 6, 6)), 8, 6, 6)
			y := n.matmul(p, n.reshape("Reshape", n.v(), 8, 6, 8))
			return n.joined(n.reshape("Reshape", y, 2, 4, 6, 8))
		}},
		{"batch and heads in one axis behind the softmax", full, 3, func(n attnNet) *graph.Tensor { // as tf2onnx writes an einsum
			p := n.reshape("Reshape", n.reshape("Reshape", n.softmax(n.scaled(n.matmul(n.q(), n.k()))), 2, 4, 6, 1, 6), 8, 6, 6)
			y := n.reshape("Reshape", n.matmul(p, n.reshape("Reshape", n.v(), 8, 6, 8)), 2, 4, 6, 8)
			return n.joined(y)
		}},
		{"rows joined behind the softmax", graph.AttentionAttrs{}, 0, func(n attnNet) *graph.Tensor {
			p := n.reshape("Reshape", n.softmax(n.scaled(n.matmul(n.q(), n.k()))), 2, 4, 1, 36)
			return n.matmul(p, n.input("values", 2, 4, 36, 8))
		}},
		{"one head", single, 3, func(n attnNet) *graph.Tensor {
			k := n.transpose("Transpose", n.input("k", 2, 5, 8), 0, 2, 1)
			return n.matmul(n.softmax(n.scaled(n.matmul(n.input("q", 2, 6, 8), k))), n.input("v", 2, 5, 8))
		}},
		{"heads that are not cut", full, 3, func(n attnNet) *graph.Tensor {
			k := n.transpose("Transpose", n.input("k", 2, 4, 5, 8), 0, 1, 3, 2)
			return n.matmul(n.softmax(n.scaled(n.matmul(n.input("q", 2, 4, 6, 8), k))), n.input("v", 2, 4, 5, 3))
		}},
		{"groups", grouped, 3, func(n attnNet) *graph.Tensor {
			repeat := func(x *graph.Tensor) *graph.Tensor {
				x = n.add("Expand", graph.Expand, nil, n.reshape("Reshape", x, 2, 2, 1, 6, 8), n.ints(2, 2, 2, 6, 8))
				return n.reshape("Reshape", x, 2, 4, 6, 8)
			}
			k := n.transpose("Transpose", repeat(n.cut("k", 2, 0, 2, 1, 3)), 0, 1, 3, 2)
			return n.joined(n.matmul(n.softmax(n.scaled(n.matmul(n.q(), k))), repeat(n.cut("v", 2, 0, 2, 1, 3))))
		}},
		{"mask", full, 4, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				return n.op("Add", elementwise.Add, n.input("mask", 2, 1, 1, 6), s)
			})
		}},
		{"causal by constants", causal, 3, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor { return n.op("Add", elementwise.Add, s, n.triangle(0, -10000)) })
		}},
		{"causal by choice", causal, 3, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor { return n.where(n.causal(), s, n.scalar(inf)) })
		}},
		{"bias and causal", full, 4, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor { return n.op("Add", elementwise.Add, s, n.triangle(1, inf)) })
		}},
		{"what is hidden is small", full, 4, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor { return n.op("Add", elementwise.Add, s, n.triangle(0, -100)) })
		}},
		{"bounded", capped, 3, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				s = n.op("Tanh", elementwise.Tanh, n.op("Div", elementwise.Div, s, n.scalar(20)))
				return n.op("Mul", elementwise.Mul, s, n.scalar(20))
			})
		}},
		{"scaled head by head", graph.AttentionAttrs{Heads: 4, KVHeads: 4, Scale: 1}, 4, func(n attnNet) *graph.Tensor {
			heads := n.AddConst("heads", numeric.Values(numeric.F32, []float32{1, 2, .5, 3}, 4, 1, 1))
			s := n.op("Mul", elementwise.Mul, n.matmul(n.input("q", 2, 4, 6, 8), n.input("k", 2, 4, 8, 5)), heads)
			s = n.op("Add", elementwise.Add, s, n.input("mask", 2, 1, 1, 5))
			return n.matmul(n.softmax(s), n.input("v", 2, 4, 5, 8))
		}},
		{"divided row by row", full, 3, func(n attnNet) *graph.Tensor {
			s := n.op("Div", elementwise.Div, n.matmul(n.input("q", 2, 4, 6, 8), n.k()), n.input("rows", 2, 1, 6, 1))
			return n.matmul(n.softmax(n.scaled(s)), n.input("v", 2, 4, 6, 8))
		}},
		{"positions by rows and columns", full, 4, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				x := n.reshape("Reshape", s, 8, 2, 3, 2, 3)
				x = n.op("Add", elementwise.Add, n.op("Add", elementwise.Add, x, n.input("rows", 8, 2, 3, 2, 1)), n.input("columns", 8, 2, 3, 1, 3))
				return n.reshape("Reshape", x, 2, 4, 6, 6)
			})
		}},
		{"windows", graph.AttentionAttrs{Heads: 2, KVHeads: 2, Scale: 1}, 4, func(n attnNet) *graph.Tensor {
			s := n.matmul(n.input("q", 8, 2, 6, 8), n.input("k", 8, 2, 8, 6))
			s = n.op("Add", elementwise.Add, n.reshape("Reshape", s, 2, 4, 2, 6, 6), n.input("mask", 1, 4, 1, 6, 6))
			return n.matmul(n.softmax(n.reshape("Reshape", s, 8, 2, 6, 6)), n.input("v", 8, 2, 6, 8))
		}},
		{"chosen by rows and columns", full, 4, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				seen := n.AddConst("seen", numeric.Values(numeric.Bool, []uint8{1, 0, 1, 0, 1, 1}, 2, 3))
				x := n.where(seen, n.reshape("Reshape", s, 8, 2, 3, 2, 3), n.scalar(inf))
				return n.reshape("Reshape", x, 2, 4, 6, 6)
			})
		}},
		{"positions by rows alone, and a mask", full, 4, func(n attnNet) *graph.Tensor {
			return n.plain(func(s *graph.Tensor) *graph.Tensor {
				x := n.op("Add", elementwise.Add, n.input("rows", 2, 3, 2, 1), n.reshape("Reshape", s, 8, 2, 3, 2, 3))
				return n.op("Add", elementwise.Add, n.reshape("Reshape", x, 2, 4, 6, 6), n.input("mask", 2, 1, 1, 6))
			})
		}},
		{"softmax of queries", graph.AttentionAttrs{}, 0, func(n attnNet) *graph.Tensor {
			s := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 2}, n.scaled(n.matmul(n.q(), n.k())))
			return n.joined(n.matmul(s, n.v()))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := attnNet{newNet(t, c.name)}
			src := n.output(c.build(n))
			got, _ := runPass(t, src, []pass.Pass{recognise.Attention}, pass.Config{})
			sameMeaning(t, src, got, 1e-5)
			var attrs graph.AttentionAttrs
			var inputs int
			for _, l := range got.Layers {
				if l.Op == graph.Attention {
					attrs, inputs = l.Attrs.(graph.AttentionAttrs), len(l.Inputs)
				} else if c.inputs > 0 && l.Op.Memory != graph.Viewed && !made(l) {
					t.Errorf("%s is left", l)
				}
			}
			if math.Abs(float64(attrs.Scale-c.want.Scale)) < 1e-6 {
				attrs.Scale = c.want.Scale
			}
			if attrs != c.want || inputs != c.inputs {
				t.Errorf("got %+v of %d inputs, want %+v of %d:\n%s", attrs, inputs, c.want, c.inputs, got)
			}
		})
	}
}

// made reports whether a recognised attention reads what l computes: its mask, its queries by a factor, or its keys.
func made(l *graph.Layer) bool {
	for _, suffix := range []string{"_sum", "_expanded", "_queries", "_turned", "_times"} {
		if strings.HasSuffix(l.Name, suffix) {
			return true
		}
	}
	return false
}

// TestRecogniseAttentionReports checks what is said of attention that fits and of near misses.
func TestRecogniseAttentionReports(t *testing.T) {
	testPass(t, recognise.Attention, []passCase{
		{"mask-and-output", func(n *net) *graph.Network {
			a := attnNet{n}
			return n.output(a.plain(func(s *graph.Tensor) *graph.Tensor {
				return a.op("Add", elementwise.Add, s, n.input("mask", 1, 1, 6, 6))
			}))
		}},
		{"scores-are-an-output", func(n *net) *graph.Network {
			a := attnNet{n}
			s := a.scaled(a.matmul(a.q(), a.k()))
			return n.output(a.joined(a.matmul(a.softmax(s), a.v())), s)
		}},
		{"weights-used-twice", func(n *net) *graph.Network {
			a := attnNet{n}
			p := a.softmax(a.matmul(a.q(), a.k()))
			return n.output(a.joined(a.matmul(p, a.v())), n.relu("Relu", p))
		}},
		{"keys-are-an-output", func(n *net) *graph.Network {
			a := attnNet{n}
			k := a.cut("k", 4, 0, 2, 1, 3)
			return n.output(a.joined(a.matmul(a.softmax(a.matmul(a.q(), n.transpose("T", k, 0, 1, 3, 2))), a.v())), k)
		}},
		{"mask-is-scaled", func(n *net) *graph.Network {
			a := attnNet{n}
			return n.output(a.plain(func(s *graph.Tensor) *graph.Tensor {
				return a.op("Mul_2", elementwise.Mul, a.op("Add", elementwise.Add, s, n.input("mask", 1, 1, 6, 6)), n.scalar(2))
			}))
		}},
		{"causal-mask-is-scaled", func(n *net) *graph.Network {
			a := attnNet{n}
			s := a.op("Sub", elementwise.Sub, a.matmul(a.q(), a.k()), a.triangle(0, float32(math.Inf(1))))
			return n.output(a.joined(a.matmul(a.softmax(a.scaled(s)), a.v())))
		}},
		{"selected-mask-is-scaled", func(n *net) *graph.Network {
			a := attnNet{n}
			s := a.where(a.causal(), a.matmul(a.q(), a.k()), n.scalar(-3e38))
			return n.output(a.joined(a.matmul(a.softmax(a.scaled(s)), a.v())))
		}},
		{"windows", func(n *net) *graph.Network { // of 2 items with 4 heads of 3 windows with 6 places each
			a := attnNet{n}
			cut := func(name string, perm ...int) *graph.Tensor {
				return n.transpose("Transpose", n.reshape("Reshape", n.input(name, 2, 18, 32), 2, 3, 6, 4, 8), perm...)
			}
			s := a.scaled(a.matmul(cut("q", 0, 3, 1, 2, 4), cut("k", 0, 3, 1, 4, 2)))
			s = a.op("Add", elementwise.Add, s, n.input("mask", 2, 1, 3, 1, 6))
			y := a.matmul(a.softmax(s), cut("v", 0, 3, 1, 2, 4))
			return n.output(n.reshape("Reshape", n.transpose("Transpose", y, 0, 2, 3, 1, 4), 2, 18, 32))
		}},
		{"positions-by-rows-and-columns", func(n *net) *graph.Network {
			a := attnNet{n}
			return n.output(a.plain(func(s *graph.Tensor) *graph.Tensor {
				x := n.reshape("Cut", s, 8, 2, 3, 2, 3)
				x = a.op("Add_rows", elementwise.Add, x, n.input("rows", 8, 2, 3, 2, 1))
				x = a.op("Add_columns", elementwise.Add, x, n.input("columns", 8, 2, 3, 1, 3))
				return n.reshape("Join", x, 2, 4, 6, 6)
			}))
		}},
		{"softmax-of-other-rows", func(n *net) *graph.Network {
			a := attnNet{n}
			s := n.reshape("Join", a.matmul(a.q(), a.k()), 2, 4, 4, 9)
			return n.output(a.matmul(a.softmax(s), n.input("v", 2, 4, 9, 8)))
		}},
		{"factors-of-other-rows", func(n *net) *graph.Network {
			a := attnNet{n}
			return n.output(a.plain(func(s *graph.Tensor) *graph.Tensor {
				x := a.op("Scale", elementwise.Mul, n.reshape("Cut", s, 8, 2, 3, 2, 3), n.input("rows", 8, 2, 3, 2, 1))
				return n.reshape("Join", x, 2, 4, 6, 6)
			}))
		}},
		{"heads-repeated-as-a-whole", func(n *net) *graph.Network {
			a := attnNet{n}
			x := n.add("Tile", graph.Tile, graph.TileAttrs{Repeats: []int{1, 2, 1, 1, 1}}, n.reshape("Reshape", a.cut("k", 2, 0, 2, 3, 1), 2, 1, 2, 8, 6))
			return n.output(a.joined(a.matmul(a.softmax(a.matmul(a.q(), n.reshape("Reshape", x, 2, 4, 8, 6))), a.v())))
		}},
		{"of-the-model", func(n *net) *graph.Network { // the op, with heads cut beside it
			a := attnNet{n}
			repeated := func(name string) *graph.Tensor {
				x := n.add("Expand", graph.Expand, nil, n.reshape("Reshape", n.input(name, 2, 6, 16), 2, 6, 2, 1, 8), n.ints(2, 6, 2, 2, 8))
				return n.reshape("Reshape", n.transpose("Transpose", x, 0, 2, 3, 1, 4), 2, 4, 6, 8)
			}
			q := a.op("Mul", elementwise.Mul, a.q(), n.scalar(0.5))
			y := n.add("Attention", graph.Attention, graph.AttentionAttrs{Scale: 2}, q, repeated("k"), repeated("v"), a.causal())
			return n.output(a.joined(y))
		}},
		{"masks-of-the-model", func(n *net) *graph.Network {
			a := attnNet{n}
			of := func(queries int, mask *graph.Tensor) *graph.Tensor {
				at := graph.AttentionAttrs{Heads: 4, KVHeads: 4}
				return n.add("Attention", graph.Attention, at, n.input("q", 2, queries, 32), n.input("k", 2, 6, 32), n.input("v", 2, 6, 32), mask)
			}
			zero := n.AddConst("zero", numeric.NewValue(numeric.F32, 1, 1, 6))
			short := n.AddConst("short", numeric.NewValue(numeric.F32, 1, 5))
			return n.output(of(6, a.triangle(0, inf)), of(6, a.triangle(-1, inf)), of(3, zero), of(6, short))
		}},
		{"padding-of-the-model", func(n *net) *graph.Network { // And what is causal, in the mask of the op
			a := attnNet{n}
			at := graph.AttentionAttrs{Heads: 4, KVHeads: 4}
			seen := a.op("And", elementwise.And, a.causal(), a.tokens())
			return n.output(n.add("Attention", graph.Attention, at, n.input("q", 2, 6, 32), n.input("k", 2, 6, 32), n.input("v", 2, 6, 32), seen))
		}},
		{"gathers-by-place", func(n *net) *graph.Network {
			place := func(name string, axis, extent int) *graph.Tensor {
				v := numeric.NewValue(numeric.I64, 2, 1, 1, 6, 1)
				for i := range v.I64() {
					v.I64()[i] = int64([]int{i / 6, i % 6}[axis] % extent)
				}
				return n.AddConst(name, v)
			}
			gathered := func(name string, x *graph.Tensor, i ...*graph.Tensor) *graph.Tensor {
				return n.add(name, graph.GatherND, graph.GatherNDAttrs{}, x, n.add(name+"_at", graph.Concat, graph.ConcatAttrs{Axis: -1}, i...))
			}
			x, square := n.input("x", 2, 6), n.input("square", 6, 6)
			rows, columns := place("rows", 0, 2), place("columns", 1, 6)
			return n.output(gathered("all", x, rows, columns), gathered("some", square, rows, columns), gathered("turned", square, columns, rows),
				gathered("again", n.input("short", 2, 3), rows, place("thirds", 1, 3)),
				n.add("by-constants", graph.GatherND, graph.GatherNDAttrs{}, x, n.AddConst("tuples", numeric.Values(numeric.I64,
					[]int64{0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 0, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5}, 2, 1, 6, 2))),
				n.add("back", graph.GatherND, graph.GatherNDAttrs{}, x, n.AddConst("reverse", numeric.Values(numeric.I64, []int64{1, 0, 0, 0}, 2, 2))))
		}},
		{"five-dims", func(n *net) *graph.Network {
			a := attnNet{n}
			q, k := n.input("q", 2, 2, 2, 6, 8), n.input("k", 2, 2, 1, 8, 6)
			return n.output(a.matmul(a.softmax(a.matmul(q, k)), n.input("v", 2, 2, 1, 6, 8)))
		}},
	})
}
