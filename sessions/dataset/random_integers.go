package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// integers are what random data has in an input of integers: those from low to high that a network can read there, as far
// as its layers tell.
type integers struct{ low, high int64 }

// integersOf returns the integers that layers can read from t. Indices stay within what they index, the smallest where there
// are several; what only becomes a truth value or a real number is taken to be a mask, and is 1 throughout, so that nothing
// is masked; quantised and other bytes have their whole range. Extents are taken at env's values.
func integersOf(t *graph.Tensor, env map[string]int) integers {
	const untold = math.MaxInt64
	rows, mask := int64(untold), false
	seen := map[*graph.Tensor]bool{}
	var visit func(x *graph.Tensor)
	visit = func(x *graph.Tensor) {
		if seen[x] {
			return
		}
		seen[x] = true
		for _, l := range x.Users {
			for i, in := range l.Inputs {
				if in != x {
					continue
				}
				n := indexed(l, i, env)
				switch {
				case n > 0:
					rows = min(rows, int64(n))
				case carries(l, i):
					for _, y := range l.Outputs {
						visit(y)
					}
				case l.Outputs[0].Type == numeric.Bool || l.Outputs[0].Type.IsFloat():
					mask = true
				}
			}
		}
	}
	visit(t)
	bits := 8 * t.Type.Size()
	switch {
	case rows < untold && bits < 32: // a small type may not reach the last row
		return integers{0, min(rows-1, 1<<(bits-1)-1)}
	case rows < untold:
		return integers{0, rows - 1}
	case bits == 8 && t.Type.Signed():
		return integers{math.MinInt8, math.MaxInt8}
	case bits == 8:
		return integers{0, math.MaxUint8}
	case mask:
		return integers{1, 1}
	}
	return integers{0, 9}
}

// carries reports whether a layer passes the integers of its input i on as they are.
func carries(l *graph.Layer, i int) bool {
	return l.Role(i) == graph.Data && (l.Movement() >= graph.Filled || l.Op == graph.Cast && l.Outputs[0].Type.IsInteger())
}

// indexed returns how many elements a layer's input i chooses among, the least of several axes; 0 where it does not choose,
// or where they are not known.
func indexed(l *graph.Layer, i int, env map[string]int) (least int) {
	if l.Role(i) != graph.Indices || l.Inputs[0] == nil {
		return 0
	}
	for _, d := range l.Op.Chosen(l) {
		if e := extent(d, env); least == 0 || e < least {
			least = e
		}
	}
	return least
}

// fill makes up elements for a value of integers.
func (in integers) fill(v numeric.Value, r *rand.Rand) {
	size := v.Type.Size()
	for at := 0; at < len(v.Data); at += size {
		n := in.low + r.Int64N(in.high-in.low+1)
		for b := range size { // little-endian
			v.Data[at+b] = byte(n >> (8 * b))
		}
	}
}

// describe says, in brackets, what random data has in inputs of integers.
func describe(inputs []*graph.Tensor, ranges []integers) string {
	var list []string
	for i, in := range ranges {
		switch {
		case !inputs[i].Type.IsInteger() || inputs[i].IsShape:
		case in.low == in.high:
			list = append(list, fmt.Sprintf("%s %d", inputs[i].Name, in.low))
		default:
			list = append(list, fmt.Sprintf("%s %d to %d", inputs[i].Name, in.low, in.high))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// extent evaluates a dim; what env does not name is 1.
func extent(d symbolic.Dim, env map[string]int) int {
	names := map[string]bool{}
	d.Symbols(names)
	all := map[string]int{}
	for name := range names {
		all[name] = 1
		if v, ok := env[name]; ok {
			all[name] = v
		}
	}
	return d.Eval(all)
}
