package dataset

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Random returns n items of made-up data for a network's inputs: real numbers from the standard normal distribution,
// integers that the layers which read them can use, which the set's name tells, booleans. Symbols of the shapes are taken from
// env and are 1 if they are not in it; the first axis counts the items, unless an input has none, they differ in it or
// it is fixed, in which case the items are whole. The same arguments give the same data, item by item.
func Random(inputs []*graph.Tensor, env map[string]int, n int, seed uint64) (*Set, error) {
	if len(inputs) == 0 {
		return nil, errors.New("random data: the network has no inputs")
	}
	if n < 1 {
		return nil, fmt.Errorf("random data: %d items are asked for; at least 1 is needed", n)
	}
	s := &Set{Name: "random", Random: true, length: n, Identity: Identity{Path: "random", Hash: fmt.Sprintf("random %d of %d %v", seed, n, env)}}
	item := 0.0
	ranges, batched := make([]integers, len(inputs)), graph.Batched(inputs)
	for k, t := range inputs {
		dims := make([]int, len(t.Dims))
		for i, d := range t.Dims {
			dims[i] = extent(d, env)
		}
		if t.Type == numeric.Invalid || t.Type.Size() == 0 {
			return nil, fmt.Errorf("random data: input %s has no type", t.Name)
		}
		if err := checkRandom(t, dims, n, &item); err != nil {
			return nil, err
		}
		s.Inputs = append(s.Inputs, Input{t.Name, t.Type, dims})
		s.Identity.Hash += fmt.Sprintf(" %s %s%v", t.Name, t.Type, dims)
		if t.Type.IsInteger() && !t.IsShape {
			ranges[k] = integersOf(t, env)
			s.Identity.Hash += fmt.Sprintf(" %d to %d", ranges[k].low, ranges[k].high)
		}
		if len(t.Dims) == 0 || len(inputs[0].Dims) == 0 || !t.Dims[0].Equal(inputs[0].Dims[0]) || !countsItems(t, batched) {
			s.Whole = true
		}
	}
	if !s.Whole {
		for k := range s.Inputs {
			s.Inputs[k].Dims = s.Inputs[k].Dims[1:]
		}
	}
	vocabularies := make([][]string, len(inputs))
	for k, t := range inputs {
		if t.Type == numeric.Str {
			vocabularies[k] = vocabularyOf(t)
			s.Identity.Hash += fmt.Sprintf(" of %q", vocabularies[k])
		}
	}
	s.read = func(i, k int, dst *numeric.Value) error {
		r := rand.New(rand.NewPCG(seed, uint64(i)*uint64(len(s.Inputs))+uint64(k)))
		if inputs[k].IsShape {
			copy(dst.Data, inputs[k].ShapeValue(env).Data)
		} else if words := vocabularies[k]; words != nil {
			list := make([]string, dst.Len())
			for i := range list {
				list[i] = words[r.IntN(len(words))]
			}
			*dst = numeric.Strings(list, dst.Dims...)
		} else if dst.Type.IsInteger() {
			ranges[k].fill(*dst, r)
		} else {
			fill(*dst, r)
		}
		return nil
	}
	s.anew = func(other map[string]int, n int) (*Set, error) {
		all := maps.Clone(env)
		if all == nil {
			all = map[string]int{}
		}
		maps.Copy(all, other)
		if maps.Equal(all, env) && n == s.length {
			return s, nil
		}
		return Random(inputs, all, n, seed)
	}
	s.Name += describe(inputs, ranges)
	return s, nil
}

// Highest returns values of inputs that have the highest integers of random data throughout, and real numbers of 0.
func Highest(inputs []*graph.Tensor, env map[string]int) map[string]numeric.Value {
	values := map[string]numeric.Value{}
	for _, t := range inputs {
		v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, env)...)
		if t.IsShape {
			v = t.ShapeValue(env)
		} else if t.Type.IsInteger() {
			of := integersOf(t, env)
			integers{of.high, of.high}.fill(v, rand.New(rand.NewPCG(0, 0)))
		}
		values[t.Name] = v
	}
	return values
}

// maxRandomBytes bounds all items of random data together. They are made as they are needed, one at a time, so that it bounds
// time more than memory.
const maxRandomBytes = 16 * maxBytes

// checkRandom returns an error where n items of input t with the given extents are more than can be meant. item is how many
// bytes an item has in the inputs before, to which t's are added: in floating point, which no extents overflow.
func checkRandom(t *graph.Tensor, dims []int, n int, item *float64) error {
	size := float64(t.Type.Size())
	for i, d := range dims {
		if d < 0 {
			return fmt.Errorf("random data: input %s has extent %d on axis %d; give shapes that it can have", t, d, i)
		}
		size *= float64(d)
	}
	*item += size
	instead := "smaller shapes"
	if !slices.ContainsFunc(t.Dims, func(d symbolic.Dim) bool { _, fixed := d.IsConst(); return !fixed }) {
		instead = "a model whose input is smaller: this one fixes the shape"
	}
	switch {
	case *item > maxBytes:
		return fmt.Errorf("random data: with input %s of shape %v an item has %.4g bytes, and the limit is %d; give %s", t.Name, dims, *item, maxBytes, instead)
	case *item*float64(n) > maxRandomBytes:
		return &TooManyItems{t.Name, dims, n, int(maxRandomBytes / *item), *item * float64(n)}
	}
	return nil
}

// countsItems reports whether the first axis of an input counts items: as one of those that may, or as a single one.
func countsItems(t *graph.Tensor, batched []*graph.Tensor) bool {
	n, _ := t.Dims[0].IsConst()
	return n == 1 || slices.Contains(batched, t)
}

// fill makes up elements for a value of real numbers or booleans, and small ones of 8 bits.
func fill(v numeric.Value, r *rand.Rand) {
	switch {
	case v.Type == numeric.F64:
		for i := range numeric.View[float64](v.Data) {
			numeric.View[float64](v.Data)[i] = r.NormFloat64()
		}
	case v.Type.IsFloat():
		x := make([]float32, v.Len())
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		numeric.FromReal(v, x, numeric.Range{})
	case v.Type == numeric.Bool:
		for i := range v.Data {
			v.Data[i] = byte(r.IntN(2))
		}
	default:
		for i := range v.Data {
			v.Data[i] = byte(r.IntN(10))
		}
	}
}

// TooManyItems is the error that items of random data need more memory than they may.
type TooManyItems struct {
	Input      string
	Shape      []int
	Items, Fit int // how many there are, and how many there may be
	Bytes      float64
}

func (e *TooManyItems) Error() string {
	return fmt.Sprintf("random data: with input %s of shape %v %d items have %.4g bytes, and the limit is %d; give %d items or fewer",
		e.Input, e.Shape, e.Items, e.Bytes, maxRandomBytes, e.Fit)
}
