package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// PlacesAttrs are the attributes of Places.
type PlacesAttrs struct {
	Most  int    // that x may be
	Count string // the symbol of how many they are
}

// Places are the places that a list of x elements has: 0, 1, ... up to x, without it. x is an integer of one element that data decide,
// between 0 and Most. So it becomes an extent, the one of the result.
var Places = &Op{
	Name:  "Places",
	Attrs: PlacesAttrs{},
	Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Counted: func(l *Layer) []Counting {
		a := l.Attrs.(PlacesAttrs)
		return []Counting{{Symbol: a.Count, Most: symbolic.Const(a.Most)}}
	},
	Infer: func(l *Layer) error {
		x, err := l.need(0)
		if err != nil {
			return err
		}
		a := l.Attrs.(PlacesAttrs)
		if n, ok := countDims(x.Dims); !ok || n != 1 || x.Type != numeric.I64 && x.Type != numeric.I32 {
			return fmt.Errorf("input %s: want one element of i64 or i32", x)
		}
		if a.Most < 0 || a.Most > maxExtent || a.Count == "" {
			return fmt.Errorf("at most %d places, counted as %q", a.Most, a.Count)
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = numeric.I64, []symbolic.Dim{symbolic.Symbol(a.Count)}
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		n, most := in[0].Ints()[0], l.Attrs.(PlacesAttrs).Most
		if n < 0 || n > int64(most) {
			return fmt.Errorf("an extent that data decide, %s, is %d; 0 to %d are planned for", l.Inputs[0].Name, n, most)
		}
		list := make([]int64, n)
		for i := range list {
			list[i] = int64(i)
		}
		return writeCounted(l, out[0], list)
	},
	Export: func(e *Exporter) error {
		x := e.Step("Reshape", nil, e.Step("Cast", Attributes{"to": numeric.I64}, e.Input(0)), e.list("shape", nil))
		return e.Node("Range", nil, e.scalar("first", 0), x, e.scalar("step", 1))
	},
}

// Element is where an element of a tensor is from, as far as layers only move it: an element of another tensor.
type Element struct {
	Of *Tensor
	At int
}

// String returns the place in the form x[3].
func (e Element) String() string { return fmt.Sprintf("%s[%d]", e.Of.Name, e.At) }

// IsKnown reports whether the element follows from constants and the inputs' shapes.
func (e Element) IsKnown() bool { return e.Of.Value != nil || e.Of.IsConst() }

// Elements returns where t's elements are from, which are a few integers; ok is false for others.
func (t *Tensor) Elements() (list []Element, ok bool) {
	left := followed
	return t.elements(&left)
}

func (t *Tensor) elements(left *int) (list []Element, ok bool) {
	n, few := countDims(t.Dims)
	if !few || n > maxKnownValue || t.Type != numeric.I64 && t.Type != numeric.I32 {
		return nil, false
	}
	l := t.Producer
	if t.Value == nil && !t.IsConst() && l != nil && l.Epilogue.Args == 0 && l.Unsupported() == nil && *left > 0 {
		*left--
		if _, casts := l.Attrs.(CastAttrs); casts {
			if list, ok = l.Inputs[0].elements(left); ok {
				return list, true
			}
		} else if l.Movement() >= Moved && len(l.Outputs) == 1 {
			if list, ok = ofMoved(l, (*Tensor).elements, left); ok {
				return list, true
			}
		}
	}
	for i := range n {
		list = append(list, Element{t, i})
	}
	return list, true
}

// ofMoved returns what of gives for the elements of the result of a layer that moves elements.
func ofMoved[E any](l *Layer, of func(t *Tensor, left *int) ([]E, bool), left *int) (list []E, ok bool) {
	var from []E
	var data []int
	for i, t := range l.OpInputs() {
		if t == nil || l.Role(i) != Data {
			continue
		}
		part, ok := of(t, left)
		if !ok {
			return nil, false
		}
		from, data = append(from, part...), append(data, i)
	}
	places, ok := l.moveNumbers(data...)
	if !ok {
		return nil, false
	}
	for _, v := range places[0] {
		k := v - knownBase
		if k < 0 || k >= int64(len(from)) { // a 0 that it adds
			return nil, false
		}
		list = append(list, from[k])
	}
	return list, true
}
