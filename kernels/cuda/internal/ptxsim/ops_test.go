package ptxsim

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// opCase is an instruction, the widths of its result and its operands in bits (1 is a predicate), and what it computes.
type opCase struct {
	inst   string // operands are %d, %a, %b, %c where it names any, else appended
	widths []int
	f      func(a, b, c uint64) uint64
}

// opText is a kernel that loads the operands of each thread, does the instruction, and stores the result.
func opText(c opCase) string {
	var b strings.Builder
	b.WriteString(".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry op(.param .u64 D, .param .u64 A, .param .u64 B, .param .u64 C)\n{\n")
	b.WriteString(".reg .b64 %x<9>; .reg .b32 %i<9>; .reg .pred %q;\nmov.u32 %i0, %ctaid.x; mov.u32 %i1, %tid.x; mad.lo.u32 %i2, %i0, 64, %i1; mul.wide.u32 %x0, %i2, 8;\n")
	operands := []string{"%d"}
	for i, w := range c.widths {
		r := string("dabc"[i])
		if w == 1 {
			fmt.Fprintf(&b, ".reg .pred %%%s;\n", r)
		} else {
			fmt.Fprintf(&b, ".reg .b%d %%%s;\n", max(w, 16), r)
		}
		if i == 0 {
			continue
		}
		operands = append(operands, "%"+r)
		fmt.Fprintf(&b, "ld.param.u64 %%x1, [%s]; add.s64 %%x1, %%x1, %%x0;\n", strings.ToUpper(r))
		if w == 1 {
			fmt.Fprintf(&b, "ld.global.u32 %%i3, [%%x1]; and.b32 %%i3, %%i3, 1; setp.ne.u32 %%%s, %%i3, 0;\n", r)
		} else {
			fmt.Fprintf(&b, "ld.global.b%d %%%s, [%%x1];\n", w, r)
		}
	}
	inst := c.inst
	if !strings.Contains(inst, "%") {
		inst += " " + strings.Join(operands, ", ")
	}
	if !strings.HasPrefix(inst, "{") { // a block has no semicolon behind it
		inst += ";"
	}
	b.WriteString(inst + "\nld.param.u64 %x1, [D]; add.s64 %x1, %x1, %x0;\n")
	switch c.widths[0] {
	case 1:
		b.WriteString("selp.u32 %i3, 1, 0, %d; st.global.u32 [%x1], %i3;\n")
	default:
		fmt.Fprintf(&b, "st.global.b%d [%%x1], %%d;\n", max(c.widths[0], 8))
	}
	b.WriteString("ret;\n}\n")
	return b.String()
}

// edges are values at which integer operations go wrong, in all widths at once.
var edges = []uint64{0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7fffffffffffffff, 0x8000000000000000, ^uint64(0), ^uint64(1), 0x123456789abcdef0}

// samples are all pairs of edges, and random values.
func samples(rnd *rand.Rand) (a, b, c []uint64) {
	for _, x := range edges {
		for _, y := range edges {
			a, b, c = append(a, x), append(b, y), append(c, edges[rnd.IntN(len(edges))])
		}
	}
	for len(a)%64 != 0 || len(a) < 1024 {
		a, b, c = append(a, rnd.Uint64()>>(rnd.Uint64()%64)), append(b, rnd.Uint64()>>(rnd.Uint64()%64)), append(c, rnd.Uint64()>>(rnd.Uint64()%64))
	}
	return a, b, c
}

// runOp runs the instruction over samples.
func runOp(t *testing.T, c opCase, a, b, cc []uint64) []uint64 {
	t.Helper()
	r := newRig(t, opText(c))
	d := r.put(make([]uint64, len(a)))
	r.run("op", line(len(a)/64), line(64), d, r.put(a), r.put(b), r.put(cc))
	return get[uint64](r, d, len(a))
}

func low(v uint64, width int) uint64 { return v << (64 - width) >> (64 - width) }

func signed(v uint64, width int) int64 { return int64(v<<(64-width)) >> (64 - width) }

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestIntegers runs instructions on integers over edges and random values.
func TestIntegers(t *testing.T) {
	a, b, c := samples(rand.New(rand.NewPCG(3, 4)))
	for _, op := range integerOps() {
		t.Run(op.inst, func(t *testing.T) {
			got := runOp(t, op, a, b, c)
			for i := range got {
				var x [4]uint64
				for j, v := range []uint64{a[i], b[i], c[i]} {
					if j+1 < len(op.widths) {
						x[j] = low(v, op.widths[j+1])
					}
				}
				if want := low(op.f(x[0], x[1], x[2]), op.widths[0]); low(got[i], max(op.widths[0], 8)) != want {
					t.Fatalf("%#x %#x %#x: %#x, want %#x", x[0], x[1], x[2], got[i], want)
				}
			}
		})
	}
}

func integerOps() []opCase {
	var ops []opCase
	w := func(n ...int) []int { return n }
	for _, n := range []int{16, 32, 64} {
		for _, s := range []bool{true, false} {
			sign := "u"
			num := func(v uint64) int64 { return int64(v) }
			less := func(a, b uint64) bool { return a < b }
			if s {
				sign = "s"
				num = func(v uint64) int64 { return signed(v, n) }
				less = func(a, b uint64) bool { return signed(a, n) < signed(b, n) }
			}
			ty := fmt.Sprintf(".%s%d", sign, n)
			high := func(a, b uint64) uint64 {
				hi, lo := bits.Mul64(uint64(num(a)), uint64(num(b)))
				if s {
					if num(a) < 0 {
						hi -= uint64(num(b))
					}
					if num(b) < 0 {
						hi -= uint64(num(a))
					}
				}
				if n == 64 {
					return hi
				}
				return lo>>n | hi<<(64-n)
			}
			pick := func(c bool, a, b uint64) uint64 { return choose(c, a, b) }
			ops = append(ops,
				opCase{"add" + ty, w(n, n, n), func(a, b, _ uint64) uint64 { return a + b }},
				opCase{"sub" + ty, w(n, n, n), func(a, b, _ uint64) uint64 { return a - b }},
				opCase{"mul.lo" + ty, w(n, n, n), func(a, b, _ uint64) uint64 { return a * b }},
				opCase{"mul.hi" + ty, w(n, n, n), func(a, b, _ uint64) uint64 { return high(a, b) }},
				opCase{"mad.lo" + ty, w(n, n, n, n), func(a, b, c uint64) uint64 { return a*b + c }},
				opCase{"mad.hi" + ty, w(n, n, n, n), func(a, b, c uint64) uint64 { return high(a, b) + c }},
				opCase{"min" + ty, w(n, n, n), func(a, b, _ uint64) uint64 { return pick(less(a, b), a, b) }},
				opCase{"max" + ty, w(n, n, n), func(a, b, _ uint64) uint64 { return pick(less(a, b), b, a) }},
				opCase{"sad" + ty, w(n, n, n, n), func(a, b, c uint64) uint64 { return c + pick(less(a, b), b-a, a-b) }},
				opCase{"shr" + ty, w(n, n, 32), func(a, b, _ uint64) uint64 {
					if s {
						return uint64(num(a) >> min(b, 63))
					}
					return a >> b
				}},
				opCase{"setp.lt" + ty, w(1, n, n), func(a, b, _ uint64) uint64 { return bit(less(a, b)) }},
				opCase{"setp.ge" + ty, w(1, n, n), func(a, b, _ uint64) uint64 { return bit(!less(a, b)) }},
				opCase{"setp.gt" + ty, w(1, n, n), func(a, b, _ uint64) uint64 { return bit(less(b, a)) }},
				opCase{"setp.le.and" + ty + " %d, %a, %b, !%c", w(1, n, n, 1), func(a, b, c uint64) uint64 { return bit(!less(b, a)) &^ c }},
				opCase{"setp.ne.xor" + ty, w(1, n, n, 1), func(a, b, c uint64) uint64 { return bit(a != b) ^ c }},
				opCase{"setp.eq.or" + ty, w(1, n, n, 1), func(a, b, c uint64) uint64 { return bit(a == b) | c }},
				opCase{fmt.Sprintf("selp.b%d", n), w(n, n, n, 1), func(a, b, c uint64) uint64 { return pick(c != 0, a, b) }},
				opCase{"div" + ty + " %d, %a, %b", w(n, n, n), func(a, b, _ uint64) uint64 {
					switch {
					case b == 0:
						return ^uint64(0)
					case s && num(b) == -1:
						return -a
					case s:
						return uint64(num(a) / num(b))
					}
					return a / b
				}},
				opCase{"rem" + ty, w(n, n, n), func(a, b, _ uint64) uint64 {
					switch {
					case b == 0:
						return a
					case s && num(b) == -1:
						return 0
					case s:
						return uint64(num(a) % num(b))
					}
					return a % b
				}})
			if n < 64 {
				ops = append(ops,
					opCase{"mul.wide" + ty, w(2*n, n, n), func(a, b, _ uint64) uint64 { return uint64(num(a) * num(b)) }},
					opCase{"mad.wide" + ty, w(2*n, n, n, 2*n), func(a, b, c uint64) uint64 { return uint64(num(a)*num(b)) + c }})
			}
			if n > 16 {
				ops = append(ops, opCase{"bfe" + ty, w(n, n, 32, 32), func(a, b, c uint64) uint64 { return fieldOf(a, b&255, c&255, n, s) }})
			}
			if s {
				ops = append(ops, opCase{"abs" + ty, w(n, n), func(a, _, _ uint64) uint64 { return uint64(max(num(a), -num(a))) }},
					opCase{"neg" + ty, w(n, n), func(a, _, _ uint64) uint64 { return -a }})
			}
			for _, m := range []int{8, 16, 32, 64} {
				ops = append(ops, conversions(n, m, s)...)
			}
		}
	}
	return append(ops, bitOps()...)
}

// conversions are cvt between integers of n bits and all of m.
func conversions(n, m int, s bool) []opCase {
	from, value := fmt.Sprintf("u%d", n), func(v uint64) int64 { return int64(v) }
	if s {
		from, value = fmt.Sprintf("s%d", n), func(v uint64) int64 { return signed(v, n) }
	}
	big := func(v uint64) bool { return !s && v>>63 != 0 } // beyond an int64
	ops := []opCase{{fmt.Sprintf("cvt.u%d.%s %%d, %%a", m, from), []int{m, n}, func(a, _, _ uint64) uint64 { return uint64(value(a)) }}}
	if s || m < n { // elsewhere all numbers fit, and .sat is not allowed
		ops = append(ops, opCase{fmt.Sprintf("cvt.sat.u%d.%s %%d, %%a", m, from), []int{m, n}, func(a, _, _ uint64) uint64 {
			most := ^uint64(0) >> (64 - m)
			if s {
				return min(uint64(max(value(a), 0)), most)
			}
			return min(a, most)
		}})
	}
	if m < n || m == n && !s {
		ops = append(ops, opCase{fmt.Sprintf("cvt.sat.s%d.%s %%d, %%a", m, from), []int{m, n}, func(a, _, _ uint64) uint64 {
			most := int64(1)<<(m-1) - 1
			if big(a) {
				return uint64(most)
			}
			return uint64(min(max(value(a), -most-1), most))
		}})
	}
	return ops
}

// fieldOf is bfe bit by bit, as the ISA's pseudocode has it.
func fieldOf(a, pos, length uint64, n int, s bool) (v uint64) {
	msb := uint64(n - 1)
	var sign uint64
	if s && length > 0 {
		sign = a >> min(pos+length-1, msb) & 1
	}
	for i := uint64(0); i <= msb; i++ {
		bit := sign
		if i < length && pos+i <= msb {
			bit = a >> (pos + i) & 1
		}
		v |= bit << i
	}
	return v
}

func bitOps() []opCase {
	w := func(n ...int) []int { return n }
	ops := []opCase{
		{"add.sat.s32", w(32, 32, 32), func(a, b, _ uint64) uint64 { return uint64(min(max(signed(a, 32)+signed(b, 32), -1<<31), 1<<31-1)) }},
		{"sub.sat.s32", w(32, 32, 32), func(a, b, _ uint64) uint64 { return uint64(min(max(signed(a, 32)-signed(b, 32), -1<<31), 1<<31-1)) }},
		{"{ .reg .b32 %k; add.cc.u32 %k, %a, %b; addc.u32 %d, %c, 0; }", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return c + (a+b)>>32 }},
		{"{ .reg .b32 %k; sub.cc.u32 %k, %a, %b; subc.u32 %d, %c, 0; }", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return c - bit(a < b) }},
		{"{ .reg .b64 %k; mad.lo.cc.u64 %k, %a, %b, %c; madc.hi.u64 %d, %a, %b, 0; }", w(64, 64, 64, 64), func(a, b, c uint64) uint64 {
			hi, lo := bits.Mul64(a, b)
			_, carry := bits.Add64(lo, c, 0)
			return hi + carry
		}},
		{"mul24.lo.u32", w(32, 32, 32), func(a, b, _ uint64) uint64 { return low(a, 24) * low(b, 24) }},
		{"mad24.hi.s32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return uint64(signed(a, 24)*signed(b, 24)>>16) + c }},
		{"lop3.b32 %d, %a, %b, %c, 0xe8", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return a&b | a&c | b&c }},
		{"lop3.b32 %d, %a, %b, %c, 0x96", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return a ^ b ^ c }},
		{"lop3.b32 %d, %a, %b, %c, 0xca", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return a&b | ^a&c }},
		{"shf.l.wrap.b32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return (b<<32 | a) << (c & 31) >> 32 }},
		{"shf.r.wrap.b32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return (b<<32 | a) >> (c & 31) }},
		{"shf.l.clamp.b32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return (b<<32 | a) << min(c, 32) >> 32 }},
		{"shf.r.clamp.b32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return (b<<32 | a) >> min(c, 32) }},
		{"prmt.b32.rc16 %d, %a, %b, %c", w(32, 32, 32, 32), func(a, _, c uint64) uint64 {
			h := a >> (16 * (c & 1)) & 0xffff
			return h<<16 | h
		}},
		{"prmt.b32.f4e %d, %a, %b, %c", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return (b<<32 | a) >> (8 * (c & 3)) }},
		{"mov.b32 %d, {%a, %b}", w(32, 16, 16), func(a, b, _ uint64) uint64 { return b<<16 | a }},
		{"mov.b64 %d, {%a, %b}", w(64, 32, 32), func(a, b, _ uint64) uint64 { return b<<32 | a }},
		{"mov.b64 {_, %d}, %a", w(32, 64), func(a, _, _ uint64) uint64 { return a >> 32 }},
		{"mov.b32 {%d, _}, %a", w(16, 32), func(a, _, _ uint64) uint64 { return a }},
		{"slct.u32.s32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 { return choose(signed(c, 32) >= 0, a, b) }},
		{"set.lt.u32.s32 %d, %a, %b", w(32, 32, 32), func(a, b, _ uint64) uint64 { return -bit(signed(a, 32) < signed(b, 32)) }},
		{"cvt.pack.sat.u8.s32.b32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			clamp := func(v uint64) uint64 { return uint64(min(max(signed(v, 32), 0), 255)) }
			return c<<16 | clamp(a)<<8 | clamp(b)
		}},
		{"cvt.pack.sat.s8.s32.b32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			clamp := func(v uint64) uint64 { return uint64(min(max(signed(v, 32), -128), 127)) & 255 }
			return c<<16 | clamp(a)<<8 | clamp(b)
		}},
		{"cvt.pack.sat.s16.s32", w(32, 32, 32), func(a, b, _ uint64) uint64 {
			clamp := func(v uint64) uint64 { return uint64(min(max(signed(v, 32), -32768), 32767)) & 0xffff }
			return clamp(a)<<16 | clamp(b)
		}},
		{"dp4a.s32.u32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			for i := range 4 {
				c += uint64(signed(a>>(8*i), 8) * int64(b>>(8*i)&255))
			}
			return c
		}},
		{"dp4a.s32.s32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			for i := range 4 {
				c += uint64(signed(a>>(8*i), 8) * signed(b>>(8*i), 8))
			}
			return c
		}},
		{"dp4a.u32.u32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			for i := range 4 {
				c += (a >> (8 * i) & 255) * (b >> (8 * i) & 255)
			}
			return c
		}},
		{"dp2a.lo.s32.u32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			return c + uint64(signed(a, 16)*int64(b&255)+signed(a>>16, 16)*int64(b>>8&255))
		}},
		{"dp2a.hi.u32.s32", w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			return c + uint64(int64(a&0xffff)*signed(b>>16, 8)+int64(a>>16)*signed(b>>24, 8))
		}},
	}
	for i := range 8 { // a lop3 of each combination of bits alone
		ops = append(ops, opCase{fmt.Sprintf("lop3.b32 %%d, %%a, %%b, %%c, %d", 1<<i), w(32, 32, 32, 32), func(a, b, c uint64) uint64 {
			flip := func(v uint64, bit int) uint64 {
				if i>>bit&1 == 0 {
					v = ^v
				}
				return v
			}
			return flip(a, 2) & flip(b, 1) & flip(c, 0)
		}})
	}
	for _, n := range []int{16, 32, 64} {
		t := fmt.Sprintf(".b%d", n)
		ops = append(ops,
			opCase{"and" + t, w(n, n, n), func(a, b, _ uint64) uint64 { return a & b }},
			opCase{"or" + t, w(n, n, n), func(a, b, _ uint64) uint64 { return a | b }},
			opCase{"xor" + t, w(n, n, n), func(a, b, _ uint64) uint64 { return a ^ b }},
			opCase{"not" + t, w(n, n), func(a, _, _ uint64) uint64 { return ^a }},
			opCase{"cnot" + t, w(n, n), func(a, _, _ uint64) uint64 { return bit(a == 0) }},
			opCase{"shl" + t, w(n, n, 32), func(a, b, _ uint64) uint64 { return a << b }})
		if n == 16 {
			continue
		}
		ops = append(ops,
			opCase{"popc" + t, w(32, n), func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
			opCase{"clz" + t, w(32, n), func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a) - 64 + n) }},
			opCase{"brev" + t, w(n, n), func(a, _, _ uint64) uint64 { return bits.Reverse64(a) >> (64 - n) }},
			opCase{fmt.Sprintf("bfind.u%d", n), w(32, n), func(a, _, _ uint64) uint64 { return uint64(bits.Len64(a) - 1) }},
			opCase{fmt.Sprintf("bfind.shiftamt.s%d", n), w(32, n), func(a, _, _ uint64) uint64 {
				v := signed(a, n)
				if v < 0 {
					v = ^v
				}
				if v == 0 {
					return ^uint64(0)
				}
				return uint64(n - bits.Len64(uint64(v)))
			}},
			opCase{fmt.Sprintf("bfi.b%d %%d, %%a, %%b, 5, 9", n), w(n, n, n), func(a, b, _ uint64) uint64 { return b&^(511<<5) | a&511<<5 }},
			opCase{fmt.Sprintf("bfi.b%d %%d, %%a, %%a, %%b, %%c", n), w(n, n, 32, 32), func(a, b, c uint64) uint64 {
				v := a
				for i := uint64(0); i < c&255 && b&255+i < uint64(n); i++ {
					v = v&^(1<<(b&255+i)) | a>>i&1<<(b&255+i)
				}
				return v
			}})
	}
	for _, p := range []struct {
		name string
		f    func(a, b uint64) uint64
	}{{"and", func(a, b uint64) uint64 { return a & b }}, {"or", func(a, b uint64) uint64 { return a | b }}, {"xor", func(a, b uint64) uint64 { return a ^ b }}} {
		ops = append(ops, opCase{p.name + ".pred", w(1, 1, 1), func(a, b, _ uint64) uint64 { return p.f(a, b) }})
	}
	return append(ops, opCase{"not.pred", w(1, 1), func(a, _, _ uint64) uint64 { return a ^ 1 }}, opCase{"mov.pred", w(1, 1), func(a, _, _ uint64) uint64 { return a }})
}
