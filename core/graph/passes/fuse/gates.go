package fuse

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Gates makes one layer of two products of one tensor of which one, behind an activation, is a factor of the other. It comes
// last, since in 8 bits each of the two is a layer of its own.
//
//	a = MatMul(x, w) | add($0, b); silu
//	y = MatMul(x, v, a) | add($0, c); mul($, a)   ->   y = GatedMatMul(x, w, v, b, c) activation=silu
//
// Either of them may be the one that ends in the product of both. They may be the halves of one:
//
//	a, b = Split(MatMul(x, wv), axis -1)
//	y = mul(silu(a), b)                           ->   y = GatedMatMul(x, w, v) activation=silu
var Gates = pass.Pass{
	Name:  "fuse-gates",
	Doc:   "fuse the two products of a gated linear unit",
	Rules: []string{"gated-product", "gated-halves"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return fuseGate(r, l) || fuseHalves(r, l) }) },
}

func fuseGate(r *pass.Rewrite, l *graph.Layer) bool {
	other := multipliedBy(l)
	if other == nil {
		return false
	}
	c := r.Candidate("gated-product", other, l)
	up, ok := rowProductOf(l)
	g, ok2 := rowProductOf(other)
	if !ok || !ok2 {
		return c.Miss(pass.WrongAttribute, "%s or %s is not rows times a matrix, with no more than a constant added to each", other.Name, l.Name)
	}
	gate, factor := other, l
	if activation, ok := up.activated(); ok && g.after.Args == 0 {
		gate, factor, g, up = l, other, up, g
		g.after = activation
	} else if p := up.after; p.Args != 2 || len(p.Code) != 1 || p.Code[0].Arg[0] == p.Code[0].Arg[1] {
		return c.Miss(pass.EpilogueTaken, "%s ends in %s, not in a product with %s alone", l.Name, l.Epilogue, other.Name)
	}
	if !c.Sole(other.Outputs[0], l) {
		return false
	}
	a := g.after
	if a.Args != 1 || len(a.Code) != 1 || a.Code[0].Op.Info().Arity != 1 || a.Code[0].Op.Info().Imms > 0 {
		return c.Miss(pass.EpilogueTaken, "%s ends in %s, not in an activation without parameters", gate.Name, gate.Epilogue)
	}
	w, v := gate.Inputs[1], factor.Inputs[1]
	switch {
	case !w.IsConst() || !v.IsConst():
		return c.Miss(pass.NotConstant, "weights %s or %s are computed", w.Name, v.Name)
	case !symbolic.Equal(w.Dims, v.Dims):
		return c.Miss(pass.WrongShape, "weights %s and %s differ in shape", w, v)
	case w.Type != v.Type || w.Quantized() || v.Quantized() || !match.IsFloat(w) || l.Inputs[0].Quantized() || l.Outputs[0].Quantized() || gate.Outputs[0].Quantized():
		return c.Miss(pass.WrongType, "%s and %s are not products of real numbers of one type", gate.Name, l.Name)
	}
	by := &graph.Layer{Name: l.Name, Op: graph.GatedMatMul, Attrs: graph.GatedAttrs{Activation: a.Code[0].Op},
		Inputs: gatedInputs(l.Inputs[0], w, v, g.bias, up.bias), Outputs: l.Outputs, From: c.Members}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	by = r.Replace(l, by)
	r.Network().Remove(other)
	return c.Fire(by)
}

// gatedInputs returns the inputs of a gated product, of which the biases may be nil.
func gatedInputs(x, w, v, b, c *graph.Tensor) []*graph.Tensor {
	list := []*graph.Tensor{x, w, v}
	if c != nil {
		return append(list, b, c)
	}
	if b != nil {
		return append(list, b)
	}
	return list
}

// multipliedBy returns the product of l's first input, of which either is behind something, that the epilogue of l, which is a product as well,
// multiplies by.
func multipliedBy(l *graph.Layer) *graph.Layer {
	if !isMatrixProduct(l) {
		return nil
	}
	for i, t := range l.EpilogueInputs() {
		gate := t.Producer
		if gate == nil || gate == l || !isMatrixProduct(gate) || gate.Inputs[0] != l.Inputs[0] || gate.Epilogue.Args == 0 && len(l.Epilogue.Code) < 2 {
			continue
		}
		for _, in := range l.Epilogue.Code {
			if in.Op == elementwise.Mul && slices.Contains(in.Arg[:2], 1+i) {
				return gate
			}
		}
	}
	return nil
}

func isMatrixProduct(l *graph.Layer) bool { return l.Op == graph.MatMul || l.Op == graph.Gemm }

// rowProduct is rows times a matrix, with a constant that is added to each row, or without one, and what follows.
type rowProduct struct {
	bias  *graph.Tensor
	after elementwise.Program // of the sum; the zero value where nothing follows
}

// activated returns the activation of the sum, where that is all that is multiplied by another tensor.
func (p rowProduct) activated() (elementwise.Program, bool) {
	code := p.after.Code
	if p.after.Args != 2 || len(code) != 2 || code[0].Op.Info().Arity != 1 || code[0].Arg[0] != 0 || code[1].Op != elementwise.Mul {
		return elementwise.Program{}, false
	}
	by := code[1].Arg[:2]
	return elementwise.Program{Args: 1, Code: code[:1]}, slices.Contains(by, 1) && slices.Contains(by, 2)
}

func rowProductOf(l *graph.Layer) (p rowProduct, ok bool) {
	if !isMatrixProduct(l) || len(l.Inputs[1].Dims) != 2 || len(l.Inputs[0].Dims) < 2 {
		return p, false
	}
	if a, ok := l.Attrs.(graph.GemmAttrs); ok && a != (graph.GemmAttrs{Alpha: 1, Beta: 1}) {
		return p, false
	}
	columns := l.Inputs[1].Dims[1]
	isRow := func(t *graph.Tensor) bool {
		return t.IsConst() && match.IsFloat(t) && !t.Quantized() && len(t.Dims) == 1 && t.Dims[0].Equal(columns)
	}
	p.after = l.Epilogue
	if p.bias = l.Input(2); p.bias != nil {
		return p, isRow(p.bias)
	}
	if e := l.Epilogue; len(e.Code) > 0 && e.Code[0].Op == elementwise.Add {
		for k, at := range e.Code[0].Arg[:2] {
			if other := e.Code[0].Arg[1-k]; other == 0 && at > 0 && isRow(l.EpilogueInputs()[at-1]) {
				if rest, ok := behindSum(e, at); ok {
					p.bias, p.after = l.EpilogueInputs()[at-1], rest
				}
			}
		}
	}
	return p, true
}

// behindSum returns what a program does with its first value, the sum of the arguments 0 and at, where that is all that is done
// with either.
func behindSum(p elementwise.Program, at int) (elementwise.Program, bool) {
	rest := elementwise.Program{Args: p.Args - 1}
	for _, in := range p.Code[1:] {
		for i, v := range in.Arg[:in.Op.Info().Arity] {
			switch {
			case v == 0 || v == at:
				return p, false
			case v == p.Args:
				v = 0
			case v > p.Args:
				v -= 2
			case v > at:
				v--
			}
			in.Arg[i] = v
		}
		rest.Code = append(rest.Code, in)
	}
	if len(rest.Code) == 0 {
		return elementwise.Program{}, true
	}
	return rest, true
}

// half is a part of the last axis of a tensor.
type half struct {
	of       *graph.Tensor
	by       *graph.Layer
	first, n int
}

// halfOf returns what t is a part of.
func halfOf(t *graph.Tensor) (h half, ok bool) {
	l := t.Producer
	if l == nil || l.Op != graph.Split && l.Op != graph.Slice || l.Epilogue.Args > 0 || len(l.OpInputs()) != 1 {
		return h, false
	}
	h = half{of: l.Inputs[0], by: l}
	last := len(h.of.Dims) - 1
	isLast := func(axis int) bool { return axis == last || axis == -1 }
	if h.n, ok = t.Dims[last].IsConst(); !ok {
		return h, false
	}
	switch a := l.Attrs.(type) {
	case graph.SplitAttrs:
		for _, y := range l.Outputs[:slices.Index(l.Outputs, t)] {
			n, _ := y.Dims[last].IsConst()
			h.first += n
		}
		return h, isLast(a.Axis)
	case graph.SliceAttrs:
		all, ok := h.of.Dims[last].IsConst()
		if !ok || len(a.Axes) != 1 || !isLast(a.Axes[0]) || a.Steps != nil && a.Steps[0] != 1 {
			return h, false
		}
		if h.first = a.Starts[0]; h.first < 0 {
			h.first += all
		}
		return h, h.first >= 0 && h.first+h.n <= all
	}
	return h, false
}

// gateOf returns the activation of a program that multiplies it by the other argument, and the activation's argument.
func gateOf(p elementwise.Program) (op elementwise.Op, of int, ok bool) {
	if p.Args != 2 || len(p.Code) != 2 || p.Code[1].Op != elementwise.Mul {
		return 0, 0, false
	}
	a, times := p.Code[0], p.Code[1].Arg
	of = a.Arg[0]
	info := a.Op.Info()
	ok = info.Arity == 1 && info.Imms == 0 && of < 2 && (times[0] == 2 && times[1] == 1-of || times[1] == 2 && times[0] == 1-of)
	return a.Op, of, ok
}

func fuseHalves(r *pass.Rewrite, l *graph.Layer) bool {
	p, ok := graph.ProgramOf(l)
	if !ok || len(l.Inputs) != 2 || l.Epilogue.Args > 0 {
		return false
	}
	op, at, ok := gateOf(p)
	if !ok {
		return false
	}
	gate, ok := halfOf(l.Inputs[at])
	other, ok2 := halfOf(l.Inputs[1-at])
	if !ok || !ok2 || gate.of != other.of || gate.n != other.n || gate.first+other.first != gate.n || gate.first != 0 && other.first != 0 {
		return false
	}
	product := gate.of.Producer
	if product == nil || !isMatrixProduct(product) || !gate.of.Dims[len(gate.of.Dims)-1].Is(2*gate.n) {
		return false
	}
	layers := []*graph.Layer{product, gate.by}
	if other.by != gate.by {
		layers = append(layers, other.by)
	}
	c := r.Candidate("gated-halves", append(layers, l)...)
	whole, ok := rowProductOf(product)
	switch {
	case !ok:
		return c.Miss(pass.WrongAttribute, "%s is not rows times a matrix, with no more than a constant added to each", product.Name)
	case whole.after.Args > 0:
		return c.Miss(pass.EpilogueTaken, "%s ends in %s", product.Name, product.Epilogue)
	}
	for _, t := range l.Inputs {
		if !c.Sole(t, l) {
			return false
		}
	}
	if len(gate.of.Users) != len(layers)-1 || r.Network().IsOutput(gate.of) {
		return c.Miss(pass.SecondConsumer, "%s is used as a whole", gate.of.Name)
	}
	w := product.Inputs[1]
	switch {
	case !w.IsConst():
		return c.Miss(pass.NotConstant, "weights %s are computed", w.Name)
	case w.Quantized() || !match.IsFloat(w) || product.Inputs[0].Quantized() || l.Outputs[0].Quantized() || gate.of.Quantized():
		return c.Miss(pass.WrongType, "%s is no product of real numbers of one type", product.Name)
	}
	by := &graph.Layer{Name: l.Name, Op: graph.GatedMatMul, Attrs: graph.GatedAttrs{Activation: op}, Outputs: l.Outputs, From: c.Members,
		Inputs: gatedInputs(product.Inputs[0], columnsOf(w, gate.first, gate.n), columnsOf(w, other.first, gate.n),
			columnsOf(whole.bias, gate.first, gate.n), columnsOf(whole.bias, other.first, gate.n))}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	for i := 1; i < len(by.Inputs); i++ {
		v, _ := by.Inputs[i].Const()
		by.Inputs[i] = r.Network().AddConst(by.Inputs[i].Name, v)
	}
	by = r.Replace(l, by)
	for _, gone := range slices.Backward(layers) {
		r.Network().Remove(gone)
	}
	return c.Fire(by)
}

// columnsOf returns n columns of a constant matrix or row, which no network has; nil of nil.
func columnsOf(w *graph.Tensor, first, n int) *graph.Tensor {
	if w == nil {
		return nil
	}
	v, _ := w.Const()
	last, size := len(v.Dims)-1, v.Type.Size()
	all := v.Dims[last]
	part := numeric.NewValue(v.Type, append(slices.Clone(v.Dims[:last]), n)...)
	for i := range numeric.Count(v.Dims[:last]) {
		copy(part.Data[i*n*size:][:n*size], v.Data[(i*all+first)*size:])
	}
	return &graph.Tensor{Name: w.Name + "_half", Type: v.Type, Dims: symbolic.Shape(part.Dims...), Weights: part.Data}
}
