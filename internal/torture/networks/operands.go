package networks

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/reduce"
)

// extent returns one of the odd extents, 0 seldom.
func (g *generator) extent() int {
	if g.rnd.IntN(60) == 0 {
		return 0
	}
	return extents[g.rnd.IntN(len(extents))]
}

// shape returns odd extents of a small number of elements, or seldom one that is long beside others of 1 to 3: kernels cut it into strips.
func (g *generator) shape(rank int) []int {
	dims := make([]int, rank)
	count := 1
	if rank > 0 && g.rnd.IntN(12) == 0 {
		for i := range dims {
			dims[i] = max(1, g.rnd.IntN(12)-8)
			count *= dims[i]
		}
		long := g.rnd.IntN(rank)
		count /= dims[long]
		dims[long] = 1 + g.rnd.IntN(maxElements/3/count)
		return dims
	}
	for _, i := range g.rnd.Perm(rank) {
		dims[i] = g.extent()
		for dims[i]*count > maxElements/3 {
			dims[i] = (dims[i] + 1) / 2
		}
		count *= max(1, dims[i])
	}
	return dims
}

// rank returns a number of axes between two bounds, 4 and 2 more often than others.
func (g *generator) rank(low, high int) int {
	r := []int{0, 1, 2, 2, 3, 3, 4, 4, 4, 5}[g.rnd.IntN(10)]
	return min(high, max(low, r))
}

// pick returns a tensor that fits, recent ones more often; seldom, and where none fits, a new input of the type with a
// number of axes between the bounds.
func (g *generator) pick(t numeric.DataType, low, high int) tensor {
	return g.pickWhere(t, low, high, func(tensor) bool { return true })
}

func (g *generator) pickWhere(t numeric.DataType, low, high int, fits func(tensor) bool) tensor {
	if g.rnd.IntN(10) > 0 {
		var list []tensor
		for _, x := range g.pool {
			if x.Type == t && len(x.Dims) >= low && len(x.Dims) <= high && fits(x) {
				list = append(list, x)
			}
		}
		switch {
		case len(list) == 0:
		case g.rnd.IntN(2) == 0:
			return list[len(list)-1]
		default:
			return list[g.rnd.IntN(len(list))]
		}
	}
	return g.input(t, g.shape(g.rank(low, high))...)
}

// real returns a tensor of floats.
func (g *generator) real(low, high int) tensor { return g.pick(numeric.F32, low, high) }

// input adds an input with random elements, some of its axes open.
func (g *generator) input(t numeric.DataType, dims ...int) tensor {
	in := Input{Name: g.name("x"), Open: make([]string, len(dims)), Feed: g.random(t, dims...)}
	shape := symbolic.Shape(dims...)
	for i, d := range dims {
		if g.rnd.IntN(5) == 0 {
			in.Open[i] = g.symbol(d)
			shape[i] = symbolic.Symbol(in.Open[i])
		}
	}
	g.model.Inputs = append(g.model.Inputs, in)
	x := tensor{g.network.AddInput(in.Name, t, shape...), in.Feed}
	g.values[in.Name] = x
	g.pool = append(g.pool, x)
	return x
}

// symbol returns one that stands for the extent: one that there is, or a new one.
func (g *generator) symbol(extent int) string {
	if g.rnd.IntN(2) == 0 {
		for i := range g.names {
			if s := symbolName(i); g.symbols[s] == extent && extent > 0 {
				return s
			}
		}
	}
	s := symbolName(len(g.symbols))
	g.symbols[s] = extent
	return s
}

func symbolName(i int) string { return "s" + string(rune('a'+i%26)) + string(rune('a'+i/26)) }

// constant adds an initializer and returns its name.
func (g *generator) constant(v numeric.Value) string {
	c := Const{Name: g.name("c"), Value: v}
	g.model.Consts = append(g.model.Consts, c)
	g.values[c.Name] = tensor{g.network.AddConst(c.Name, v), v}
	return c.Name
}

func (g *generator) ints(list ...int) string {
	data := make([]int64, len(list))
	for i, v := range list {
		data[i] = int64(v)
	}
	return g.constant(numeric.Values(numeric.I64, data, len(list)))
}

func (g *generator) scalar(t numeric.DataType, v float64) string {
	return g.constant(reduce.Scalar(t, v))
}

// weights adds a constant of reals, of deviation 1/fan.
func (g *generator) weights(fan int, dims ...int) string {
	v := numeric.NewValue(numeric.F32, dims...)
	for i := range v.F32() {
		v.F32()[i] = float32(g.rnd.NormFloat64()) / float32(max(1, fan))
	}
	return g.constant(v)
}

// random returns random elements.
func (g *generator) random(t numeric.DataType, dims ...int) numeric.Value {
	v := numeric.NewValue(t, dims...)
	special := g.rnd.IntN(40) == 0
	for i := range v.Len() {
		f := g.rnd.NormFloat64() * 2
		switch {
		case special && g.rnd.IntN(20) == 0:
			f = specials[g.rnd.IntN(len(specials))]
		case t.IsInteger():
			f = float64(g.rnd.IntN(13))
			if t.Signed() {
				f -= 6
			}
		case t == numeric.Bool:
			f = float64(g.rnd.IntN(2))
		}
		copy(v.Data[i*t.Size():], reduce.Scalar(t, f).Data)
	}
	return v
}

// specials are reals at which definitions and kernels part.
var specials = []float64{0, 1, -1, 0.5, 1e-15, 1e15, -1e4, 100}

// dims returns a tensor's actual extents.
func (t tensor) dims() []int { return slices.Clone(t.value.Dims) }

// operand returns the name of a tensor or constant of the type that broadcasts with x.
func (g *generator) operand(x tensor) string {
	dims := x.dims()
	switch g.rnd.IntN(6) {
	case 0:
		return g.constant(g.random(x.Type))
	case 1: // some axes of one element
		for i := range dims {
			if g.rnd.IntN(2) == 0 {
				dims[i] = 1
			}
		}
		return g.constant(g.random(x.Type, dims...))
	case 2: // the last axes alone
		return g.constant(g.random(x.Type, dims[g.rnd.IntN(len(dims)+1):]...))
	case 3:
		for _, i := range g.rnd.Perm(len(dims))[:len(dims)/2] {
			dims[i] = 1
		}
		return g.input(x.Type, dims...).Name
	}
	return g.pickWhere(x.Type, 0, 6, func(y tensor) bool {
		return slices.Equal(y.value.Dims, dims) && (y.Name != x.Name || g.rnd.IntN(4) == 0)
	}).Name
}

// axis returns an axis of x, counted from either end.
func (g *generator) axis(rank int) int {
	if rank == 0 {
		return 0
	}
	return g.rnd.IntN(2*rank) - rank
}

// axes returns some distinct axes.
func (g *generator) axes(rank int) []int {
	list := g.rnd.Perm(rank)
	return list[:g.rnd.IntN(rank+1)]
}

func (g *generator) flip() bool { return g.rnd.IntN(2) == 0 }

type attrs = map[string]graph.Attr

func intOf(v int) graph.Attr       { return graph.Attr{Kind: graph.AttrInt, Int: int64(v)} }
func floatOf(v float32) graph.Attr { return graph.Attr{Kind: graph.AttrFloat, Float: v} }
func stringOf(s string) graph.Attr { return graph.Attr{Kind: graph.AttrString, String: s} }
func intsOf(list ...int) graph.Attr {
	a := graph.Attr{Kind: graph.AttrInts}
	for _, v := range list {
		a.Ints = append(a.Ints, int64(v))
	}
	return a
}
func boolOf(b bool) graph.Attr {
	if b {
		return intOf(1)
	}
	return intOf(0)
}

func node(a attrs, in ...string) *Node { return &Node{In: in, Attrs: a} }
