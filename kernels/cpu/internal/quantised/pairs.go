package quantised

import (
	"math/bits"
	"slices"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// mostRest is the share of quarters of steps with a rest, each for half of the channels, beyond which a kernel that takes any weights is
// faster. A quarter is 43 instructions for five pixels, and 26 a rest; that kernel's are 65.
const mostRest = 0.8

// pair makes of weights that follow those of other panels what asm.QConvPairs has. If too much is left, the panel gets a kernel that
// takes them as they are.
func (p *Panel) pair(packed []int8) []int8 {
	whole := firstKernel(func(k asm.QConvKernel) bool {
		return !k.Pairs && k.InPlace() && k.Blocks == p.Kernel.Blocks && k.Steps == p.Kernel.Steps && p.Kernel.Needs.Has(k.Needs)
	})
	const bytes = 256 // of a step of one block
	weights := packed[p.Weights:]
	original := slices.Clone(weights)
	var rest [2]struct { // of the first 8 channels, and of the last
		offsets []int32
		weights []int8
	}
	most := int(mostRest * 4 * float64(len(p.Steps)))
	p.Pairs = asm.QConvPairs{}
	for t, offset := range p.Steps {
		step := (*[bytes]int8)(weights[t*bytes:])
		order, left := pairUp(step)
		p.Pairs.Order = append(p.Pairs.Order, order[:]...)
		for at := 0; at < bytes; at += asm.RestBytes {
			if part := left[at:][:asm.RestBytes]; slices.ContainsFunc(part, func(w int8) bool { return w != 0 }) {
				r := &rest[at/asm.RestBytes%2]
				r.offsets = append(r.offsets, offset+int32(at/(2*asm.RestBytes)*4))
				r.weights = append(r.weights, part...)
			}
		}
		if len(rest[0].offsets)+len(rest[1].offsets) > most {
			copy(weights, original)
			p.Kernel, p.Pairs = whole, asm.QConvPairs{}
			return packed
		}
	}
	p.Pairs.Rest, p.Pairs.Low = slices.Concat(rest[0].offsets, rest[1].offsets), len(rest[0].offsets)
	return append(append(packed, rest[0].weights...), rest[1].weights...)
}

// pairUp brings the inputs of a step, of 16 channels, into an order in which as few pairs as it finds are beyond asm.MostPair, takes out
// what is beyond, and returns the order and that, as it lay.
func pairUp(step *[256]int8) (order [16]byte, left [256]int8) {
	place := func(input, channel int) int { return (input/4*16+channel)*4 + input%4 }
	var columns [16][16]int8 // by input
	for i := range columns {
		for o := range columns[i] {
			columns[i][o] = step[place(i, o)]
		}
	}
	order = pairs(&columns)
	for at := 0; at < 16; at += 2 {
		a, b := int(order[at]), int(order[at+1])
		for o := range 16 {
			x, y := columns[a][o], columns[b][o]
			over := beyond(x, y)
			step[place(at, o)], step[place(at+1, o)], left[place(a, o)] = x-over, y, over
		}
	}
	return order, left
}

// beyond returns what is to be taken off the first of two weights, so that asm.MostPair holds.
func beyond(x, y int8) int8 {
	a, b := int(x), int(y)
	return int8(max(0, max(a, 0)+max(b, 0)-asm.MostPair) + min(0, min(a, 0)+min(b, 0)+asm.MostPair))
}

// pairs returns an order of inputs in which all pairs fit, if the search comes upon one: a perfect matching of the graph of those that do.
func pairs(columns *[16][16]int8) (order [16]byte) {
	m := matching{tries: mostTries, least: 17}
	natural := true
	for i := range columns {
		order[i] = byte(i)
		for j := range i {
			if fit(&columns[i], &columns[j]) {
				m.fits[i] |= 1 << j
				m.fits[j] |= 1 << i
			} else if i%2 == 1 && j == i-1 {
				natural = false
			}
		}
	}
	if natural {
		return order
	}
	m.search(1<<16-1, 0)
	at, alone := 0, uint16(0)
	for i, j := range m.best {
		switch {
		case j < 0:
			alone |= 1 << i
		case i < int(j):
			order[at], order[at+1] = byte(i), byte(j)
			at += 2
		}
	}
	for ; alone != 0; alone &= alone - 1 {
		order[at] = byte(bits.TrailingZeros16(alone))
		at++
	}
	return order
}

// fit reports whether asm.MostPair holds for the weights of two inputs in all channels.
func fit(a, b *[16]int8) bool {
	for o := range a {
		if beyond(a[o], b[o]) != 0 {
			return false
		}
	}
	return true
}

// mostTries bounds a search, which could otherwise go through all matchings of a graph that has no perfect one: 17 come upon the first.
const mostTries = 256

// matching is a search for the most pairs of a graph of 16 vertices.
type matching struct {
	fits  [16]uint16 // by vertex: those that it has an edge to
	mate  [16]int8   // of vertices that are gone through; -1 for none
	best  [16]int8
	least int // how many of the best are alone
	tries int // calls of search that are left
}

// search pairs vertices, of which some are alone so far, and begins with those that have the least choice. It reports whether to stop.
func (m *matching) search(left uint16, alone int) bool {
	if m.tries == 0 {
		return true
	}
	m.tries--
	if alone >= m.least {
		return false
	}
	if left == 0 {
		m.best, m.least = m.mate, alone
		return alone == 0
	}
	vertex, choice := 0, 17
	for rest := left; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros16(rest)
		if n := bits.OnesCount16(m.fits[i] & left); n < choice {
			vertex, choice = i, n
		}
	}
	left &^= 1 << vertex
	if choice == 0 {
		m.mate[vertex] = -1
		return m.search(left, alone+1)
	}
	for mates := m.fits[vertex] & left; mates != 0; mates &= mates - 1 {
		i := bits.TrailingZeros16(mates)
		m.mate[vertex], m.mate[i] = int8(i), int8(vertex)
		if m.search(left&^(1<<i), alone) {
			return true
		}
	}
	return false
}
