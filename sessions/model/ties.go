package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/report"
)

// Ties are the extents of a model's inputs that follow others, as where a mask is as long as past and new tokens together: shapes at
// which its layers fit together have them so. They are found out by trying.
type Ties struct {
	base map[string]int // at which layers fit together
	list []Tie
}

// Tie is an extent that follows others.
type Tie struct {
	Symbol string
	report.Following
}

// mostTied bounds the open extents of a model of which ties are looked for.
const mostTied = 16

// FindTies looks for what follows what around extents at which a model's layers fit together; there is nothing where they do not. Of two
// that are tied to each other alone that of the later input follows.
func FindTies(m *Model, env map[string]int) *Ties {
	t := &Ties{base: env}
	symbols := AxisNames(m)
	if len(symbols) < 2 || len(symbols) > mostTied || m.Refused != nil || CheckExtents(m, env) != nil {
		return t
	}
	from := maps.Clone(env)
	fits := func(by map[string]int) bool {
		at := maps.Clone(from)
		for name, n := range by {
			if at[name] += n; at[name] < 1 {
				return false
			}
		}
		return CheckExtents(m, at) == nil
	}
	symbols = slices.DeleteFunc(symbols, func(s string) bool { // what moves by itself
		return fits(map[string]int{s: 1}) || fits(map[string]int{s: -1})
	})
	const raise = 8 // so that there is room to move down, too, where extents are as few as one new token
	for i, a := range symbols {
		for _, b := range symbols[i+1:] {
			if fits(map[string]int{a: raise, b: raise}) {
				from[a], from[b] = from[a]+raise, from[b]+raise
			}
		}
	}
	together := func(a, b string) (sign int) { // by which b moves with a
		for _, sign := range []int{1, -1} {
			if fits(map[string]int{a: 1, b: sign}) && fits(map[string]int{a: 3, b: 3 * sign}) || fits(map[string]int{a: -1, b: -sign}) && fits(map[string]int{a: -3, b: -3 * sign}) {
				return sign
			}
		}
		return 0
	}
	for len(symbols) > 1 {
		first, signs := symbols[0], map[string]int{symbols[0]: 1}
		for _, s := range symbols[1:] {
			if sign := together(first, s); sign != 0 {
				signs[s] = -sign // their sum with these signs stays
			}
		}
		if tie, ok := t.tie(symbols, signs); ok {
			t.list = append(t.list, tie)
		}
		symbols = slices.DeleteFunc(symbols, func(s string) bool { return signs[s] != 0 })
	}
	t.sums(m, fits)
	return t
}

// sums adds the extents that shapes leave free and that are as long as something that layers join of two inputs: a mask that is read at
// places, and not added, need be no longer for shapes to fit, but for the places to be there.
func (t *Ties) sums(m *Model, fits func(by map[string]int) bool) {
	names := AxisNames(m)
	counts := map[string]bool{} // items
	for _, in := range graph.Batched(m.Network.Inputs) {
		in.Dims[0].Symbols(counts)
	}
	for _, l := range m.Network.Layers {
		if l.Op != graph.Concat {
			continue
		}
		for _, d := range l.Outputs[0].Dims {
			of := map[string]bool{}
			d.Symbols(of)
			if len(of) != 2 {
				continue
			}
			terms := slices.Sorted(maps.Keys(of))
			sum := report.Following{Terms: map[string]int{terms[0]: 1, terms[1]: 1}}
			sum.Plus = d.Eval(t.base) - t.base[terms[0]] - t.base[terms[1]]
			moved := maps.Clone(t.base)
			moved[terms[0]], moved[terms[1]] = moved[terms[0]]+5, moved[terms[1]]+7
			if d.Eval(moved) != d.Eval(t.base)+12 || !slices.Contains(names, terms[0]) || !slices.Contains(names, terms[1]) {
				continue
			}
			for _, s := range names {
				if !of[s] && !counts[s] && t.Of(s) == nil && t.base[s] == d.Eval(t.base) && fits(map[string]int{terms[0]: 1, s: 1}) && fits(map[string]int{terms[1]: 1, s: 1}) {
					t.list = append(t.list, Tie{s, sum})
				}
			}
		}
	}
}

// AxisNames returns the symbols that are an extent of an input, in the order of inputs.
func AxisNames(m *Model) (list []string) {
	for _, t := range m.Network.Inputs {
		for _, d := range t.Extents() {
			if name, ok := d.SymbolName(); ok && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// tie returns the tie of symbols whose sum by signs stays: the one whose sign no other has follows the others.
func (t *Ties) tie(order []string, signs map[string]int) (Tie, bool) {
	count := map[int]int{}
	for _, sign := range signs {
		count[sign]++
	}
	follower := ""
	for _, s := range order { // of two of opposite signs, the later
		if sign := signs[s]; sign != 0 && count[sign] == 1 && len(signs) > 1 {
			follower = s
		}
	}
	if follower == "" {
		return Tie{}, false
	}
	tie := Tie{follower, report.Following{Terms: map[string]int{}, Plus: t.base[follower]}}
	for s, sign := range signs {
		if s != follower {
			tie.Terms[s] = -sign * signs[follower]
			tie.Plus -= tie.Terms[s] * t.base[s]
		}
	}
	return tie, true
}

// List returns the ties.
func (t *Ties) List() []Tie { return t.list }

// Of returns the tie of a symbol that follows several others, or one that moves as well; nil where it follows nothing.
func (t *Ties) Of(symbol string) *Tie {
	for i := range t.list {
		if t.list[i].Symbol == symbol {
			return &t.list[i]
		}
	}
	return nil
}

// Check returns an error for extents that are to be varied though they follow others.
func (t *Ties) Check(varied []string) error {
	for _, name := range varied {
		tie := t.Of(name)
		if tie == nil || len(tie.Terms) == 1 && !slices.ContainsFunc(varied, func(other string) bool { return tie.Terms[other] != 0 }) {
			continue // of two each may lead
		}
		return &FollowsError{*tie}
	}
	return nil
}

// Move returns extents with others in place of some of them, and with what follows these.
func (t *Ties) Move(env, given map[string]int) map[string]int {
	env = maps.Clone(env)
	maps.Copy(env, given)
	for _, tie := range t.list {
		leading, first := 0, ""
		for other := range tie.Terms {
			first = other
			if _, is := given[other]; is {
				leading++
			}
		}
		switch _, is := given[tie.Symbol]; {
		case !is && leading > 0:
			env[tie.Symbol] = tie.of(env)
		case is && leading == 0 && len(tie.Terms) == 1: // of two the other one
			env[first] = tie.Terms[first] * (env[tie.Symbol] - tie.Plus)
		}
	}
	return env
}

// of returns the extent that follows from others.
func (t *Tie) of(env map[string]int) int {
	n := t.Plus
	for name, sign := range t.Terms {
		n += sign * env[name]
	}
	return n
}

// FollowsError is the error that an extent was to be varied which follows others.
type FollowsError struct{ Tie Tie }

func (e *FollowsError) Error() string {
	return fmt.Sprintf("axis %s follows others, as %s: it cannot be varied by itself; vary %s", e.Tie.Symbol, &e.Tie.Following, strings.Join(slices.Sorted(maps.Keys(e.Tie.Terms)), " or "))
}
