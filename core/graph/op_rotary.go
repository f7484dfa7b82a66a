package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// RotaryAttrs are the attributes of a rotary embedding.
type RotaryAttrs struct {
	Heads       int  // of data that has them in the last axis
	Size        int  // components of each head that are turned; 0: all
	First       int  // the first of those, where not all are
	Interleaved bool // component 2i is turned with 2i+1, not i with i+Size/2
	Apart       bool // of Interleaved: the first components of all pairs are written in front of the second ones
}

// The inputs of a rotary embedding.
const (
	RotaryX         = iota
	RotaryCos       // [B,S,Size/2], or [places,Size/2] to choose from; a B of 1 serves all items
	RotarySin       // as RotaryCos
	RotaryPositions // optional: which place each element of the sequence has, I64 [B,S]
)

// Rotary turns pairs of components of each head by the angles whose cosines and sines are given: (a, b) becomes
// (a*cos - b*sin, a*sin + b*cos). x has its heads in an axis of their own, [B,Heads,S,D], or in the last one, [B,S,Heads*D].
var Rotary = &Op{
	Name:  "RotaryEmbedding",
	Attrs: RotaryAttrs{},
	Onnx:  []string{"RotaryEmbedding"},
	Class: ClassNorm, Inputs: []Role{Data, Coefficients, Coefficients, Indices}, Memory: Written,
	Moves:  computed,
	FLOPs:  rotaryFLOPs,
	Chosen: func(l *Layer) []symbolic.Dim { return l.Inputs[RotaryCos].Dims[:1] },
	Infer:  inferRotary,
	Eval:   evalRotary,
	Import: func(n *Node) (any, []*Tensor, error) {
		a := RotaryAttrs{Heads: n.Int("num_heads", 0), Size: n.Int("rotary_embedding_dim", 0), Interleaved: n.Flag("interleaved", false)}
		if x := n.Input(RotaryX); x != nil && len(x.Dims) == 4 {
			a.Heads = 0
		}
		return a, n.Inputs, nil
	},
	Export: exportRotary,
}

// exportRotary repeats angles, or positions, that serve all items, since ONNX has those of each.
func exportRotary(e *Exporter) error {
	l, inputs := e.Layer, e.Inputs()
	a, x := l.Attrs.(RotaryAttrs), l.Inputs[RotaryX]
	mixed := l.Inputs[RotaryCos].Type != x.Type || l.Inputs[RotarySin].Type != x.Type
	own := []int{RotaryCos, RotarySin}
	if l.Input(RotaryPositions) != nil {
		own = []int{RotaryPositions}
	}
	for _, i := range own {
		t := l.Inputs[i]
		if !t.Dims[0].Is(1) || x.Dims[0].Is(1) {
			continue
		}
		inputs[i] = e.ofAllItems(x, i, inputs)
		if mixed && t.Type.IsFloat() && t.Type != numeric.F32 { // as the others are, then
			inputs[i] = e.Step("Cast", Attributes{"to": numeric.F32}, inputs[i])
		}
	}
	places, err := a.placesInFront(x)
	if err != nil {
		return err
	}
	if places != nil {
		inputs[RotaryX] = e.Step("Gather", Attributes{"axis": len(x.Dims) - 1}, inputs[RotaryX], e.list("components in front", places))
	}
	attrs := Attributes{"rotary_embedding_dim": a.Size, "interleaved": a.Interleaved && !a.Apart}
	if a.Heads > 0 {
		attrs["num_heads"] = a.Heads
	}
	if a.First == 0 {
		return e.NodeSince(23, "RotaryEmbedding", attrs, inputs...)
	}
	a.Interleaved, a.Apart = false, false
	back := make([]int, len(places))
	moved, _ := a.placesInFront(x)
	for i, from := range moved {
		back[from] = i
	}
	y := e.outputs[0]
	e.outputs[0] = e.unique(e.Layer.Name + "_in_front")
	if err := e.NodeSince(23, "RotaryEmbedding", attrs, inputs...); err != nil {
		return err
	}
	return e.add(OldestExport, "Gather", Attributes{"axis": len(x.Dims) - 1}, []string{e.outputs[0], e.list("components where they were", back)}, []string{y})
}

// placesInFront returns which elements of x's last axis come one after the other where those that are turned are in front in each
// head, and in halves where pairs are written so; nil where all are where they are.
func (a RotaryAttrs) placesInFront(x *Tensor) ([]int, error) {
	if !a.Apart && a.First == 0 {
		return nil, nil
	}
	n, ok := x.Dims[len(x.Dims)-1].IsConst()
	if !ok {
		return nil, fmt.Errorf("components of %s change places, and how many there are is not known", x.TypeString())
	}
	size := n
	if len(x.Dims) == 3 {
		size = n / max(1, a.Heads)
	}
	turned := a.Size
	if turned == 0 {
		turned = size
	}
	places := make([]int, n)
	for i := range places {
		head, c := i/size*size, i%size
		switch {
		case c >= a.First+turned:
		case c >= turned:
			c -= turned
		case a.Apart:
			c = a.First + c%(turned/2)*2 + c/(turned/2)
		default:
			c += a.First
		}
		places[i] = head + c
	}
	return places, nil
}

// ofAllItems returns input i as it is for each item of x, which is among the inputs.
func (e *Exporter) ofAllItems(x *Tensor, i int, inputs []string) string {
	if !e.Layer.Inputs[i].Dims[0].Is(1) || x.Dims[0].Is(1) {
		return inputs[i]
	}
	items, rest := e.Step("Shape", Attributes{"start": 0, "end": 1}, x.Name), e.Step("Shape", Attributes{"start": 1}, inputs[i])
	return e.Step("Expand", nil, inputs[i], e.Step("Concat", Attributes{"axis": 0}, items, rest))
}

func inferRotary(l *Layer) error {
	a := l.Attrs.(RotaryAttrs)
	x, err := l.needReal(RotaryX)
	if err != nil {
		return err
	}
	batch, _, length, size, err := operand(x, a.Heads)
	if err != nil {
		return err
	}
	turned := symbolic.Const(a.Size)
	if a.Size == 0 {
		turned = size
	}
	if a.Apart && !a.Interleaved {
		return fmt.Errorf("pairs are written apart that are not side by side")
	}
	n, fixed := size.IsConst()
	if t, ok := turned.IsConst(); a.Size < 0 || ok && t%2 != 0 || ok && fixed && t > n {
		return fmt.Errorf("%s of the %s components of a head are turned, want an even number of them", turned, size)
	}
	if a.First < 0 || a.First > 0 && (a.Size == 0 || fixed && a.First+a.Size > n) {
		return fmt.Errorf("%d of the %s components of a head are turned from %d on", a.Size, size, a.First)
	}
	positions := l.Input(RotaryPositions)
	want := []symbolic.Dim{batch, length, turned.DivN(2)}
	if positions != nil {
		want = []symbolic.Dim{symbolic.Symbol("places"), want[2]}
		if !positions.Type.IsInteger() || !fitsOnce(positions.Dims, []symbolic.Dim{batch, length}) {
			return fmt.Errorf("positions %s, want integers [%s,%s]", positions.TypeString(), batch, length)
		}
	}
	for _, i := range []int{RotaryCos, RotarySin} {
		t, err := l.needReal(i)
		if err != nil {
			return err
		}
		if !fitsOnce(t.Dims, want) {
			return fmt.Errorf("input %d is %s, want %s", i, t.TypeString(), symbolic.Format(want))
		}
	}
	if c, s := l.Inputs[RotaryCos], l.Inputs[RotarySin]; !SameShape(c.Dims, s.Dims) {
		return fmt.Errorf("cosines %s and sines %s differ in shape", c.TypeString(), s.TypeString())
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), x.Dims
	return nil
}

// fitsOnce reports whether dims may be the wanted ones, but for the first, which may be 1.
func fitsOnce(dims, want []symbolic.Dim) bool {
	if len(dims) != len(want) || len(dims) == 0 {
		return false
	}
	return (dims[0].Is(1) || !conflict(dims[0], want[0])) && SameShape(dims[1:], want[1:])
}

// RotaryShape is the shape of a rotary embedding: what kernels and Eval compute with.
type RotaryShape struct {
	Batch, Heads, Length, Size int
	Turned, First              int  // components of each head, and the first of them
	Angles                     int  // items that have angles, or positions, of their own; 1: all have the same ones
	Split                      bool // heads have an axis of their own, before that of the sequence
}

// Shape returns the shape for an x of the given extents, and angles, or positions, of so many items.
func (a RotaryAttrs) Shape(x []int, angles int) RotaryShape {
	r := RotaryShape{Batch: x[0], Heads: a.Heads, Length: x[1], Turned: a.Size, First: a.First, Angles: angles}
	if r.Split = len(x) == 4; r.Split {
		r.Heads, r.Length, r.Size = x[1], x[2], x[3]
	} else {
		r.Size = x[2] / max(1, a.Heads)
	}
	if r.Turned == 0 {
		r.Turned = r.Size
	}
	return r
}

func evalRotary(l *Layer, in, out []numeric.Value) error {
	a, own := l.Attrs.(RotaryAttrs), in[RotaryCos].Dims[0]
	var places []int
	if len(in) > RotaryPositions && in[RotaryPositions].Dims != nil {
		var err error
		if places, err = indicesIn(in[RotaryPositions], own); err != nil {
			return err
		}
		own = in[RotaryPositions].Dims[0]
	}
	r := a.Shape(in[RotaryX].Dims, own)
	x, y := attended(in[RotaryX], r.Heads), attended(out[0], r.Heads)
	cos, sin := in[RotaryCos].F32(), in[RotarySin].F32()
	half := r.Turned / 2
	for b := range r.Batch {
		for i := range r.Length {
			at := min(b, r.Angles-1)*r.Length + i
			if places != nil {
				at = places[at]
			}
			c, s := cos[at*half:(at+1)*half], sin[at*half:(at+1)*half]
			for h := range r.Heads {
				a.turn(y.row(b, h, i, r.Size), x.row(b, h, i, r.Size), r.Turned, c, s)
			}
		}
	}
	return nil
}

// turn turns the pairs of one head and copies the other components.
func (a RotaryAttrs) turn(y, x []float32, turned int, cos, sin []float32) {
	first, second := 1, turned/2 // steps from pair to pair, and from one component of a pair to the other
	if a.Interleaved {
		first, second = 2, 1
	}
	copy(y, x)
	y, x = y[a.First:], x[a.First:]
	for i := range turned / 2 {
		p, q := i*first, i*first+second
		u, v, c, s := float64(x[p]), float64(x[q]), float64(cos[i]), float64(sin[i])
		if a.Apart {
			p, q = i, i+turned/2
		}
		y[p], y[q] = float32(u*c-v*s), float32(u*s+v*c)
	}
}

// rotaryFLOPs counts four products and two sums for each pair.
func rotaryFLOPs(l *Layer, env map[string]int) int64 {
	x, a := l.Inputs[RotaryX], l.Attrs.(RotaryAttrs)
	_, _, _, size, err := operand(x, a.Heads)
	n := int64(numeric.Count(symbolic.Eval(x.Dims, env)))
	if per := int64(size.Eval(env)); err == nil && a.Size > 0 && per > 0 {
		n = n / per * int64(a.Size)
	}
	return 3 * n
}
