package ptxsim

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// logic decodes operations on bits.
func (d *decoder) logic() {
	switch d.in.Op {
	case "lop3":
		d.lop3()
		return
	case "shf":
		d.funnel()
		return
	case "prmt":
		d.permute()
		return
	}
	t := d.typ()
	if t == ptx.Pred {
		d.predicates()
		return
	}
	width := uint(bitsOf(t))
	switch d.in.Op {
	case "and":
		if width == 32 {
			d.operands(3, 32, execAnd32)
			return
		}
		d.integer(t, 2, func(a, b, _ uint64) uint64 { return a & b })
	case "or":
		if width == 32 {
			d.operands(3, 32, execOr32)
			return
		}
		d.integer(t, 2, func(a, b, _ uint64) uint64 { return a | b })
	case "xor":
		if width == 32 {
			d.operands(3, 32, execXor32)
			return
		}
		d.integer(t, 2, func(a, b, _ uint64) uint64 { return a ^ b })
	case "not":
		d.integer(t, 1, func(a, _, _ uint64) uint64 { return ^a })
	case "cnot":
		d.integer(t, 1, func(a, _, _ uint64) uint64 {
			if a == 0 {
				return 1
			}
			return 0
		})
	case "shl", "shr":
		d.shift(t)
	}
}

// shift decodes shl and shr: amounts beyond the width count as the width.
func (d *decoder) shift(t ptx.Type) {
	if !d.want(3, 3) {
		return
	}
	width, signed, left := uint(bitsOf(t)), isSigned(t), d.in.Op == "shl"
	wide := width == 64
	d.out.d, d.out.a, d.out.b = d.dst(int(width)), d.arg(1, int(width)), d.arg(2, 32)
	switch {
	case width == 32 && left:
		d.out.exec = execShl32
		return
	case width == 32 && !signed:
		d.out.exec = execShr32
		return
	}
	mask := ^uint64(0) >> (64 - width)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			v, n := extend(w.load(in.a, wide, l), width, signed), w.r[in.b][l]
			switch {
			case left:
				v <<= n
			case signed:
				v = uint64(int64(v) >> n)
			default:
				v >>= n
			}
			w.put(in.d, wide, l, v&mask)
		}
	}
}

func execShl32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] << b[l]
	}
	w.done32(in.d, m)
}

func execShr32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] >> b[l]
	}
	w.done32(in.d, m)
}

func execAnd32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] & b[l]
	}
	w.done32(in.d, m)
}

func execOr32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] | b[l]
	}
	w.done32(in.d, m)
}

func execXor32(w *warp, in *inst, m uint32) {
	d, a, b := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b]
	for l := range d {
		d[l] = a[l] ^ b[l]
	}
	w.done32(in.d, m)
}

// predicates decodes and, or, xor and not of predicates.
func (d *decoder) predicates() {
	n := 3
	if d.in.Op == "not" {
		n = 2
	}
	if !d.want(n, n) {
		return
	}
	d.out.d, d.out.a, d.out.b = d.dst(1), d.pred(1), d.pred(n-1)
	f := combine(d.in.Op)
	if d.in.Op == "not" {
		f = func(a, _ uint32) uint32 { return ^a }
	}
	d.out.exec = func(w *warp, in *inst, m uint32) {
		w.setPred(in.d, m, f(w.predicate(in.a), w.predicate(in.b)))
	}
}

// combine is the function of two predicates that a modifier names; with none, the first.
func combine(op string) func(a, b uint32) uint32 {
	switch op {
	case "and":
		return func(a, b uint32) uint32 { return a & b }
	case "or":
		return func(a, b uint32) uint32 { return a | b }
	case "xor":
		return func(a, b uint32) uint32 { return a ^ b }
	}
	return func(a, _ uint32) uint32 { return a }
}

// lop3 decodes any function of three bits, given as the table of its values.
func (d *decoder) lop3() {
	if !d.want(5, 5) {
		return
	}
	table := d.in.Args[4]
	if table.Kind != ptx.ImmOperand || table.Imm < 0 || table.Imm > 255 {
		d.fail("the last operand of lop3 is a number from 0 to 255")
		return
	}
	var has [8]uint32 // all ones where the function is 1; a's bit is worth 4 of the place, b's 2 and c's 1
	for i := range has {
		has[i] = -(uint32(table.Imm) >> i & 1)
	}
	d.out.d, d.out.a, d.out.b, d.out.c = d.dst(32), d.arg(1, 32), d.arg(2, 32), d.arg(3, 32)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
		for l := range d {
			x, y, z := a[l], b[l], c[l]
			d[l] = x&(y&(z&has[7]|^z&has[6])|^y&(z&has[5]|^z&has[4])) |
				^x&(y&(z&has[3]|^z&has[2])|^y&(z&has[1]|^z&has[0]))
		}
		w.done32(in.d, m)
	}
}

// funnel decodes shf: 32 bits out of the 64 of two registers.
func (d *decoder) funnel() {
	left, clamp := d.has("l"), d.has("clamp")
	d.operands(4, 32, func(w *warp, in *inst, m uint32) {
		d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
		for l := range d {
			n := c[l] & 31
			if clamp {
				n = min(c[l], 32)
			}
			v := uint64(b[l])<<32 | uint64(a[l])
			if left {
				d[l] = uint32(v << n >> 32)
			} else {
				d[l] = uint32(v >> n)
			}
		}
		w.done32(in.d, m)
	})
}

// permute decodes prmt (PTX ISA 9.7.9.7): four bytes chosen among eight, or by a mode.
func (d *decoder) permute() {
	mode := d.one("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
	d.operands(4, 32, func(w *warp, in *inst, m uint32) {
		d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
		for l := range d {
			v := uint64(b[l])<<32 | uint64(a[l])
			var out uint32
			for i := range uint32(4) {
				s := selector(mode, i, c[l])
				x := uint32(v >> (s & 7 * 8) & 255)
				if s&8 != 0 {
					x = -(x >> 7) & 255
				}
				out |= x << (8 * i)
			}
			d[l] = out
		}
		w.done32(in.d, m)
	})
}

// selector is which byte goes to byte i; bit 3 asks for its sign instead.
func selector(mode string, i, c uint32) uint32 {
	switch n := c & 3; mode {
	case "f4e":
		return (n + i) & 7
	case "b4e":
		return (n - i) & 7
	case "rc8":
		return n
	case "ecl":
		return max(n, i)
	case "ecr":
		return min(n, i)
	case "rc16":
		return c&1*2 + i&1
	}
	return c >> (4 * i) & 15
}

// move decodes mov, of one register or between the parts of one and several.
func (d *decoder) move() {
	if !d.want(2, 2) {
		return
	}
	t := d.typ()
	width := bitsOf(t)
	to, from := &d.in.Args[0], &d.in.Args[1]
	switch {
	case width == 1:
		d.out.d, d.out.a = d.dst(1), d.pred(1)
		d.out.exec = func(w *warp, in *inst, m uint32) { w.setPred(in.d, m, w.predicate(in.a)) }
	case to.Kind == ptx.VectorOperand:
		d.unpack(width, len(to.Vec))
	case from.Kind == ptx.VectorOperand:
		d.packVector(width, len(from.Vec))
	case from.Kind == ptx.SpecialOperand && isClock(from.Name):
		d.clock(width)
	case width == 64:
		d.out.d, d.out.a, d.out.exec = d.dst(64), d.arg(1, 64), execMov64
	default:
		d.out.d, d.out.a, d.out.exec = d.dst(width), d.arg(1, width), execMov32
	}
}

func execMov32(w *warp, in *inst, m uint32) {
	if m == all {
		w.r[in.d] = w.r[in.a]
		return
	}
	w.tmp32 = w.r[in.a]
	w.done32(in.d, m)
}

func execMov64(w *warp, in *inst, m uint32) {
	if m == all {
		w.q[in.d] = w.q[in.a]
		return
	}
	w.tmp64 = w.q[in.a]
	w.done64(in.d, m)
}

func (d *decoder) unpack(width, n int) {
	if n != 2 && n != 4 || width/n < 8 {
		d.fail("mov of %d bits to %d registers", width, n)
		return
	}
	wide, part := width == 64, uint(width/n)
	d.out.v, d.out.a = d.vector(0, n, int(part), true), d.arg(1, width)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			v := w.load(in.a, wide, l)
			for i, s := range in.v {
				w.r[s][l] = uint32(extend(v>>(uint(i)*part), part, false))
			}
		}
	}
}

func (d *decoder) packVector(width, n int) {
	if n != 2 && n != 4 || width/n < 8 {
		d.fail("mov of %d registers to %d bits", n, width)
		return
	}
	wide, part := width == 64, uint(width/n)
	d.out.d, d.out.v = d.dst(width), d.vector(1, n, int(part), false)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			var v uint64
			for i, s := range in.v {
				v |= extend(uint64(w.r[s][l]), part, false) << (uint(i) * part)
			}
			w.put(in.d, wide, l, v)
		}
	}
}

// spaces decodes cvta and isspacep.
func (d *decoder) spaces() {
	space := ptx.Space(d.one("const", "global", "local", "shared", "param", "shared::cta"))
	if d.in.Op == "isspacep" {
		d.out.d, d.out.a = d.dst(1), d.arg(1, 64)
		d.out.exec = func(w *warp, in *inst, m uint32) {
			var v uint32
			for l := range warpSize {
				if s, _ := generic(w.q[in.a][l]); s == space {
					v |= 1 << l
				}
			}
			w.setPred(in.d, m, v)
		}
		return
	}
	var window uint64
	switch space {
	case ptx.Shared:
		window = sharedWindow
	case ptx.Local:
		window = localWindow
	case ptx.Param:
		window = paramWindow
	}
	if d.has("to") {
		window = -window
	}
	d.out.off = window
	d.out.d, d.out.a = d.dst(64), d.arg(1, 64)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		d, a := w.dst64(in.d, m), &w.q[in.a]
		for l := range d {
			d[l] = a[l] + in.off
		}
		w.done64(in.d, m)
	}
}
