package graph

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Counting is an extent of a layer's outputs which is known when the layer has been computed. Until then it is as large as it can be:
// Eval and kernels are given room for that, and write the elements that there are one behind the other, as the actual shape has them.
// It is read off one of the outputs, of I64 that are never negative, which has -1 behind them.
type Counting struct {
	Symbol string // that stands for it
	Output int    // that it is read off
	Axis   int    // of that output
	Most   symbolic.Dim
	Least  int // fewer than that have no meaning
}

// Counted returns the extents of its outputs that the elements of l's inputs decide on.
func (l *Layer) Counted() []Counting {
	if l.Op.Counted == nil {
		return nil
	}
	return l.Op.Counted(l)
}

// Counts reports whether there are such extents.
func (l *Layer) Counts() bool { return len(l.Counted()) > 0 }

// Of returns the extent of what was written to v, the output that it is read off, whose shape has room for the most.
func (c Counting) Of(v numeric.Value) int {
	list, slice := v.I64(), 1
	for axis, n := range v.Dims {
		if axis != c.Axis {
			slice *= n
		}
	}
	n := slices.Index(list, -1)
	if n < 0 {
		n = len(list)
	}
	return n / max(1, slice)
}

// counted returns the network's layers of which an extent is counted, and those inside its layers.
func (n *Network) counted() (list []*Layer) {
	for _, l := range n.AllLayers() {
		if l.Counts() {
			list = append(list, l)
		}
	}
	return list
}

// CountSymbols returns the symbols of counted extents, in the order of the layers that count.
func (n *Network) CountSymbols() (list []string) {
	for _, c := range n.Countings() {
		list = append(list, c.Symbol)
	}
	return list
}

// Countings returns the counted extents, in the order of the layers that count. One that a Split beside the layer cuts into parts of given
// sizes, as an exporter writes what it has seen, is their sum: a layer that counts otherwise fails, but for a loop, which has to go on to
// its end.
func (n *Network) Countings() (list []Counting) {
	var given map[string]int
	for _, l := range n.Layers {
		for _, c := range l.Counted() {
			if given == nil {
				given = n.givenExtents()
			}
			if sum, ok := given[c.Symbol]; ok && len(l.Bodies()) == 0 {
				c.Most, c.Least = symbolic.Const(sum), sum
			}
			list = append(list, c)
		}
		for _, b := range l.Bodies() { // which may not run: what they cut says nothing of what is counted around them
			list = append(list, b.Network.Countings()...)
		}
	}
	return list
}

// givenExtents returns what symbols must be since a Split, here or in the network that n was made from, makes parts of given sizes of
// such an extent.
func (n *Network) givenExtents() map[string]int {
	given := map[string]int{}
	for ; n != nil; n = n.Source {
		for _, l := range n.Layers {
			if l.Op != Split || l.Attrs.(SplitAttrs).Sizes == nil {
				continue
			}
			a, x := l.Attrs.(SplitAttrs), l.Inputs[0]
			axis, err := axisIn(a.Axis, len(x.Dims))
			if err != nil {
				continue
			}
			if name, ok := x.Dims[axis].SymbolName(); ok {
				sum := 0
				for _, size := range a.Sizes {
					sum += size
				}
				given[name] = sum
			}
		}
	}
	return given
}

// uncounted returns the symbols given, and those that n counts and env has no value for: of layers that a pass has merged with others.
// Nil stays so: all is as large as it can be.
func (n *Network) uncounted(env map[string]int, symbols map[string]bool) map[string]bool {
	if symbols == nil {
		return nil
	}
	symbols = maps.Clone(symbols)
	for _, name := range n.CountSymbols() {
		if _, ok := env[name]; !ok {
			symbols[name] = true
		}
	}
	return symbols
}

// dependsOn reports whether a shape of l's tensors, or what is known of their elements, depends on one of the symbols.
func (l *Layer) dependsOn(symbols map[string]bool) bool {
	if len(symbols) == 0 {
		return false
	}
	found := map[string]bool{}
	for _, t := range slices.Concat(l.Inputs, l.Outputs) {
		if t == nil {
			continue
		}
		for _, d := range slices.Concat(t.Dims, t.Value) {
			d.Symbols(found)
		}
	}
	for name := range found {
		if symbols[name] {
			return true
		}
	}
	return false
}

// Counts returns env with the symbols of counted extents that it has no value for, each as large as it can be.
func (n *Network) Counts(env map[string]int) map[string]int {
	list := n.Countings()
	if len(list) == 0 {
		return env
	}
	env = maps.Clone(env)
	if env == nil {
		env = map[string]int{}
	}
	for _, c := range list {
		if _, ok := env[c.Symbol]; !ok {
			env[c.Symbol] = max(0, c.Most.Eval(env))
		}
	}
	return env
}

// Recounted returns env with what l has counted, for whose outputs v is asked. What later layers count may be less then.
func (n *Network) Recounted(l *Layer, env map[string]int, v func(output int) (numeric.Value, error)) (map[string]int, error) {
	env = maps.Clone(env)
	for _, c := range l.Counted() {
		out, err := v(c.Output)
		if err != nil {
			return nil, err
		}
		env[c.Symbol] = c.Of(out)
	}
	later := false
	for _, other := range n.counted() {
		if later {
			for _, c := range other.Counted() {
				delete(env, c.Symbol)
			}
		}
		later = later || other == l
	}
	return n.Counts(env), nil
}

// checkCounts returns an error where a symbol stands for two counts, or for one and an extent of an input.
func (n *Network) checkCounts() error {
	for _, l := range n.Layers {
		if err := l.CheckBodyCounts(); err != nil {
			return err
		}
	}
	list := n.counted()
	if len(list) == 0 {
		return nil
	}
	symbols := map[string]bool{}
	for _, t := range n.Inputs {
		for _, d := range t.Extents() {
			d.Symbols(symbols)
		}
	}
	for _, l := range list {
		for _, c := range l.Counted() {
			if symbols[c.Symbol] {
				return fmt.Errorf("layer %s (%s): the symbol %s stands for another extent already", l.Name, l.Op.Name, c.Symbol)
			}
			symbols[c.Symbol] = true
		}
	}
	return nil
}

// CheckBodyCounts returns an error where what a network inside l gives has an extent that is counted in it: what comes back would have
// no shape.
func (l *Layer) CheckBodyCounts() error {
	for _, b := range l.Bodies() {
		counts := b.Network.CountSymbols()
		for i, t := range b.Network.Outputs {
			symbols := map[string]bool{}
			for _, d := range t.Dims {
				d.Symbols(symbols)
			}
			if slices.ContainsFunc(counts, func(name string) bool { return symbols[name] }) {
				return fmt.Errorf("layer %s (%s): %s: output %d is %s: how many elements it has depends on the data, which is not supported of what an If, a Loop or a Scan gives", l.Name, l.Op.Name, b.Name, i, t.TypeString())
			}
		}
	}
	return nil
}

// CountsInside reports whether a layer inside l counts an extent.
func (l *Layer) CountsInside() bool {
	return slices.ContainsFunc(l.Bodies(), func(b Body) bool { return len(b.Network.counted()) > 0 })
}

// countSymbol returns the symbol of what a node counts.
func countSymbol(node string) string {
	s := []byte("count_" + node)
	for i, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.') {
			s[i] = '_'
		}
	}
	return string(s)
}

// writeCounted sets a result to what was counted, -1 behind it.
func writeCounted(l *Layer, out numeric.Value, list []int64) error {
	dst := out.I64()
	if len(list) > len(dst) || !l.Counts() && len(list) < len(dst) {
		return fmt.Errorf("%d elements are found, the shape of the result is %v", len(list), out.Dims)
	}
	for i := copy(dst, list); i < len(dst); i++ {
		dst[i] = -1
	}
	return nil
}

// NonZeros returns the places of the elements of x that are not 0 where a layer counts them already: of x, or of what is computed in
// the same way, as PyTorch writes a mask again for each tensor that it selects from. What is selected is as long then. Nil if none does.
func (n *Network) NonZeros(x *Tensor) *Tensor {
	for _, l := range n.Layers {
		if l.Op == NonZero && l.Inputs[0].isAlike(x, maxAlike) {
			return l.Outputs[0]
		}
	}
	return nil
}

// maxAlike bounds how many layers behind each other are compared, of which each has two inputs or three.
const maxAlike = 5

// unchanged returns the tensor whose elements, type and shape t has by layers that change none of them, such as an Expand to the shape
// that there is.
func (t *Tensor) unchanged() *Tensor {
	for t != nil && t.Producer != nil && t.Producer.Unsupported() == nil && t.Producer.Movement() == Kept && t.Producer.DataInputs() == 1 {
		from := t.Producer.Inputs[0]
		if from == nil || from.Type != t.Type || !symbolic.Equal(from.Dims, t.Dims) || !from.Range.Equal(t.Range) {
			break
		}
		t = from
	}
	return t
}

// isAlike reports whether t is computed by the same layers of the same tensors as x.
func (t *Tensor) isAlike(x *Tensor, depth int) bool {
	t, x = t.unchanged(), x.unchanged()
	if t == x {
		return true
	}
	if t == nil || x == nil || t.Type != x.Type || !symbolic.Equal(t.Dims, x.Dims) {
		return false
	}
	if t.IsConst() || x.IsConst() {
		return t.IsConst() && x.IsConst() && bytes.Equal(t.Weights, x.Weights)
	}
	a, b := t.Producer, x.Producer
	if depth == 0 || a == nil || b == nil || a.Op != b.Op || a.Unsupported() != nil || len(a.Bodies()) > 0 || len(a.Inputs) != len(b.Inputs) ||
		slices.Index(a.Outputs, t) != slices.Index(b.Outputs, x) || !reflect.DeepEqual(a.Attrs, b.Attrs) || !reflect.DeepEqual(a.Epilogue, b.Epilogue) {
		return false
	}
	for i, in := range a.Inputs {
		if !in.isAlike(b.Inputs[i], depth-1) {
			return false
		}
	}
	return true
}
