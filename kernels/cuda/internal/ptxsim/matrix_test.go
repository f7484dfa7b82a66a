package ptxsim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// mmaCase is a form of mma.sync. Where an element lies is written out here from the layouts that CuTe gives for these
// instructions (g = lane/4, t = lane%4), independently of the simulator's own formulas.
type mmaCase struct {
	inst       string
	m, k       int
	na, nb, nc int
	// a and b are the row or column and the k of element e of register r in a lane; c the row and column.
	elems  int // in a register of A and B
	a, b   func(r, e, g, t int) (int, int)
	half   bool // C and D
	value  func(rnd *rand.Rand) (bits uint32, v float64)
	valueB func(rnd *rand.Rand) (bits uint32, v float64)
	ints   bool
}

func smallHalf(rnd *rand.Rand) (uint32, float64) {
	h := uint16(rnd.Uint32()&0x83c0 | 0x3800)
	return uint32(h), halfValue(h)
}

func smallBfloat(rnd *rand.Rand) (uint32, float64) {
	b := rnd.Uint32()&0x8070 | 0x3f00
	return b, float64(math.Float32frombits(b << 16))
}

func smallTF32(rnd *rand.Rand) (uint32, float64) {
	b := rnd.Uint32()&0x80700000 | 0x3f000000
	return b | rnd.Uint32()&0x1fff, float64(math.Float32frombits(b)) // the low bits must not count
}

func signedByte(rnd *rand.Rand) (uint32, float64) {
	b := rnd.Uint32() & 255
	return b, float64(int8(b))
}

func unsignedByte(rnd *rand.Rand) (uint32, float64) {
	b := rnd.Uint32() & 255
	return b, float64(b)
}

func byteFloat(f func(uint32) float64) func(rnd *rand.Rand) (uint32, float64) {
	return func(rnd *rand.Rand) (uint32, float64) {
		for {
			b := rnd.Uint32() & 0xfc
			if v := f(b); v == v && math.Abs(v) < 8 {
				return b, v
			}
		}
	}
}

func mmaCases() []mmaCase {
	// a0 = (g, k), a1 = (g+8, k), a2 = (g, k+half), a3 = both; k = 2t.. for halves, 4t.. for bytes, t for tf32.
	quad := func(per int) func(r, e, g, t int) (int, int) {
		return func(r, e, g, t int) (int, int) {
			row, k := g, per*t+e
			if r == 1 || r == 3 {
				row += 8
			}
			if r >= 2 {
				k += 4 * per
			}
			return row, k
		}
	}
	column := func(per int) func(r, e, g, t int) (int, int) {
		return func(r, e, g, t int) (int, int) {
			k := per*t + e
			if r == 1 {
				k += 4 * per
			}
			return g, k
		}
	}
	small := func(r, e, g, t int) (int, int) { return g, 4*t + e } // m8n8k16
	const f32 = "row.col.f32."
	return []mmaCase{
		{inst: "m16n8k16." + f32 + "f16.f16.f32", m: 16, k: 16, na: 4, nb: 2, nc: 4, elems: 2, a: quad(2), b: column(2), value: smallHalf},
		{inst: "m16n8k8." + f32 + "f16.f16.f32", m: 16, k: 8, na: 2, nb: 1, nc: 4, elems: 2, a: quad(2), b: column(2), value: smallHalf},
		{inst: "m16n8k16.row.col.f16.f16.f16.f16", m: 16, k: 16, na: 4, nb: 2, nc: 2, elems: 2, a: quad(2), b: column(2), value: smallHalf, half: true},
		{inst: "m16n8k16." + f32 + "bf16.bf16.f32", m: 16, k: 16, na: 4, nb: 2, nc: 4, elems: 2, a: quad(2), b: column(2), value: smallBfloat},
		{inst: "m16n8k8." + f32 + "tf32.tf32.f32", m: 16, k: 8, na: 4, nb: 2, nc: 4, elems: 1, a: quad(1), b: column(1), value: smallTF32},
		{inst: "m16n8k4." + f32 + "tf32.tf32.f32", m: 16, k: 4, na: 2, nb: 1, nc: 4, elems: 1, a: quad(1), b: column(1), value: smallTF32},
		{inst: "m16n8k32.row.col.s32.s8.s8.s32", m: 16, k: 32, na: 4, nb: 2, nc: 4, elems: 4, a: quad(4), b: column(4), value: signedByte, ints: true},
		{inst: "m16n8k32.row.col.s32.u8.s8.s32", m: 16, k: 32, na: 4, nb: 2, nc: 4, elems: 4, a: quad(4), b: column(4), value: unsignedByte, valueB: signedByte, ints: true},
		{inst: "m16n8k32.row.col.s32.s8.u8.s32", m: 16, k: 32, na: 4, nb: 2, nc: 4, elems: 4, a: quad(4), b: column(4), value: signedByte, valueB: unsignedByte, ints: true},
		{inst: "m16n8k16.row.col.satfinite.s32.u8.u8.s32", m: 16, k: 16, na: 2, nb: 1, nc: 4, elems: 4, a: quad(4), b: column(4), value: unsignedByte, ints: true},
		{inst: "m8n8k16.row.col.s32.s8.s8.s32", m: 8, k: 16, na: 1, nb: 1, nc: 2, elems: 4, a: small, b: column(4), value: signedByte, ints: true},
		{inst: "m16n8k32." + f32 + "e4m3.e5m2.f32", m: 16, k: 32, na: 4, nb: 2, nc: 4, elems: 4, a: quad(4), b: column(4),
			value: byteFloat(e4m3Format.float), valueB: byteFloat(e5m2Format.float)},
	}
}

// mmaText loads the registers of A, B and C from arrays [register][lane], multiplies, and stores D.
func mmaText(c mmaCase) string {
	var b strings.Builder
	b.WriteString(".version 8.4\n.target sm_89\n.address_size 64\n.visible .entry op(.param .u64 A, .param .u64 B, .param .u64 C, .param .u64 D)\n{\n.reg .b32 %a<4>; .reg .b32 %b<2>; .reg .b32 %c<4>; .reg .b32 %t; .reg .b64 %x<3>;\nmov.u32 %t, %tid.x; mul.wide.u32 %x0, %t, 4;\n")
	list := func(name string, n int) string {
		var regs []string
		for i := range n {
			regs = append(regs, fmt.Sprintf("%%%s%d", name, i))
		}
		return "{" + strings.Join(regs, ", ") + "}"
	}
	for _, x := range []struct {
		name string
		n    int
	}{{"a", c.na}, {"b", c.nb}, {"c", c.nc}} {
		fmt.Fprintf(&b, "ld.param.u64 %%x1, [%s]; add.s64 %%x1, %%x1, %%x0;\n", strings.ToUpper(x.name))
		for i := range x.n {
			fmt.Fprintf(&b, "ld.global.b32 %%%s%d, [%%x1+%d];\n", x.name, i, 128*i)
		}
	}
	cc := list("c", c.nc)
	fmt.Fprintf(&b, "mma.sync.aligned.%s %s, %s, %s, %s;\nld.param.u64 %%x1, [D]; add.s64 %%x1, %%x1, %%x0;\n", c.inst, cc, list("a", c.na), list("b", c.nb), cc)
	for i := range c.nc {
		fmt.Fprintf(&b, "st.global.b32 [%%x1+%d], %%c%d;\n", 128*i, i)
	}
	return b.String() + "ret;\n}\n"
}

// TestMMA fills the registers of every form element by element, and compares with a plain product.
func TestMMA(t *testing.T) {
	for _, c := range mmaCases() {
		t.Run(c.inst, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(13, 14))
			if c.valueB == nil {
				c.valueB = c.value
			}
			var a [16][32]float64
			var b [8][32]float64
			ra, rb := make([]uint32, 32*c.na), make([]uint32, 32*c.nb)
			width := 32 / c.elems
			for l := range 32 {
				for e := range c.elems {
					for r := range c.na {
						row, k := c.a(r, e, l/4, l%4)
						bits, v := c.value(rnd)
						a[row][k] = v
						ra[32*r+l] |= bits << (e * width)
					}
					for r := range c.nb {
						col, k := c.b(r, e, l/4, l%4)
						bits, v := c.valueB(rnd)
						b[col][k] = v
						rb[32*r+l] |= bits << (e * width)
					}
				}
			}
			rc := make([]uint32, 32*c.nc)
			r := newRig(t, mmaText(c))
			d := r.alloc(4 * len(rc))
			s := r.run("op", line(1), line(32), r.put(ra), r.put(rb), r.put(rc), d)
			counted, other := s.MACs, s.ByteMACs
			if width == 8 {
				counted, other = other, counted
			}
			if counted != int64(c.m*8*c.k) || other != 0 {
				t.Errorf("%d MACs, %d of bytes", s.MACs, s.ByteMACs)
			}
			got := get[uint32](r, d, len(rc))
			for l := range 32 {
				for reg := range c.nc {
					for e := range choose(c.half, 2, 1) {
						row, col := l/4+8*(reg/2), l%4*2+reg%2
						var v float64
						switch x := got[32*reg+l]; {
						case c.half:
							row, col = l/4+8*reg, l%4*2+e
							v = halfValue(uint16(x >> (16 * e)))
						case c.ints:
							v = float64(int32(x))
						default:
							v = float64(math.Float32frombits(x))
						}
						var want float64
						for k := range c.k {
							want += a[row][k] * b[col][k]
						}
						if c.half {
							want = roundTo(want, 11, -14)
						}
						if math.Abs(v-want) > 1e-6*math.Abs(want) {
							t.Fatalf("row %d column %d: %v, want %v", row, col, v, want)
						}
					}
				}
			}
		})
	}
}

// TestSaturatingMMA adds to a C near the limits.
func TestSaturatingMMA(t *testing.T) {
	for _, sat := range []bool{true, false} {
		c := mmaCases()[9]
		if !sat {
			c.inst = strings.Replace(c.inst, "satfinite.", "", 1)
		}
		ones := make([]uint32, 64)
		for i := range ones {
			ones[i] = 0x01010101
		}
		rc := make([]uint32, 128)
		for i := range rc {
			rc[i] = math.MaxInt32 - 3
		}
		r := newRig(t, mmaText(c))
		d := r.alloc(4 * len(rc))
		r.run("op", line(1), line(32), r.put(ones), r.put(ones), r.put(rc), d)
		want := uint32(math.MaxInt32)
		if !sat {
			want = math.MaxInt32 + 13
		}
		for i, v := range get[uint32](r, d, len(rc)) {
			if v != want {
				t.Fatalf("satfinite %v: register %d is %#x, want %#x", sat, i, v, want)
			}
		}
	}
}

// TestMatrixMoves copies matrices by ldmatrix and stmatrix, straight and transposed, and measures their bank conflicts.
func TestMatrixMoves(t *testing.T) {
	for _, c := range []struct {
		load, store string
		pitch       int // bytes from row to row
		conflicts   int
	}{{"", "", 16, 1}, {".trans", ".trans", 16, 1}, {".trans", "", 16, 1}, {"", ".trans", 16, 1}, {"", "", 128, 8}, {"", "", 80, 1}, {"", "", 32, 2}} {
		text := fmt.Sprintf(`.version 7.8
.target sm_90
.address_size 64
.visible .entry op(.param .u64 X, .param .u64 Y)
{
.reg .b32 %%r<20>; .reg .b64 %%x<8>;
.shared .align 16 .b8 s[8192];
mov.u32 %%r0, %%tid.x; mov.u32 %%r1, s; mad.lo.u32 %%r2, %%r0, %d, %%r1;
ld.param.u64 %%x0, [X]; ld.param.u64 %%x1, [Y]; mul.wide.u32 %%x2, %%r0, 16; add.s64 %%x0, %%x0, %%x2; add.s64 %%x1, %%x1, %%x2;
ld.global.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%x0];
st.shared.v4.u32 [%%r2], {%%r4, %%r5, %%r6, %%r7};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r8, %%r9, %%r10, %%r11}, [%%r2];
bar.sync 0;
stmatrix.sync.aligned.m8n8.x4%s.shared.b16 [%%r2], {%%r8, %%r9, %%r10, %%r11};
bar.sync 0;
ld.shared.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%r2];
st.global.v4.u32 [%%x1], {%%r4, %%r5, %%r6, %%r7};
ret;
}`, c.pitch, c.load, c.store)
		r := newRig(t, text)
		x := make([]uint16, 32*8)
		for i := range x {
			x[i] = uint16(i)
		}
		y := r.alloc(2 * len(x))
		s := r.run("op", line(1), line(32), r.put(x), y)
		for i, v := range get[uint16](r, y, len(x)) {
			want := i
			if c.load != c.store {
				want = i&^63 | i&7<<3 | i>>3&7
			}
			if int(v) != want {
				t.Fatalf("%q, %q: element %d is %d, want %d", c.load, c.store, i, v, want)
			}
		}
		if w := s.Worst("ldmatrix"); w.Conflicts != c.conflicts || w.MeanConflicts != float64(c.conflicts) {
			t.Errorf("rows %d bytes apart: %d conflicts, mean %v, want %d", c.pitch, w.Conflicts, w.MeanConflicts, c.conflicts)
		}
	}
}
