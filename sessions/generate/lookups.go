package generate

import (
	"context"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
)

// staysInTables reports whether the places that a model computes of its tokens, as by counting those that are no padding, are in the
// tables that it looks them up in. Shapes do not tell: a RoBERTa begins to count behind its padding.
func staysInTables(n *graph.Network, env map[string]int) bool {
	part, rows := lookups(n, env)
	if len(rows) == 0 {
		return true
	}
	values, err := part.Eval(context.Background(), dataset.Highest(n.Inputs, env), nil)
	if err != nil { // which is no matter of tables, and is told by who runs the model
		return true
	}
	for name, most := range rows {
		if slices.ContainsFunc(values[name].Ints(), func(place int64) bool { return place < -most || place >= most }) {
			return false
		}
	}
	return true
}

// lookups returns the part of a network that computes, of integers alone, which rows of tables are looked up, as its outputs, and how
// many rows there are for each. Extents are taken at env's values.
func lookups(n *graph.Network, env map[string]int) (part *graph.Network, rows map[string]int64) {
	part, rows = n.Clone(), map[string]int64{}
	part.Source, part.Outputs = nil, nil
	for _, l := range part.Layers {
		a, ok := l.Attrs.(graph.GatherAttrs)
		if !ok || l.Op != graph.Gather || !l.Inputs[0].IsConst() || l.Inputs[1].IsConst() || !ofIntegers(l.Inputs[1], map[*graph.Tensor]bool{}) {
			continue
		}
		table, places := l.Inputs[0].Dims, l.Inputs[1]
		most, known := table[(a.Axis+len(table))%len(table)].IsConst()
		if least, again := rows[places.Name]; known && !again {
			part.MarkOutput(places)
			rows[places.Name] = int64(most)
		} else if known {
			rows[places.Name] = min(least, int64(most))
		}
	}
	for _, l := range slices.Backward(slices.Clone(part.Layers)) {
		y := l.Outputs[0]
		switch {
		case !slices.ContainsFunc(l.Outputs, func(t *graph.Tensor) bool { return len(t.Users) > 0 || part.IsOutput(t) }):
			part.Remove(l)
		case l.Op == graph.ShapeOf && !part.IsOutput(y): // of whatever, which is not computed
			part.Remove(l)
			v := numeric.NewValue(y.Type, len(y.Value))
			for i, d := range y.Value {
				v.I64()[i] = int64(d.Eval(env))
			}
			y.Weights = v.Data
		}
	}
	return part, rows
}

// ofIntegers reports whether t follows from integers and truths alone.
func ofIntegers(t *graph.Tensor, seen map[*graph.Tensor]bool) bool {
	if t == nil || t.IsConst() || seen[t] {
		return true
	}
	seen[t] = true
	if !t.Type.IsInteger() && t.Type != numeric.Bool {
		return false
	}
	l := t.Producer
	return l == nil || l.Op == graph.ShapeOf || !slices.ContainsFunc(l.Inputs, func(x *graph.Tensor) bool { return !ofIntegers(x, seen) })
}
