package ptxsim

import "slices"

// cell is what is known about 4 bytes of a block's shared memory: who wrote and who read them, in which epoch of his
// warp. An access is ordered after another if its warp has synchronised with that epoch of the other's warp: vector
// clocks, as in C. Flanagan and S. Freund, "FastTrack", 2009, with the last two reading warps instead of all.
type cell struct {
	write  access
	read   [2]access // the newest, and the newest of another warp
	filled uint8     // bytes that hold a value, a bit each
	atomic bool      // the last write was an atomic's
}

// access packs: thread (10 bits), bytes of the cell (4), a mark (1), instruction (25), epoch (24). Zero is none. The mark of a
// write says that it is still under way, that of a read that other lanes of the warp have read the same bytes in the same epoch.
type access uint64

const (
	maxSrc   = 1<<25 - 1
	maxEpoch = 1<<24 - 1
)

func newAccess(w *warp, lane int, bytes uint8, in *inst) access {
	return access(w.index<<5|lane) | access(bytes)<<10 | access(in.src&maxSrc)<<15 | access(min(w.epoch, maxEpoch))<<40
}

const (
	underWay access = 1 << 14
	several         = underWay
)

func (a access) thread() int   { return int(a & 1023) }
func (a access) warp() int     { return int(a & 1023 >> 5) }
func (a access) lane() int     { return int(a & 31) }
func (a access) bytes() uint8  { return uint8(a >> 10 & 15) }
func (a access) pending() bool { return a&underWay != 0 }
func (a access) src() int      { return int(a >> 15 & maxSrc) }
func (a access) epoch() uint32 { return uint32(a >> 40) }

// orders reports whether access a, if there is one, is surely before what lane of w does now.
func (w *warp) orders(a access, lane int) bool {
	return a.epoch() <= w.clock[a.warp()] || a.thread() == w.index<<5|lane || a.epoch() == maxEpoch ||
		len(w.meetings) > 0 && w.met(a.thread(), lane, a.epoch())
}

// ordersReads is orders for a read, with those that are marked on it.
func (w *warp) ordersReads(a access, lane int) bool {
	return w.orders(a, lane) && (a&several == 0 || a.epoch() <= w.clock[a.warp()] || a.epoch() == maxEpoch)
}

// noteRead records a read.
func (c *cell) noteRead(r access) {
	const thread, epoch = 1023, 40
	old := c.read[0]
	if (old^r)&(thread&^31) != 0 {
		c.read[1] = old
	} else if (old^r)>>epoch == 0 && (old^r)&(thread|several) != 0 && r&^old&(15<<10) == 0 {
		r |= several
	}
	c.read[0] = r
}

// bytesOf is the bytes of the cell at index i that an access of size bytes at off touches.
func bytesOf(i, off, size uint64) uint8 {
	m := uint8(15)
	if i == off/4 {
		m &= 15 << (off % 4)
	}
	if end := off + size; i == (end-1)/4 && end%4 != 0 {
		m &= 1<<(end%4) - 1
	}
	return m
}

// readShared checks that lane may read size bytes of shared memory at off, and notes that it did.
func (w *warp) readShared(in *inst, lane int, off, size uint64) bool {
	cells := w.block.cells
	for i := off / 4; i <= (off+size-1)/4; i++ {
		c := &cells[i]
		bytes := uint8(15)
		if size%4 != 0 || off%4 != 0 {
			bytes = bytesOf(i, off, size)
		}
		if wr := c.write; wr.epoch() > w.clock[wr.warp()] || wr.pending() {
			if wr.bytes()&bytes != 0 && (wr.pending() || !w.orders(wr, lane)) {
				w.faultShared(in, lane, wr, i, "reads", "wrote")
				return false
			}
		}
		if c.filled&bytes != bytes {
			w.failf(in, lane, Uninitialised, "shared address %#x holds nothing that was written", sharedStart+i*4)
			return false
		}
		c.noteRead(newAccess(w, lane, bytes, in))
	}
	return true
}

// readWords is readShared of whole cells, quick where nothing is in the way. a is the access as lane 0 would make it.
func (w *warp) readWords(in *inst, lane int, off, size uint64, a access) bool {
	for i := off / 4; i < (off+size)/4; i++ {
		c := &w.block.cells[i]
		if wr := c.write; wr.epoch() > w.clock[wr.warp()] || wr.pending() || c.filled != 15 {
			return w.readShared(in, lane, off, size)
		}
		c.noteRead(a | access(lane))
	}
	return true
}

// writeShared checks that lane may write data to shared memory at off, and notes it; with async set, the write is under
// way until deliver. Writing what is there already is no race.
func (w *warp) writeShared(in *inst, lane int, off uint64, data []byte, async bool) bool {
	cells, size := w.block.cells, uint64(len(data))
	for i := off / 4; i <= (off+size-1)/4; i++ {
		c := &cells[i]
		bytes := uint8(15)
		if size%4 != 0 || off%4 != 0 {
			bytes = bytesOf(i, off, size)
		}
		if wr := c.write; wr.bytes()&bytes != 0 && (wr.pending() || !w.orders(wr, lane) && !w.unchanged(off, data)) {
			w.faultShared(in, lane, wr, i, "overwrites", "wrote")
			return false
		}
		for _, r := range c.read {
			if r.bytes()&bytes != 0 && !w.ordersReads(r, lane) && !w.unchanged(off, data) {
				w.faultShared(in, lane, r, i, "overwrites", "read")
				return false
			}
		}
		c.note(newAccess(w, lane, bytes, in), async)
	}
	return true
}

// note records a write.
func (c *cell) note(a access, async bool) {
	c.filled |= a.bytes()
	c.atomic = false
	if async {
		a |= underWay
	} else if old := c.write; old.thread() == a.thread() && old.epoch() == a.epoch() && !old.pending() {
		a |= old & (15 << 10)
	}
	c.write = a
	if a.bytes() == 15 {
		c.read = [2]access{}
	}
}

// deliver marks what lane copied asynchronously to off as written now.
func (w *warp) deliver(in *inst, lane int, off, size uint64) {
	for i := off / 4; i <= (off+size-1)/4; i++ {
		w.block.cells[i].write = newAccess(w, lane, bytesOf(i, off, size), in)
	}
}

func (w *warp) unchanged(off uint64, data []byte) bool {
	return string(w.block.shared[off:off+uint64(len(data))]) == string(data)
}

// faultShared reports an access to cell i that other is in the way of.
func (w *warp) faultShared(in *inst, lane int, other access, i uint64, does, did string) {
	k := w.block.kernel
	where := place(k.src, min(other.src(), len(k.src.Body)-1))
	addr := sharedStart + i*4
	if did == "wrote" && other.pending() {
		w.failf(in, lane, Pending, "%s shared address %#x, to which the copy of warp %d lane %d at %s is under way: wait for its group first", does, addr, other.warp(), other.lane(), where)
		return
	}
	if did == "read" && other&several != 0 {
		did = "and others read"
	}
	w.failf(in, lane, Race, "%s shared address %#x, which warp %d lane %d %s at %s with no barrier between", does, addr, other.warp(), other.lane(), did, where)
}

// meeting is a bar.warp.sync of some lanes: what they did up to an epoch is ordered for them.
type meeting struct {
	lanes uint32
	epoch uint32
}

// maxMeetings bounds how many sets of lanes are known to have met; of older ones it is forgotten.
const maxMeetings = 64

// sync orders lanes m of the warp, as bar.warp.sync does.
func (w *warp) sync(m uint32) {
	if m == w.live {
		w.clock[w.index] = w.epoch
		w.meetings = w.meetings[:0]
	} else {
		w.meetings = slices.DeleteFunc(w.meetings, func(o meeting) bool { return o.lanes&^m == 0 })
		if len(w.meetings) == maxMeetings {
			w.meetings = slices.Delete(w.meetings, 0, 1)
		}
		w.meetings = append(w.meetings, meeting{m, w.epoch})
	}
	w.epoch++
}

// met reports whether lane and the one of thread, of this warp, have met since an epoch.
func (w *warp) met(thread, lane int, epoch uint32) bool {
	if thread>>5 != w.index {
		return false
	}
	both := uint32(1)<<(thread&31) | 1<<lane
	return slices.ContainsFunc(w.meetings, func(o meeting) bool { return o.epoch >= epoch && o.lanes&both == both })
}
