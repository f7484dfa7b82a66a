package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/config"
)

// Derived is an extent that nobody gave, and that layers imply of those that were given.
type Derived struct {
	Symbol string
	Sum    string // that it is, as in "past + seq"
	Input  string // whose axis it is
	Shape  []int  // of that
}

// Derive adds to the shapes of a configuration those of inputs that they leave out, as far as layers imply them: a mask is as long as past
// and new tokens together. So are the ends of ranges, where nobody said what follows.
func Derive(m *Model, cfg *config.Config) (list []Derived) {
	if m.Network == nil || m.Refused != nil || len(cfg.Shapes) == 0 || checkShapes(m.Network, *cfg) != nil || m.Network.CheckShared(cfg.Shapes) != nil {
		return nil
	}
	list = deriveOne(m, cfg)
	deriveEnds(m, cfg, &cfg.MinShapes, &cfg.MaxShapes)
	cfg.Profiles = slices.Clone(cfg.Profiles)
	for k := range cfg.Profiles {
		p := &cfg.Profiles[k]
		of := config.OfProfile(*cfg, k+1)
		of.Shapes = maps.Clone(of.Shapes)
		if len(deriveOne(m, &of)) > 0 {
			p.Shapes = of.Shapes
		}
		deriveEnds(m, &of, &p.MinShapes, &p.MaxShapes)
	}
	return list
}

// deriveOne adds the shapes of inputs where a single extent has no value.
func deriveOne(m *Model, cfg *config.Config) (list []Derived) {
	known := KnownSymbols(m.Network, *cfg)
	open := m.Network.Unbound(known)
	if len(open) != 1 {
		return nil
	}
	symbol := open[0]
	sum, ok := implied(m, symbol, known)
	if !ok {
		return nil
	}
	known[symbol] = sum.Eval(known)
	cfg.Shapes = maps.Clone(cfg.Shapes)
	for _, t := range m.Network.Inputs {
		if _, given := cfg.Shapes[t.Name]; !given && has(t, symbol) {
			cfg.Shapes[t.Name] = symbolic.Eval(t.Extents(), known)
			list = append(list, Derived{symbol, strings.ReplaceAll(sum.String(), "+", " + "), t.Name, cfg.Shapes[t.Name]})
		}
	}
	return list
}

// has reports whether a symbol is in the shape of an input.
func has(t *graph.Tensor, symbol string) bool {
	in := map[string]bool{}
	for _, d := range t.Extents() {
		d.Symbols(in)
	}
	return in[symbol]
}

// implied returns the length of something that layers join which a symbol without a value has to have, all others being known: layers do
// not fit together where it is one more or less. A mask of integers that is read at places may have any length as far as shapes go; it
// has the only one there is. ok is false where neither is so.
func implied(m *Model, symbol string, known map[string]int) (d symbolic.Dim, ok bool) {
	fits := func(n int) bool {
		at := maps.Clone(known)
		at[symbol] = n
		return n > 0 && CheckExtents(m, m.Network.Counts(at)) == nil
	}
	var free []symbolic.Dim
	for _, sum := range joined(m, known) {
		n := sum.Eval(known)
		if !fits(n) {
			continue
		}
		if !fits(n+1) && !fits(n-1) {
			return sum, true
		}
		if !slices.ContainsFunc(free, func(d symbolic.Dim) bool { return d.Eval(known) == n }) {
			free = append(free, sum)
		}
	}
	if len(free) == 1 && isMask(m, symbol) {
		return free[0], true
	}
	return d, false
}

// joined returns the lengths of what layers join of several extents that are known.
func joined(m *Model, known map[string]int) (list []symbolic.Dim) {
	seen := map[string]bool{}
	for _, l := range m.Network.Layers {
		if l.Op != graph.Concat {
			continue
		}
		for _, d := range l.Outputs[0].Dims {
			of := map[string]bool{}
			d.Symbols(of)
			if _, plain := d.SymbolName(); plain || len(of) == 0 || seen[d.String()] {
				continue
			}
			seen[d.String()] = true
			all := true
			for name := range of {
				_, ok := known[name]
				all = all && ok
			}
			if all {
				list = append(list, d)
			}
		}
	}
	return list
}

// isMask reports whether a symbol is the extent of one input alone, of integers on two axes.
func isMask(m *Model, symbol string) bool {
	var of []*graph.Tensor
	for _, t := range m.Network.Inputs {
		if has(t, symbol) {
			of = append(of, t)
		}
	}
	return len(of) == 1 && len(of[0].Dims) == 2 && !of[0].Type.IsFloat() && !of[0].IsShape
}

// deriveEnds adds to the ends of a range those inputs whose extents follow others.
func deriveEnds(m *Model, cfg *config.Config, ends ...*map[string][]int) {
	env, err := m.Symbols(*cfg)
	if err != nil {
		return
	}
	var ties *Ties
	for _, end := range ends {
		at, err := m.Network.BindSome(env, *end)
		if err != nil || len(*end) == 0 || CheckExtents(m, at) == nil && !followsFree(m, env) {
			continue
		}
		if ties == nil {
			ties = FindTies(m, env)
		}
		moved := ties.Move(env, AxisSymbols(m.Network, *end))
		if maps.Equal(moved, at) || CheckExtents(m, m.Network.Counts(moved)) != nil {
			continue
		}
		shapes := maps.Clone(*end)
		for _, t := range m.Network.Inputs {
			if dims := symbolic.Eval(t.Extents(), moved); shapes[t.Name] == nil && !slices.Equal(dims, symbolic.Eval(t.Extents(), at)) {
				shapes[t.Name] = dims
			}
		}
		*end = shapes
	}
}

// followsFree reports whether a mask that is read at places is as long as something that layers join: shapes do not tell that it follows.
func followsFree(m *Model, env map[string]int) bool {
	return slices.ContainsFunc(AxisNames(m), func(s string) bool {
		return isMask(m, s) && slices.ContainsFunc(joined(m, env), func(d symbolic.Dim) bool {
			of := map[string]bool{}
			d.Symbols(of)
			return !of[s] && d.Eval(env) == env[s]
		})
	})
}
