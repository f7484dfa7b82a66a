package ptxsim

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// asyncCopy is one execution of cp.async by a warp: a copy for each lane of its mask that is still under way.
type asyncCopy struct {
	in    *inst
	mask  uint32
	dst   vec64 // places in the block's shared memory
	src   vec64 // global addresses
	n     [warpSize]uint8
	group vec32 // of each lane: how many it had committed before
}

// copyAsync decodes cp.async, its groups, and its waits.
func (d *decoder) copyAsync() {
	switch {
	case !d.has("async") || d.has("bulk") || d.has("mbarrier"):
		d.fail("the simulator does not have this instruction")
	case d.has("commit_group"):
		d.out.exec = func(w *warp, _ *inst, m uint32) {
			for l := range w.groupN {
				w.groupN[l] += m >> l & 1
			}
		}
	case d.has("wait_all"):
		d.out.exec = func(w *warp, _ *inst, m uint32) { w.deliverCopies(m, -1) }
	case d.has("wait_group"):
		if !d.want(1, 1) {
			return
		}
		n := d.in.Args[0].Imm
		if d.in.Args[0].Kind != ptx.ImmOperand || n < 0 || n > 1<<20 {
			d.fail("wait_group takes a number of groups")
			return
		}
		d.out.exec = func(w *warp, _ *inst, m uint32) { w.deliverCopies(m, int(n)) }
	default:
		d.copyOne()
	}
}

// copyOne decodes cp.async [dst], [src], size, and the number of bytes to read if it is less.
func (d *decoder) copyOne() {
	if !d.want(3, 4) {
		return
	}
	d.address(0)
	base, narrow, off := d.addressOf(1)
	if narrow {
		d.fail("a global address has 64 bits")
		return
	}
	size := d.in.Args[2]
	if size.Kind != ptx.ImmOperand || size.Imm != 16 && (d.has("cg") || size.Imm != 4 && size.Imm != 8) {
		d.fail("copies are of 4, 8 or 16 bytes, with .cg of 16")
		return
	}
	d.out.b, d.out.off2, d.out.size = base, off, uint32(size.Imm)
	d.out.c = d.constant(uint64(size.Imm), false)
	if len(d.in.Args) == 4 {
		d.out.c = d.arg(3, 32)
	}
	d.out.space = ptx.Shared
	d.out.work.bytes, d.out.work.moves = size.Imm, movesCopy
	d.out.exec = execCopyAsync
}

// execCopyAsync issues a copy. It is checked now as a read and a write; whatever Options.Async says, the bytes may not be
// touched until it is delivered.
func execCopyAsync(w *warp, in *inst, m uint32) {
	c := w.newCopy()
	c.in, c.mask, c.group = in, m, w.groupN
	dst, base, size := w.addresses(in), &w.q[in.b], uint64(in.size)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		c.src[l] = base[l] + in.off2
		n := uint64(w.r[in.c][l])
		if n > size {
			w.failf(in, l, Illegal, "reads %d bytes of a copy of %d", n, size)
			return
		}
		off, ok := w.sharedOffset(in, l, dst[l], size, "writes")
		if !ok {
			return
		}
		if dst[l]%size != 0 {
			w.failf(in, l, Misaligned, "shared address %#x is no multiple of %d", dst[l], size)
			return
		}
		c.dst[l], c.n[l] = off, uint8(n)
	}
	if w.block.worker.lint {
		w.lintOf(in).requests++
		w.measureShared(in, dst, m, size)
		w.measureGlobal(in, &c.src, m, size)
	}
	early := w.block.launch.opt.Async == Early
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		if !w.issue(c, l, early) {
			return
		}
	}
	w.copies = append(w.copies, c)
}

// newCopy takes a copy out of the spare ones.
func (w *warp) newCopy() *asyncCopy {
	if n := len(w.spare); n > 0 {
		c := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return c
	}
	return &asyncCopy{}
}

// issue checks the copy of lane l, and does it if it is early.
func (w *warp) issue(c *asyncCopy, l int, early bool) bool {
	in, size, n := c.in, uint64(c.in.size), uint64(c.n[l])
	var data [16]byte
	if c.src[l]%size != 0 { // even of a copy that reads nothing: ptxas takes all addresses to be aligned
		w.failf(in, l, Misaligned, "global address %#x is no multiple of %d", c.src[l], size)
		return false
	}
	if n > 0 {
		p := w.readGlobal(in, l, c.src[l], n)
		if p == nil {
			return false
		}
		copy(data[:], p)
	}
	if w.block.cells != nil && !w.writeShared(in, l, c.dst[l], data[:size], true) {
		return false
	}
	if early {
		copy(w.block.shared[c.dst[l]:], data[:size])
	}
	return true
}

// readGlobal is readable for a number of bytes that is no power of two.
func (w *warp) readGlobal(in *inst, l int, addr, n uint64) []byte {
	a, off := w.global(in, l, addr, n, "reads")
	if a == nil || a.shadow != nil && !w.checkGlobal(in, l, a, off, n, usesCopy, nil) {
		return nil
	}
	return w.initialised(in, l, a, off, n)
}

// deliverCopies ends the copies of lanes m but for the newest pending groups of each; -1 ends those too that are in no
// group yet.
func (w *warp) deliverCopies(m uint32, pending int) {
	keep := w.copies[:0]
	late := w.block.launch.opt.Async == Late
	for _, c := range w.copies {
		for rest := c.mask & m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			if pending >= 0 && int(c.group[l])+pending >= int(w.groupN[l]) {
				continue
			}
			c.mask &^= 1 << l
			w.land(c, l, late)
		}
		if c.mask == 0 {
			w.spare = append(w.spare, c)
			continue
		}
		keep = append(keep, c)
	}
	w.copies = keep
}

// land makes the copy of lane l done: its bytes are those that the source holds now if it is late.
func (w *warp) land(c *asyncCopy, l int, late bool) {
	size, n := uint64(c.in.size), uint64(c.n[l])
	if late {
		var data [16]byte
		if n > 0 {
			a := find(w.block.launch.table, c.src[l])
			copy(data[:n], a.data[c.src[l]-a.base:])
		}
		copy(w.block.shared[c.dst[l]:], data[:size])
	}
	if w.block.launch.syncs != nil {
		w.landed(c, l)
	}
	if w.block.cells != nil {
		w.deliver(c.in, l, c.dst[l], size)
	}
}
