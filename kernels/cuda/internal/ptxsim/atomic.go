package ptxsim

import (
	"math/bits"
	"sync"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// lockOf is the lock of atomics at an address.
func (w *warp) lockOf(addr uint64) *sync.Mutex {
	locks := &w.block.launch.mem.locks
	return &locks[addr>>3%uint64(len(locks))]
}

// atomic decodes atom and red: lanes do theirs one after another.
func (d *decoder) atomic() {
	returns := d.in.Op == "atom"
	t := d.typ()
	width := bitsOf(t)
	op := d.one("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")
	sources := 1
	if op == "cas" {
		sources = 2
	}
	n := sources + 1
	if returns {
		n++
	}
	if width < 16 || width > 64 || !d.want(n, n) {
		d.fail("the simulator has no atomics of %s", t)
		return
	}
	first := 0
	d.out.d = d.sink32
	if width == 64 {
		d.out.d = d.sink64
	}
	if returns {
		first, d.out.d = 1, d.dst(width)
	}
	d.address(first)
	d.out.b = d.arg(first+1, width)
	d.out.c = d.out.b
	if sources == 2 {
		d.out.c = d.arg(first+2, width)
	}
	d.out.space, d.out.size, d.out.wide = d.spaceOf(), uint32(width/8), width == 64
	d.out.x = d.atomicFunction(op, t)
	d.out.exec = execAtomic
	d.ordering()
	d.out.work.bytes, d.out.work.moves = int64(width/8), movesWrite
}

// update is the new value of a memory cell, of the old one and the operands.
type update func(old, b, c uint64) uint64

func (d *decoder) atomicFunction(op string, t ptx.Type) update {
	width, signed := uint(bitsOf(t)), isSigned(t)
	switch op {
	case "add":
		if !isFloatType(t) {
			return func(old, b, _ uint64) uint64 { return old + b }
		}
		return atomicSum(t)
	case "min", "max":
		pick := lesser
		if op == "max" {
			pick = greater
		}
		return func(old, b, _ uint64) uint64 {
			return pick(extend(old, width, signed), extend(b, width, signed), signed)
		}
	case "inc":
		return func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case "xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case "exch":
		return func(_, b, _ uint64) uint64 { return b }
	case "cas":
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	}
	d.fail("the simulator does not have this operation")
	return nil
}

// atomicSum adds floats, or pairs of them.
func atomicSum(t ptx.Type) update {
	o, parts := floatOp{t: t}, uint(1)
	switch t {
	case ptx.F16X2:
		o.t, parts = ptx.F16, 2
	case ptx.BF162:
		o.t, parts = ptx.BF16, 2
	}
	step := uint(bitsOf(t)) / parts
	return func(old, b, _ uint64) (v uint64) {
		for p := range parts {
			s := p * step
			x, err := sum(o.get(extend(old>>s, step, false)), o.get(extend(b>>s, step, false)))
			v |= o.set(x, err) << s
		}
		return v
	}
}

func execAtomic(w *warp, in *inst, m uint32) {
	addr := w.addresses(in)
	w.measure(in, addr, m)
	f := in.x.(update)
	for rest := m; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		x := addr[l]
		p := w.atomicCell(in, l, x)
		if p == nil {
			return
		}
		b, c := w.load(in.b, in.wide, l), w.load(in.c, in.wide, l)
		lock := w.lockOf(x)
		lock.Lock()
		old := littleEndian(p)
		putLittleEndian(p, f(old, b, c))
		lock.Unlock()
		w.put(in.d, in.wide, l, old)
		w.synchronise(in, x, 1<<l, true, true)
	}
}

// atomicCell finds the memory of an atomic. Atomics on shared memory are ordered among themselves, and checked against
// what is not atomic as writes are.
func (w *warp) atomicCell(in *inst, l int, addr uint64) []byte {
	space, size := in.space, uint64(in.size)
	if space == ptx.Generic {
		space, addr = generic(addr)
	}
	if space == ptx.Shared {
		off, ok := w.sharedOffset(in, l, addr, size, "updates")
		switch {
		case !ok:
			return nil
		case addr%size != 0:
			w.failf(in, l, Misaligned, "address %#x is no multiple of %d", addr, size)
			return nil
		case w.block.cells != nil && !w.atomicShared(in, l, off, size):
			return nil
		}
		return w.block.shared[off : off+size]
	}
	if space != ptx.Global {
		w.failf(in, l, Illegal, "atomics are for global and shared memory")
		return nil
	}
	lock := w.lockOf(addr)
	lock.Lock()
	defer lock.Unlock()
	a, off := w.global(in, l, addr, size, "updates")
	if a == nil || a.shadow != nil && !w.checkGlobal(in, l, a, off, size, usesUpdate, nil) {
		return nil
	}
	return w.initialised(in, l, a, off, size)
}

// atomicShared checks an atomic on shared memory: other atomics are never in its way.
func (w *warp) atomicShared(in *inst, lane int, off, size uint64) bool {
	for i := off / 4; i <= (off+size-1)/4; i++ {
		c := &w.block.cells[i]
		bytes := bytesOf(i, off, size)
		switch wr := c.write; {
		case c.filled&bytes != bytes:
			w.failf(in, lane, Uninitialised, "shared address %#x holds nothing that was written", sharedStart+i*4)
			return false
		case wr.bytes()&bytes != 0 && !c.atomic && (wr.pending() || !w.orders(wr, lane)):
			w.faultShared(in, lane, wr, i, "updates", "wrote")
			return false
		}
		for _, r := range c.read {
			if r.bytes()&bytes != 0 && !w.ordersReads(r, lane) {
				w.faultShared(in, lane, r, i, "updates", "read")
				return false
			}
		}
		c.note(newAccess(w, lane, bytes, in), false)
		c.atomic = true
	}
	return true
}
