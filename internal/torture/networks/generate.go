package networks

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Bounds of what is generated: networks are small, so that many are tried, and evaluating one takes milliseconds.
const (
	maxNodes    = 14
	maxElements = 6000
	maxWork     = 3_000_000 // arithmetic of one layer
	tooLarge    = 1e5       // magnitudes beyond which a result is mostly not gone on from
)

// extents are those at which kernels go wrong: none, one, and just under, at and over the width of a vector or block.
var extents = []int{1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 48, 63, 64, 65}

// tensor is a tensor of the network being made: its layer's view of it, and its elements.
type tensor struct {
	*graph.Tensor
	value numeric.Value
}

// generator makes a model node by node, beside the network that the importer will make of it, whose inference says what
// fits and whose Eval what the values are.
type generator struct {
	rnd     *rand.Rand
	model   *Model
	network *graph.Network
	ops     graph.OpSet
	pool    []tensor          // what nodes may read: inputs and results
	values  map[string]tensor // all by name
	symbols map[string]int
	names   int
	broken  error // what panicked while the last node was made; the model ends with that node
}

// Generate returns the random model of a seed.
func Generate(seed uint64) *Model { return generate(seed, "", 0) }

// generate returns a model that contains the wanted operator where one is named; opset 0 is a random one.
func generate(seed uint64, want string, opset int) *Model {
	g := &generator{
		rnd: rand.New(rand.NewPCG(seed, 11)), network: graph.NewNetwork("torture"), ops: graph.Ops(),
		values: map[string]tensor{}, symbols: map[string]int{}, model: &Model{Opset: opset},
	}
	if opset == 0 {
		g.model.Opset = []int{9, 10, 11, 12, 13, 13, 14, 15, 16, 17, 17, 18, 18, 19, 20, 20, 21, 21, 22, 23, 24, 25}[g.rnd.IntN(22)]
	}
	if want != "" {
		g.attempt(want)
	}
	target := 1 + g.rnd.IntN(maxNodes)
	for tries := 0; len(g.model.Nodes) < target && (tries < 6*target || len(g.model.Nodes) == 0) && g.broken == nil; tries++ {
		if g.rnd.IntN(40) == 0 {
			g.structure()
			continue
		}
		g.attempt(g.choose())
	}
	g.finish()
	return g.model
}

// choose returns an operator: half of the time one of those that networks are made of, else any.
func (g *generator) choose() string {
	if g.rnd.IntN(2) == 0 {
		return common[g.rnd.IntN(len(common))]
	}
	names := Operators()
	return names[g.rnd.IntN(len(names))]
}

// common are the operators that kernels and fusions are made for.
var common = []string{"Conv", "Conv", "Conv", "Gemm", "MatMul", "Relu", "Add", "Add", "Mul", "Sigmoid", "Clip", "MaxPool",
	"AveragePool", "GlobalAveragePool", "BatchNormalization", "Concat", "Transpose", "Reshape", "Softmax", "LayerNormalization",
	"ReduceMean", "Pad", "Resize", "Slice", "ConvTranspose", "HardSwish", "Div", "Sub", "Erf", "Tanh", "Split", "QuantizeLinear",
	"DequantizeLinear", "Gather", "Flatten", "Squeeze", "Unsqueeze"}

// attempt makes a node of an operator, if it can be of the model's operator set and what there is.
func (g *generator) attempt(op string) {
	p := proposals[op]
	if p.since > g.model.Opset || p.until != 0 && p.until < g.model.Opset {
		return
	}
	inputs, consts := len(g.model.Inputs), len(g.model.Consts)
	n := p.make(g)
	if n == nil || !g.add(op, n) {
		g.drop(inputs, consts)
	}
}

// drop forgets the inputs and constants that were made for a node that is not there.
func (g *generator) drop(inputs, consts int) {
	if g.broken != nil {
		return
	}
	g.model.Consts = g.model.Consts[:consts]
	for _, in := range g.model.Inputs[inputs:] {
		delete(g.values, in.Name)
		g.pool = slices.DeleteFunc(g.pool, func(t tensor) bool { return t.Name == in.Name })
	}
	g.model.Inputs = g.model.Inputs[:inputs]
	g.network.Inputs = g.network.Inputs[:inputs]
}

// add adds a node to the network, as the importer does, and evaluates it; false where it is refused, or too large, or its
// values lead nowhere.
func (g *generator) add(op string, n *Node) (ok bool) {
	n.Op, n.Name = op, g.name(op)
	outputs := max(1, len(n.Out))
	n.Out = nil
	for i := range outputs {
		n.Out = append(n.Out, fmt.Sprintf("%s.%d", n.Name, i))
	}
	defer func() {
		if p := recover(); p != nil {
			g.broken = fmt.Errorf("%v", p)
			g.model.Nodes = append(g.model.Nodes, *n)
			ok = true
		}
	}()
	layers, results, err := g.layers(n)
	if err != nil {
		return false
	}
	made := map[*graph.Tensor]numeric.Value{}
	for _, l := range layers {
		if !g.evaluate(l, made) {
			for _, l := range slices.Backward(layers) {
				g.network.Remove(l)
			}
			return false
		}
	}
	g.model.Nodes = append(g.model.Nodes, *n)
	for _, t := range results {
		x := tensor{t, made[t]}
		g.values[t.Name] = x
		g.pool = append(g.pool, x)
	}
	return true
}

// layers imports the node, as the layer or the layers that it is.
func (g *generator) layers(n *Node) (layers []*graph.Layer, outputs []*graph.Tensor, err error) {
	op := g.ops.Onnx("", n.Op)
	node := &graph.Node{Name: n.Name, OpType: n.Op, Version: g.model.Opset, Outputs: len(n.Out), Attrs: n.Attrs}
	for _, name := range n.In {
		var t *graph.Tensor
		if name != "" {
			t = g.values[name].Tensor
		}
		node.Inputs = append(node.Inputs, t)
	}
	for _, name := range n.Captured {
		node.Captured = append(node.Captured, g.values[name].Tensor)
	}
	if op == nil {
		before := len(g.network.Layers)
		outputs, errs := g.ops.Composite("", n.Op).Add(g.network, g.ops, node, n.Out, func(string) bool { return false })
		return g.network.Layers[before:], outputs, errors.Join(errs...)
	}
	attrs, inputs := any(nil), node.Inputs
	if op.Import != nil {
		if attrs, inputs, err = op.Import(node); err != nil {
			return nil, nil, err
		}
	}
	if errs := append(node.Errs(), node.Unasked()...); len(errs) > 0 {
		return nil, nil, errs[0]
	}
	l, err := g.network.Add(n.Name, op, attrs, inputs, n.Out...)
	if err != nil {
		return nil, nil, err
	}
	return []*graph.Layer{l}, l.Outputs, nil
}

// evaluate adds the layer's results to those made; false where it is refused, or too large, or they lead nowhere.
func (g *generator) evaluate(l *graph.Layer, made map[*graph.Tensor]numeric.Value) bool {
	var in, results []numeric.Value
	for _, t := range l.Inputs {
		v, ok := made[t]
		switch {
		case t == nil || ok:
		case g.values[t.Name].Tensor == t:
			v = g.values[t.Name].value
		default:
			v, _ = t.Const()
		}
		in = append(in, v)
	}
	if graph.FLOPs(l, g.symbols) > maxWork {
		return false
	}
	for _, t := range l.Outputs {
		dims := symbolic.Eval(t.Dims, g.symbols)
		if slices.Min(append(dims, 0)) < 0 || numeric.Count(dims) > maxElements {
			return false
		}
		results = append(results, numeric.NewValue(t.Type, dims...))
	}
	if err := l.CheckShapes(g.symbols); err != nil {
		return false
	}
	if err := l.Eval(in, results); err != nil {
		return false
	}
	for i, t := range l.Outputs {
		made[t] = results[i]
	}
	return !slices.ContainsFunc(results, wild) || g.rnd.IntN(12) == 0
}

// wild reports whether a value has elements that are large or no numbers.
func wild(v numeric.Value) bool {
	if !v.Type.IsFloat() {
		return false
	}
	return slices.ContainsFunc(v.Floats(), func(f float32) bool { return !(math.Abs(float64(f)) < tooLarge) })
}

// finish chooses the outputs: what nothing reads, and now and then more.
func (g *generator) finish() {
	read := map[string]bool{}
	for _, n := range g.model.Nodes {
		for _, name := range n.Reads() {
			read[name] = true
		}
	}
	for _, n := range g.model.Nodes {
		for i, name := range n.Out {
			if !read[name] && (i == 0 || g.rnd.IntN(2) == 0) || g.rnd.IntN(10) == 0 {
				g.model.Outputs = append(g.model.Outputs, name)
			}
		}
	}
	if len(g.model.Outputs) == 0 && len(g.model.Nodes) > 0 {
		last := g.model.Nodes[len(g.model.Nodes)-1]
		g.model.Outputs = last.Out[:1]
	}
	// An optional output that nothing reads is left out of the node, but for the first.
	g.model.Prune()
}

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s_%d", prefix, g.names)
}

// Convolutions returns a model of a few convolutions, which have many tactics, and which is built in a moment.
func Convolutions(seed uint64) *Model {
	g := &generator{
		rnd: rand.New(rand.NewPCG(seed, 15)), network: graph.NewNetwork("torture"), ops: graph.Ops(),
		values: map[string]tensor{}, symbols: map[string]int{}, model: &Model{Opset: 17},
	}
	x := g.input(numeric.F32, 1, 8, 12, 12)
	for i := range g.model.Inputs[0].Open {
		g.model.Inputs[0].Open[i] = ""
	}
	for i := range 3 {
		channels := 8 + 4*i
		w := g.weights(9*x.dims()[1], channels, x.dims()[1], 3, 3)
		for _, n := range []*Node{node(attrs{"pads": intsOf(1, 1, 1, 1)}, x.Name, w), node(nil, "")} {
			op := "Conv"
			if n.In[0] == "" {
				op, n.In[0] = "Relu", g.pool[len(g.pool)-1].Name
			}
			g.add(op, n)
		}
		x = g.pool[len(g.pool)-1]
	}
	if len(g.model.Nodes) < 6 { // its values led nowhere
		return Convolutions(seed + 1<<40)
	}
	g.finish()
	return g.model
}
