package passes

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// written is a way to write attention down.
type written struct {
	heads, kvHeads    int
	scale, before     float64 // behind the product; in front of it on the queries
	mask, where       bool
	causal, triangle  float32 // of scores that a constant hides, added or selected
	twoTransposes     bool    // of the keys
	rotated, unjoined bool    // something lies between split and product; the result keeps its heads
	first             bool    // the mask is added before the scale
}

const queries, headSize = 5, 4

func (n *net) attention(w written) *graph.Tensor {
	x := n.input("x", 2, queries, w.heads*headSize)
	kv := n.input("kv", 2, queries, w.kvHeads*headSize)
	split := func(name string, t *graph.Tensor, heads int) *graph.Tensor {
		t = n.reshape(name+"_heads", t, 2, queries, int64(heads), headSize)
		if w.rotated {
			t = n.elt(name+"_turned", elementwise.Tanh, nil, t)
		}
		if group := w.heads / w.kvHeads; heads != w.heads {
			t = n.reshape(name+"_open", t, 2, queries, int64(heads), 1, headSize)
			t = n.add(name+"_expand", graph.Expand, nil, t, n.ints(2, queries, int64(heads), int64(group), headSize))
			t = n.reshape(name+"_repeated", t, 2, queries, int64(w.heads), headSize)
		}
		return t
	}
	q := n.transpose("Q", split("q", x, w.heads), 0, 2, 1, 3)
	if w.before != 0 {
		q = n.binary("Q_scaled", elementwise.Mul, q, n.scalar(float32(w.before)))
	}
	k := split("k", kv, w.kvHeads)
	if w.twoTransposes {
		k = n.transpose("K_T", n.transpose("K", k, 0, 2, 1, 3), 0, 1, 3, 2)
	} else {
		k = n.transpose("K", k, 0, 2, 3, 1)
	}
	v := n.transpose("V", split("v", kv, w.kvHeads), 0, 2, 1, 3)
	s := n.hidden(w, n.add("QK", graph.MatMul, nil, q, k))
	y := n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, s), v)
	if w.unjoined {
		return y
	}
	return n.reshape("Joined", n.transpose("Side", y, 0, 2, 1, 3), 2, queries, int64(w.heads*headSize))
}

// hidden scales and masks scores.
func (n *net) hidden(w written, s *graph.Tensor) *graph.Tensor {
	mask := func() {
		if w.mask {
			s = n.binary("Masked", elementwise.Add, n.input("mask", 2, 1, 1, queries), s)
		}
	}
	if w.first {
		mask()
	}
	if w.scale != 0 {
		s = n.binary("Scaled", elementwise.Div, s, n.scalar(float32(w.scale)))
	}
	if !w.first {
		mask()
	}
	add, chosen := make([]float32, queries*queries), make([]byte, queries*queries)
	for i := range add {
		if i%queries > i/queries {
			add[i] = w.causal
		} else {
			chosen[i] = 1
		}
	}
	switch {
	case w.where:
		c := n.AddConst("triangle", numeric.Value{Type: numeric.Bool, Dims: []int{1, 1, queries, queries}, Data: chosen})
		return n.elt("Chosen", elementwise.Select, nil, c, s, n.scalar(w.triangle))
	case w.causal != 0:
		return n.binary("Causal", elementwise.Add, s, n.AddConst("triangle", numeric.Values(numeric.F32, add, queries, queries)))
	}
	return s
}

// sunk is an attention with causal scores that have sinks beside them, of 4 heads and so many values.
func (n *net) sunk(sinks *graph.Tensor, values int) *graph.Tensor {
	q, k, v := n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries), n.input("v", 2, 4, values, headSize)
	s := n.hidden(written{scale: 2, causal: float32(math.Inf(-1))}, n.add("QK", graph.MatMul, nil, q, k))
	s = n.add("Joined_sinks", graph.Concat, graph.ConcatAttrs{Axis: 3}, s, sinks)
	high := n.add("Highest", graph.ReduceMax, graph.ReduceAttrs{Axes: []int{-1}, KeepDims: true}, s)
	p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, n.binary("Shifted", elementwise.Sub, s, high))
	if values == queries {
		p = n.cut("Dropped", p, 0, -1, 1)
	}
	return n.add("PV", graph.MatMul, nil, p, v)
}

// withPast returns queries of 2 items with 4 heads, and keys and values that some of earlier tokens come before.
func (n *net) withPast() (q, k, v *graph.Tensor) {
	rows := func(name, length string) *graph.Tensor {
		return n.AddInput(name, numeric.F32, symbolic.Const(2), symbolic.Const(4), symbolic.Symbol(length), symbolic.Const(headSize))
	}
	all := func(name string) *graph.Tensor {
		return n.add(name+"_all", graph.Concat, graph.ConcatAttrs{Axis: 2}, rows("past_"+name, "past"), rows(name, "fresh"))
	}
	return rows("q", "fresh"), all("k"), all("v")
}

// lowerTriangle is 1 where a key is not behind its query, and 0 elsewhere.
func lowerTriangle() numeric.Value {
	v := numeric.NewValue(numeric.F32, 1, 1, queries, queries)
	for i := range v.F32() {
		if i%queries <= i/queries {
			v.F32()[i] = 1
		}
	}
	return v
}

// blended is an attention whose scores are multiplied by m before rest is added or subtracted.
func (n *net) blended(m, rest *graph.Tensor, op elementwise.Op) *graph.Tensor {
	q, k, v := n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries), n.input("v", 2, 4, queries, headSize)
	s := n.binary("Kept", elementwise.Mul, n.add("QK", graph.MatMul, nil, q, k), m)
	return n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, n.binary("Masked", op, s, rest)), v)
}

// whereOfCasts is an attention whose scores stay where seen is true: they are multiplied by its cast, and what takes their place by that
// of what it is not. It may have as many queries as an extent that is open.
func (n *net) whereOfCasts(seen *graph.Tensor, fill float32, open ...symbolic.Dim) *graph.Tensor {
	real := func(name string, t *graph.Tensor) *graph.Tensor {
		return n.add(name, graph.Cast, graph.CastAttrs{To: numeric.F32}, t)
	}
	others := n.binary("Others", elementwise.Mul, real("NotSeen", n.elt("Hidden", elementwise.Not, nil, seen)), n.scalar(fill))
	if len(open) == 0 {
		return n.blended(real("IsSeen", seen), others, elementwise.Add)
	}
	in := func(name string) *graph.Tensor {
		return n.AddInput(name, numeric.F32, symbolic.Const(2), symbolic.Const(4), open[0], symbolic.Const(headSize))
	}
	s := n.binary("Kept", elementwise.Mul, n.add("QK", graph.MatMul, nil, in("q"), n.transpose("K_T", in("k"), 0, 1, 3, 2)), real("IsSeen", seen))
	return n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, n.binary("Masked", elementwise.Add, s, others)), in("v"))
}

func TestAttentionAsWritten(t *testing.T) {
	of := func(w written) func(n *net) *graph.Network {
		return func(n *net) *graph.Network { return n.output(n.attention(w)) }
	}
	inf := float32(math.Inf(-1))
	testPass(t, recognise.Attention, []passCase{
		{"masked", of(written{heads: 2, kvHeads: 2, scale: 2, mask: true})},
		{"scaled-before", of(written{heads: 2, kvHeads: 2, before: 0.5, twoTransposes: true})},
		{"causal", of(written{heads: 2, kvHeads: 2, scale: 2, causal: inf})},
		{"causal-finite", of(written{heads: 1, kvHeads: 1, causal: -1e4, mask: true})},
		{"selected", of(written{heads: 2, kvHeads: 2, scale: 2, where: true, triangle: -3e38})},
		{"shared-heads", of(written{heads: 4, kvHeads: 2, scale: 2})},
		{"shared-heads-turned", of(written{heads: 4, kvHeads: 2, rotated: true, causal: inf})},
		{"turned", of(written{heads: 2, kvHeads: 2, rotated: true})},
		{"not-joined", of(written{heads: 2, kvHeads: 2, unjoined: true})},
		{"no-triangle", of(written{heads: 2, kvHeads: 2, causal: -5})},
		{"mask-before-scale", of(written{heads: 2, kvHeads: 2, scale: 2, mask: true, first: true})},
		{"shapes-of-the-weights", func(n *net) *graph.Network {
			q, k, v := n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries), n.input("v", 2, 4, queries, headSize)
			p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, n.add("QK", graph.MatMul, nil, q, k))
			dims := n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.I64}, n.add("Shape", graph.ShapeOf, graph.ShapeAttrs{End: 4}, p))
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Reshape", graph.Reshape, graph.ReshapeAttrs{}, p, dims), v))
		}},
		{"shapes-of-the-weights-are-used", func(n *net) *graph.Network {
			q, k, v := n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries), n.input("v", 2, 4, queries, headSize)
			p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, n.add("QK", graph.MatMul, nil, q, k))
			return n.output(n.add("PV", graph.MatMul, nil, p, v), n.add("Shape", graph.ShapeOf, graph.ShapeAttrs{End: 4}, p))
		}},
		{"sinks", func(n *net) *graph.Network {
			return n.output(n.sunk(n.add("Spread", graph.Expand, nil, n.weights("sinks", -1, 1, 1, 4, 1, 1), n.ints(2, 4, queries, 1)), queries))
		}},
		{"sinks-folded", func(n *net) *graph.Network {
			own, all := n.weights("own", -1, 1, 4), n.weights("sinks", 0, 1, 2, 4, queries, 1)
			v, _ := own.Const()
			w, _ := all.Const()
			for i := range w.F32() {
				w.F32()[i] = v.F32()[i/queries%4]
			}
			return n.output(n.sunk(all, queries))
		}},
		{"sinks-of-rows", func(n *net) *graph.Network {
			return n.output(n.sunk(n.weights("sinks", -1, 1, 2, 4, queries, 1), queries))
		}},
		{"sinks-with-values", func(n *net) *graph.Network {
			return n.output(n.sunk(n.weights("sinks", -1, 1, 2, 4, queries, 1), queries+1))
		}},
		{"weights-are-used", func(n *net) *graph.Network {
			y := n.attention(written{heads: 2, kvHeads: 2})
			return n.output(y, n.elt("Exp", elementwise.Exp, nil, n.Layer("Softmax").Outputs[0]))
		}},
		{"mask-is-multiplied-and-added", func(n *net) *graph.Network {
			tri := n.AddConst("triangle", lowerTriangle())
			rest := n.binary("Rest", elementwise.Mul, n.binary("Others", elementwise.Sub, n.scalar(1), tri), n.scalar(-1e4))
			return n.output(n.blended(tri, rest, elementwise.Add))
		}},
		{"mask-is-multiplied-and-added-folded", func(n *net) *graph.Network {
			rest := lowerTriangle()
			for i, x := range rest.F32() {
				rest.F32()[i] = (1 - x) * 1e4
			}
			return n.output(n.blended(n.AddConst("triangle", lowerTriangle()), n.AddConst("rest", rest), elementwise.Sub))
		}},
		{"padding-is-multiplied-and-added", func(n *net) *graph.Network {
			m := n.add("Real", graph.Cast, graph.CastAttrs{To: numeric.F32}, n.binary("Seen", elementwise.Greater, n.input("tokens", 2, 1, 1, queries), n.scalar(0)))
			rest := n.binary("Rest", elementwise.Mul, n.binary("Others", elementwise.Sub, n.scalar(1), m), n.scalar(3e38))
			return n.output(n.blended(m, rest, elementwise.Sub))
		}},
		{"truth-is-cast-and-what-it-is-not", func(n *net) *graph.Network { // as tf2onnx writes a Where
			seen := n.binary("Seen", elementwise.Greater, n.input("tokens", 2, 1, 1, queries), n.scalar(0))
			return n.output(n.whereOfCasts(seen, -3e38))
		}},
		{"causal-by-counting", func(n *net) *graph.Network { // as tf2onnx writes a band of a matrix of an open text
			length := symbolic.Symbol("length")
			ids := n.AddInput("x", numeric.F32, length)
			rows := n.add("Length", graph.ShapeOf, graph.ShapeAttrs{End: 1}, ids)
			one := n.AddConst("one", numeric.Values(numeric.I64, []int64{1}))
			count := n.add("Count", graph.CumSum, graph.CumAttrs{Exclusive: true}, n.add("Ones", graph.Expand, nil, one, n.binary("Places", elementwise.Mul, rows, rows)))
			place := n.add("Place", graph.Reshape, graph.ReshapeAttrs{}, count, n.add("Square", graph.Concat, graph.ConcatAttrs{}, rows, rows))
			column := n.add("Mod", match.Ops().Named("Mod"), graph.Elementwise{Program: elementwise.FloorMod()}, place, rows)
			ahead := n.binary("Ahead", elementwise.Sub, column, n.binary("Div", elementwise.Div, place, rows))
			later := n.binary("Later", elementwise.Greater, ahead, n.AddConst("zero", numeric.Values(numeric.I64, []int64{0})))
			band := n.add("Band", graph.Cast, graph.CastAttrs{To: numeric.F32}, n.elt("Not", elementwise.Not, nil, later))
			seen := n.binary("Seen", elementwise.Greater, n.add("Wide", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{0, 1}}, band), n.scalar(0))
			return n.output(n.whereOfCasts(seen, -1e9, length))
		}},
		{"counted-along-another-axis", func(n *net) *graph.Network { // that only the input says: rows are counted, not columns, by 0
			one := n.AddConst("one", numeric.Values(numeric.I64, []int64{1}))
			ones := n.add("Ones", graph.Expand, nil, one, n.ints(1, 1, queries, queries))
			column := n.add("Column", graph.CumSum, graph.CumAttrs{Axis: 3}, ones)
			other := n.add("Other", graph.CumSum, graph.CumAttrs{Axis: 2}, ones, n.AddInput("axis", numeric.I64))
			gone := n.add("Later", graph.Cast, graph.CastAttrs{To: numeric.F32}, n.binary("Greater", elementwise.Greater, column, other))
			q, k, v := n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries), n.input("v", 2, 4, queries, headSize)
			s := n.binary("Masked", elementwise.Add, n.add("QK", graph.MatMul, nil, q, k), n.binary("Hidden", elementwise.Mul, gone, n.scalar(-1e9)))
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, s), v))
		}},
		{"mask-is-added-by-itself", func(n *net) *graph.Network { // 5 where scores stay
			tri := n.AddConst("triangle", lowerTriangle())
			return n.output(n.blended(tri, n.binary("Rest", elementwise.Sub, n.scalar(5), tri), elementwise.Sub))
		}},
		{"scores-are-multiplied", func(n *net) *graph.Network {
			return n.output(n.blended(n.input("gate", 2, 1, queries, queries), n.input("mask", 2, 1, 1, queries), elementwise.Add))
		}},
		{"scores-are-moved", func(n *net) *graph.Network {
			q, k, v := n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries), n.input("v", 2, 4, queries-1, headSize)
			s := n.cut("Window", n.add("QK", graph.MatMul, nil, q, k), 1, queries, 1)
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, s), v))
		}},
		{"weights-are-moved", func(n *net) *graph.Network {
			q, k, v := n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries), n.input("v", 2, 4, queries-1, headSize)
			p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, n.add("QK", graph.MatMul, nil, q, k))
			return n.output(n.add("PV", graph.MatMul, nil, n.cut("Window", p, 1, queries, 1), v))
		}},
		{"normalised-behind-the-heads", func(n *net) *graph.Network { // of the values alone heads can be cut at once
			split := func(name string, heads int64) *graph.Tensor {
				x := n.reshape(name+"_heads", n.input(name, 2, queries, int(heads)*headSize), 2, queries, heads, headSize)
				return n.transpose(name+"_turned", x, 0, 2, 1, 3)
			}
			norm := func(name string, x *graph.Tensor) *graph.Tensor {
				return n.add(name+"_norm", graph.RMSNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-6}, x, n.weights(name+"_scale", .5, 2, headSize))
			}
			repeat := func(name string, x *graph.Tensor) *graph.Tensor {
				rows := n.add(name+"_rows", graph.ShapeOf, graph.ShapeAttrs{Start: 2, End: 4}, x)
				shape := n.add(name+"_shape", graph.Concat, graph.ConcatAttrs{}, n.ints(2, 2, 2), rows)
				x = n.add(name+"_expand", graph.Expand, nil, n.reshape(name+"_open", x, 2, 2, 1, queries, headSize), shape)
				return n.reshape(name+"_repeated", x, 2, 4, queries, headSize)
			}
			q, k := norm("Q", split("Q", 4)), norm("K", split("K", 2))
			s := n.add("QK", graph.MatMul, nil, q, n.transpose("K_T", repeat("K", k), 0, 1, 3, 2))
			y := n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, s), repeat("V", split("V", 2)))
			return n.output(n.reshape("Joined", n.transpose("Side", y, 0, 2, 1, 3), 2, queries, 4*headSize))
		}},
		{"blocks-of-an-open-text", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("sequence"), symbolic.Const(4), symbolic.Const(2), symbolic.Const(8))
			s := n.add("QK", graph.MatMul, nil, n.transpose("Q", x, 0, 1, 3, 2, 4), n.transpose("K", x, 0, 1, 3, 4, 2))
			y := n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, s), n.transpose("V", x, 0, 1, 3, 2, 4))
			return n.output(n.reshape("Joined", n.transpose("Side", y, 0, 1, 3, 2, 4), 0, -1, 16))
		}},
		{"windows-of-an-open-batch", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(8), symbolic.Const(queries), symbolic.Const(headSize))
			q := n.reshape("Q", x, -1, 2, queries, headSize)
			s := n.reshape("Windows", n.add("QK", graph.MatMul, nil, q, n.transpose("K", q, 0, 1, 3, 2)), -1, 4, 2, queries, queries)
			s = n.binary("Masked", elementwise.Add, s, n.weights("mask", -1, 1, 1, 4, 1, queries, queries))
			p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, n.reshape("All", s, -1, 2, queries, queries))
			return n.output(n.add("PV", graph.MatMul, nil, p, q))
		}},
		{"mask-of-each-head-and-a-past", func(n *net) *graph.Network { // whose extent is that of all keys, as only data say
			q, k, v := n.withPast()
			s := n.add("QK", graph.MatMul, nil, n.reshape("Q", q, 8, -1, headSize), n.transpose("K_T", n.reshape("K", k, 8, -1, headSize), 0, 2, 1))
			mask := n.AddInput("mask", numeric.F32, symbolic.Const(2), symbolic.Const(4), symbolic.Symbol("sequence"))
			s = n.binary("Masked", elementwise.Add, s, n.reshape("Slopes", mask, 8, 1, -1))
			p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, s)
			y := n.reshape("Heads", n.add("PV", graph.MatMul, nil, p, n.reshape("V", v, 8, -1, headSize)), 2, 4, -1, headSize)
			return n.output(n.reshape("Joined", n.transpose("Side", y, 0, 2, 1, 3), 2, -1, 4*headSize))
		}},
		{"rows-of-a-table-behind-a-past", func(n *net) *graph.Network { // max(min(past+fresh, 8)-past, 0) of them
			q, k, v := n.withPast()
			table := numeric.NewValue(numeric.Bool, 1, 1, 8, 8)
			for i := range table.Data {
				if i%8 <= i/8 {
					table.Data[i] = 1
				}
			}
			extent := func(name string, t *graph.Tensor) *graph.Tensor {
				return n.add(name, graph.ShapeOf, graph.ShapeAttrs{Start: 2, End: 3}, t)
			}
			past, all := extent("Past", n.Tensor("past_k")), extent("All", k)
			rows := n.add("Rows", graph.Slice, graph.SliceAttrs{}, n.AddConst("table", table), past, all, n.AddConst("rows", numeric.Values(numeric.I64, []int64{2})))
			seen := n.add("Columns", graph.Slice, graph.SliceAttrs{}, rows, n.AddConst("first", numeric.Values(numeric.I64, []int64{0})), all,
				n.AddConst("columns", numeric.Values(numeric.I64, []int64{3})))
			s := n.add("QK", graph.MatMul, nil, q, n.transpose("K_T", k, 0, 1, 3, 2))
			s = n.elt("Masked", elementwise.Select, nil, seen, s, n.scalar(-math.MaxFloat32))
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, s), v))
		}},
		{"scaled-by-a-number-of-the-program", func(n *net) *graph.Network { // as a FusedMatMul is imported
			half := elementwise.Program{Args: 1, Code: []elementwise.Instr{{Op: elementwise.Const, Imm: [2]float32{0.5}}, {Op: elementwise.Mul, Arg: [3]int{0, 1}}}}
			s := n.add("Scaled", graph.Pointwise, graph.Elementwise{Program: half}, n.add("QK", graph.MatMul, nil, n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries)))
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, s), n.input("v", 2, 4, queries, headSize)))
		}},
		{"masked-scores-are-bounded", func(n *net) *graph.Network { // as of XGLM; -Inf in a whole row would be no number
			s := n.binary("Masked", elementwise.Add, n.add("QK", graph.MatMul, nil, n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries)), n.input("mask", 2, 1, 1, queries))
			s = n.reshape("Flat", n.binary("Bounded", elementwise.Max, s, n.scalar(-math.MaxFloat32)), 8, queries, queries)
			y := n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, s), n.reshape("V", n.input("v", 2, 4, queries, headSize), 8, queries, headSize))
			return n.output(n.reshape("Heads", y, 2, 4, queries, headSize))
		}},
		{"causal-scores-are-bounded", func(n *net) *graph.Network {
			s := n.hidden(written{scale: 2, causal: -math.MaxFloat32}, n.add("QK", graph.MatMul, nil, n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries)))
			p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, n.binary("Bounded", elementwise.Max, n.scalar(-math.MaxFloat32), s))
			return n.output(n.add("PV", graph.MatMul, nil, p, n.input("v", 2, 4, queries, headSize)))
		}},
		{"scores-are-bounded-by-more", func(n *net) *graph.Network {
			s := n.add("QK", graph.MatMul, nil, n.input("q", 2, 4, queries, headSize), n.input("k", 2, 4, headSize, queries))
			p := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, n.binary("Bounded", elementwise.Max, s, n.scalar(-1)))
			return n.output(n.add("PV", graph.MatMul, nil, p, n.input("v", 2, 4, queries, headSize)))
		}},
		{"mask-of-more-items", func(n *net) *graph.Network {
			s := n.add("QK", graph.MatMul, nil, n.input("q", 1, 4, queries, headSize), n.input("k", 1, 4, headSize, queries))
			s = n.binary("Masked", elementwise.Add, s, n.input("mask", 2, 1, 1, queries))
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, s), n.input("v", 2, 4, queries, headSize)))
		}},
		{"heads-with-batch", func(n *net) *graph.Network {
			s := n.add("QK", graph.MatMul, nil, n.input("q", 4, 5, 3), n.transpose("K", n.input("k", 4, 5, 3), 0, 2, 1))
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, s), n.input("v", 4, 5, 3)))
		}},
	})
}

// Every form is found, and nothing of it is left but the attention and what it reads.
func TestAttentionIsWhole(t *testing.T) {
	for _, w := range []written{{heads: 2, kvHeads: 2, scale: 2, mask: true}, {heads: 4, kvHeads: 2, before: 0.5, causal: -1e9, twoTransposes: true}} {
		n := newNet(t, "whole")
		out, _, err := Run(t.Context(), n.output(n.attention(w)), Standard(), pass.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var ops []string
		for _, l := range out.Layers {
			ops = append(ops, l.Op.Name)
		}
		if !slices.Equal(ops, []string{"Attention"}) {
			t.Errorf("%+v leaves %v", w, ops)
		}
	}
}
