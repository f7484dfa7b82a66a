package passes

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/recognise"
)

// rotaryNet writes rotary embeddings out: of 2 items, 4 heads, 6 places, 8 components.
type rotaryNet struct{ attnNet }

func (n rotaryNet) x() *graph.Tensor { return n.cut("x", 4, 0, 2, 1, 3) }

// table returns cosines or sines of 6 places and width components, of which component i has the angle of pair of(i).
func (n rotaryNet) table(f func(float64) float64, width int, of func(i int) int, dims ...int) *graph.Tensor {
	v := numeric.NewValue(numeric.F32, dims...)
	for i := range v.F32() {
		v.F32()[i] = float32(f(float64(i/width%6) * math.Pow(10, -float64(of(i%width))/2)))
	}
	return n.AddConst("angles", v)
}

// slice returns the components from start on, every step-th, before end.
func (n rotaryNet) slice(x *graph.Tensor, start, end, step int) *graph.Tensor {
	return n.add("Slice", graph.Slice, graph.SliceAttrs{Starts: []int{start}, Ends: []int{end}, Axes: []int{len(x.Dims) - 1}, Steps: []int{step}}, x)
}

func (n rotaryNet) concat(axis int, x ...*graph.Tensor) *graph.Tensor {
	return n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: axis}, x...)
}

// rotated returns x with its halves swapped and the first one negated.
func (n rotaryNet) rotated(x *graph.Tensor, width int) *graph.Tensor {
	return n.concat(3, n.op("Neg", elementwise.Neg, n.slice(x, width/2, width, 1)), n.slice(x, 0, width/2, 1))
}

func (n rotaryNet) sum(x, cos, rotated, sin *graph.Tensor) *graph.Tensor {
	return n.op("Add", elementwise.Add, n.op("Mul", elementwise.Mul, x, cos), n.op("Mul", elementwise.Mul, rotated, sin))
}

func halves(n int) func(i int) int { return func(i int) int { return i % (n / 2) } }
func twice(i int) int              { return i / 2 }
func own(i int) int                { return i }

// TestRecogniseRotary checks each way in which exporters spell a rotary embedding out, and what looks like one.
func TestRecogniseRotary(t *testing.T) {
	of := func(f func(n rotaryNet) *graph.Tensor) func(n *net) *graph.Network {
		return func(n *net) *graph.Network { return n.output(f(rotaryNet{attnNet{n}})) }
	}
	halved := func(cos, sin func(n rotaryNet) *graph.Tensor) func(n *net) *graph.Network {
		return of(func(n rotaryNet) *graph.Tensor {
			x := n.x()
			return n.sum(x, cos(n), n.rotated(x, 8), sin(n))
		})
	}
	cos := func(n rotaryNet) *graph.Tensor { return n.table(math.Cos, 8, halves(8), 1, 1, 6, 8) }
	sin := func(n rotaryNet) *graph.Tensor { return n.table(math.Sin, 8, halves(8), 1, 1, 6, 8) }
	testPass(t, recognise.Rotary, []passCase{
		{"halves", halved(cos, sin)},
		{"heads-behind-the-sequence", of(func(n rotaryNet) *graph.Tensor {
			x := n.reshape("Reshape", n.input("x", 2, 6, 32), 2, 6, 4, 8)
			return n.sum(x, n.table(math.Cos, 8, halves(8), 6, 1, 8), n.rotated(x, 8), n.table(math.Sin, 8, halves(8), 6, 1, 8))
		})},
		{"some-components", of(func(n rotaryNet) *graph.Tensor {
			x := n.input("x", 2, 4, 6, 8)
			turned := n.slice(x, 0, 4, 1)
			y := n.sum(turned, n.table(math.Cos, 4, halves(4), 6, 4), n.rotated(turned, 4), n.table(math.Sin, 4, halves(4), 6, 4))
			return n.concat(-1, y, n.slice(x, 4, 8, 1))
		})},
		{"a-value-for-each-pair", of(func(n rotaryNet) *graph.Tensor {
			x := n.input("x", 2, 4, 6, 8)
			a, b := n.slice(x, 0, 4, 1), n.slice(x, 4, 8, 1)
			c, s := n.table(math.Cos, 4, own, 6, 4), n.table(math.Sin, 4, own, 6, 4)
			mul := func(x, k *graph.Tensor) *graph.Tensor { return n.op("Mul", elementwise.Mul, x, k) }
			first := n.op("Sub", elementwise.Sub, mul(a, c), mul(b, s))
			return n.concat(-1, first, n.op("Add", elementwise.Add, mul(a, s), mul(b, c)))
		})},
		{"interleaved", of(func(n rotaryNet) *graph.Tensor {
			x := n.input("x", 2, 4, 6, 8)
			open := func(x *graph.Tensor) *graph.Tensor { return n.reshape("Open", x, 2, 4, 6, 4, 1) }
			odd, even := n.op("Neg", elementwise.Neg, n.slice(x, 1, 8, 2)), n.slice(x, 0, 8, 2)
			r := n.reshape("Flat", n.concat(4, open(odd), open(even)), 2, 4, 6, 8)
			return n.sum(x, n.table(math.Cos, 8, twice, 6, 8), r, n.table(math.Sin, 8, twice, 6, 8))
		})},
		{"complex", of(func(n rotaryNet) *graph.Tensor {
			x := n.reshape("Pairs", n.input("x", 2, 4, 6, 8), 2, 4, 6, 4, 2)
			part := func(i int64) *graph.Tensor {
				return n.add("Gather", graph.Gather, graph.GatherAttrs{Axis: 4}, x, n.ints(i))
			}
			c, s := n.table(math.Cos, 4, own, 1, 1, 6, 4, 1), n.table(math.Sin, 4, own, 1, 1, 6, 4, 1)
			mul := func(x, k *graph.Tensor) *graph.Tensor { return n.op("Mul", elementwise.Mul, x, k) }
			re := n.op("Sub", elementwise.Sub, mul(part(0), c), mul(part(1), s))
			im := n.op("Add", elementwise.Add, mul(part(0), s), mul(part(1), c))
			return n.reshape("Flat", n.concat(4, re, im), 2, 4, 6, 8)
		})},
		{"computed-angles", of(func(n rotaryNet) *graph.Tensor {
			f := n.input("frequencies", 2, 6, 4)
			f = n.concat(-1, f, f)
			open := func(name string, op elementwise.Op) *graph.Tensor {
				return n.reshape("Open", n.op(name, op, f), 2, 1, 6, 8)
			}
			x := n.input("x", 2, 4, 6, 8)
			return n.sum(x, open("Cos", elementwise.Cos), n.rotated(x, 8), open("Sin", elementwise.Sin))
		})},
		{"before-the-heads", of(func(n rotaryNet) *graph.Tensor {
			return n.add("Rotary", graph.Rotary, graph.RotaryAttrs{}, n.x(), n.table(math.Cos, 4, own, 1, 6, 4), n.table(math.Sin, 4, own, 1, 6, 4))
		})},
		{"before-the-repeated-heads", of(func(n rotaryNet) *graph.Tensor {
			x := n.repeated("x")
			return n.add("Rotary", graph.Rotary, graph.RotaryAttrs{}, x, n.table(math.Cos, 4, own, 1, 6, 4), n.table(math.Sin, 4, own, 1, 6, 4))
		})},
		{"turned-back", of(func(n rotaryNet) *graph.Tensor {
			x := n.x()
			return n.op("Sub", elementwise.Sub, n.op("Mul", elementwise.Mul, x, cos(n)), n.op("Mul", elementwise.Mul, n.rotated(x, 8), sin(n)))
		})},
		{"other-angles", halved(func(n rotaryNet) *graph.Tensor { return n.table(math.Cos, 8, own, 6, 8) }, sin)},
		{"angles-of-heads", halved(func(n rotaryNet) *graph.Tensor { return n.table(math.Cos, 8, halves(8), 4, 6, 8) }, sin)},
		{"sines-of-another-sequence", halved(cos, func(n rotaryNet) *graph.Tensor { return n.table(math.Sin, 8, halves(8), 1, 1, 1, 8) })},
		{"part-is-an-output", func(n *net) *graph.Network {
			m := rotaryNet{attnNet{n}}
			x := m.x()
			r := m.rotated(x, 8)
			return n.output(m.sum(x, cos(m), r, sin(m)), r)
		}},
	})
}

// repeated returns 2 heads that are repeated before they are turned, as Falcon's are.
func (n rotaryNet) repeated(name string) *graph.Tensor {
	x := n.reshape("Groups", n.input(name, 2, 6, 16), 2, 6, 2, 1, 8)
	x = n.add("Expand", graph.Expand, nil, x, n.ints(2, 6, 2, 2, 8))
	return n.transpose("Transpose", n.reshape("Heads", x, 2, 6, 4, 8), 0, 2, 1, 3)
}

// TestRepeatedBeforeAttention: keys that are repeated for groups of queries and turned then are turned once and read by each group.
func TestRepeatedBeforeAttention(t *testing.T) {
	n := rotaryNet{attnNet{newNet(t, "repeated")}}
	c, s := n.table(math.Cos, 8, halves(8), 6, 8), n.table(math.Sin, 8, halves(8), 6, 8)
	turned := func(x *graph.Tensor) *graph.Tensor { return n.sum(x, c, n.rotated(x, 8), s) }
	k := n.transpose("Transpose", turned(n.repeated("k")), 0, 1, 3, 2)
	src := n.output(n.joined(n.matmul(n.softmax(n.scaled(n.matmul(turned(n.x()), k))), n.repeated("v"))))
	got, _ := runPass(t, src, Standard(), pass.Config{})
	sameMeaning(t, src, got, 1e-5)
	if counts := opCounts(got); !equalCounts(counts, map[string]int{"RotaryEmbedding": 2, "Attention": 1}) {
		t.Errorf("layers %v in\n%s", counts, got)
	}
}

// An attention reads what embeddings make of projections, and cuts the heads.
func TestRotaryBeforeAttention(t *testing.T) {
	n := rotaryNet{attnNet{newNet(t, "rotary")}}
	c, s := n.table(math.Cos, 8, halves(8), 6, 8), n.table(math.Sin, 8, halves(8), 6, 8)
	turned := func(x *graph.Tensor) *graph.Tensor { return n.sum(x, c, n.rotated(x, 8), s) }
	k := n.transpose("Transpose", turned(n.cut("k", 4, 0, 2, 1, 3)), 0, 1, 3, 2)
	src := n.output(n.joined(n.matmul(n.softmax(n.scaled(n.matmul(turned(n.x()), k))), n.v())))
	got, _ := runPass(t, src, Standard(), pass.Config{})
	sameMeaning(t, src, got, 1e-5)
	if counts := opCounts(got); !equalCounts(counts, map[string]int{"RotaryEmbedding": 2, "Attention": 1}) {
		t.Errorf("layers %v in\n%s", counts, got)
	}
}
