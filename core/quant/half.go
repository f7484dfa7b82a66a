package quant

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// maxHalf is the largest finite F16.
const maxHalf = 65504

// PlaceFP16 makes layers store their activations and weights as F16 and marks n as lowered.
//
// F16 is a form of storage here: every layer computes in F32 (convolutions and matrix products accumulate in it), and
// its result is rounded once, when it is stored; an epilogue is computed before that rounding. A target that multiplies
// in F16 and accumulates in F32 gives the same within the order of summation.
//
// Every layer is stored as F16 unless a rule of the policy asks for F32, it is 8-bit (or quantised by the model itself,
// which lowering makes 8-bit), its type is part of its attributes, or a constant or its result's peak exceeds F16. Attention
// masks, which only say what Softmax is not to see, are brought within F16; sums of squares stay in F32, unless a rule
// names them. To have only those layers in F16 that rules name, let the first rule be "*:fp32". The tensors of a layer
// that is F16 are all F16, but for the mask of an attention and for what a root is taken of: a Reformat layer converts where an F32
// layer meets it and at the inputs and outputs of the network, which keep their type. There is a decision for each layer, in order.
func PlaceFP16(n *graph.Network, policy Policy) ([]Decision, error) {
	if err := policy.check(n); err != nil {
		return nil, err
	}
	n.Lowered = true
	h := newHalver(n)
	h.sums = summingLayers(n, func(l *graph.Layer) bool {
		_, named := policy.rule(l)
		return named || halvable(n, l, policy.Peaks) != "" || slices.ContainsFunc(l.Inputs, isQuantized) || slices.ContainsFunc(l.Inputs, isDequantized)
	})
	layers, masking := slices.Clone(n.Layers), largeMasks(n)
	var decisions []Decision
	for _, l := range layers {
		d := Decision{Layer: l.Name, Precision: numeric.F16, Reason: "F16 storage"}
		rule, named := policy.rule(l)
		switch reason := halvable(n, l, policy.Peaks); {
		case slices.ContainsFunc(append(slices.Clone(l.Inputs), l.Outputs...), isQuantized):
			d.Precision, d.Reason = numeric.I8, "runs in 8 bits"
		case named && rule.Precision == numeric.F32:
			d.Precision, d.Reason = numeric.F32, "asked for by "+rule.String()
		case slices.ContainsFunc(l.OpInputs(), isDequantized):
			d.Precision, d.Reason = numeric.I8, "quantised by the model itself"
		case reason != "":
			d.Precision, d.Reason = numeric.F32, reason
		case masking[l]:
			d.Precision, d.Reason = numeric.F32, "an attention's mask that it is part of holds more than F16 does"
		case named && rule.Precision == numeric.F16:
			d.Reason = "asked for by " + rule.String()
		case h.sums[l] == wide:
			d.Precision, d.Reason = numeric.F32, "sums of squares soon are more than F16 holds"
		}
		h.half[l] = d.Precision == numeric.F16
		decisions = append(decisions, d)
	}
	return decisions, h.store(layers)
}

// MixFP16 stores as F16 those layers of n, to which Place has been applied, that a rule of the policy gave this precision.
// Decisions are Place's; those on layers that F16 cannot hold become F32. As by PlaceFP16, n is marked as lowered.
func MixFP16(n *graph.Network, decisions []Decision, policy Policy) error {
	n.Lowered = true
	asked := map[string]*Decision{}
	for i := range decisions {
		if decisions[i].Precision == numeric.F16 {
			asked[decisions[i].Layer] = &decisions[i]
		}
	}
	h := newHalver(n)
	layers := slices.Clone(n.Layers)
	for _, l := range layers {
		d := asked[l.Name]
		if d == nil {
			continue
		}
		if reason := halvable(n, l, policy.Peaks); reason != "" {
			d.Precision, d.Reason = numeric.F32, reason
			continue
		}
		h.half[l] = true
	}
	return h.store(layers)
}

// store gives the tensors of 16-bit layers their type.
func (h *halver) store(layers []*graph.Layer) error {
	for _, l := range layers {
		h.outputs(l)
	}
	for _, l := range layers {
		h.inputs(l)
	}
	h.net.Prune()
	return h.net.Sort()
}

func isQuantized(t *graph.Tensor) bool { return t != nil && t.Quantized() }

func isDequantized(t *graph.Tensor) bool {
	return t != nil && t.Producer != nil && t.Producer.Op == graph.Dequantize
}

// PeaksOf returns the largest magnitudes that ranges of calibration tell of, by tensor name.
func PeaksOf(ranges map[string]numeric.Range) map[string]float32 {
	peaks := make(map[string]float32, len(ranges))
	for name, r := range ranges {
		peaks[name] = float32(AMax(r))
	}
	return peaks
}

// halvable returns why l cannot be stored as F16, or nothing.
func halvable(n *graph.Network, l *graph.Layer, peaks map[string]float32) string {
	if l.Op.Class == graph.ClassConversion {
		return l.Op.Name + " has a type of its own"
	}
	if l.Op.Class == graph.ClassControl {
		return "the layers inside it compute in f32"
	}
	real := func(t *graph.Tensor) bool { return t != nil && (t.Type == numeric.F32 || t.Type == numeric.F16) }
	if !slices.ContainsFunc(l.Inputs, real) || !slices.ContainsFunc(l.Outputs, real) {
		return "it does not compute with real numbers"
	}
	for _, t := range l.Outputs {
		if peak := peaks[SourceTensor(t.Name)]; real(t) && !(peak <= maxHalf) {
			return fmt.Sprintf("tensor %s reaches %g, more than F16 holds", SourceTensor(t.Name), peak)
		}
	}
	for i, t := range l.Inputs {
		if i < len(l.OpInputs()) && l.Role(i) == graph.Parameter && real(t) && !t.IsConst() {
			return fmt.Sprintf("parameter %s needs the digits of F32", t.Name) // such as the places of samples
		}
		if t == nil || !t.IsConst() || t.Type != numeric.F32 || attentionMask(l, i) {
			continue
		}
		if i < len(l.OpInputs()) && !storesConstant(l, i) {
			return fmt.Sprintf("constant %s is a parameter", t.Name)
		}
		if x := tooLarge(n, l, i); x != 0 {
			return fmt.Sprintf("constant %s holds %g, more than F16 does", t.Name, x)
		}
	}
	return ""
}

// tooLarge returns a number of the constant input i that F16 does not hold and that counts; 0 where there is none.
func tooLarge(n *graph.Network, l *graph.Layer, i int) float32 {
	v, ok := l.Inputs[i].Const()
	if !ok || v.Type != numeric.F32 {
		return 0
	}
	for _, x := range v.F32() {
		if a := math.Abs(float64(x)); a > maxHalf && a <= math.MaxFloat32 && !(x < 0 && masks(n, l, i)) {
			return x
		}
	}
	return 0
}

// storesConstant reports whether the op's constant input i is data, which may be rounded, and not a parameter such as the
// scales of a resize.
func storesConstant(l *graph.Layer, i int) bool {
	switch l.Role(i) {
	case graph.Data, graph.Weights, graph.Bias, graph.Coefficients:
		return true
	}
	return false
}

// halver is the state of PlaceFP16.
type halver struct {
	net    *graph.Network
	half   map[*graph.Layer]bool
	sums   map[*graph.Layer]summing        // layers that read what there is
	consts map[*graph.Tensor]*graph.Tensor // F16 copies of constants
	copies map[copyKey]*graph.Tensor       // reformatted tensors
}

func newHalver(n *graph.Network) *halver {
	return &halver{net: n, half: map[*graph.Layer]bool{}, consts: map[*graph.Tensor]*graph.Tensor{}, copies: map[copyKey]*graph.Tensor{}}
}

type copyKey struct {
	t   *graph.Tensor
	typ numeric.DataType
}

// outputs makes the results of a 16-bit layer F16, behind which network outputs stay F32.
func (h *halver) outputs(l *graph.Layer) {
	if !h.half[l] {
		return
	}
	for i, t := range l.Outputs {
		switch {
		case t.Type != numeric.F32:
		case h.net.IsOutput(t):
			stored := h.net.NewTensor(t.Name+"_f16", numeric.F16, t.Dims)
			l.SetOutput(i, stored)
			h.net.Redirect(t, stored)
			h.reformat(stored, t)
			h.copies[copyKey{stored, numeric.F32}] = t
		default:
			t.Type = numeric.F16
		}
	}
}

// inputs makes every real input of l the type that l wants.
func (h *halver) inputs(l *graph.Layer) {
	if s := h.sums[l]; l.Op.Class == graph.ClassElementwise && (s == wide || s == narrowing) {
		return
	}
	for i, t := range l.Inputs {
		switch {
		case t == nil || t.Type == numeric.F32 && attentionMask(l, i):
		case h.half[l] && t.Type == numeric.F32 && t.IsConst():
			l.SetInput(i, h.constant(t))
		case h.half[l] && t.Type == numeric.F32:
			l.SetInput(i, h.as(t, numeric.F16))
		case !h.half[l] && t.Type == numeric.F16 && t.Producer != nil && h.half[t.Producer]:
			l.SetInput(i, h.as(t, numeric.F32))
		}
	}
}

func (h *halver) constant(t *graph.Tensor) *graph.Tensor {
	if c, ok := h.consts[t]; ok {
		return c
	}
	v, _ := t.Const()
	f := numeric.NewValue(numeric.F16, v.Dims...)
	numeric.FromReal(f, saturated(v.F32()), numeric.Range{})
	c := h.net.AddConst(t.Name+"_f16", f)
	h.consts[t] = c
	return c
}

// as returns t in another type.
func (h *halver) as(t *graph.Tensor, typ numeric.DataType) *graph.Tensor {
	key := copyKey{t, typ}
	c, ok := h.copies[key]
	if !ok {
		c = h.net.NewTensor(t.Name+"_"+typ.String(), typ, t.Dims)
		h.reformat(t, c)
		h.copies[key] = c
	}
	return c
}

func (h *halver) reformat(from, to *graph.Tensor) {
	l := h.net.Insert(&graph.Layer{Name: "Reformat_" + to.Name, Op: graph.Reformat, Inputs: []*graph.Tensor{from}, Outputs: []*graph.Tensor{to}})
	l.From = []string{l.Name}
}
