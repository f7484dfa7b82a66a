package ptxsim

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// addresses computes the addresses of the access in, in all lanes.
func (w *warp) addresses(in *inst) *vec64 {
	if in.narrow {
		base := &w.r[in.a]
		for l := range w.addr {
			w.addr[l] = uint64(base[l] + uint32(in.off))
		}
		return &w.addr
	}
	base := &w.q[in.a]
	if in.off == 0 {
		return base
	}
	for l := range w.addr {
		w.addr[l] = base[l] + in.off
	}
	return &w.addr
}

// written reports whether all of p, the shadow of some memory, is set.
func written(p []byte) bool {
	for ; len(p) >= 8; p = p[8:] {
		if binary.LittleEndian.Uint64(p) != 0x0101010101010101 {
			return false
		}
	}
	for _, b := range p {
		if b == 0 {
			return false
		}
	}
	return true
}

// readable returns the size bytes at addr that lane may read now; nil, with a fault, if it may not.
func (w *warp) readable(in *inst, space ptx.Space, lane int, addr, size uint64) []byte {
	if addr&(size-1) != 0 {
		w.failf(in, lane, Misaligned, "address %#x is no multiple of %d", addr, size)
		return nil
	}
	switch space {
	case ptx.Global, ptx.Const:
		a, off := w.global(in, lane, addr, size, "reads")
		if a == nil || a.shadow != nil && !w.checkGlobal(in, lane, a, off, size, usesRead, nil) {
			return nil
		}
		return w.initialised(in, lane, a, off, size)
	case ptx.Shared:
		off, ok := w.sharedOffset(in, lane, addr, size, "reads")
		if !ok || w.block.cells != nil && !w.readShared(in, lane, off, size) {
			return nil
		}
		return w.block.shared[off : off+size]
	case ptx.Local:
		off, ok := w.localOffset(in, lane, addr, size)
		if !ok {
			return nil
		}
		if !w.block.launch.opt.Unchecked && !written(w.localWritten[off:off+size]) {
			w.failf(in, lane, Uninitialised, "%d bytes at local address %#x hold nothing that was written", size, addr)
			return nil
		}
		return w.local[off : off+size]
	case ptx.Param:
		p := w.block.launch.params
		if addr > uint64(len(p)) || uint64(len(p))-addr < size {
			w.failf(in, lane, OutOfBounds, "%d bytes at %#x of %d bytes of parameters", size, addr, len(p))
			return nil
		}
		return p[addr : addr+size]
	}
	space, addr = generic(addr)
	return w.readable(in, space, lane, addr, size)
}

// initialised returns bytes [off, off+size) of a if they hold a value; nil, with a fault, if they do not.
func (w *warp) initialised(in *inst, lane int, a *allocation, off, size uint64) []byte {
	if !w.block.launch.opt.Unchecked && !written(a.written[off:off+size]) {
		w.failf(in, lane, Uninitialised, "%d bytes at global address %#x, %d into the allocation at %#x, hold nothing that was written", size, a.base+off, off, a.base)
		return nil
	}
	return a.data[off : off+size]
}

// store writes data, at most 32 bytes, to addr for lane; false, with a fault, if it may not.
func (w *warp) store(in *inst, space ptx.Space, lane int, addr uint64, data []byte) bool {
	size := uint64(len(data))
	if addr&(size-1) != 0 {
		w.failf(in, lane, Misaligned, "address %#x is no multiple of %d", addr, size)
		return false
	}
	switch space {
	case ptx.Global:
		a, off := w.global(in, lane, addr, size, "writes")
		if a == nil || a.shadow != nil && !w.checkGlobal(in, lane, a, off, size, usesWrite, data) {
			return false
		}
		copy(a.data[off:off+size], data)
		setWritten(a.written[off : off+size])
		return true
	case ptx.Shared:
		off, ok := w.sharedOffset(in, lane, addr, size, "writes")
		if !ok || w.block.cells != nil && !w.writeShared(in, lane, off, data, false) {
			return false
		}
		copy(w.block.shared[off:off+size], data)
		return true
	case ptx.Local:
		off, ok := w.localOffset(in, lane, addr, size)
		if !ok {
			return false
		}
		copy(w.local[off:off+size], data)
		setWritten(w.localWritten[off : off+size])
		return true
	case ptx.Generic:
		space, addr = generic(addr)
		return w.store(in, space, lane, addr, data)
	}
	w.failf(in, lane, Illegal, "%s memory cannot be written", space)
	return false
}

// setWritten sets a shadow. The bytes may be those of other blocks too; all write the same.
func setWritten(p []byte) {
	for i := range p {
		p[i] = 1
	}
}

// generic finds the space of a generic address, and the address in it.
func generic(addr uint64) (ptx.Space, uint64) {
	switch {
	case addr >= sharedWindow && addr-sharedWindow < windowSize:
		return ptx.Shared, addr - sharedWindow
	case addr >= paramWindow && addr-paramWindow < windowSize:
		return ptx.Param, addr - paramWindow
	case addr >= localWindow && addr-localWindow < windowSize:
		return ptx.Local, addr - localWindow
	}
	return ptx.Global, addr
}

// global finds size bytes at addr in an allocation; nil, with a fault, if they are not within one.
func (w *warp) global(in *inst, lane int, addr, size uint64, does string) (*allocation, uint64) {
	if w.waited != all && !w.mayOverlap(in, lane, addr, does) {
		return nil, 0
	}
	a := w.last
	if a == nil || addr-a.base >= uint64(len(a.data)) {
		a = find(w.block.launch.table, addr)
	}
	if a == nil || addr-a.base >= uint64(len(a.data)) || uint64(len(a.data))-(addr-a.base) < size {
		w.failf(in, lane, OutOfBounds, "%s %d bytes: %s", does, size, describe(w.block.launch.table, addr))
		return nil, 0
	}
	if w.waited&w.lanes == w.lanes {
		w.last = a
	}
	return a, addr - a.base
}

// sharedOffset is the place of size bytes at a shared address.
func (w *warp) sharedOffset(in *inst, lane int, addr, size uint64, does string) (uint64, bool) {
	off, have := addr-sharedStart, uint64(len(w.block.shared))
	if off < have && have-off >= size && w.block.kernel.inVariable(off, size) {
		return off, true
	}
	if s, a := generic(addr); s == ptx.Shared && a != addr {
		w.failf(in, lane, OutOfBounds, "%s %d bytes: %#x is a generic address; cvta.to.shared makes it one of shared memory", does, size, addr)
	} else if off < have && have-off >= size {
		w.failf(in, lane, OutOfBounds, "%s %d bytes at shared address %#x, beyond the end of a variable: %s", does, size, addr, w.block.kernel.nearest(off))
	} else {
		w.failf(in, lane, OutOfBounds, "%s %d bytes at shared address %#x; the block has %#x to %#x", does, size, addr, sharedStart, sharedStart+have)
	}
	return 0, false
}

// inVariable reports whether size bytes at a place in shared memory lie within one variable.
func (k *kernel) inVariable(off, size uint64) bool {
	if k.areas == nil {
		return true
	}
	for i, v := range k.areas {
		if off >= uint64(v.addr) && (off+size <= uint64(v.addr+v.size) || v.size == 0 && i == len(k.areas)-1) {
			return true
		}
	}
	return false
}

// nearest names the last variable that begins before a place in shared memory.
func (k *kernel) nearest(off uint64) string {
	best, at := "", -1
	for _, name := range slices.Sorted(maps.Keys(k.shared)) {
		if v := k.shared[name]; uint64(v.addr-sharedStart) <= off && v.addr > at {
			best, at = name, v.addr
		}
	}
	return fmt.Sprintf("%s has %d bytes from %#x", best, k.shared[best].size, at)
}

// localOffset is the place of size bytes at a local address of lane.
func (w *warp) localOffset(in *inst, lane int, addr, size uint64) (uint64, bool) {
	frame := uint64(len(w.local) / warpSize)
	if addr < frame && frame-addr >= size {
		return uint64(lane)*frame + addr, true
	}
	w.failf(in, lane, OutOfBounds, "%d bytes at local address %#x; a thread has %d bytes", size, addr, frame)
	return 0, false
}

// Loads and stores.

// execLoad is ld in all its forms: the other functions are faster ones for some.
func execLoad(w *warp, in *inst, m uint32) {
	addr := w.addresses(in)
	w.measure(in, addr, m)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		p := w.readable(in, in.space, l, addr[l], uint64(in.size))
		if p == nil {
			return
		}
		w.setLane(in, l, p)
	}
}

// setLane puts the elements in p into the registers of lane l.
func (w *warp) setLane(in *inst, l int, p []byte) {
	for i, d := range in.v {
		var v uint64
		switch e := p[i*int(in.elem):]; in.elem {
		case 1:
			v = uint64(e[0])
		case 2:
			v = uint64(binary.LittleEndian.Uint16(e))
		case 4:
			v = uint64(binary.LittleEndian.Uint32(e))
		case 8:
			v = binary.LittleEndian.Uint64(e)
		}
		if in.signed {
			shift := 64 - 8*uint(in.elem)
			v = uint64(int64(v<<shift) >> shift)
		}
		if in.wide {
			w.q[d][l] = v
		} else {
			w.r[d][l] = uint32(v) & in.mask
		}
	}
}

// execStore is st in all its forms.
func execStore(w *warp, in *inst, m uint32) {
	addr := w.addresses(in)
	w.measure(in, addr, m)
	var buf [32]byte
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		w.getLane(in, l, &buf)
		if !w.store(in, in.space, l, addr[l], buf[:in.size]) {
			return
		}
	}
}

// getLane puts the registers of lane l into buf as elements.
func (w *warp) getLane(in *inst, l int, buf *[32]byte) {
	for i, s := range in.v {
		var v uint64
		if in.wide {
			v = w.q[s][l]
		} else {
			v = uint64(w.r[s][l])
		}
		switch e := buf[i*int(in.elem):]; in.elem {
		case 1:
			e[0] = byte(v)
		case 2:
			binary.LittleEndian.PutUint16(e, uint16(v))
		case 4:
			binary.LittleEndian.PutUint32(e, uint32(v))
		case 8:
			binary.LittleEndian.PutUint64(e, v)
		}
	}
}

// execLoadParam loads a parameter, the same for all lanes.
func execLoadParam(w *warp, in *inst, m uint32) {
	p := w.block.launch.params[in.off : in.off+uint64(in.size)]
	for i, d := range in.v {
		if in.wide {
			v := binary.LittleEndian.Uint64(p[i*8:])
			x := w.dst64(d, m)
			for l := range x {
				x[l] = v
			}
			w.done64(d, m)
			continue
		}
		v := binary.LittleEndian.Uint32(p[i*4:])
		x := w.dst32(d, m)
		for l := range x {
			x[l] = v
		}
		w.done32(d, m)
	}
}
