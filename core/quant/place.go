package quant

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Place puts Quantize and Dequantize layers into n, a float network after the standard passes, so that the lowering
// passes can fuse 8-bit layers of it:
//
//	x -> Conv(x, w) -> y      ->      x -> Q -> DQ -> Conv(x', DQ(w in i8)) -> y
//
// Layers with constant weights (Conv, ConvTranspose, Gemm, MatMul) take 8-bit inputs and weights wherever the policy lets
// them, the target computes them so and their input has a range. Pooling, means, element-wise layers and layers that only move elements (Reshape, Transpose,
// Concat, MaxPool and the like) do where an 8-bit layer reads their result, so that no float tensor lies in between. An attention
// does where products give it queries, keys and values, and 8 bits of these tell its scores apart (place_attention.go).
// Full-size arguments of an epilogue, as of a residual addition, are quantised with the layer, but not in a stream that is normalised
// (place_streams.go). Everything else stays in floating point, normalisations spelled out by elementary layers included (sums.go).
//
// Every quantised tensor is quantised once and dequantised once, and all its users read that, so that it is stored in
// 8 bits alone, unless it is of such a stream. The Quantize layer's result takes the name of the source tensor; the float tensor before it, which
// fusion removes, is renamed with the suffix "_float". Only inputs and outputs of the network keep name and type.
//
// ranges are by tensor name, as calibration finds them; a layer whose input has none stays in floating point. Layers
// that only move elements have the same range on both sides: the widest of those that meet. By a scheme of ranges by token, products of
// rows round these themselves and need none (place_rows.go). A model that brings
// Quantize or Dequantize layers of its own keeps them and nothing is placed. There is a decision for each layer, in
// order. n must not be lowered; on an error it may be half changed.
func Place(n *graph.Network, ranges map[string]numeric.Range, policy Policy) ([]Decision, error) {
	if n.Lowered {
		return nil, fmt.Errorf("network %s is lowered already", n.Name)
	}
	if err := policy.check(n); err != nil {
		return nil, err
	}
	p := &placer{net: n, policy: policy, ranges: acrossCasts(n, ranges), wanted: map[*graph.Tensor]bool{}, weights: map[weightKey]*weights{}, rows: map[*graph.Layer]bool{}, oneRange: map[*graph.Layer]string{}}
	if decisions, ok := p.explicit(); ok {
		return decisions, nil
	}
	layers := slices.Clone(n.Layers)
	p.decide(layers)
	p.unify(layers)
	for i, l := range layers {
		if p.decisions[i].Precision == numeric.I8 && kindOf(l) == weighted {
			p.quantizeWeights(l)
		}
	}
	p.insert(layers)
	p.roundRows(layers)
	n.Prune()
	if err := n.Sort(); err != nil {
		return nil, err
	}
	return p.decisions, n.Infer()
}

// acrossCasts gives tensors without a range that of the real numbers that they are cast from, or to.
func acrossCasts(n *graph.Network, ranges map[string]numeric.Range) map[string]numeric.Range {
	all := maps.Clone(ranges)
	for _, l := range n.Layers {
		if l.Op != graph.Cast || !l.Inputs[0].Type.IsFloat() || !l.Outputs[0].Type.IsFloat() {
			continue
		}
		x, y := l.Inputs[0].Name, l.Outputs[0].Name
		if r, ok := all[x]; ok && !all[y].IsSet() {
			all[y] = r
		} else if r, ok := all[y]; ok && !all[x].IsSet() {
			all[x] = r
		}
	}
	return all
}

// placer is the state of one placement.
type placer struct {
	net       *graph.Network
	policy    Policy
	ranges    map[string]numeric.Range
	decisions []Decision // one for each layer

	wanted   map[*graph.Tensor]bool          // tensors to be stored in 8 bits
	joined   map[*graph.Tensor]numeric.Range // the ranges of wanted tensors
	weights  map[weightKey]*weights
	rows     map[*graph.Layer]bool   // products that quantise the rows that they read, each by its own range
	oneRange map[*graph.Layer]string // and why others do not, which were asked to
}

type weightKey struct {
	t    *graph.Tensor
	axis int
}

// weights are constant weights in 8 bits.
type weights struct {
	stored      numeric.Value
	rng         numeric.Range
	dequantized *graph.Tensor // in the network; nil until a layer reads it
}

// kind is how a layer takes part in quantisation.
type kind uint8

const (
	never     kind = iota
	weighted       // multiplies with constant weights: gains from 8 bits by itself
	moving         // results are elements of the inputs, which share one range
	computing      // computes in floating point on 8-bit inputs and outputs
	attending      // multiplies activations with each other: gains where products give it integers
)

// kindOf returns the kind of a layer by its op.
func kindOf(l *graph.Layer) kind {
	if len(l.Outputs) != 1 {
		return never
	}
	if l.Op == graph.Attention {
		return attending
	}
	switch l.Op.Class {
	case graph.ClassConvolution, graph.ClassMatrix:
		return weighted
	case graph.ClassMove, graph.ClassPooling, graph.ClassResampling:
		switch {
		case l.Movement() >= graph.Moved:
			return moving
		case l.Op.Class != graph.ClassMove || l.Epilogue.Args > 0:
			return computing
		}
		return never
	}
	if _, ok := graph.ProgramOf(l); ok && l.Outputs[0].Type == numeric.F32 {
		return computing
	}
	return never
}

// explicit returns the decisions for a network that has quantisation of its own; ok is false for others. Layers that only
// move elements pass integers on, as lowering will let them.
func (p *placer) explicit() (list []Decision, ok bool) {
	quantized := map[*graph.Tensor]bool{} // tensors that stand for integers
	for _, l := range p.net.Layers {
		d := Decision{Layer: l.Name, Precision: numeric.F32, Reason: "the model brings its own quantisation, which does not include it"}
		switch {
		case l.Op == graph.Quantize, l.Op == graph.Dequantize:
			ok = true
			d.Precision, d.Reason = numeric.I8, "quantisation of the model's own"
			quantized[l.Outputs[0]] = l.Op == graph.Dequantize
		case len(l.Inputs) == 0 || !quantized[l.Inputs[0]]:
		case kindOf(l) == never:
			d.Reason, d.Formless = l.Op.Name+" has no 8-bit form", true
		default:
			d.Precision, d.Reason = numeric.I8, "quantised by the model itself"
			quantized[l.Outputs[0]] = kindOf(l) == moving
		}
		list = append(list, d)
	}
	return list, ok
}

// decide chooses every layer's precision, from the last layer to the first, since a layer that only passes its inputs
// on depends on who reads it.
func (p *placer) decide(layers []*graph.Layer) {
	first, last := ends(layers)
	sums := summingLayers(p.net, func(l *graph.Layer) bool { _, named := p.policy.rule(l); return named })
	p.decisions = make([]Decision, len(layers))
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		d := Decision{Layer: l.Name, Precision: numeric.F32, Formless: kindOf(l) == never && l.Op.Class != graph.ClassControl}
		rule, named := p.policy.rule(l)
		switch {
		case named && rule.Precision != numeric.I8:
			d.Precision, d.Reason = rule.Precision, "asked for by "+rule.String()
		case !named && p.policy.KeepFirst && first[l]:
			d.Reason = "the first layer is kept in floating point"
		case !named && p.policy.KeepLast && last[l]:
			d.Reason = "the last layer is kept in floating point"
		case !named && slices.Contains(p.policy.KeepOps, l.Op.Name):
			d.Reason = l.Op.Name + " layers are kept in floating point"
		case sums[l] == scaling:
			d.Reason = "it scales by the root of a sum of squares, as a normalisation does"
		case sums[l] != apart && kindOf(l) != weighted:
			d.Reason = "a sum of squares needs more digits than 8 bits have"
		default:
			inputs, reason := p.quantizable(l)
			if inputs != nil {
				if err := p.supported(l, inputs); err != nil {
					inputs, reason = nil, "the target has no 8-bit form of it: "+err.Error()
				}
			}
			if inputs != nil {
				d.Precision, d.OneRange = numeric.I8, p.oneRange[l]
				for _, t := range inputs {
					p.wanted[t] = true
				}
			}
			d.Reason = reason
			if named && d.Precision == numeric.I8 {
				d.Reason = "asked for by " + rule.String()
			}
		}
		p.decisions[i] = d
	}
}

// quantizable returns the tensors that must be quantised for l to run in 8 bits and why it does; or no tensors, and why
// it cannot.
func (p *placer) quantizable(l *graph.Layer) (inputs []*graph.Tensor, reason string) {
	k, x := kindOf(l), l.Input(0)
	if x != nil && x.Type == numeric.F16 && l.Outputs[0].Type == numeric.F16 {
		return nil, "the layer computes in f16 already; INT8 is placed on f32"
	}
	if l.Op.Class == graph.ClassControl {
		return nil, "the layers inside it compute in f32"
	}
	if k == never {
		return nil, l.Op.Name + " has no 8-bit form"
	}
	if x == nil || x.Type != numeric.F32 || l.Outputs[0].Type != numeric.F32 {
		return nil, "its tensors are not f32"
	}
	if k == weighted {
		if w := l.Input(1); w == nil || !w.IsConst() {
			return nil, "its weights are not constant"
		}
		if x.IsConst() {
			return nil, "its input is constant"
		}
		if v, _ := l.Inputs[1].Const(); v.NotFinite() > 0 {
			return nil, "its weights hold NaN or infinities, which no integer stands for"
		}
		if a, ok := l.Attrs.(graph.ConvTransposeAttrs); ok && a.Group > 1 {
			return nil, "its groups would share the scales of their weights"
		}
		reason = "8-bit inputs and weights"
		if p.schemeOf(l).ByToken && l.Op.Class == graph.ClassMatrix {
			if err := p.byRows(l); err == nil {
				return []*graph.Tensor{}, "8-bit weights, and rows of 8 bits by a range of each"
			} else {
				p.oneRange[l] = err.Error()
				reason += ", by one range: " + err.Error()
			}
		}
		if !p.hasRange(x) {
			return nil, "no range for tensor " + x.Name
		}
		if p.addsFloats(l) {
			return []*graph.Tensor{x}, reason
		}
		return append([]*graph.Tensor{x}, p.fullSize(l, l.EpilogueInputs())...), reason
	}
	if k == attending {
		return p.attendedInputs(l)
	}
	if y := l.Outputs[0]; !p.wanted[y] {
		return nil, "no 8-bit layer reads its result"
	}
	if k == moving {
		return p.movedInputs(l)
	}
	candidates := l.Inputs
	if _, elementwise := graph.ProgramOf(l); !elementwise {
		candidates = append([]*graph.Tensor{x}, l.EpilogueInputs()...)
		if !p.hasRange(x) {
			return nil, "no range for tensor " + x.Name
		}
		inputs = append(inputs, x)
		candidates = candidates[1:]
	}
	inputs = append(inputs, p.fullSize(l, candidates)...)
	if len(inputs) == 0 {
		return nil, "no range for any of its inputs"
	}
	return inputs, "an 8-bit layer reads its result"
}

// movedInputs returns the inputs of a moving layer whose result is quantised.
func (p *placer) movedInputs(l *graph.Layer) (inputs []*graph.Tensor, reason string) {
	inputs = l.OpInputs()[:l.DataInputs()]
	for _, t := range inputs {
		if t.Type != numeric.F32 {
			return nil, "its tensors are not f32"
		}
	}
	return inputs, "an 8-bit layer reads its result"
}

// fullSize returns those of the tensors that have the shape of l's result and a range: arguments that are broadcast,
// such as a bias or a gate, are small and stay exact.
func (p *placer) fullSize(l *graph.Layer, tensors []*graph.Tensor) []*graph.Tensor {
	var list []*graph.Tensor
	for _, t := range tensors {
		if t != nil && !t.IsConst() && t.Type == numeric.F32 && p.hasRange(t) && p.sameShape(t, l.Outputs[0]) {
			list = append(list, t)
		}
	}
	return list
}

// sameShape reports whether two tensors have the same shape, at the policy's shapes at least.
func (p *placer) sameShape(a, b *graph.Tensor) bool {
	return symbolic.Equal(a.Dims, b.Dims) ||
		p.policy.Shapes != nil && slices.Equal(symbolic.Eval(a.Dims, p.policy.Shapes), symbolic.Eval(b.Dims, p.policy.Shapes))
}

// hasRange reports whether the tensor has a range of one scale, or will share another tensor's.
func (p *placer) hasRange(t *graph.Tensor) bool { return usable(p.ranges[t.Name]) || p.wanted[t] }

func usable(r numeric.Range) bool {
	return len(r.Scale) == 1 && r.Scale[0] > 0 && r.Scale[0] <= math.MaxFloat32
}

// ends returns the layers with weights before and after which there is no other such layer.
func ends(layers []*graph.Layer) (first, last map[*graph.Layer]bool) {
	first, last = map[*graph.Layer]bool{}, map[*graph.Layer]bool{}
	behind := map[*graph.Tensor]bool{} // tensors that depend on a weighted layer
	isWeighted := func(l *graph.Layer) bool {
		return kindOf(l) == weighted && l.Input(1) != nil && l.Input(1).IsConst()
	}
	for _, l := range layers {
		depends := slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return behind[t] })
		first[l] = isWeighted(l) && !depends
		for _, t := range l.Outputs {
			behind[t] = depends || isWeighted(l)
		}
	}
	before := map[*graph.Tensor]bool{} // tensors that a weighted layer depends on
	for _, l := range slices.Backward(layers) {
		needed := slices.ContainsFunc(l.Outputs, func(t *graph.Tensor) bool { return before[t] })
		last[l] = isWeighted(l) && !needed
		if needed || isWeighted(l) {
			for _, t := range l.Inputs {
				before[t] = true
			}
		}
	}
	return first, last
}
