package ptxsim

import (
	"fmt"
	"math/bits"
	"strings"
)

// block is a block of threads that runs. A worker uses one again and again.
type block struct {
	kernel   *kernel
	launch   *launch
	worker   *worker
	index    int
	at       [3]int
	warps    []warp // that run
	all      []warp // and those of larger blocks before
	random   uint64
	ticks    uint64     // of its clock
	acquired []acquired // by its warps

	shared   []byte // from sharedStart on
	cells    []cell // one for each 4 bytes of shared; nil if unchecked
	barriers [16]blockBarrier
}

// blockBarrier is one of the 16 barriers of a block.
type blockBarrier struct {
	waiting  uint32 // warps
	arrived  int    // warps, the waiting ones included
	expected int    // warps; 0: all that have not exited
	used     bool
	clock    [maxWarps]uint32 // what the arrived warps are ordered after
	count    int              // of bar.red: lanes whose predicate holds
	threads  int
}

// start makes the block ready to run as the n-th of the grid.
func (b *block) start(n int) {
	l := b.launch
	b.index = n
	b.at = [3]int{n % l.grid[0], n / l.grid[0] % l.grid[1], n / l.grid[0] / l.grid[1]}
	b.random = mix(l.opt.Seed + uint64(n)*0x9e3779b97f4a7c15)
	b.barriers, b.acquired, b.ticks = [16]blockBarrier{}, b.acquired[:0], 0
	fill(b.shared, poison)
	clear(b.cells)
	threads := l.block[0] * l.block[1] * l.block[2]
	for i := range b.warps {
		w := &b.warps[i]
		w.lanes = all
		if rest := threads - i*warpSize; rest < warpSize {
			w.lanes = 1<<rest - 1
		}
		w.live, w.state, w.fault, w.last, w.apart = w.lanes, ready, nil, nil, l.opt.Apart
		if w.waited = all; l.opt.Overlap {
			w.waited = 0
		}
		w.groups = append(w.groups[:0], group{mask: w.live})
		clear(w.known)
		w.carry = 0
		clear(w.localWritten)
		w.spare = append(w.spare, w.copies...)
		w.copies, w.groupN = w.copies[:0], vec32{}
		w.epoch, w.clock, w.released, w.meetings = 1, [maxWarps]uint32{}, nil, w.meetings[:0]
		w.setSpecials()
	}
}

// newWarp prepares a warp: its register files, with the constants in their places.
func (b *block) newWarp(i int) warp {
	k := b.kernel
	w := warp{
		block: b, index: i,
		r: make([]vec32, k.regs32), q: make([]vec64, k.regs64), p: make([]uint32, k.preds),
		known: make([]uint32, len(k.tracked)),
		local: make([]byte, k.localBytes*warpSize), localWritten: make([]byte, k.localBytes*warpSize),
	}
	for _, c := range k.const32 {
		for l := range w.r[c.slot] {
			w.r[c.slot][l] = uint32(c.value)
		}
	}
	for _, c := range k.const64 {
		for l := range w.q[c.slot] {
			w.q[c.slot][l] = c.value
		}
	}
	w.p[k.truth] = all
	return w
}

// Time slices, in instructions: short and uneven, so that warps interleave in many ways.
const (
	shortSlice = 32
	longSlice  = 2048
)

// run runs the block's warps to their end, or to the first fault.
func (b *block) run() *Fault {
	budget := b.launch.opt.Budget
	for {
		w := b.next()
		if w == nil {
			return b.deadlock()
		}
		budget -= int64(w.run(shortSlice + int(b.rand()%(longSlice-shortSlice))))
		if w.fault != nil {
			return w.fault
		}
		if b.finished() {
			return nil
		}
		if budget < 0 {
			pc := 0
			if len(w.groups) > 0 {
				pc = w.groups[0].pc
			}
			w.failf(&b.kernel.code[pc], -1, Budget, "the block has executed %d instructions; is this an endless loop?", b.launch.opt.Budget)
			return w.fault
		}
		if b.launch.stopped(b.index) {
			return nil
		}
	}
}

func (b *block) finished() bool {
	for i := range b.warps {
		if b.warps[i].state != exited {
			return false
		}
	}
	return true
}

// next chooses one of the warps that can run; nil if there is none.
func (b *block) next() *warp {
	n := 0
	for i := range b.warps {
		if b.warps[i].state == ready {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	n = int(b.rand() % uint64(n))
	for i := range b.warps {
		if b.warps[i].state == ready {
			if n == 0 {
				return &b.warps[i]
			}
			n--
		}
	}
	return nil
}

// rand is the next of the block's random numbers (Marsaglia's xorshift64).
func (b *block) rand() uint64 {
	x := b.random
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	b.random = x
	return x
}

// mix makes a seed that is not zero from any number (the finaliser of splitmix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return x | 1
}

// deadlock reports that every warp waits.
func (b *block) deadlock() *Fault {
	var s strings.Builder
	var first *warp
	var at *inst
	for i := range b.warps {
		w := &b.warps[i]
		if w.state != blocked || len(w.groups) == 0 {
			continue
		}
		in := &b.kernel.code[w.groups[0].pc]
		if first == nil {
			first, at = w, in
		} else {
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "warp %d at %s", w.index, b.kernel.where(w.groups[0].pc))
	}
	for id := range b.barriers {
		if bar := &b.barriers[id]; bar.used {
			fmt.Fprintf(&s, "; barrier %d has %d warps of %d", id, bar.arrived, b.expected(bar))
		}
	}
	first.failf(at, -1, Deadlock, "every warp waits: %s", s.String())
	return first.fault
}

func (b *block) expected(bar *blockBarrier) int {
	if bar.expected > 0 {
		return bar.expected
	}
	n := 0
	for i := range b.warps {
		if b.warps[i].state != exited {
			n++
		}
	}
	return n
}

// barrierKind is what a bar instruction does.
type barrierKind uint8

const (
	barSync barrierKind = iota
	barArrive
	barPopc
	barAnd
	barOr
)

// barrier does a bar instruction for lanes m of group cur.
func (w *warp) barrier(in *inst, cur int, m uint32) (moved bool) {
	g := &w.groups[cur]
	if m == 0 {
		return false
	}
	if in.aligned && !w.converged(in, g.mask, m, false) {
		return false
	}
	if !in.aligned {
		if m != g.mask {
			w.failf(in, bits.TrailingZeros32(m), Divergence, "its guard holds in some lanes only: branch around it instead")
			return false
		}
		g.parked = true
		var here uint32
		for i := range w.groups {
			if o := &w.groups[i]; o.parked {
				here |= o.mask
			}
		}
		if here != w.live {
			return true
		}
		for i := range w.groups {
			if o := &w.groups[i]; o.parked && o.pc == g.pc {
				m |= o.mask
			}
		}
	}
	return w.arrive(in, cur, m)
}

// arrive counts the warp in at its barrier, and lets it wait there if the instruction says so.
func (w *warp) arrive(in *inst, cur int, m uint32) (moved bool) {
	kind := in.x.(barrierKind)
	first := bits.TrailingZeros32(m)
	id, n := w.r[in.a][first], uint32(0)
	if in.n > 0 {
		n = w.r[in.b][first]
	}
	if lanesEqual(&w.r[in.a], id, m) != m || in.n > 0 && lanesEqual(&w.r[in.b], n, m) != m {
		w.failf(in, -1, Barrier, "the barrier or the count differs between lanes")
		return false
	}
	b := w.block
	if id >= uint32(len(b.barriers)) {
		w.failf(in, -1, Barrier, "barrier %d: a block has barriers 0 to 15", id)
		return false
	}
	bar := &b.barriers[id]
	expected := int(n / warpSize)
	switch {
	case in.n > 0 && (n == 0 || n%warpSize != 0):
		w.failf(in, -1, Barrier, "count %d is no multiple of the warp's %d threads", n, warpSize)
		return false
	case in.n > 0 && expected > len(b.warps):
		w.failf(in, -1, Barrier, "count %d is more than the block's %d warps have", n, len(b.warps))
		return false
	case bar.used && bar.expected != expected:
		w.failf(in, -1, Barrier, "barrier %d: expects %d threads here and %d elsewhere", id, n, bar.expected*warpSize)
		return false
	}
	bar.used, bar.expected = true, expected
	bar.arrived++
	bar.threads += bits.OnesCount32(m)
	if kind >= barPopc {
		bar.count += bits.OnesCount32(w.predicate(in.p) & m)
	}
	w.clock[w.index] = w.epoch
	for i, c := range w.clock {
		bar.clock[i] = max(bar.clock[i], c)
	}
	if kind == barArrive {
		for i := range w.groups {
			if o := &w.groups[i]; o.parked {
				o.parked = false
				if i != cur {
					o.pc++
				}
			}
		}
		w.epoch++
		b.complete(int(id))
		return false
	}
	bar.waiting |= 1 << w.index
	w.groups[cur].parked = true
	w.state = blocked
	b.complete(int(id))
	return true
}

// complete lets the warps at a barrier go if all have come.
func (b *block) complete(id int) {
	bar := &b.barriers[id]
	if !bar.used || bar.arrived < b.expected(bar) {
		return
	}
	for i := range b.warps {
		w := &b.warps[i]
		if bar.waiting>>i&1 == 0 {
			continue
		}
		for c := range w.clock {
			w.clock[c] = max(w.clock[c], bar.clock[c])
		}
		w.epoch++
		w.state = ready
		for j := range w.groups {
			g := &w.groups[j]
			if !g.parked {
				continue
			}
			in := &b.kernel.code[g.pc]
			w.setReduction(in, g.mask, bar)
			for _, d := range in.defs {
				w.known[d] |= g.mask
			}
			g.parked = false
			g.pc++
		}
	}
	*bar = blockBarrier{}
}

// setReduction gives lanes m the result of a bar.red.
func (w *warp) setReduction(in *inst, m uint32, bar *blockBarrier) {
	switch in.x.(barrierKind) {
	case barPopc:
		for l := range w.r[in.d] {
			if m>>l&1 != 0 {
				w.r[in.d][l] = uint32(bar.count)
			}
		}
	case barAnd:
		w.setPred(in.d, m, truth(bar.count == bar.threads))
	case barOr:
		w.setPred(in.d, m, truth(bar.count > 0))
	}
}

func truth(b bool) uint32 {
	if b {
		return all
	}
	return 0
}

// left looks again at the barriers after lanes of w exited: fewer are expected.
func (b *block) left(w *warp) {
	if w.state != exited {
		return
	}
	for id := range b.barriers {
		if b.barriers[id].used && b.barriers[id].expected == 0 {
			b.complete(id)
		}
	}
}
