package ptxsim

import (
	"encoding/binary"
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// execStoreShared32 stores 1, 2 or 4 words of 32 bits to shared memory.
func execStoreShared32(w *warp, in *inst, m uint32) {
	addr := w.addresses(in)
	w.measure(in, addr, m)
	mem, size := w.block.shared, uint64(in.size)
	checked := w.block.cells != nil
	var buf [16]byte
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		off := addr[l] - sharedStart
		for i, s := range in.v {
			binary.LittleEndian.PutUint32(buf[i*4&15:], w.r[s][l])
		}
		if off >= uint64(len(mem)) || uint64(len(mem))-off < size || off&(size-1) != 0 || !w.block.kernel.inVariable(off, size) {
			w.store(in, ptx.Shared, l, addr[l], buf[:size])
			return
		}
		if checked && !w.writeShared(in, l, off, buf[:size], false) {
			return
		}
		copy(mem[off:off+size], buf[:size])
	}
}

// execLoadGlobal32 loads 1, 2 or 4 words of 32 bits from global memory.
func execLoadGlobal32(w *warp, in *inst, m uint32) {
	addr := w.addresses(in)
	w.measure(in, addr, m)
	unchecked := w.block.launch.opt.Unchecked
	size := uint64(in.size)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		x, a := addr[l], w.last
		if a == nil || a.shadow != nil || x&(size-1) != 0 || x-a.base >= uint64(len(a.data)) || uint64(len(a.data))-(x-a.base) < size ||
			!unchecked && !written(a.written[x-a.base:x-a.base+size]) {
			p := w.readable(in, ptx.Global, l, x, size)
			if p == nil {
				return
			}
			w.setLane(in, l, p)
			continue
		}
		p := a.data[x-a.base:]
		for i, d := range in.v {
			w.r[d][l] = binary.LittleEndian.Uint32(p[i*4:])
		}
	}
}

// execStoreGlobal32 stores 1, 2 or 4 words of 32 bits to global memory.
func execStoreGlobal32(w *warp, in *inst, m uint32) {
	addr := w.addresses(in)
	w.measure(in, addr, m)
	size := uint64(in.size)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		x, a := addr[l], w.last
		if a == nil || a.shadow != nil || x&(size-1) != 0 || x-a.base >= uint64(len(a.data)) || uint64(len(a.data))-(x-a.base) < size {
			var buf [32]byte
			w.getLane(in, l, &buf)
			if !w.store(in, ptx.Global, l, x, buf[:size]) {
				return
			}
			continue
		}
		off := x - a.base
		p, s := a.data[off:off+size], a.written[off:off+size]
		for i, r := range in.v {
			binary.LittleEndian.PutUint32(p[i*4:], w.r[r][l])
			binary.LittleEndian.PutUint32(s[i*4:], 0x01010101)
		}
	}
}

// execLoadShared32 loads 1, 2 or 4 words of 32 bits from shared memory.
func execLoadShared32(w *warp, in *inst, m uint32) {
	addr := w.addresses(in)
	w.measure(in, addr, m)
	mem, size := w.block.shared, uint64(in.size)
	checked, access := w.block.cells != nil, newAccess(w, 0, 15, in)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest) & 31
		off := addr[l] - sharedStart
		if off >= uint64(len(mem)) || uint64(len(mem))-off < size || off&(size-1) != 0 || !w.block.kernel.inVariable(off, size) {
			w.readable(in, ptx.Shared, l, addr[l], size)
			return
		}
		if checked && !w.readWords(in, l, off, size, access) {
			return
		}
		for i, d := range in.v {
			w.r[d][l] = binary.LittleEndian.Uint32(mem[off+uint64(i)*4:])
		}
	}
}
