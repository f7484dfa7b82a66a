package ptxsim

// The shadow of global memory: who wrote and who read each 4 bytes in this launch, for Options.Races. An access is ordered
// after another of its block as in shared memory, and after one of any block through a release and an acquire (PTX ISA,
// "Memory Consistency Model"): what comes before a fence is released by the thread's next strong write to some address, and
// ordered before what follows a fence of a thread that has read that address.

// globalAccess is one access; the zero value is none.
type globalAccess struct {
	block  int32 // of the grid, plus one
	src    int32
	epoch  uint32 // of its warp
	thread uint16 // in the block
	bytes  uint8  // of the cell
	strong strength
	copies bool // the read of an asynchronous copy that is under way
	others bool // of a read: other lanes of the warp have read the same bytes in the same epoch
}

func (a *globalAccess) warp() int { return int(a.thread >> 5) }

// strength is the scope in which an access is strong: two that are strong for each other never race.
type strength uint8

const (
	weak strength = iota
	strongBlock
	strongDevice
)

// globalCell is what is known about 4 bytes: the last write, the newest read, and the newest read of another warp.
type globalCell struct {
	write globalAccess
	read  [2]globalAccess
}

// pageCells is how many cells a page of a shadow has. Pages are made when they are first touched.
const pageCells = 1024

type globalShadow struct {
	pages   []*[pageCells]globalCell // nil unless races are looked for
	touched *touched                 // nil unless it is noted
}

// withShadows is a table of allocations whose accesses are noted.
func withShadows(table []*allocation, opt *Options) []*allocation {
	out := make([]*allocation, len(table))
	for i, a := range table {
		if a == nil {
			continue
		}
		c := *a
		c.shadow = &globalShadow{}
		if opt.Races {
			c.shadow.pages = make([]*[pageCells]globalCell, (len(a.data)+4*pageCells-1)/(4*pageCells))
		}
		if opt.Touched {
			c.shadow.touched = newTouched(len(a.data))
		}
		out[i] = &c
	}
	return out
}

func (s *globalShadow) cell(i uint64) *globalCell {
	p := &s.pages[i/pageCells]
	if *p == nil {
		*p = new([pageCells]globalCell)
	}
	return &(*p)[i%pageCells]
}

// The ways to access global memory.
type globalUse uint8

const (
	usesRead globalUse = iota
	usesWrite
	usesUpdate // an atomic
	usesCopy   // the source of an asynchronous copy
)

// checkGlobal checks that lane may use bytes [off, off+size) of a, and notes that it did. data is what it writes: writing
// what is there already is no race.
func (w *warp) checkGlobal(in *inst, lane int, a *allocation, off, size uint64, use globalUse, data []byte) bool {
	writes := use == usesWrite || use == usesUpdate
	if t := a.shadow.touched; t != nil {
		t.note(off, size, writes)
	}
	if a.shadow.pages == nil {
		return true
	}
	same := use == usesWrite && string(a.data[off:off+size]) == string(data) && written(a.written[off:off+size])
	me := globalAccess{
		block: int32(w.block.index) + 1, src: int32(in.src), epoch: w.epoch, thread: uint16(w.index<<5 | lane),
		strong: in.strong, copies: use == usesCopy,
	}
	for i := off / 4; i <= (off+size-1)/4; i++ {
		c := a.shadow.cell(i)
		me.bytes = bytesOf(i, off, size)
		if !w.mayUse(in, lane, a.base+4*i, &me, &c.write, "wrote", writes, same) {
			return false
		}
		if !writes {
			c.noteRead(me)
			continue
		}
		for r := range c.read {
			if !w.mayUse(in, lane, a.base+4*i, &me, &c.read[r], "read", true, same) {
				return false
			}
		}
		c.noteWrite(me)
	}
	return true
}

// mayUse faults if other is in the way of access me.
func (w *warp) mayUse(in *inst, lane int, addr uint64, me, other *globalAccess, did string, writes, same bool) bool {
	if other.block == 0 || other.bytes&me.bytes == 0 {
		return true
	}
	does := "reads"
	if writes {
		does = "overwrites"
	}
	k := w.block.kernel.src
	at := place(k, int(max(other.src, 0)))
	switch {
	case other.copies && other.block == me.block && !same:
		w.failf(in, lane, Pending, "%s global address %#x, from which the copy of warp %d lane %d at %s is under way: wait for its group first", does, addr, other.warp(), other.thread&31, at)
		return false
	case in.readOnly && did == "wrote":
		w.failf(in, lane, Race, "reads global address %#x through the cache of what no thread writes; block %d wrote it at %s in the same launch", addr, other.block-1, at)
		return false
	case same || w.after(other, me):
		return true
	case other.block == me.block:
		w.failf(in, lane, Race, "%s global address %#x, which warp %d lane %d %s at %s with no barrier between", does, addr, other.warp(), other.thread&31, did, at)
		return false
	}
	w.failf(in, lane, Race, "%s global address %#x, which block %d %s at %s in the same launch, with nothing that orders the two", does, addr, other.block-1, did, at)
	return false
}

// after reports whether other comes surely before me, or neither minds the other.
func (w *warp) after(other, me *globalAccess) bool {
	if other.block == me.block {
		met := other.thread == me.thread || w.met(int(other.thread), int(me.thread&31), other.epoch)
		if met && !other.others || other.epoch <= w.clock[other.warp()] || other.strong != weak && me.strong != weak {
			return true
		}
	} else if other.strong == strongDevice && me.strong == strongDevice {
		return true
	}
	for i := range w.block.acquired {
		acq := &w.block.acquired[i]
		if acq.fenced && (acq.warp == w.index || acq.epoch <= w.clock[acq.warp]) && acq.from.has(other) {
			return true
		}
	}
	return false
}

func (c *globalCell) noteRead(a globalAccess) {
	first := &c.read[0]
	if first.block != a.block || first.warp() != a.warp() {
		if !c.read[1].copies || c.read[1].block != a.block {
			c.read[1] = *first
		}
	} else if first.epoch == a.epoch && (first.thread != a.thread || first.others) && a.bytes&^first.bytes == 0 && a.strong == weak {
		a.others = true
	}
	*first = a
}

func (c *globalCell) noteWrite(a globalAccess) {
	if old := &c.write; old.block == a.block && old.thread == a.thread && old.epoch == a.epoch {
		a.bytes |= old.bytes
	}
	c.write = a
	if a.bytes == 15 {
		c.read = [2]globalAccess{}
	}
}

// landed notes that the copy of lane l has read its source.
func (w *warp) landed(c *asyncCopy, l int) {
	a := find(w.block.launch.table, c.src[l])
	if a == nil || a.shadow == nil || c.n[l] == 0 {
		return
	}
	off := c.src[l] - a.base
	for i := off / 4; i <= (off+uint64(c.n[l])-1)/4; i++ {
		for r := range a.shadow.cell(i).read {
			g := &a.shadow.cell(i).read[r]
			if g.copies && g.block == int32(w.block.index)+1 && int(g.thread) == w.index<<5|l && int(g.src) == c.in.src {
				g.copies, g.epoch = false, w.epoch
			}
		}
	}
}

// released is what some lanes of a warp had behind them at a fence.
type released struct {
	block int32 // plus one
	clock [maxWarps]uint32
	warp  int
	epoch uint32 // the warp's own, for lanes
	lanes uint32
}

// view is what has been released at an address, by block.
type view map[int32][]*released

func (v view) has(a *globalAccess) bool {
	for _, r := range v[a.block] {
		if a.epoch <= r.clock[a.warp()] || a.warp() == r.warp && a.epoch <= r.epoch && r.lanes>>(a.thread&31)&1 != 0 {
			return true
		}
	}
	return false
}

// acquired is a strong read of a warp of the block; what was released there is ordered before what follows it once it is
// fenced.
type acquired struct {
	from   view
	warp   int
	epoch  uint32
	fenced bool
}

// fence orders what lanes m have done before what they do, for threads of other blocks.
func (w *warp) fence(m uint32) {
	w.released = &released{block: int32(w.block.index) + 1, clock: w.clock, warp: w.index, epoch: w.epoch, lanes: m}
	for i := range w.block.acquired {
		if a := &w.block.acquired[i]; a.warp == w.index && !a.fenced {
			a.fenced, a.epoch = true, w.epoch
		}
	}
	w.epoch++
}

// synchronise does what the strong access in means for the order of others: it releases if it writes, and acquires if it
// reads.
func (w *warp) synchronise(in *inst, addr uint64, m uint32, reads, writes bool) {
	l := w.block.launch
	if l.syncs == nil || in.strong != strongDevice {
		return
	}
	if in.release {
		w.fence(m)
	}
	v := l.syncs[addr]
	if v == nil {
		v = view{}
		l.syncs[addr] = v
	}
	if reads {
		w.block.acquired = append(w.block.acquired, acquired{from: v, warp: w.index, epoch: w.epoch})
	}
	if r := w.released; writes && r != nil && r.lanes&m != 0 {
		if list := v[r.block]; len(list) == 0 || list[len(list)-1] != r {
			v[r.block] = append(list, r)
			w.passOn(v, r)
		}
	}
	if in.acquire {
		w.fence(m)
	}
}

// passOn releases with r what its warp has acquired from others before.
func (w *warp) passOn(to view, r *released) {
	for i := range w.block.acquired {
		a := &w.block.acquired[i]
		if !a.fenced || a.warp != w.index && a.epoch > r.clock[a.warp] {
			continue
		}
		for block, list := range a.from {
			if have := to[block]; block != r.block && len(have) < len(list) {
				to[block] = append(have[:len(have):len(have)], list[len(have):]...)
			}
		}
	}
}
