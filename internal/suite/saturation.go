package suite

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// specials are numbers that a quantiser may get wrong: beyond every integer, no numbers, and next to nothing.
var specials = []float32{
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, -math.MaxFloat32,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0, 3e9, -3e9, 6e4, -6e4,
}

// Saturated is a layer with a quantised output, to be given ranges in which numbers have no integer.
type Saturated struct {
	Case
	special bool // inputs may be specials: the layer's arithmetic leaves infinities and NaN what they are
	size    int  // bytes of all tensors
}

// SaturatedLayers returns the layers of the table whose output is quantised or can be, the smallest first.
func SaturatedLayers() []Saturated {
	var list []Saturated
	passing := specialLayers()
	for i, c := range append(passing, Layers()...) {
		if !quantises(c.Layer) {
			continue
		}
		if b := biasOf(c.Layer); b >= 0 && len(c.Layer.Inputs[b].Weights) < 4*len(specials) {
			continue
		}
		s := Saturated{Case: c, special: i < len(passing)}
		if s.Tolerance.Step > 0 && c.Layer.Op.Reals == graph.AsIntegers {
			continue // of transcendental epilogues' last bits the sign may be wrong, which is all that small ranges see
		}
		if !s.special && !c.Layer.Inputs[0].Quantized() {
			s.Tolerance.Step = 1
		}
		for _, t := range append(slices.Clone(c.Layer.Inputs), c.Layer.Outputs...) {
			if t != nil {
				s.size += numeric.Count(symbolic.Eval(t.Dims, nil)) * t.Type.Size()
			}
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b Saturated) int { return cmp.Compare(a.size, b.size) })
	return list
}

// quantises reports whether a layer of real numbers may have an output of another range than its input's.
func quantises(l *graph.Layer) bool {
	y, n := l.Outputs[0], numeric.Count(symbolic.Eval(l.Outputs[0].Dims, nil))
	if n < len(specials) || y.Range.PerChannel() || y.Type != numeric.F32 && y.Type != numeric.F16 && !y.Quantized() {
		return false
	}
	for i, x := range l.Inputs {
		if x != nil && x.Type != numeric.F32 && x.Type != numeric.F16 && !(x.Quantized() && (i > 0 || y.Quantized())) {
			return false
		}
	}
	x := l.Inputs[0]
	moved := x.Quantized() && y.Range.Equal(x.Range) && l.Epilogue.Args == 0 && l.Op != graph.AveragePool
	return l.Op != graph.Dequantize && l.Op.Reals != graph.AsStored && !moved
}

// specialLayers pass on what they are given.
func specialLayers() []Case {
	m := &maker{rnd: rand.New(rand.NewPCG(6, 6))}
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		for _, dims := range [][]int{{1, 1, 3, 7}, {2, 17, 3, 5}, {1, 64, 7, 7}, {5, 36}} {
			x := func() *graph.Tensor { return m.tensor(t, numeric.Range{}, dims...) }
			name := func(op string) string { return fmt.Sprintf("%s_%s_%v", op, t, dims) }
			m.add(name("relu"), m.layer(graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, x()), Tolerance{})
			m.add(name("add"), m.layer(graph.Pointwise, graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, x(), x()), Tolerance{})
			m.add(name("reformat"), m.layer(graph.Reformat, nil, x()), Tolerance{})
			m.add(name("quantize"), m.layer(graph.Quantize, graph.QuantAttrs{Range: numeric.PerTensor(1, 0), Type: numeric.I8}, x()), Tolerance{})
		}
	}
	return m.cases
}

// Ranges returns the layer with outputs of bytes in ranges small, large and usual, with and without zero points. A constant
// bias has specials among its numbers. That of a tactic's binding decides whether there is such a layer.
func (s Saturated) Ranges() []Saturated {
	var list []Saturated
	for i, scale := range []float32{0x1p-60, 0x1p-20, 0.25, 0x1p20, 0.037, 1e-25, 0x1p-126, 1e-38, 3e29} {
		for j, t := range []numeric.DataType{numeric.I8, numeric.U8} {
			if s.Layer.Outputs[0].Type.IsInteger() && s.Layer.Outputs[0].Type != t {
				continue
			}
			zero := []int32{7, -5, 0, 127, -128}[(i+j)%5]
			if t == numeric.U8 {
				zero += 128
			}
			r := s
			r.Layer = quantizedTo(s.Layer, t, numeric.PerTensor(scale, zero))
			r.Name = fmt.Sprintf("%s/%s_%g_%d", s.Name, t, scale, zero)
			list = append(list, r)
		}
	}
	return list
}

// quantizedTo returns a layer like l, of an output in the range.
func quantizedTo(l *graph.Layer, t numeric.DataType, r numeric.Range) *graph.Layer {
	c, y := *l, *l.Outputs[0]
	y.Type, y.Range, y.Producer = t, r, &c
	c.Outputs = append([]*graph.Tensor{&y}, l.Outputs[1:]...)
	if a, ok := c.Attrs.(graph.QuantAttrs); ok && l.Op == graph.Quantize {
		a.Range, a.Type = r, t
		c.Attrs = a
	}
	if bias := biasOf(l); bias >= 0 {
		b := *l.Inputs[bias]
		b.Weights = slices.Clone(b.Weights)
		for i, d := 0, numeric.View[float32](b.Weights); i < len(d); i++ {
			if i%5 > 0 {
				d[i] = specials[i%len(specials)]
			}
		}
		c.Inputs = slices.Clone(l.Inputs)
		c.Inputs[bias] = &b
	}
	return &c
}

// biasOf returns the place of a product's constant bias among the inputs, -1 where there is none.
func biasOf(l *graph.Layer) int {
	if i := l.Op.Input(graph.Bias); i >= 0 && l.Op.IsProduct() {
		if b := l.Input(i); b != nil && b.IsConst() && b.Type == numeric.F32 {
			return i
		}
	}
	return -1
}

// Reference draws inputs, specials and numbers next to halves and ends of the range among them where the layer passes them
// on, and evaluates the layer.
func (s Saturated) Reference(rnd *rand.Rand) (Reference, error) {
	r, err := NewReference(s.Layer, rnd)
	if err != nil || !s.special {
		return r, err
	}
	scale := s.Layer.Outputs[0].Range.ScaleAt(0)
	for i, v := range r.In {
		if s.Layer.Inputs[i].IsConst() {
			continue
		}
		for j := range v.Len() {
			x := float32(rnd.NormFloat64()) * 100 * scale
			switch rnd.IntN(4) {
			case 0:
				x = specials[rnd.IntN(len(specials))]
			case 1:
				x = (float32(rnd.IntN(800)-400) + 0.5) * scale
				x = math.Float32frombits(math.Float32bits(x) + uint32(rnd.IntN(3)-1))
			}
			if v.Type == numeric.F32 {
				v.F32()[j] = x
			} else {
				numeric.View[uint16](v.Data)[j] = numeric.F32ToF16(x)
			}
		}
	}
	return r, s.Layer.Eval(r.In, r.Out)
}

// Group names what a tactic has one layer of: the op and its types, and whether specials are passed on.
func (s Saturated) Group() string {
	l := s.Layer
	return fmt.Sprint(l.Op.Name, l.Inputs[0].Type, l.Outputs[0].Type, biasOf(l) >= 0, s.special)
}

// Saturate adds pairs with layers whose quantised outputs have ranges that hold few of the numbers, in turn: for each group of
// layers one with each tactic, or, if few, with one tactic of each family, on the smallest layer that it computes.
func (s *Sweep) Saturate(keep func(layer, tactic string) bool, few bool) {
	seen := map[[2]string]bool{}
	names := map[string]bool{}
	for _, p := range s.pairs {
		names[p.tactic.Name] = true
	}
	for _, l := range SaturatedLayers() {
		kind, ranges := l.Group(), l.Ranges()
		for _, tac := range s.backend.Tactics(l.Layer.Op) {
			key := [2]string{tac.Name, kind}
			if few && tac.Variant.Family != "" {
				key[0] = tac.Variant.Family
			}
			if seen[key] || tac.Reference {
				continue
			}
			for i := range min(2, len(ranges)) { // outputs with a sign and without
				c := ranges[(len(seen)+i)%len(ranges)]
				c.Name = "saturated_" + c.Name
				if !c.Matches(tac) || keep != nil && !keep(c.Name, tac.Name) {
					continue
				}
				binding, _ := Bind(c.Layer, tac, 0)
				s.pairs = append(s.pairs, pair{&group{Case: c.Case, draw: c.Reference, left: 1}, tac, binding})
				seen[key], names[tac.Name] = true, true
				break
			}
		}
	}
	s.tactics = len(names)
}

// Matches reports whether a tactic computes the layer.
func (s Saturated) Matches(tac kernels.Tactic) bool {
	b, ok := Bind(s.Layer, tac, 0)
	return ok && !tac.Reference && tac.Match(b) == nil
}
