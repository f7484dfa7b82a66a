package run

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// Extents are what the symbols of a network may be: the values that a plan is made and timed for, and the ranges of those
// that it serves.
type Extents struct {
	Opt      map[string]int
	Min, Max map[string]int // nil: it serves Opt alone; a symbol that they lack is as in Opt
}

// symbols returns the values with their ranges, by name.
func (x Extents) symbols() []Symbol {
	var list []Symbol
	for _, name := range slices.Sorted(maps.Keys(x.Opt)) {
		s := Symbol{Name: name, Value: x.Opt[name]}
		low, high := s.Value, s.Value
		if v, ok := x.Min[name]; ok {
			low = v
		}
		if v, ok := x.Max[name]; ok {
			high = v
		}
		if low != high {
			s.Min, s.Max = low, high
		}
		list = append(list, s)
	}
	return list
}

// ends returns the least and the largest value of every symbol.
func (x Extents) ends() (low, high map[string]int) {
	low, high = map[string]int{}, map[string]int{}
	for _, s := range x.symbols() {
		low[s.Name], high[s.Name] = s.Range()
	}
	return low, high
}

// Others returns the values beside the best ones of the first that decisions for all of some extents are to hold at.
func Others(list []Extents) (others []map[string]int) {
	for i, x := range list {
		if i > 0 {
			others = append(others, x.Opt)
		}
		if x.Min != nil || x.Max != nil {
			low, high := x.ends()
			others = append(others, low, high)
		}
	}
	return others
}

// counted returns x with the symbols that stand for counted extents: at best, as a plan is timed, each is as large as it can
// be, and it may be less, down to nothing where the network has a meaning then.
func (x Extents) counted(n *graph.Network) Extents {
	counts := n.Countings()
	if len(counts) == 0 {
		return x
	}
	symbols := n.CountSymbols()
	without := func(env map[string]int) map[string]int {
		env = maps.Clone(env)
		maps.DeleteFunc(env, func(name string, _ int) bool { return slices.Contains(symbols, name) })
		return env
	}
	high := without(x.Opt)
	if high == nil {
		high = map[string]int{}
	}
	maps.Copy(high, x.Max)
	low := map[string]int{}
	maps.Copy(low, x.Min)
	x.Opt, x.Max, x.Min = n.Counts(without(x.Opt)), n.Counts(without(high)), low
	for _, c := range counts {
		low[c.Symbol] = c.Least
	}
	x.countMost(n)
	if least, _ := x.ends(); n.CheckShapes(least) != nil { // such as the largest of no elements
		for _, name := range symbols {
			low[name] = max(low[name], min(1, x.Opt[name]))
		}
		for _, c := range counts {
			one := low[c.Symbol]
			low[c.Symbol] = c.Least
			if least, _ := x.ends(); n.CheckShapes(least) != nil {
				low[c.Symbol] = one
			}
		}
	}
	return x
}

// countMost makes the largest of what each layer counts what it can be anywhere between the least and the largest extents: a detector
// that scales an image to what it likes has most boxes somewhere in between.
func (x Extents) countMost(n *graph.Network) {
	low, high := x.ends()
	for _, c := range n.Countings() {
		if _, most := c.Most.Bounds(low, high); most < maxCounted {
			high[c.Symbol] = max(x.Max[c.Symbol], most)
		} else { // what it is at most is no more than a guess
			high[c.Symbol] = max(x.Max[c.Symbol], x.Opt[c.Symbol])
		}
		x.Max[c.Symbol] = high[c.Symbol]
	}
}

// maxCounted is what a count is believed to be at most.
const maxCounted = 1 << 31

// Check returns an error for a symbol whose value is not within its range.
func (x Extents) Check() error {
	for _, s := range x.symbols() {
		if low, high := s.Range(); s.Value < low || s.Value > high {
			return fmt.Errorf("%s is %d, which is not from %d to %d, the least and the largest that are asked for", s.Name, s.Value, low, high)
		}
	}
	return nil
}

// maxSamples bounds the values that a plan's decisions are tried at, maxBetween those that only workspaces are asked for.
const (
	maxSamples = 81
	maxBetween = 32
)

// samples returns values of the symbols beside Opt at which a network has a meaning: the ends of all ranges together, those
// of each in any combination as far as there are not too many, and some in between; and more in between, which need not have
// one.
func (x Extents) samples(n *graph.Network) (list, between []map[string]int, err error) {
	symbols := x.symbols()
	open := slices.DeleteFunc(slices.Clone(symbols), func(s Symbol) bool { return s.Min == s.Max })
	if len(open) == 0 {
		return nil, nil, nil
	}
	low, high := x.ends()
	for _, end := range []map[string]int{low, high} {
		if err := n.CheckShapes(end); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", valuesText(open, end), err)
		}
	}
	list = []map[string]int{low, high}
	seen := map[string]bool{valuesText(open, x.Opt): true, valuesText(open, low): true, valuesText(open, high): true}
	add := func(env map[string]int) {
		if key := valuesText(open, env); !seen[key] && len(list) < maxSamples {
			seen[key] = true
			if n.CheckShapes(env) == nil { // otherwise nothing runs at these
				list = append(list, env)
			}
		}
	}
	combinations := 1
	for range open {
		combinations = min(3*combinations, maxSamples+1)
	}
	if combinations <= maxSamples {
		for i := range combinations {
			env := maps.Clone(x.Opt)
			for _, s := range open {
				env[s.Name] = [...]int{s.Min, s.Value, s.Max}[i%3]
				i /= 3
			}
			add(env)
		}
	}
	rnd := rand.New(rand.NewPCG(7, uint64(len(open))))
	drawn := func() map[string]int {
		env := maps.Clone(x.Opt)
		for _, s := range open {
			env[s.Name] = s.Min + rnd.IntN(s.Max-s.Min+1)
		}
		return env
	}
	for range 8 {
		add(drawn())
	}
	for range maxBetween {
		between = append(between, drawn())
	}
	return list, between, nil
}

// valuesText writes the values of symbols, as in "batch=8, seq=128".
func valuesText(symbols []Symbol, env map[string]int) string {
	text := ""
	for i, s := range symbols {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s=%d", s.Name, env[s.Name])
	}
	return text
}
