package ptxsim

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// spaceOf reads the space of an access; shared memory of a cluster is the block's, whose cluster is itself.
func (d *decoder) spaceOf() ptx.Space {
	switch s := d.one("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"); s {
	case "shared::cta", "shared::cluster":
		return ptx.Shared
	default:
		return ptx.Space(s)
	}
}

// memory decodes ld and st.
func (d *decoder) memory() {
	if !d.want(2, 3) {
		return
	}
	loads := d.in.Op != "st"
	t := d.typ()
	elem, n := bitsOf(t), 1
	switch d.one("v2", "v4", "v8") {
	case "v2":
		n = 2
	case "v4":
		n = 4
	case "v8":
		n = 8
	}
	if elem < 8 || elem > 64 || elem*n > 256 {
		d.fail("the simulator has no accesses of %d x %d bits", n, elem)
		return
	}
	addr, data := 0, 1
	if loads {
		addr, data = 1, 0
	}
	d.address(addr)
	width := d.elementWidth(&d.in.Args[data], elem)
	d.out.v = d.vector(data, n, width, loads)
	d.out.space, d.out.size, d.out.elem, d.out.n = d.spaceOf(), uint32(elem/8*n), uint8(elem/8), uint8(n)
	d.out.wide, d.out.signed = width == 64, isSigned(t)
	d.out.mask = ^uint32(0)
	if width == 16 {
		d.out.mask = 0xffff
	}
	d.out.readOnly = loads && d.has("nc")
	d.out.work.bytes = int64(d.out.size)
	words := elem == 32 && width == 32 && n <= 4
	if d.has("acquire") || d.has("volatile") || d.has("release") || d.has("relaxed") {
		d.ordered(loads)
		return
	}
	if loads {
		d.out.work.moves = movesRead
		d.out.exec = d.loader(words)
		return
	}
	d.out.work.moves = movesWrite
	switch {
	case words && d.out.space == ptx.Global:
		d.out.exec = execStoreGlobal32
	case words && d.out.space == ptx.Shared:
		d.out.exec = execStoreShared32
	default:
		d.out.exec = execStore
	}
}

func (d *decoder) loader(words bool) execFunc {
	switch {
	case words && d.out.space == ptx.Global:
		return execLoadGlobal32
	case words && d.out.space == ptx.Shared:
		return execLoadShared32
	case d.out.space == ptx.Param && !d.in.Args[1].Base && (words || d.out.wide && d.out.elem == 8) && d.paramInside():
		return execLoadParam
	}
	return execLoad
}

// paramInside reports whether a load of parameters at a constant place lies within them, and puts the place into off.
func (d *decoder) paramInside() bool {
	at := uint64(d.in.Args[1].Off)
	if d.in.Args[1].Name != "" {
		at = d.symbol(&d.in.Args[1])
	}
	if have := uint64(d.k.paramBytes); at > have || have-at < uint64(d.out.size) || at%uint64(d.out.size) != 0 {
		return false
	}
	d.out.off = at
	return true
}

// elementWidth is the width of the registers of the data of a load or store.
func (d *decoder) elementWidth(o *ptx.Operand, elem int) int {
	if o.Kind == ptx.VectorOperand && len(o.Vec) > 0 {
		for i := range o.Vec {
			if o.Vec[i].Kind == ptx.RegOperand {
				return d.registerWidth(&o.Vec[i], elem)
			}
		}
	}
	return d.registerWidth(o, elem)
}

// ordered decodes loads and stores that other blocks may answer to: they take the lock that atomics take.
func (d *decoder) ordered(loads bool) {
	plain := execStore
	d.out.work.moves = movesWrite
	if loads {
		plain = execLoad
		d.out.work.moves = movesRead
	}
	d.ordering()
	d.out.exec = func(w *warp, in *inst, m uint32) {
		addr := *w.addresses(in)
		for rest := m; rest != 0 && w.fault == nil; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			lock := w.lockOf(addr[l])
			lock.Lock()
			plain(w, in, 1<<l)
			lock.Unlock()
			w.synchronise(in, addr[l], 1<<l, loads, !loads)
		}
	}
}

// ordering notes what an access that is strong for others means for their order.
func (d *decoder) ordering() {
	d.out.strong = strongDevice
	if d.has("cta") {
		d.out.strong = strongBlock
	}
	d.out.acquire = d.has("acquire") || d.has("acq_rel")
	d.out.release = d.has("release") || d.has("acq_rel")
}

// nothing decodes instructions without a meaning for values: memory is always in order between a block's warps, and the
// locks of atomics order it between blocks. Fences count where races are looked for.
func (d *decoder) nothing() {
	root, _, _ := strings.Cut(d.in.Op, ".")
	fences := root == "membar" || root == "fence" && !d.has("proxy")
	wide := !d.has("cta")
	d.out.exec = func(w *warp, _ *inst, m uint32) {
		if !fences {
			return
		}
		lock := w.lockOf(0)
		lock.Lock()
		//lint:ignore SA2001 what was written before is ordered before what follows the next lock
		lock.Unlock()
		if wide && w.block.launch.syncs != nil {
			w.fence(m)
		}
	}
}

// clock decodes the reading of a clock: the instructions that the warp's worker has executed at this place.
func (d *decoder) clock(width int) {
	wide := width == 64
	d.out.d = d.dst(width)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		w.block.ticks++
		for l := range warpSize {
			if m>>l&1 != 0 {
				w.put(in.d, wide, l, w.block.ticks)
			}
		}
	}
}

func isClock(name string) bool {
	switch name {
	case "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi":
		return true
	}
	return false
}

// isSpecial reports whether setSpecials knows a special register.
func isSpecial(name string) bool {
	switch name {
	case "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z",
		"%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
		"%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "WARP_SZ",
		"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
		"%dynamic_smem_size", "%total_smem_size",
		"%clusterid.x", "%clusterid.y", "%clusterid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z",
		"%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
		"%cluster_ctarank", "%cluster_nctarank":
		return true
	}
	return false
}

// setSpecials gives the special registers that the kernel reads their values in this block.
func (w *warp) setSpecials() {
	for _, s := range w.block.kernel.special {
		for l := range warpSize {
			w.put(s.slot, s.wide, l, uint64(w.special(s.name, l)))
		}
	}
}

func (w *warp) special(name string, lane int) uint32 {
	b := w.block
	l := b.launch
	thread := w.index*warpSize + lane
	axis := int(name[len(name)-1] - 'x')
	switch name {
	case "%tid.x":
		return uint32(thread % l.block[0])
	case "%tid.y":
		return uint32(thread / l.block[0] % l.block[1])
	case "%tid.z":
		return uint32(thread / l.block[0] / l.block[1])
	case "%ntid.x", "%ntid.y", "%ntid.z":
		return uint32(l.block[axis])
	case "%ctaid.x", "%ctaid.y", "%ctaid.z", "%clusterid.x", "%clusterid.y", "%clusterid.z":
		return uint32(b.at[axis])
	case "%nctaid.x", "%nctaid.y", "%nctaid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z":
		return uint32(l.grid[axis])
	case "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_nctarank", "%nsmid":
		return 1
	case "%laneid":
		return uint32(lane)
	case "%warpid":
		return uint32(w.index)
	case "%nwarpid":
		return uint32(l.opt.SM.Threads / warpSize)
	case "WARP_SZ":
		return warpSize
	case "%lanemask_eq":
		return 1 << lane
	case "%lanemask_lt":
		return 1<<lane - 1
	case "%lanemask_le":
		return 2<<lane - 1
	case "%lanemask_gt":
		return -(uint32(2) << lane)
	case "%lanemask_ge":
		return -(uint32(1) << lane)
	case "%dynamic_smem_size":
		return uint32(l.shared - b.kernel.span)
	case "%total_smem_size":
		return uint32(l.shared - b.kernel.span + b.kernel.static)
	}
	return 0
}

// littleEndian reads 2, 4 or 8 bytes.
func littleEndian(p []byte) uint64 {
	switch len(p) {
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

func putLittleEndian(p []byte, v uint64) {
	switch len(p) {
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	default:
		binary.LittleEndian.PutUint64(p, v)
	}
}
