package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/config"
)

// RangesOf returns the least and the largest values of the symbols that an engine of a configuration's first profile serves; nil
// where it serves those of [Model.Symbols] alone. Symbols of inputs that its MinShapes and MaxShapes do not name are as there.
func RangesOf(m *Model, cfg config.Config) (low, high map[string]int, err error) {
	if len(cfg.MinShapes) == 0 && len(cfg.MaxShapes) == 0 || m.Network == nil {
		return nil, nil, nil
	}
	env, err := m.Symbols(cfg)
	if err != nil {
		return nil, nil, err
	}
	low, notLow := endOf(m, env, cfg.MinShapes)
	high, notHigh := endOf(m, env, cfg.MaxShapes)
	for _, end := range []struct {
		name string
		err  error
	}{{"least", notLow}, {"largest", notHigh}} {
		var unfit *ShapesError
		switch {
		case errors.As(end.err, &unfit) && low != nil && high != nil:
			if within := fitting(m, env, low, high); within != nil {
				return nil, nil, newRangeError(m, end.name, unfit, within, low, high)
			}
			fallthrough
		case end.err != nil:
			return nil, nil, fmt.Errorf("%s shapes: %w", end.name, end.err)
		}
	}
	counted := m.Network.CountSymbols() // what they are at most need not grow with extents
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if slices.Contains(counted, name) {
			continue
		}
		if v := env[name]; v < low[name] || v > high[name] {
			return nil, nil, fmt.Errorf("%s is %d, which is not from %d to %d, the least and the largest that are asked for", axisOf(m.Network, name), v, low[name], high[name])
		}
	}
	return low, high, nil
}

// axisOf names the axis of an input that a symbol is, as in "input x: axis 0 (batch)".
func axisOf(n *graph.Network, symbol string) string {
	for _, t := range n.Inputs {
		for axis, d := range t.Extents() {
			if name, ok := d.SymbolName(); ok && name == symbol && t.IsShape {
				return fmt.Sprintf("input %s: element %d (%s)", t.Name, axis, symbol)
			} else if ok && name == symbol {
				return fmt.Sprintf("input %s: axis %d (%s)", t.Name, axis, symbol)
			}
		}
	}
	return symbol
}

// endOf returns the values of symbols where some inputs have the given shapes.
func endOf(m *Model, env map[string]int, shapes map[string][]int) (map[string]int, error) {
	if err := checkShapes(m.Network, config.Config{Shapes: shapes}); err != nil {
		return nil, err
	}
	end, err := m.Network.BindSome(env, shapes)
	if err == nil {
		err = CheckExtents(m, end)
	}
	return end, err
}

// RangeError is the error that the layers of a model do not fit together at an end of a range that an engine is to serve.
type RangeError struct {
	End      string // "least" or "largest"
	Err      *ShapesError
	Min, Max map[string][]int // of inputs with open axes: the widest range around shapes that fit, within what was asked, that was found
	Axes     string           // of that, as in "batch=1..4, seq=1..256"; the best extents alone where no others were found
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s shapes: %v; the model cannot take inputs of %s; within the range it can take %s", e.End, e.Err.Err, e.Err.Shapes, e.Axes)
}

func (e *RangeError) Unwrap() error { return e.Err }

// Alone reports whether no other shapes than the best ones were found.
func (e *RangeError) Alone() bool { return maps.EqualFunc(e.Min, e.Max, slices.Equal) }

// fitting returns extents at which layers fit together: the best ones, or else the least or the largest of a range, or what lies as far
// from the least on all axes; nil where none of these do.
func fitting(m *Model, best, low, high map[string]int) map[string]int {
	const steps = 64
	for _, env := range []map[string]int{best, low, high} {
		if CheckExtents(m, env) == nil {
			return env
		}
	}
	for i := 1; i <= steps; i++ {
		env := maps.Clone(low)
		for name, least := range low {
			env[name] = max(least, min(least+i, high[name]))
		}
		if CheckExtents(m, env) == nil {
			return env
		}
	}
	return nil
}

// newRangeError finds the widest range between low and high, around env, at whose ends layers fit together.
func newRangeError(m *Model, end string, err *ShapesError, env, low, high map[string]int) *RangeError {
	least, most := maps.Clone(env), maps.Clone(env)
	counted := m.Network.CountSymbols()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(env)), func(name string) bool { return slices.Contains(counted, name) })
	for _, name := range names {
		least[name], most[name] = nearest(m, env, name, low[name]), nearest(m, env, name, high[name])
	}
	if CheckExtents(m, least) != nil || CheckExtents(m, most) != nil { // each by itself, but not all together
		least, most = env, env
	}
	var axes []string
	for _, name := range names {
		switch {
		case least[name] < most[name]:
			axes = append(axes, fmt.Sprintf("%s=%d..%d", name, least[name], most[name]))
		case low[name] < high[name]:
			axes = append(axes, fmt.Sprintf("%s=%d", name, env[name]))
		}
	}
	return &RangeError{End: end, Err: err, Min: m.Network.ShapesAt(least), Max: m.Network.ShapesAt(most), Axes: strings.Join(axes, ", ")}
}

// nearest returns the extent next to one that is asked for at which layers fit together, the other axes at their best: the first on the way
// to the best one, as where a model takes multiples alone, or else what a limit on the way leaves.
func nearest(m *Model, env map[string]int, symbol string, asked int) int {
	const steps = 64
	at, best := maps.Clone(env), env[symbol]
	fits := func(v int) bool {
		at[symbol] = v
		return CheckExtents(m, at) == nil
	}
	way, n := 1, best-asked
	if n < 0 {
		way, n = -1, -n
	}
	for i := range min(n, steps) {
		if v := asked + way*i; fits(v) {
			return v
		}
	}
	if n <= steps {
		return best
	}
	return best - way*sort.Search(n-1, func(i int) bool { return !fits(best - way*(i+1)) })
}
