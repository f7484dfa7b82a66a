package run

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Align is the alignment of every slot in bytes.
const Align = 256

// span is a piece of memory that is needed from step first to step last, both included.
type span struct{ size, first, last int }

// pack gives each span an offset such that spans needed at the same step do not overlap, and returns the offsets and
// the peak: the memory that they take together.
//
// Finding the smallest peak is NP-hard (dynamic storage allocation). pack places the spans one by one into the tightest
// gap that is free over their whole life, in several orders known to work well (largest first, as in greedy-by-size;
// longest-lived; by the most contended step), and where no order reaches the lower bound it improves the best one by
// moving a span that lies at the peak to the front, as far as a fixed amount of work goes.
func pack(spans []span) (offsets []int, peak int) {
	bound, _ := lowerBound(spans)
	orders := [][]int{
		sorted(spans, func(s span) int { return -s.size }),
		sorted(spans, func(s span) int { return -s.size * (s.last - s.first + 1) }),
		sorted(spans, func(s span) int { return s.first }),
		sorted(spans, func(s span) int { return -(s.last - s.first) }),
		contended(spans),
	}
	var best []int
	for _, order := range orders {
		off, p := fit(spans, order)
		if best == nil || p < peak {
			best, offsets, peak = order, off, p
		}
		if peak == bound {
			return offsets, peak
		}
	}
	budget := min(2000, 40_000_000/(len(spans)*len(spans)+1))
	rnd := rand.New(rand.NewPCG(1, uint64(len(spans))))
	for range budget {
		order := slices.Clone(best)
		at := slices.IndexFunc(order, func(i int) bool { return offsets[i]+spans[i].size == peak })
		if rnd.IntN(2) == 0 {
			at = rnd.IntN(len(order))
		}
		to := rnd.IntN(len(order))
		moved := order[at]
		order = slices.Insert(slices.Delete(order, at, at+1), to, moved)
		off, p := fit(spans, order)
		if p <= peak {
			best, offsets, peak = order, off, p
		}
		if peak == bound {
			break
		}
	}
	return offsets, peak
}

// sorted returns the indices of the spans by a key, ties in order.
func sorted(spans []span, key func(span) int) []int {
	order := make([]int, len(spans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(spans[a]), key(spans[b])) })
	return order
}

// contended orders the spans by the most contended step at which they live, the largest of a step first.
func contended(spans []span) []int {
	live := liveBytes(spans)
	worst := make([]int, len(spans))
	for i, s := range spans {
		for t := s.first; t <= s.last; t++ {
			worst[i] = max(worst[i], live[t-base(spans)])
		}
	}
	order := sorted(spans, func(s span) int { return -s.size })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worst[b], worst[a]) })
	return order
}

// fit puts the spans, in the given order, into the tightest gaps.
func fit(spans []span, order []int) (offsets []int, peak int) {
	offsets = make([]int, len(spans))
	type block struct{ begin, end, first, last int }
	var placed []block // by begin
	for _, i := range order {
		s := spans[i]
		at, tightest, floor := -1, -1, 0
		for _, b := range placed {
			if b.last < s.first || s.last < b.first {
				continue
			}
			if gap := b.begin - floor; gap >= s.size && (at < 0 || gap < tightest) {
				at, tightest = floor, gap
			}
			floor = max(floor, b.end)
		}
		if at < 0 {
			at = floor
		}
		offsets[i] = at
		peak = max(peak, at+s.size)
		b := block{at, at + s.size, s.first, s.last}
		j, _ := slices.BinarySearchFunc(placed, b.begin, func(x block, begin int) int { return cmp.Compare(x.begin, begin) })
		placed = slices.Insert(placed, j, b)
	}
	return offsets, peak
}

// base returns the first step of all.
func base(spans []span) int {
	b := 0
	for _, s := range spans {
		b = min(b, s.first)
	}
	return b
}

// liveBytes returns the bytes live at each step, from base on.
func liveBytes(spans []span) []int {
	b, end := base(spans), 0
	for _, s := range spans {
		end = max(end, s.last)
	}
	live := make([]int, end-b+1)
	for _, s := range spans {
		for t := s.first; t <= s.last; t++ {
			live[t-b] += s.size
		}
	}
	return live
}

// lowerBound returns the most bytes that live at one step, and that step.
func lowerBound(spans []span) (bytes, step int) {
	if len(spans) == 0 {
		return 0, 0
	}
	for i, n := range liveBytes(spans) {
		if n > bytes {
			bytes, step = n, i+base(spans)
		}
	}
	return bytes, step
}
