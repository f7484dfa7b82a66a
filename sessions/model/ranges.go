package model

import (
	"fmt"
	"maps"
	"slices"

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
	if low, err = endOf(m, env, cfg.MinShapes); err != nil {
		return nil, nil, fmt.Errorf("least shapes: %w", err)
	}
	if high, err = endOf(m, env, cfg.MaxShapes); err != nil {
		return nil, nil, fmt.Errorf("largest shapes: %w", err)
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
