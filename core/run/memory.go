package run

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Align is the alignment of every slot in bytes.
const Align = 256

// span is a piece of memory that is needed from step first to step last, both included.
type span struct {
	size, first, last int
	around            *around // nil where it neither begins nor ends in a fork
}

// around says what a span that begins or ends in a fork is to do with other lanes, which are at any of their steps at the same time.
type around struct {
	first, last int // of the forks in which it begins and ends: it is needed all through them
	from, to    int // the lanes by which alone it is used in these, by number among those of the plan; -1 for none or several
}

// early and late return when it is needed, whatever lanes others are in.
func (s span) early() int {
	if s.around != nil {
		return s.around.first
	}
	return s.first
}

func (s span) late() int {
	if s.around != nil {
		return s.around.last
	}
	return s.last
}

// before reports whether a span is needed no more when another one comes to be.
func (s span) before(b span) bool {
	if s.late() < b.early() {
		return true
	}
	return s.last < b.first && s.around != nil && b.around != nil && s.around.to >= 0 && s.around.to == b.around.from
}

// pack gives each span an offset such that spans needed at the same step do not overlap, and returns the offsets and
// the peak: the memory that they take together.
//
// Finding the smallest peak is NP-hard (dynamic storage allocation). pack places the spans one by one into the tightest
// gap that is free over their whole life, in several orders known to work well (largest first, as in greedy-by-size;
// longest-lived; by the most contended step), and where no order reaches the lower bound it improves the best one by
// moving a span that lies at the peak to the front, as far as a fixed amount of work goes.
func pack(spans []span) (offsets []int, peak int) {
	bound, _ := lowerBound(spans)
	var best []int
	for _, h := range heuristics {
		order := h.order(spans)
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

// heuristics are the orders that [pack] begins with, by the names under which [Plan.Planners] compares them.
var heuristics = []struct {
	name  string
	order func([]span) []int
}{
	{"greedy by size", func(list []span) []int { return sorted(list, func(s span) int { return -s.size }) }},
	{"greedy by size x life", func(list []span) []int {
		return sorted(list, func(s span) int { return -s.size * (s.last - s.first + 1) })
	}},
	{"greedy in order", func(list []span) []int { return sorted(list, func(s span) int { return s.first }) }},
	{"greedy by life", func(list []span) []int { return sorted(list, func(s span) int { return -(s.last - s.first) }) }},
	{"greedy by breadth", contended},
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
	live, b := maxima(liveBytes(spans)), base(spans)
	worst := make([]int, len(spans))
	for i, s := range spans {
		worst[i] = live.of(s.first-b, s.last-b)
	}
	order := sorted(spans, func(s span) int { return -s.size })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worst[b], worst[a]) })
	return order
}

// largest answers which is the largest of some numbers that follow one another: row k has those of 2^k numbers each.
type largest [][]int

func maxima(list []int) largest {
	rows := largest{list}
	for n := 1; 2*n <= len(list); n *= 2 {
		below := rows[len(rows)-1]
		row := make([]int, len(list)-2*n+1)
		for i := range row {
			row[i] = max(below[i], below[i+n])
		}
		rows = append(rows, row)
	}
	return rows
}

// of returns the largest number from index first to last, both included; 0 if there is none.
func (r largest) of(first, last int) int {
	if last < first {
		return 0
	}
	k := bits.Len(uint(last-first+1)) - 1
	return max(0, r[k][first], r[k][last+1-1<<k])
}

// fit puts the spans, in the given order, into the tightest gaps.
func fit(spans []span, order []int) (offsets []int, peak int) {
	offsets = make([]int, len(spans))
	placed := newShelf(spans)
	var beside []block
	for _, i := range order {
		s := spans[i]
		beside = placed.alive(beside[:0], s)
		at, tightest, floor := -1, -1, 0
		for _, b := range beside {
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
		placed.add(block{at, at + s.size, s})
	}
	return offsets, peak
}

// block is a span in its place.
type block struct {
	begin, end int
	span
}

// shelf finds the blocks that live at the same time as a span, however many others there are: it has a list for each
// stretch of steps, of the blocks that live in it, by where they begin. There are few stretches, since blocks are in all
// lists that they live through; one alone in a network of the usual size.
type shelf struct {
	base, steps int // the first step of all, and how many a stretch has
	blocks      [][]block
}

const (
	maxStretches = 256
	leastStretch = 128
)

func newShelf(spans []span) *shelf {
	b, end := base(spans), 0
	for _, s := range spans {
		end = max(end, s.late())
	}
	steps := max(leastStretch, (end-b)/maxStretches+1)
	return &shelf{b, steps, make([][]block, (end-b)/steps+1)}
}

func (h *shelf) add(b block) {
	for k := (b.early() - h.base) / h.steps; k <= (b.late()-h.base)/h.steps; k++ {
		at, _ := slices.BinarySearchFunc(h.blocks[k], b.begin, func(x block, begin int) int { return cmp.Compare(x.begin, begin) })
		h.blocks[k] = slices.Insert(h.blocks[k], at, b)
	}
}

// alive appends the blocks that live at a step of s, by where they begin.
func (h *shelf) alive(list []block, s span) []block {
	from, to := (s.early()-h.base)/h.steps, (s.late()-h.base)/h.steps
	for k := from; k <= to; k++ {
		for _, b := range h.blocks[k] {
			if b.before(s) || s.before(b.span) || k > max(from, (b.early()-h.base)/h.steps) { // seen before
				continue
			}
			list = append(list, b)
		}
	}
	if to > from {
		slices.SortFunc(list, func(x, y block) int { return cmp.Compare(x.begin, y.begin) })
	}
	return list
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
	live := make([]int, end-b+2)
	for _, s := range spans {
		if s.first <= s.last {
			live[s.first-b] += s.size
			live[s.last+1-b] -= s.size
		}
	}
	for t := 1; t < len(live); t++ {
		live[t] += live[t-1]
	}
	return live[:end-b+1]
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
