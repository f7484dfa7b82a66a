package generate

import (
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// usualLength is the text of which a model is shown where nobody says how long it is.
const usualLength = 128

// UsualShapes returns shapes for the open inputs of a model of texts, where nobody gave any: one text of 128 tokens, or of so many
// fewer that the model's layers take, each half of the one before; of a model that keeps keys and values one new token behind 127.
// It returns nil where an input is none that such models have, or where the layers fit no such length.
func UsualShapes(n *graph.Network) map[string][]int {
	for length := usualLength; length >= shortest; length /= 2 {
		shapes := shapesOfText(n, length)
		if shapes == nil {
			return nil
		}
		if env, err := n.BindShapes(shapes); err == nil && n.CheckShapes(env) == nil {
			return shapes
		}
	}
	return nil
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
