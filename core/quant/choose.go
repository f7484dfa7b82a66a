package quant

import (
	"math"
	"slices"
)

// Option is another way to compute a part of a network than the one it is computed in: what it takes from the squared error of
// the outputs, which may be negative, and how much longer it takes, which may be negative, too. Errors of different parts are
// taken to be independent, so that what several options take is the sum.
type Option struct{ Noise, Time float64 }

// noiseLevels is to how many levels the dynamic programs of Cheapest and Quietest round.
const noiseLevels = 2000

// Cheapest chooses for each part one of its options, or none, which is -1, so that together they take need of the error at least,
// in the least time: a knapsack, solved to a 2000th of need, that counts too little rather than too much. ok is false where all
// options together do not take as much; the choice is then that of the most.
func Cheapest(parts [][]Option, need float64) (choice []int, ok bool) {
	most := 0.0
	all := make([]int, len(parts))
	for i, options := range parts {
		all[i] = -1
		best := 0.0
		for k, o := range options {
			if o.Noise > best {
				all[i], best = k, o.Noise
			}
		}
		most += best
	}
	if need > most {
		return all, false
	}
	levels := noiseLevels
	if need <= 0 {
		levels = 0
	}
	unit := need / noiseLevels
	level := func(o Option) int {
		if levels == 0 || o.Noise <= 0 {
			return 0
		}
		return int(min(math.Floor(o.Noise/unit+1e-9), noiseLevels))
	}
	choice = knapsack(parts, levels, level, func(o Option) float64 { return o.Time }, func(o Option) bool { return o.Noise >= 0 })
	if choice == nil { // by rounding alone
		return all, true
	}
	return choice, true
}

// Quietest chooses for each part one of its options, or none, which is -1, so that together they take no more than so much time,
// and the most of the error: to a 2000th of the time, counting too much rather than too little.
func Quietest(parts [][]Option, time float64) []int {
	unit := max(time, 0) / noiseLevels
	reached := make([]float64, noiseLevels+1) // the most noise taken by time
	from := make([][]int, len(parts))
	cost := func(o Option) int {
		switch {
		case o.Time <= 0:
			return 0
		case unit == 0:
			return noiseLevels + 1
		}
		return int(min(math.Ceil(o.Time/unit-1e-9), noiseLevels+1))
	}
	for i, options := range parts {
		next := slices.Clone(reached)
		from[i] = slices.Repeat([]int{-1}, noiseLevels+1)
		for k, o := range options {
			for at := cost(o); at <= noiseLevels; at++ {
				if v := reached[at-cost(o)] + o.Noise; v > next[at] {
					next[at], from[i][at] = v, k
				}
			}
		}
		reached = next
	}
	choice := make([]int, len(parts))
	at := noiseLevels
	for i := len(parts) - 1; i >= 0; i-- {
		if choice[i] = from[i][at]; choice[i] >= 0 {
			at -= cost(parts[i][choice[i]])
		}
	}
	return choice
}

// knapsack chooses options that reach a level at least at the least price, nil where none do. Those that are not allowed are left.
func knapsack(parts [][]Option, levels int, level func(Option) int, price func(Option) float64, allowed func(Option) bool) []int {
	least := slices.Repeat([]float64{math.Inf(1)}, levels+1) // by level that is still needed before the parts that follow
	least[0] = 0
	from := make([][]int, len(parts))
	for i, options := range parts {
		next := slices.Clone(least)
		from[i] = slices.Repeat([]int{-1}, levels+1)
		for k, o := range options {
			if !allowed(o) {
				continue
			}
			for at := range levels + 1 {
				if v := least[max(0, at-level(o))] + price(o); v < next[at] {
					next[at], from[i][at] = v, k
				}
			}
		}
		least = next
	}
	if math.IsInf(least[levels], 1) {
		return nil
	}
	choice, at := make([]int, len(parts)), levels
	for i := len(parts) - 1; i >= 0; i-- {
		if choice[i] = from[i][at]; choice[i] >= 0 {
			at = max(0, at-level(parts[i][choice[i]]))
		}
	}
	return choice
}
