package onnx

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// vacuous reports whether an If asks for an extent of 0 and has a branch for that which gives nothing, where the other one would give
// nothing either: so PyTorch's detectors guard the suppression of boxes. The other branch then serves in any case, and may count
// what it gives, which a network inside a layer may not.
func vacuous(condition *graph.Tensor, then, other *graph.Network) bool {
	extent, ok := comparedWith0(condition)
	if !ok {
		return false
	}
	none := zerosOf(extent)
	for _, l := range other.Layers {
		for _, c := range l.Counted() {
			if none.is(c.Most) {
				none[c.Symbol] = true
			}
		}
	}
	for i, t := range then.Outputs {
		o := other.Outputs[i]
		if t.Type != o.Type || !t.Range.Equal(o.Range) || len(t.Dims) != len(o.Dims) {
			return false
		}
		empty := false
		for axis, d := range t.Dims {
			zero := d.Is(0) && none.is(o.Dims[axis])
			if !zero && !d.Equal(o.Dims[axis]) {
				return false
			}
			empty = empty || zero
		}
		if !empty {
			return false
		}
	}
	return true
}

// nothing is symbols whose extents are 0.
type nothing map[string]bool

// zerosOf returns the symbols that are 0 where an extent is: those of which it has 1 or more if they are.
func zerosOf(extent symbolic.Dim) nothing {
	symbols, low, high := map[string]bool{}, map[string]int{}, map[string]int{}
	extent.Symbols(symbols)
	for s := range symbols {
		low[s], high[s] = 0, math.MaxInt32
	}
	none := nothing{}
	for s := range symbols {
		low[s] = 1
		if least, _ := extent.Bounds(low, high); least > 0 {
			none[s] = true
		}
		low[s] = 0
	}
	return none
}

// is reports whether an extent is 0, whatever other symbols stand for.
func (n nothing) is(d symbolic.Dim) bool {
	low, high := map[string]int{}, map[string]int{}
	symbols := map[string]bool{}
	d.Symbols(symbols)
	for s := range symbols {
		if low[s] = 0; !n[s] {
			high[s] = math.MaxInt32
		} else {
			high[s] = 0
		}
	}
	_, most := d.Bounds(low, high)
	return most <= 0
}

// comparedWith0 returns the extent, or the product of extents, which a condition compares with 0.
func comparedWith0(t *graph.Tensor) (symbolic.Dim, bool) {
	l := t.Producer
	for l != nil && l.Op == graph.Cast {
		l = l.Inputs[0].Producer
	}
	if l == nil || len(l.Inputs) != 2 {
		return symbolic.Dim{}, false
	}
	if a, ok := l.Attrs.(graph.Elementwise); !ok || len(a.Program.Code) != 1 || a.Program.Code[0].Op != elementwise.Equal {
		return symbolic.Dim{}, false
	}
	for i, zero := range l.Inputs {
		list, ok := zero.Ints()
		if x := l.Inputs[1-i].Value; ok && len(list) == 1 && list[0] == 0 && len(x) == 1 {
			return x[0], true
		}
	}
	return symbolic.Dim{}, false
}
