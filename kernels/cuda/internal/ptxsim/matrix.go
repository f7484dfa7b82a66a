package ptxsim

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// moveMatrix decodes ldmatrix and stmatrix: 8x8 matrices of 16-bit elements, whose rows of 16 bytes lanes 8q to 8q+7 name
// for matrix q.
func (d *decoder) moveMatrix() {
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[d.one("x1", "x2", "x4")]
	if n == 0 || !d.has("m8n8") || !d.want(2, 2) {
		d.fail("the simulator has forms .m8n8.x1, .x2 and .x4")
		return
	}
	d.out.space, d.out.size, d.out.n, d.out.aligned = ptx.Shared, 16, uint8(n), true
	d.out.work.bytes = int64(4 * n)
	if d.in.Op == "ldmatrix" {
		d.address(1)
		d.out.v = d.vector(0, n, 32, true)
		d.out.exec, d.out.work.moves = execLoadMatrix, movesRead
	} else {
		d.address(0)
		d.out.v = d.vector(1, n, 32, false)
		d.out.exec, d.out.work.moves = execStoreMatrix, movesWrite
	}
	d.out.wide = d.has("trans")
}

// whole faults unless all 32 lanes execute the instruction.
func (w *warp) whole(in *inst, m uint32) bool {
	if m != all {
		w.failf(in, -1, Divergence, "lanes %#08x only are here; it takes all 32 of the warp%s", m, w.whereabouts(m))
	}
	return m == all
}

// rows finds the places of the rows of n matrices in shared memory.
func (w *warp) rows(in *inst, out *[warpSize]uint64, does string) bool {
	addr := w.addresses(in)
	m := ^uint32(0) >> (warpSize - 8*uint(in.n))
	w.measure(in, addr, m)
	for l := range 8 * int(in.n) {
		off, ok := w.sharedOffset(in, l, addr[l], 16, does)
		if !ok {
			return false
		}
		if addr[l]%16 != 0 {
			w.failf(in, l, Misaligned, "row address %#x is no multiple of 16", addr[l])
			return false
		}
		out[l] = off
	}
	return true
}

// execLoadMatrix gives lane l, of matrix q in register q, elements 2t and 2t+1 of row g, where g = l/4 and t = l%4; with
// .trans, those of column g.
func execLoadMatrix(w *warp, in *inst, m uint32) {
	var rows [warpSize]uint64
	if !w.whole(in, m) || !w.rows(in, &rows, "reads") {
		return
	}
	access := newAccess(w, 0, 15, in)
	for q, s := range in.v {
		d := &w.r[s]
		for r := range 8 {
			off := rows[8*q+r]
			if w.block.cells != nil && !w.readWords(in, 8*q+r, off, 16, access) {
				return
			}
			row := w.block.shared[off : off+16]
			if in.wide {
				shift := 16 * (r % 2)
				for c := range 8 {
					x := &d[c*4+r/2]
					*x = *x&^(0xffff<<shift) | uint32(binary.LittleEndian.Uint16(row[2*c:]))<<shift
				}
				continue
			}
			for t := range 4 {
				d[r*4+t] = binary.LittleEndian.Uint32(row[4*t:])
			}
		}
	}
}

// execStoreMatrix is the inverse.
func execStoreMatrix(w *warp, in *inst, m uint32) {
	var rows [warpSize]uint64
	if !w.whole(in, m) || !w.rows(in, &rows, "writes") {
		return
	}
	for q, s := range in.v {
		src := &w.r[s]
		for r := range 8 {
			var row [16]byte
			for c := range 8 {
				v := src[r*4+c/2] >> (16 * (c % 2))
				if in.wide {
					v = src[c*4+r/2] >> (16 * (r % 2))
				}
				binary.LittleEndian.PutUint16(row[2*c:], uint16(v))
			}
			off := rows[8*q+r]
			if w.block.cells != nil && !w.writeShared(in, 8*q+r, off, row[:], false) {
				return
			}
			copy(w.block.shared[off:], row[:])
		}
	}
}

// product is the shape of an mma: its elements lie in registers of the lanes as GPU.md section 10 draws them. With g = l/4
// and t = l%4, per elements in a register of 32 bits: register r of A holds row g + 8(r%2) and columns 4 per (r/2) + per t
// and on; register r of B column g and rows 4 per r + per t and on; C and D column 2t and 2t+1, row g, then g+8.
type mmaShape struct {
	m, k   int
	per    int
	half   bool // C and D are f16, two to a register
	sat    bool
	toA    func(uint32) float32 // an element of A and B
	toB    func(uint32) float32
	signA  bool
	signB  bool
	ints   bool
	halves bool // A and B are f16
}

// matrix decodes mma.sync.
func (d *decoder) matrix() {
	var m, n, k int
	for _, x := range d.mods {
		if c, _ := fmt.Sscanf(x, "m%dn%dk%d", &m, &n, &k); c == 3 {
			break
		}
	}
	types := d.types()
	if len(types) != 4 || n != 8 || m != 16 && m != 8 || !d.want(4, 4) {
		d.fail("the simulator does not have this form of mma")
		return
	}
	shape := &mmaShape{m: m, k: k, per: 32 / elementBits(types[1]), sat: d.has("satfinite")}
	shape.half = types[0] == ptx.F16
	shape.halves = types[1] == ptx.F16
	shape.ints = !isFloatType(types[1]) && types[1] != ptx.E4M3 && types[1] != ptx.E5M2
	shape.signA, shape.signB = isSigned(types[1]), isSigned(types[2])
	shape.toA, shape.toB = elementOf(types[1]), elementOf(types[2])
	if elementBits(types[1]) != elementBits(types[2]) || types[0] != types[3] || k%(4*shape.per) != 0 || k > 32 || k == 0 {
		d.fail("the simulator does not have this form of mma")
		return
	}
	na, nb, nc := m/8*(k/(4*shape.per)), k/(4*shape.per), m*8/32
	if shape.half {
		nc /= 2
	}
	d.out.v, d.out.va, d.out.vb, d.out.vc = d.vector(0, nc, 32, true), d.vector(1, na, 32, false), d.vector(2, nb, 32, false), d.vector(3, nc, 32, false)
	d.out.x, d.out.aligned = shape, true
	if products := int64(m * 8 * k); elementBits(types[1]) == 8 {
		d.out.work.byteMACs = products
	} else {
		d.out.work.macs = products
	}
	d.out.exec = execMMA
	if shape.ints {
		d.out.exec = execIntegerMMA
	}
}

// elementBits is the width of an element of A or B in a register.
func elementBits(t ptx.Type) int {
	if t == ptx.TF32 {
		return 32
	}
	return max(bitsOf(t), 8)
}

// elementOf converts the bits of an element.
func elementOf(t ptx.Type) func(uint32) float32 {
	switch t {
	case ptx.BF16:
		return func(v uint32) float32 { return math.Float32frombits(v << 16) }
	case ptx.TF32: // the low bits are not read
		return func(v uint32) float32 { return math.Float32frombits(v &^ 0x1fff) }
	case ptx.E4M3:
		return func(v uint32) float32 { return float32(e4m3Format.float(v)) }
	case ptx.E5M2:
		return func(v uint32) float32 { return float32(e5m2Format.float(v)) }
	}
	return func(v uint32) float32 { return halfToFloat(uint16(v)) }
}
