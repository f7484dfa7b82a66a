package fuse

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Horizontal makes one product of those that read one tensor and differ in weights alone: it reads the tensor once, and
// fills its tiles. Its weights are theirs side by side, its results those of a Split, which planners read where they lie.
//
//	q = MatMul(x, wq f32[k,m]) | add($0, bq)      y = MatMul(x, w f32[k,m+n]) | add($0, b)
//	v = MatMul(x, wv f32[k,n]) | add($0, bv)  ->  q, v = Split(y) axis=-1
//
//	a = Conv(x, wa f32[m,c,1,1]) | relu($0)       y = Conv(x, w f32[m+n,c,1,1]) | relu($0)
//	b = Conv(x, wb f32[n,c,1,1]) | relu($0)   ->  a, b = Split(y) axis=1
//
// Weights that a Dequantize makes of constants are theirs side by side before it, with the scales of each:
//
//	t = DequantizeLinear(wq i8[k,m]) axis=1       t = DequantizeLinear(w i8[k,m+n]) axis=1
//	u = DequantizeLinear(wv i8[k,n]) axis=1       y = MatMul(x, t)
//	q = MatMul(x, t), v = MatMul(x, u)        ->  q, v = Split(y) axis=-1
//
// Products that quantise x as it comes (DynamicQuantizeMatMul) do so by one range, and are merged alike, with their scales and zero
// points. Biases and zero points that some lack are zeros. No cycle can come of it: all that the products read besides x are constants. Ranges of
// activations are those of a, b: in 8 bits y is a tensor of real numbers or, if all its parts are quantised, has the range of each
// on the channels of that (fuse-quantized), and none loses steps to the range of another.
var Horizontal = pass.Pass{
	Name:  "fuse-horizontal",
	Doc:   "fuse products that read one tensor into one whose results are slices",
	Rules: []string{"merge-matmuls", "merge-convolutions"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return mergeSiblings(r, l) }) },
}

// sibling is a product that may be merged with others that read its input.
type sibling struct {
	layer   *graph.Layer
	axis    int                 // of the weights' output channels
	n       int                 // output channels
	weights *graph.Tensor       // the constant that they are, or of which dequantize makes them
	dequant *graph.Layer        // nil where weights are what the op reads
	params  []*graph.Tensor     // what the op reads behind the weights: a bias, or scales and zero points; nil for none
	program elementwise.Program // the epilogue
	consts  []*graph.Tensor     // its arguments
}

// mergeSiblings merges l with the later products that read its input.
func mergeSiblings(r *pass.Rewrite, l *graph.Layer) bool {
	if !match.IsAnchor(l) || !l.Op.IsProduct() && l.Op != graph.DynamicQuantizeMatMul || len(l.Inputs[0].Users) < 2 {
		return false
	}
	var others []*graph.Layer
	for _, u := range l.Inputs[0].Users {
		if match.IsAnchor(u) && u.Op == l.Op && u.Inputs[0] == l.Inputs[0] && !slices.Contains(others, u) {
			others = append(others, u)
		}
	}
	slices.SortFunc(others, func(a, b *graph.Layer) int { return r.Place(a) - r.Place(b) })
	if at := slices.Index(others, l); at < 0 {
		return false
	} else if others = others[at+1:]; len(others) == 0 {
		return false
	}
	rule := "merge-matmuls"
	if l.Op.Class == graph.ClassConvolution {
		rule = "merge-convolutions"
	}
	group := []sibling{}
	for _, u := range others {
		c := r.Candidate(rule, l, u)
		if !reflect.DeepEqual(l.Attrs, u.Attrs) {
			c.Miss(pass.WrongAttribute, "attributes of %s and %s differ: %+v, %+v", l.Name, u.Name, l.Attrs, u.Attrs)
			continue
		}
		first, ok := siblingOf(c, l)
		if !ok {
			continue
		}
		s, ok := siblingOf(c, u)
		if !ok || !alike(c, first, s) {
			continue
		}
		if len(group) == 0 {
			group = append(group, first)
		}
		group = append(group, s)
	}
	return len(group) > 1 && merge(r, rule, group)
}

// siblingOf returns l as one, or records why it is none.
func siblingOf(c *pass.Candidate, l *graph.Layer) (sibling, bool) {
	s := sibling{layer: l, params: l.OpInputs()[2:], program: l.Epilogue, consts: l.EpilogueInputs()}
	w, y := l.Inputs[1], l.Outputs[0]
	s.weights = w
	if d := w.Producer; d != nil && d.Op == graph.Dequantize && len(d.Inputs) == 1 {
		s.weights, s.dequant = d.Inputs[0], d
	}
	if !s.weights.IsConst() {
		return s, c.Miss(pass.NotConstant, "weights %s are computed", w.Name)
	}
	if l.Op.Product.Groups(l) != 1 || l.Op == graph.ConvTranspose {
		return s, c.Miss(pass.WrongAttribute, "%s has groups of channels, or is transposed", l.Name)
	}
	if l.Op == graph.MatMul && len(w.Dims) != 2 {
		return s, c.Miss(pass.WrongShape, "weights %s are no matrix", w)
	}
	if c.Rewrite().Network().IsOutput(y) {
		return s, c.Miss(pass.NetworkOutput, "%s is an output of the network", y.Name)
	}
	s.axis, _ = l.Op.Product.Axes(l)
	n, ok := w.Dims[s.axis].IsConst()
	if s.n = n; !ok || n == 0 || l.Op != graph.DynamicQuantizeMatMul && (!match.IsFloat(w) || w.Type != l.Inputs[0].Type) {
		return s, c.Miss(pass.WrongType, "weights %s are not of the input's type", w)
	}
	if q, ok := s.quantisation(); ok && (q.Block > 0 || q.Range.PerChannel() && q.Range.Axis != s.axis) {
		return s, c.Miss(pass.WrongAttribute, "the scales of %s are not those of output channels", s.weights.Name)
	}
	for _, u := range y.Users {
		if u.Op.Memory == graph.Joined {
			return s, c.Miss(pass.NoGain, "%s would have to copy %s, which is written to its place in its output now", u.Name, y.Name)
		}
	}
	at := s.channelAxis()
	for _, t := range s.consts {
		if _, ok := match.PerChannel(t, len(y.Dims), at, n); !ok {
			return s, c.Miss(pass.NotConstant, "%s is not one constant for each channel", t)
		}
	}
	for _, t := range s.params {
		if t != nil && !match.PerBias(t, 1) && !match.PerBias(t, n) && (len(t.Dims) > 0 || !t.IsConst()) {
			return s, c.Miss(pass.NotConstant, "%s is not one constant for each channel", t)
		}
	}
	return s, true
}

// quantisation returns what the weights are dequantised by, if they are.
func (s sibling) quantisation() (graph.QuantAttrs, bool) {
	if s.dequant == nil {
		return graph.QuantAttrs{}, false
	}
	return s.dequant.Attrs.(graph.QuantAttrs), true
}

// channelAxis returns the axis of output channels in the result.
func (s sibling) channelAxis() int {
	if s.layer.Op.Class == graph.ClassConvolution {
		return 1
	}
	return len(s.layer.Outputs[0].Dims) - 1
}

// alike reports whether two siblings differ in their constants alone, or records a miss.
func alike(c *pass.Candidate, a, b sibling) bool {
	v, w := a.weights, b.weights
	switch {
	case (a.dequant == nil) != (b.dequant == nil):
		return c.Miss(pass.WrongType, "weights of %s or %s alone are quantised", a.layer.Name, b.layer.Name)
	case v.Type != w.Type:
		return c.Miss(pass.WrongType, "weights are %s and %s", v.Type, w.Type)
	case len(v.Dims) != len(w.Dims):
		return c.Miss(pass.WrongShape, "weights %s and %s differ in rank", v, w)
	}
	for i := range v.Dims {
		if i != a.axis && !v.Dims[i].Equal(w.Dims[i]) {
			return c.Miss(pass.WrongShape, "weights %s and %s differ on axis %d", v, w, i)
		}
	}
	if _, ok := common(a, b); !ok {
		return c.Miss(pass.EpilogueTaken, "%s ends in %s, %s in %s", a.layer.Name, a.program, b.layer.Name, b.program)
	}
	return true
}

// common returns the one whose epilogue both can have: that of a layer without one is the addition of zeros.
func common(a, b sibling) (sibling, bool) {
	switch {
	case reflect.DeepEqual(a.program, b.program):
		return a, true
	case a.program.Args == 0 && b.adds():
		return b, true
	case b.program.Args == 0 && a.adds():
		return a, true
	}
	return a, false
}

// adds reports whether the epilogue is the addition of a constant.
func (s sibling) adds() bool {
	p := s.program
	return p.Args == 2 && len(p.Code) == 1 && p.Code[0].Op == elementwise.Add && p.Code[0].Arg[0] != p.Code[0].Arg[1]
}

// merge makes one layer of all siblings that are alike, where that pays.
func merge(r *pass.Rewrite, rule string, group []sibling) bool {
	slices.SortStableFunc(group, func(a, b sibling) int { return min(1, a.n%sliceBlock) - min(1, b.n%sliceBlock) })
	var layers []*graph.Layer
	lead := group[0]
	for _, s := range group {
		layers = append(layers, s.layer)
		lead, _ = common(lead, s)
	}
	c := r.Candidate(rule, layers...)
	m := costOf(r, group)
	if !m.pays() {
		return c.Miss(pass.NoGain, "%s", m)
	}
	if !c.Enabled() {
		return false
	}
	wide := wide(r, lead, group)
	if !c.Supported(wide) {
		if d := wide.Inputs[1].Producer; d != nil {
			r.Network().Remove(d)
		}
		return false
	}
	first, y := group[0].layer, wide.Outputs[0]
	split := &graph.Layer{Name: first.Name + "_split", Op: graph.Split, Attrs: graph.SplitAttrs{Axis: lead.channelAxis()},
		Inputs: []*graph.Tensor{y}, From: c.Members}
	attrs := graph.SplitAttrs{Axis: lead.channelAxis()}
	for _, s := range group {
		out := s.layer.Outputs[0]
		out.Producer = nil // so that it stays when its layer goes
		r.Network().Remove(s.layer)
		if d := s.dequant; d != nil && !r.Used(d) {
			r.Network().Remove(d)
		}
		split.Outputs, attrs.Sizes = append(split.Outputs, out), append(attrs.Sizes, s.n)
	}
	split.Attrs = attrs
	r.Network().Insert(wide)
	r.Network().Insert(split)
	if m.copies {
		wide.From = c.Members
		r.Network().Rename(wide, r.Name(wide))
		return c.Fire(wide, split)
	}
	return c.Fire(wide)
}

// wide returns the layer that computes all of a group, which is not part of the network yet.
func wide(r *pass.Rewrite, lead sibling, group []sibling) *graph.Layer {
	l := lead.layer
	sum := 0
	for _, s := range group {
		sum += s.n
	}
	y := l.Outputs[0]
	dims := slices.Clone(y.Dims)
	dims[lead.channelAxis()] = symbolic.Const(sum)
	name := group[0].layer.Outputs[0].Name + "_wide"
	weights := joined(r, group, name+"_weights", lead.axis)
	if lead.dequant != nil {
		weights = dequantized(r, group, weights, lead.axis)
	}
	inputs := []*graph.Tensor{l.Inputs[0], weights}
	for k := range 2 {
		of := func(s sibling) *graph.Tensor { return nth(s.params, k) }
		i := slices.IndexFunc(group, func(s sibling) bool { return of(s) != nil })
		if i < 0 {
			continue
		}
		inputs = append(inputs, r.NewConst(name+"_"+paramName(l.Op, k), of(group[i]).Type, sideBySide(group, of), sum))
	}
	for k := range lead.consts {
		of := func(s sibling) *graph.Tensor { return nth(s.consts, k) }
		shape := []int{sum}
		for range len(dims) - 1 - lead.channelAxis() {
			shape = append(shape, 1)
		}
		inputs = append(inputs, r.NewConst(fmt.Sprintf("%s_argument%d", name, k+1), lead.consts[k].Type, sideBySide(group, of), shape...))
	}
	return &graph.Layer{Name: group[0].layer.Name, Op: l.Op, Attrs: l.Attrs, Inputs: inputs, Epilogue: lead.program,
		Outputs: []*graph.Tensor{r.Network().NewTensor(name, y.Type, dims)}}
}

// nth returns tensor k of a list; nil where there is none.
func nth(list []*graph.Tensor, k int) *graph.Tensor {
	if k < len(list) {
		return list[k]
	}
	return nil
}

// paramName says what the k-th input of a product behind its weights is.
func paramName(op *graph.Op, k int) string {
	switch {
	case op != graph.DynamicQuantizeMatMul:
		return "bias"
	case k == graph.DynamicScales-2:
		return "scales"
	}
	return "zeros"
}

// sideBySide returns the values that the siblings have for each of their channels; zeros for one that has none.
func sideBySide(group []sibling, of func(sibling) *graph.Tensor) []float64 {
	list := make([]float64, 0, len(group))
	for _, s := range group {
		values := []float32{0}
		if t := of(s); t != nil {
			v, _ := t.Const()
			values = v.Floats()
		}
		for i := range s.n {
			list = append(list, float64(values[i%len(values)]))
		}
	}
	return list
}

// dequantized returns the real numbers that integers of all siblings stand for, made by a layer that is added to the network.
func dequantized(r *pass.Rewrite, group []sibling, integers *graph.Tensor, axis int) *graph.Tensor {
	first := group[0].dequant
	attrs := first.Attrs.(graph.QuantAttrs)
	attrs.Range = numeric.Range{Axis: axis}
	zeros := false
	var from []string
	for _, s := range group {
		q, _ := s.quantisation()
		for i := range s.n {
			attrs.Range.Scale = append(attrs.Range.Scale, q.Range.ScaleAt(i))
			attrs.Range.Zero = append(attrs.Range.Zero, q.Range.ZeroAt(i))
		}
		zeros = zeros || len(q.Range.Zero) > 0
		from = append(from, s.dequant.From...)
	}
	if !zeros {
		attrs.Range.Zero = nil
	}
	l := &graph.Layer{Name: first.Name, Op: first.Op, Attrs: attrs, Inputs: []*graph.Tensor{integers}, From: r.Sources(from),
		Outputs: []*graph.Tensor{r.Network().NewTensor(integers.Name+"_real", first.Outputs[0].Type, integers.Dims)}}
	return r.Network().Insert(l).Outputs[0]
}

// joined returns the weights of all siblings side by side along an axis, bit by bit.
func joined(r *pass.Rewrite, group []sibling, name string, axis int) *graph.Tensor {
	w := group[0].weights
	dims, _ := match.ConstDims(w.Dims)
	dims[axis] = 0
	outer, inner := numeric.Count(dims[:axis]), numeric.Count(dims[axis+1:])*w.Type.Size()
	for _, s := range group {
		dims[axis] += s.n
	}
	v := numeric.NewValue(w.Type, dims...)
	row, at := dims[axis]*inner, 0
	for _, s := range group {
		n := s.n * inner
		for i := range outer {
			copy(v.Data[i*row+at:], s.weights.Weights[i*n:(i+1)*n])
		}
		at += n
	}
	return r.Network().AddConst(name, v)
}
