// Package dataset reads labelled data in the forms that people have it in: numpy arrays, ONNX test data, idx and CIFAR
// files, raw arrays and folders of images. [Open] finds out which form a path has; [Set.Feed] gives a network's inputs
// for some of the items. Data stays in its stored form until it is fed, and images stay on disk.
package dataset

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/detection"
)

// Set is a sequence of items, each with a value for every input of a network and perhaps a label. It does not change;
// its methods may be called by several goroutines at once.
type Set struct {
	Name   string
	Inputs []Input
	Labels []int // by item; nil if there are none. -1: this item has none
	// Next is the classes of the rows of an item, by item, -1 where one is not known: of a text the token that follows each of the
	// item's.
	Next [][]int
	// Scores is the output whose rows Next has the classes of; empty: the first of floating type.
	Scores string
	// Random marks data that is made up: what is calibrated with it is not to be trusted.
	Random bool
	// Whole marks data whose items are complete feeds: the first axis of their values is not one of items.
	Whole    bool
	Identity Identity

	boxes [][]detection.Box // by item, in pixels of what a network reads; nil: there are none
	size  Size              // that image files are brought to; zero: there are none
	how   Resize            // to it

	length    int
	group     int  // items that are put together to one; 0: none are
	notFinite bool // NaN and infinities are taken
	asStored  bool // elements are in memory as someone stored them
	// read stores item i of input k in dst, which has the input's type and item shape.
	read   func(i, k int, dst *numeric.Value) error
	stored [][]numeric.Value // of whole items that are in memory, by item and input: they may differ in shape; else nil
	arrays bool              // the one item is arrays, whose first axes may count items, as inputs tell
	feed   *Set              // of arrays with as many items each: the same as one such item; else nil
	// file is the path of the file that item i is; nil where items are not files of their own.
	file func(i int) string
	// anew makes n items of made-up data at other values of the symbols, of the same seed; nil where data is not made up.
	anew func(env map[string]int, n int) (*Set, error)
}

// Input is what a set has for one input of a network.
type Input struct {
	Name string // empty: the network's only input
	Type numeric.DataType
	Dims []int // of one item, without the axis of items
}

// Identity says which data a set has: equal identities mean equal items.
type Identity struct {
	Path    string
	Size    int64 // of all files
	ModTime time.Time
	Hash    string // SHA-256 of the files' contents (of a folder of images: of their names, sizes and times) and of the options
}

// Len returns the number of items.
func (s *Set) Len() int { return s.length }

// Batch returns items i to i+n-1: a value for each of Inputs, whose first axis counts the items; of a whole set, n must
// be 1 and the values are the item's as they are.
func (s *Set) Batch(i, n int) ([]numeric.Value, error) {
	if i < 0 || n < 1 || n > s.length || i > s.length-n {
		return nil, fmt.Errorf("%s: no items %d to %d, there are %d", s.Name, i, i+n-1, s.length)
	}
	if s.Whole && n != 1 {
		return nil, fmt.Errorf("%s: its items are whole inputs and cannot be joined to a batch of %d", s.Name, n)
	}
	values := make([]numeric.Value, len(s.Inputs))
	for k, in := range s.Inputs {
		dims := in.Dims
		if s.stored != nil {
			dims = s.stored[i][k].Dims
		}
		if !s.Whole {
			dims = append([]int{n}, dims...)
		}
		values[k] = numeric.NewValue(in.Type, dims...)
		err := join(&values[k], in.Dims, n, func(j int, item *numeric.Value) error {
			if err := s.read(i+j, k, item); err != nil {
				return fmt.Errorf("%s: item %d: %w", s.Name, i+j, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// join fills v with n items of the given shape that lie in it one behind the other.
func join(v *numeric.Value, dims []int, n int, read func(j int, item *numeric.Value) error) error {
	var strings []byte
	size := len(v.Data) / n
	for j := range n {
		item := numeric.Value{Type: v.Type, Dims: dims, Data: v.Data[j*size : (j+1)*size : (j+1)*size]}
		if err := read(j, &item); err != nil {
			return err
		}
		if v.Type == numeric.Str {
			strings = append(strings, item.Data...)
		}
	}
	if v.Type == numeric.Str {
		v.Data = strings
	}
	return nil
}

// LabelsOf returns the labels of items i to i+n-1, nil if the set has none.
func (s *Set) LabelsOf(i, n int) []int {
	if s.Labels == nil {
		return nil
	}
	return s.Labels[i : i+n]
}

// Feed returns items i to i+n-1 as the inputs of a network, by name: converted to its types, and reshaped where the
// shapes differ in axes of extent 1 or are flattened. Inputs are found by name; the only input needs none.
func (s *Set) Feed(inputs []*graph.Tensor, i, n int) (map[string]numeric.Value, error) {
	values, err := s.Batch(i, n)
	if err != nil {
		return nil, err
	}
	feed, elements := map[string]numeric.Value{}, 0
	for _, t := range inputs {
		k := s.inputOf(inputs, t)
		if k < 0 {
			return nil, fmt.Errorf("%s: no data for input %s; there is %s", s.Name, t, s.names())
		}
		v, err := fit(values[k], t)
		if err != nil {
			return nil, fmt.Errorf("%s: input %s: %w", s.Name, t.Name, err)
		}
		if err := s.checkFinite(v, i, n); err != nil {
			return nil, fmt.Errorf("%s: input %s: %w", s.Name, t.Name, err)
		}
		feed[t.Name] = v
		elements += v.Len()
	}
	if elements == 0 && len(inputs) > 0 {
		return nil, fmt.Errorf("%s: item %d: input %s of shape %v has no elements, so that nothing would be computed; give other data", s.Name, i, inputs[0].Name, feed[inputs[0].Name].Dims)
	}
	return feed, nil
}

// inputOf returns which of the set's inputs is that of one of a network's: by its name, or the only one for the only one; -1 for none.
func (s *Set) inputOf(inputs []*graph.Tensor, t *graph.Tensor) int {
	k := slices.IndexFunc(s.Inputs, func(in Input) bool { return in.Name == t.Name })
	if k < 0 && len(inputs) == 1 && len(s.Inputs) == 1 {
		k = 0
	}
	return k
}

// checkFinite returns an error that names the first item, of n from first on, and its element that is NaN or infinite.
func (s *Set) checkFinite(v numeric.Value, first, n int) error {
	if s.notFinite || !v.Type.IsFloat() {
		return nil
	}
	at, what := notFinite(v)
	if at < 0 {
		return nil
	}
	group := max(1, s.group)
	each := max(1, v.Len()/(n*group))
	first *= group
	return &NotFiniteError{first + at/each, at % each, what, v.Type}
}

// notFinite returns the index of the first element that is NaN or infinite, and the element; -1 where all are numbers.
func notFinite(v numeric.Value) (int, float64) {
	if v.Type == numeric.F64 {
		for i, x := range numeric.View[float64](v.Data) {
			if !(math.Abs(x) <= math.MaxFloat64) {
				return i, x
			}
		}
		return -1, 0
	}
	for i, x := range v.Floats() {
		if !(math.Abs(float64(x)) <= math.MaxFloat32) {
			return i, float64(x)
		}
	}
	return -1, 0
}

// Batches feeds all items in order, n at a time; the items of the last batch are repeated from its last one to n where
// the rest is shorter.
func (s *Set) Batches(inputs []*graph.Tensor, n int) iter.Seq2[map[string]numeric.Value, error] {
	return func(yield func(map[string]numeric.Value, error) bool) {
		if s.Whole {
			n = 1
		}
		for i := 0; i < s.length; i += n {
			count := min(n, s.length-i)
			feed, err := s.Feed(inputs, i, count)
			for name, v := range feed {
				feed[name] = repeatLast(v, count, n)
			}
			if !yield(feed, err) || err != nil {
				return
			}
		}
	}
}

// repeatLast makes n items of count.
func repeatLast(v numeric.Value, count, n int) numeric.Value {
	if count == n {
		return v
	}
	r := numeric.Value{Type: v.Type, Dims: slices.Clone(v.Dims), Data: slices.Clone(v.Data)}
	each := v.Dims[0] / count
	r.Dims[0] = n * each
	last := v.Rows((count-1)*each, count*each)
	for range n - count {
		r.Data = append(r.Data, last.Data...)
	}
	return r
}

func (s *Set) names() string {
	var list []string
	for _, in := range s.Inputs {
		name := in.Name
		if name == "" {
			name = "an array without name"
		}
		list = append(list, fmt.Sprintf("%s %s%v", name, in.Type, in.Dims))
	}
	return strings.Join(list, ", ")
}

// fit returns v in the type and rank of t.
func fit(v numeric.Value, t *graph.Tensor) (numeric.Value, error) {
	dims, ok := fitDims(v.Dims, t.Dims)
	if !ok {
		return v, fmt.Errorf("data of shape %v does not fit %s", v.Dims, t.TypeString())
	}
	v.Dims = dims
	if v.Type == t.Type {
		return v, nil
	}
	to := numeric.NewValue(t.Type, dims...)
	switch {
	case v.Type == numeric.Str, t.Type == numeric.Str:
		return v, fmt.Errorf("data is %s, the network needs %s", v.Type, t.Type)
	case t.Type == numeric.F32 || t.Type == numeric.F16 || t.Type == numeric.BF16:
		numeric.FromReal(to, v.Floats(), numeric.Range{})
	case t.Type == numeric.I64 && v.Type.IsInteger():
		copy(to.I64(), v.Ints())
	case t.Type == numeric.I32 && v.Type.IsInteger():
		for i, x := range v.Ints() {
			to.I32()[i] = int32(x)
		}
	case t.Type == numeric.Bool && v.Type == numeric.U8:
		copy(to.Data, v.Data)
	default:
		return v, fmt.Errorf("data is %s, the network needs %s", v.Type, t.Type)
	}
	return to, nil
}

// fitDims returns the shape that data of shape have takes for an input of shape want: want's with symbols replaced,
// where both agree but for axes of extent 1 or the flattening of all axes behind the first.
func fitDims(have []int, want []symbolic.Dim) ([]int, bool) {
	if len(have) == len(want) {
		same := true
		for i, d := range want {
			c, ok := d.IsConst()
			same = same && (!ok || c == have[i])
		}
		if same {
			return have, true
		}
	}
	if len(have) == 0 || len(want) == 0 {
		return nil, false
	}
	dims := make([]int, len(want))
	rest, symbols := numeric.Count(have[1:]), 0
	for i, d := range want {
		c, ok := d.IsConst()
		switch {
		case i == 0 && (!ok || c == have[0]):
			dims[0] = have[0]
		case i == 0:
			return nil, false
		case !ok:
			symbols++
		default:
			dims[i] = c
		}
	}
	if symbols > 0 || numeric.Count(dims[1:]) != rest {
		return nil, false
	}
	// [H,W,3] is not [3,H,W]: the order of the axes longer than 1 must be the same, unless one side has but one axis.
	flat := len(have) == 2 || len(want) == 2
	return dims, flat || slices.Equal(longAxes(have[1:]), longAxes(dims[1:]))
}

// longAxes returns the extents other than 1.
func longAxes(dims []int) []int {
	return slices.DeleteFunc(slices.Clone(dims), func(d int) bool { return d == 1 })
}

// NotFiniteError is the error that an element of data is NaN or infinite.
type NotFiniteError struct {
	Item, Element int
	Value         float64
	Type          numeric.DataType
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("item %d: element %d is %g as %s; correct the data, or allow such values", e.Item, e.Element, e.Value, e.Type)
}
