package generate

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// shortest is the least length that an engine is made for.
const shortest = 16

// usualLength is the text of which a model is shown where nobody says how long it is, and mostLength the longest that is tried where
// its layers take no usual one.
const (
	usualLength = 128
	mostLength  = 512
)

// UsualShapes returns shapes for the open inputs of a model of texts, where nobody gave any, and what they are of: one text of 128
// tokens, or of so many fewer that the model's layers and its tables of places take, each half of the one before; of a model that keeps
// keys and values one new token behind 127. Where layers take none of these, as those of an export in which the length of its example
// was left, it is the longest up to 512 that they do. It returns nil where an input is none that such models have, or where the layers
// fit no such length.
func UsualShapes(n *graph.Network) (shapes map[string][]int, what string) {
	for length := usualLength; length >= shortest; length /= 2 {
		if shapes = fittingText(n, length); shapes != nil {
			return shapes, "a text of the usual length"
		}
	}
	for length := mostLength; length > 0 && shapesOfText(n, length) != nil; length-- {
		if shapes = fittingText(n, length); shapes != nil {
			return shapes, "the longest text that its layers take"
		}
	}
	return nil, ""
}

// fittingText returns the shapes of one text of so many tokens, where a model takes it.
func fittingText(n *graph.Network, length int) map[string][]int {
	shapes := shapesOfText(n, length)
	if shapes == nil {
		return nil
	}
	if env, err := n.BindShapes(shapes); err != nil || n.CheckShapes(env) != nil || !staysInTables(n, env) {
		return nil
	}
	return shapes
}

// shapesOfText returns the shapes of a model's inputs for one text of so many tokens; nil where it has an input that is none of
// texts, or none of tokens.
func shapesOfText(n *graph.Network, length int) map[string][]int {
	fresh, past, tokens := length, 0, false
	for _, t := range n.Inputs {
		if isPast(t) {
			fresh, past = 1, length-1
			if d, ok := t.Dims[2].IsConst(); ok {
				past = d
			}
		}
	}
	env := map[string]int{}
	open := func(t *graph.Tensor, axis, extent int) {
		if name, symbol := t.Dims[axis].SymbolName(); symbol {
			env[name] = extent
		}
	}
	for _, t := range n.Inputs {
		mask := strings.Contains(strings.ToLower(t.Name), "mask")
		switch {
		case isPast(t):
			open(t, 2, past)
		case isEncoded(t):
			open(t, 1, length)
		case len(t.Dims) != 2 || !mask && !isTokens(t):
			return nil
		case !mask:
			tokens = true
			open(t, 1, fresh)
		}
		open(t, 0, 1)
	}
	for _, t := range n.Inputs { // last: of a mask the axis may be that of the tokens, too
		if name, symbol := t.Dims[len(t.Dims)-1].SymbolName(); symbol && len(t.Dims) == 2 {
			if _, known := env[name]; !known {
				env[name] = past + fresh
			}
		}
	}
	if !tokens || len(n.Unbound(env)) > 0 {
		return nil
	}
	shapes := map[string][]int{}
	for _, t := range n.Inputs {
		shapes[t.Name] = symbolic.Eval(t.Dims, env)
	}
	return shapes
}

// isPast reports whether an input is keys or values of earlier tokens, [batch, heads, past, size].
func isPast(t *graph.Tensor) bool {
	return len(t.Dims) == 4 && t.Type.IsFloat() && hasPrefix(strings.ToLower(t.Name), pastPrefix)
}

// isEncoded reports whether an input is what an encoder made of another text, [batch, length, width].
func isEncoded(t *graph.Tensor) bool {
	if len(t.Dims) != 3 || !t.Type.IsFloat() {
		return false
	}
	_, known := t.Dims[2].IsConst()
	return known && strings.Contains(strings.ToLower(t.Name), "hidden_states")
}

// shapes returns the shapes of a network's inputs for so many new tokens and so many earlier ones.
func (r *roles) shapes(n *graph.Network, length, past int) (map[string][]int, error) {
	shapes := map[string][]int{}
	for _, t := range n.Inputs {
		want := []int{1, length}
		if r.mask != nil && t.Name == r.mask.Name {
			want = []int{1, past + length}
		}
		for _, c := range r.cache {
			if t.Name == c.past.Name {
				want = []int{1, -1, past, -1}
			}
		}
		dims, err := fixed(t, want)
		if err == nil && len(dims) == 2 && !fillable(t.Type) {
			err = fmt.Errorf("input %s, %s: want integers", t.Name, t.TypeString())
		}
		if err != nil {
			return nil, err
		}
		shapes[t.Name] = dims
	}
	return shapes, nil
}

// takes reports whether a model's layers fit so many new tokens and so many earlier ones.
func (r *roles) takes(n *graph.Network, length, past int) bool {
	shapes, err := r.shapes(n, length, past)
	if err != nil {
		return false
	}
	env, err := n.BindShapes(shapes)
	return err == nil && n.CheckShapes(env) == nil
}

// fixed returns the input's shape where open extents are those wanted; -1 wants none but what the model says.
func fixed(t *graph.Tensor, want []int) ([]int, error) {
	if len(t.Dims) != len(want) {
		return nil, fmt.Errorf("input %s, %s: want %d axes", t.Name, t.TypeString(), len(want))
	}
	dims := make([]int, len(want))
	for i, d := range t.Dims {
		n, known := d.IsConst()
		switch {
		case !known && want[i] < 0:
			return nil, fmt.Errorf("input %s, %s: axis %d is open, and nothing says what it is", t.Name, t.TypeString(), i)
		case !known:
			n = want[i]
		case want[i] >= 0 && n != want[i]:
			return nil, fmt.Errorf("input %s, %s: axis %d is %d, this text needs %d; export the model with that axis open", t.Name, t.TypeString(), i, n, want[i])
		}
		dims[i] = n
	}
	return dims, nil
}

// fillable reports whether fill knows the type.
func fillable(t numeric.DataType) bool {
	return t == numeric.I64 || t == numeric.I32 || t == numeric.F32 || t.Size() == 1
}
