package networks

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// body defines a graph inside a node, whose layers have names that no others have; what it captures is an input by its own name.
type body struct {
	*graph.Definition
	g *generator
}

func (g *generator) body() body { return body{graph.Define(g.name("graph")), g} }

// step returns something random of the shape of x.
func (b body) step(x *graph.Tensor) *graph.Tensor {
	d := b.Named(b.g.name("inner"))
	switch b.g.rnd.IntN(5) {
	case 0:
		return d.Tanh(x)
	case 1:
		return d.Add(x, b.Weights(b.g.name("c"), []float32{b.g.scale()}))
	case 2:
		return d.Mul(x, b.Weights(b.g.name("c"), []float32{0.5}))
	case 3:
		return d.Sigmoid(b.Named(b.g.name("inner")).Neg(x))
	}
	return d.Relu(x)
}

// attr ends the graph with its outputs.
func (b body) attr(outputs ...*graph.Tensor) graph.Attr {
	for _, t := range outputs {
		b.Output(b.g.name("out"), b.Named(b.g.name("inner")).Identity(t))
	}
	n, err := b.Network()
	if err != nil {
		panic(err)
	}
	return graph.Attr{Kind: graph.AttrGraph, Graph: n}
}

func controls() map[string]proposal {
	return map[string]proposal{
		"If": {since: 13, make: func(g *generator) *Node {
			x := g.real(0, 4)
			n := node(attrs{}, g.pick(numeric.Bool, 0, 0).Name)
			for _, name := range []string{"then_branch", "else_branch"} {
				b := g.body()
				n.Attrs[name] = b.attr(b.step(b.Input(x.Name, x.Type, x.Tensor.Dims...)))
			}
			n.Captured = []string{x.Name}
			return n
		}},
		"Loop": {since: 13, make: proposeLoop},
		"Scan": {since: 13, make: func(g *generator) *Node {
			x := g.real(1, 4)
			axis := g.axis(len(x.Dims))
			at := (axis + len(x.Dims)) % len(x.Dims)
			dims := append(append([]symbolic.Dim{}, x.Tensor.Dims[:at]...), x.Tensor.Dims[at+1:]...)
			if x.dims()[at] == 0 { // which ONNX Runtime does not take
				return nil
			}
			b := g.body()
			e := b.step(b.Input(g.name("e"), x.Type, dims...))
			backwards := func() graph.Attr { return graph.Attr{Kind: graph.AttrInts, Ints: []int64{int64(g.rnd.IntN(2))}} }
			return node(attrs{"num_scan_inputs": intOf(1), "scan_input_axes": graph.Attr{Kind: graph.AttrInts, Ints: []int64{int64(axis)}},
				"scan_input_directions": backwards(), "scan_output_directions": backwards(), "body": b.attr(e)}, x.Name)
		}},
	}
}

// proposeLoop makes a loop of few trips, which are constant or not, with a carried value, a captured one, and where the trips
// are known what is gathered.
func proposeLoop(g *generator) *Node {
	x, y := g.real(0, 3), g.real(0, 3)
	few := float64(g.rnd.IntN(4))
	known := g.flip()
	trips := ""
	if known {
		trips = g.scalar(numeric.I64, few)
	} else {
		in := g.input(numeric.I64)
		in.value.I64()[0] = int64(few)
		trips = in.Name
	}
	b := g.body()
	b.Input(g.name("i"), numeric.I64)
	goes := b.Input(g.name("goes"), numeric.Bool)
	v := b.Input(g.name("v"), x.Type, x.Tensor.Dims...)
	captured := b.Input(y.Name, y.Type, y.Tensor.Dims...)
	out := []*graph.Tensor{goes, b.step(v)}
	n := node(attrs{}, trips, "", x.Name)
	if known && few > 0 {
		out = append(out, b.step(captured))
		n.Out = []string{"", ""}
	}
	n.Attrs["body"], n.Captured = b.attr(out...), []string{y.Name}
	return n
}
