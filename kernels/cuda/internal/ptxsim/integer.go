package ptxsim

import (
	"math/bits"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// isFloatType reports whether t holds floating-point numbers.
func isFloatType(t ptx.Type) bool {
	switch t {
	case ptx.F16, ptx.F16X2, ptx.BF16, ptx.BF162, ptx.F32, ptx.F64, ptx.TF32:
		return true
	}
	return false
}

// arithmetic decodes what both integers and floats have.
func (d *decoder) arithmetic() {
	t := d.typ()
	if isFloatType(t) {
		d.floatArithmetic(t)
		return
	}
	if d.has("cc") {
		d.carry(t)
		return
	}
	if t == "u16x2" || t == "s16x2" {
		d.packedShorts(t)
		return
	}
	width := uint(bitsOf(t))
	root := d.in.Op
	if d.has("wide") {
		d.wide(t)
		return
	}
	if width == 32 && !d.has("sat") && !d.has("relu") {
		if f, n := fast32(root, d.has("hi"), isSigned(t)); f != nil {
			d.operands(n, 32, f)
			return
		}
	}
	if width == 64 && (root == "add" || root == "sub") {
		d.operands(3, 64, map[string]execFunc{"add": execAdd64, "sub": execSub64}[root])
		return
	}
	lo, hi := int64(-1)<<(width-1), int64(1)<<(width-1)-1
	sat := d.has("sat")
	clamp := func(v int64) uint64 {
		if sat {
			v = min(max(v, lo), hi)
		}
		return uint64(v)
	}
	signed := isSigned(t)
	switch root {
	case "add":
		d.integer(t, 2, func(a, b, _ uint64) uint64 { return clamp(int64(a) + int64(b)) })
	case "sub":
		d.integer(t, 2, func(a, b, _ uint64) uint64 { return clamp(int64(a) - int64(b)) })
	case "mul", "mad":
		high := d.has("hi")
		product := func(a, b uint64) uint64 { return multiply(a, b, width, signed, high) }
		if root == "mul" {
			d.integer(t, 2, func(a, b, _ uint64) uint64 { return product(a, b) })
		} else {
			d.integer(t, 3, func(a, b, c uint64) uint64 { return clamp(int64(extend(product(a, b), width, signed)) + int64(c)) })
		}
	case "div":
		d.integer(t, 2, func(a, b, _ uint64) uint64 { q, _ := divide(a, b, signed); return q })
	case "min":
		relu := d.has("relu")
		d.integer(t, 2, func(a, b, _ uint64) uint64 { return rectify(lesser(a, b, signed), relu) })
	case "max":
		relu := d.has("relu")
		d.integer(t, 2, func(a, b, _ uint64) uint64 { return rectify(greater(a, b, signed), relu) })
	case "abs":
		d.integer(t, 1, func(a, _, _ uint64) uint64 { return uint64(max(int64(a), -int64(a))) })
	case "neg":
		d.integer(t, 1, func(a, _, _ uint64) uint64 { return -a })
	}
}

func rectify(v uint64, relu bool) uint64 {
	if relu && int64(v) < 0 {
		return 0
	}
	return v
}

func lesser(a, b uint64, signed bool) uint64 {
	if signed && int64(a) < int64(b) || !signed && a < b {
		return a
	}
	return b
}

func greater(a, b uint64, signed bool) uint64 {
	if signed && int64(a) > int64(b) || !signed && a > b {
		return a
	}
	return b
}

// multiply is the low or the high half of a product of two extended numbers.
func multiply(a, b uint64, width uint, signed, high bool) uint64 {
	if !high {
		return a * b
	}
	if width < 64 {
		if signed {
			return uint64(int64(a) * int64(b) >> width)
		}
		return a * b >> width
	}
	hi, _ := bits.Mul64(a, b)
	if signed {
		if int64(a) < 0 {
			hi -= b
		}
		if int64(b) < 0 {
			hi -= a
		}
	}
	return hi
}

// divide is the quotient and the remainder. Division by zero gives all ones, and the dividend, as GPUs do; the ISA leaves
// it open.
func divide(a, b uint64, signed bool) (q, r uint64) {
	switch {
	case b == 0:
		return ^uint64(0), a
	case signed && int64(b) == -1:
		return -a, 0
	case signed:
		return uint64(int64(a) / int64(b)), uint64(int64(a) % int64(b))
	}
	return a / b, a % b
}

// integerOnly decodes what only integers have.
func (d *decoder) integerOnly() {
	t := d.typ()
	width, signed := uint(bitsOf(t)), isSigned(t)
	switch d.in.Op {
	case "rem":
		d.integer(t, 2, func(a, b, _ uint64) uint64 { _, r := divide(a, b, signed); return r })
	case "sad":
		d.integer(t, 3, func(a, b, c uint64) uint64 { return c + greater(a, b, signed) - lesser(a, b, signed) })
	case "mul24", "mad24":
		shift := uint(0)
		if d.has("hi") {
			shift = 16
		}
		product := func(a, b uint64) uint64 {
			return uint64(int64(extend(a, 24, signed)) * int64(extend(b, 24, signed)) >> shift)
		}
		if d.in.Op == "mul24" {
			d.integer(t, 2, func(a, b, _ uint64) uint64 { return product(a, b) })
		} else {
			d.integer(t, 3, func(a, b, c uint64) uint64 { return extend(product(a, b), width, signed) + c })
		}
	case "addc", "subc", "madc":
		d.carry(t)
	}
}

// carry decodes the instructions that read or write the carry flag.
func (d *decoder) carry(t ptx.Type) {
	width := uint(bitsOf(t))
	root := d.in.Op
	reads := root == "addc" || root == "subc" || root == "madc"
	writes, high, signed := d.has("cc"), d.has("hi"), isSigned(t)
	subtract := root == "sub" || root == "subc"
	product := root == "mad" || root == "madc"
	n := 3
	if product {
		n = 4
	}
	wide := width == 64
	d.operands(n, int(width), func(w *warp, in *inst, m uint32) {
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			a, b := w.load(in.a, wide, l), w.load(in.b, wide, l)
			if product {
				a = extend(multiply(extend(a, width, signed), extend(b, width, signed), width, signed, high), width, false)
				b = w.load(in.c, wide, l)
			}
			flag := uint64(0)
			if reads {
				flag = uint64(w.carry >> l & 1)
			}
			var v, out uint64
			if subtract {
				v, out = bits.Sub64(a, b, flag)
				out &= 1
			} else if v, out = bits.Add64(a, b, flag); !wide {
				out = v >> 32 & 1
			}
			w.put(in.d, wide, l, v)
			if writes {
				w.carry = w.carry&^(1<<l) | uint32(out)<<l
			}
		}
	})
}

// wide decodes mul.wide and mad.wide.
func (d *decoder) wide(t ptx.Type) {
	width, signed := bitsOf(t), isSigned(t)
	n := 3
	if d.in.Op == "mad" {
		n = 4
	}
	if !d.want(n, n) {
		return
	}
	d.out.d = d.dst(2 * width)
	d.out.a, d.out.b = d.arg(1, width), d.arg(2, width)
	if n == 4 {
		d.out.c = d.arg(3, 2*width)
	} else {
		d.out.c = d.constant(0, width == 32)
	}
	switch {
	case width == 32 && signed:
		d.out.exec = execMadWideS32
	case width == 32:
		d.out.exec = execMadWideU32
	default:
		d.out.exec = func(w *warp, in *inst, m uint32) {
			d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
			for l := range d {
				d[l] = uint32(extend(uint64(a[l]), 16, signed)*extend(uint64(b[l]), 16, signed)) + c[l]
			}
			w.done32(in.d, m)
		}
	}
}

// packedShorts decodes add, min and max of two 16-bit numbers at a time.
func (d *decoder) packedShorts(t ptx.Type) {
	signed, root, relu := t == "s16x2", d.in.Op, d.has("relu")
	one := func(a, b uint64) uint64 {
		switch root {
		case "add":
			return a + b
		case "min":
			return rectify(lesser(a, b, signed), relu)
		case "max":
			return rectify(greater(a, b, signed), relu)
		}
		return 0
	}
	if root != "add" && root != "min" && root != "max" {
		return
	}
	d.integer(ptx.B32, 2, func(a, b, _ uint64) uint64 {
		lo := one(extend(a, 16, signed), extend(b, 16, signed))
		hi := one(extend(a>>16, 16, signed), extend(b>>16, 16, signed))
		return lo&0xffff | hi<<16
	})
}

// bitwise decodes counting, reversing and moving fields of bits, and dot products of bytes.
func (d *decoder) bitwise() {
	t := d.typ()
	width, signed := bitsOf(t), isSigned(t)
	wide := width == 64
	switch d.in.Op {
	case "popc":
		d.count(width, func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) })
	case "clz":
		d.count(width, func(a uint64) uint32 { return uint32(bits.LeadingZeros64(a) - (64 - width)) })
	case "bfind":
		shiftamt := d.has("shiftamt")
		d.count(width, func(a uint64) uint32 {
			a = extend(a, uint(width), signed)
			if signed && int64(a) < 0 {
				a = ^a
			}
			n := bits.Len64(a) - 1
			if n >= 0 && shiftamt {
				n = width - 1 - n
			}
			return uint32(n)
		})
	case "brev":
		d.integer(t, 1, func(a, _, _ uint64) uint64 { return bits.Reverse64(a) >> (64 - width) })
	case "bfe", "bfi":
		d.field(width, wide, signed)
	case "dp4a":
		types := d.types()
		d.dot4(types[0], types[len(types)-1])
	case "dp2a":
		types := d.types()
		d.dot2(types[0], types[len(types)-1], d.has("hi"))
	}
}

// count decodes an operation with a 32-bit result.
func (d *decoder) count(width int, f func(a uint64) uint32) {
	if !d.want(2, 2) {
		return
	}
	wide := width == 64
	d.out.d, d.out.a = d.dst(32), d.arg(1, width)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		d := w.dst32(in.d, m)
		for l := range d {
			d[l] = f(w.load(in.a, wide, l))
		}
		w.done32(in.d, m)
	}
}

// field decodes bfe d, a, pos, len and bfi f, a, b, pos, len.
func (d *decoder) field(width int, wide, signed bool) {
	insert := d.in.Op == "bfi"
	n := 4
	if insert {
		n = 5
	}
	if !d.want(n, n) {
		return
	}
	d.out.d, d.out.a = d.dst(width), d.arg(1, width)
	if insert {
		d.out.e = d.arg(2, width)
	}
	d.out.b, d.out.c = d.arg(n-2, 32), d.arg(n-1, 32)
	d.out.exec = func(w *warp, in *inst, m uint32) {
		for rest := m; rest != 0; rest &= rest - 1 {
			l := bits.TrailingZeros32(rest)
			a, pos, length := w.load(in.a, wide, l), w.r[in.b][l]&255, w.r[in.c][l]&255
			if insert {
				w.put(in.d, wide, l, insertField(a, w.load(in.e, wide, l), pos, length, width))
			} else {
				w.put(in.d, wide, l, extractField(a, pos, length, width, signed))
			}
		}
	}
}

// extractField is bfe (PTX ISA 9.7.1.19): the field is filled with its sign, or with that of the number where the field
// reaches over its end.
func extractField(a uint64, pos, length uint32, width int, signed bool) uint64 {
	size := uint32(width)
	v := a >> pos & (1<<min(length, size) - 1)
	if signed && length > 0 && a>>min(pos+length-1, size-1)&1 != 0 {
		v |= ^uint64(0) << min(length, size-min(pos, size))
	}
	return v & (^uint64(0) >> (64 - size))
}

// insertField is bfi: b with the low length bits of a at pos.
func insertField(a, b uint64, pos, length uint32, width int) uint64 {
	field := uint64(1<<min(length, 64)-1) << pos & (^uint64(0) >> (64 - width))
	return b&^field | a<<pos&field
}

// dot4 decodes dp4a: c plus the products of the bytes of a and b.
func (d *decoder) dot4(ta, tb ptx.Type) {
	sa, sb := isSigned(ta), isSigned(tb)
	d.operands(4, 32, func(w *warp, in *inst, m uint32) {
		d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
		for l := range d {
			x0, x1, x2, x3 := spreadBytes(a[l], sa)
			y0, y1, y2, y3 := spreadBytes(b[l], sb)
			d[l] = c[l] + uint32(x0*y0+x1*y1+x2*y2+x3*y3)
		}
		w.done32(in.d, m)
	})
}

// dot2 decodes dp2a: c plus the products of the halves of a and the low, or with high the upper, two bytes of b.
func (d *decoder) dot2(ta, tb ptx.Type, high bool) {
	sa, sb := isSigned(ta), isSigned(tb)
	d.operands(4, 32, func(w *warp, in *inst, m uint32) {
		d, a, b, c := w.dst32(in.d, m), &w.r[in.a], &w.r[in.b], &w.r[in.c]
		for l := range d {
			x, y := uint64(a[l]), uint64(b[l])
			if high {
				y >>= 16
			}
			s := extend(x, 16, sa)*extend(y, 8, sb) + extend(x>>16, 16, sa)*extend(y>>8, 8, sb)
			d[l] = c[l] + uint32(s)
		}
		w.done32(in.d, m)
	})
}
