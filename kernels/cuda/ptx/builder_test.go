package ptx

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

// kernels are small kernels that use the builder's parts; their text is golden, and ptxas assembles it where there is one.
func kernels() []*Builder {
	return []*Builder{rowSum(), product(), quantise(), lastBlock(), flow()}
}

// rowSum adds up rows of 1024 numbers, one to a block.
func rowSum() *Builder {
	k := NewKernel("row_sum", SM(80), 256)
	x, y := k.Pointer("x"), k.Pointer("y")
	partial := k.Shared("partial", 8*4, 16)
	tid := k.TidX()
	v := x.Index(k.CtaX().Shl(8).Add(tid), 16).LdF32x4(ReadOnly)
	sum := v[0].Add(v[1]).Add(v[2].Add(v[3]))
	for mask := uint32(16); mask > 0; mask /= 2 {
		sum = sum.Add(sum.ShflXor(mask))
	}
	k.When(k.LaneID().Eq(k.U32(0)), func() { partial.Index(tid.Shr(5), 4).StF32(sum) })
	k.Barrier()
	k.If(tid.Lt(k.U32(8)), func() {
		k.If(tid.Eq(k.U32(0)), func() {
			total := k.F32(0).Var()
			for i := range 8 {
				total.Set(total.Add(partial.At(4 * i).LdF32()))
			}
			y.Index(k.CtaX(), 4).StF32(total)
		})
	})
	return k
}

// product multiplies a 16xK matrix with the transpose of an 8xK one in one warp, the parts of both going through a ring of
// two in shared memory.
func product() *Builder {
	k := NewKernel("product", SM(80), 32)
	a, w, c := k.Pointer("a"), k.Pointer("w"), k.Pointer("c")
	steps := k.ParamU32("steps")
	smem := k.DynamicSharedPtr(2*(512+256), 1024)
	lane := k.LaneID()
	acc := [4]Float32{}
	for i := range acc {
		acc[i] = k.F32(0).Var()
	}
	at := lane.And(k.U32(15)).Mad(k.U32(32), lane.Shr(4).Shl(4)).Swizzle(32)
	k.For(k.U32(0), steps, k.U32(1), func(i Uint32) {
		smem.Index(lane, 16).CpAsync(a.Index(i.Shl(5).Add(lane), 16), 16)
		half := lane.Lt(k.U32(16))
		smem.Index(lane, 16).At(512).When(half).CpAsyncFill(w.Index(i.Shl(4).Add(lane), 16), 16, half.SelectU32(k.U32(16), k.U32(0)))
		k.CpAsyncCommit()
		k.CpAsyncWait(0)
		k.Barrier()
		am := smem.Add(at).LdMatrix(4)
		wm := smem.At(512).Add(at).LdMatrix(2)
		k.MmaF16(acc, [4]Bits32(am), [2]Bits32(wm))
		k.Barrier()
	})
	k.When(lane.Ge(k.U32(0)), func() { c.Index(lane, 16).StF32x4(acc) })
	return k
}

// quantise scales numbers to bytes and adds up products of them.
func quantise() *Builder {
	k := NewKernel("quantise", SM(80), 128)
	x, y := k.Pointer("x"), k.Pointer("y")
	scale, n := k.ParamF32("scale"), k.ParamS32("n")
	i := k.CtaX().Mad(k.U32(128), k.TidX())
	in := i.Int().Lt(n)
	v := x.Index(i, 16).When(in).LdF32x4()
	q := [4]Int32{}
	for j := range q {
		q[j] = v[j].Mul(scale).ToS32()
	}
	low := q[3].PackS8(q[2], k.B32(0).Var())
	packed := q[1].PackS8(q[0], low)
	y.Index(i, 8).When(in).StB32x2([2]Bits32{packed, packed.Dp4aS(packed, k.S32(0)).Bits()})
	return k
}

// lastBlock finds the block that comes last, and lets it write.
func lastBlock() *Builder {
	k := NewKernel("last_block", SM(80), 32)
	count, y := k.Pointer("count"), k.Pointer("y")
	k.FenceGPU()
	before := k.U32(0).Var()
	k.If(k.TidX().Eq(k.U32(0)), func() {
		before.Set(count.AtomAddU32(k.U32(1), OrderAcqRel))
	})
	k.If(before.ShflFrom(k.U32(0)).Eq(k.CtasX().Sub(k.U32(1))), func() {
		y.Index(k.TidX(), 4).StF32(k.F32(1).Var().Tanh())
	})
	return k
}

// flow has the ways of control.
func flow() *Builder {
	k := NewKernel("flow", SM(80), 64)
	y := k.Pointer("y")
	i, n := k.TidX().Var(), k.U32(0).Var()
	k.While(func() Bool { return i.Gt(k.U32(1)) }, func() {
		odd := i.And(k.U32(1)).Ne(k.U32(0))
		k.IfElse(odd.And(i.Lt(k.U32(1000)).Not()).Not(), func() { i.Set(i.Shr(1)) }, func() { i.Set(i.MulI(3).AddI(1)) })
		n.Set(n.AddI(1))
	})
	y.Index(k.TidX(), 4).StU32(n)
	return k
}

// TestKernels compares texts with golden ones; they read back as they were.
func TestKernels(t *testing.T) {
	for _, b := range kernels() {
		t.Run(b.k.Name, func(t *testing.T) {
			m, err := b.Module()
			if err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, []byte(m.String()))
			back, err := Parse(m.String())
			if err != nil {
				t.Fatal(err)
			}
			for i := range back.Kernels[0].Body {
				back.Kernels[0].Body[i].Line = 0
			}
			if !reflect.DeepEqual(m, back) {
				t.Error("the kernel came back different")
			}
		})
	}
}

// TestKernelsAssemble has ptxas assemble the kernels.
func TestKernelsAssemble(t *testing.T) {
	for _, b := range kernels() {
		text, err := b.Emit()
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range []Target{{SM: 80}, {SM: 89}, {SM: 90, Arch: true}} {
			said, err := assemble(t, text, target)
			if err != nil || strings.Contains(said, "arning") {
				t.Errorf("%s for %s: %v: %s", b.k.Name, target, err, said)
			}
			if !strings.Contains(said, " 0 bytes spill stores") {
				t.Errorf("%s for %s spills: %s", b.k.Name, target, said)
			}
		}
	}
}

// TestFaults builds what cannot be and looks for the reason.
func TestFaults(t *testing.T) {
	tests := []struct {
		name  string
		build func(k *Builder)
		want  string
	}{
		{"whole-warp instruction under a guard", func(k *Builder) {
			k.When(k.TidX().Lt(k.U32(3)), k.Barrier)
		}, "instruction 2: @%p0 bar.sync 0;: all threads of a warp must execute it together"},
		{"branch under a guard", func(k *Builder) {
			p := k.TidX().Lt(k.U32(3))
			k.When(p, func() { k.If(p, func() {}) })
		}, "straight-line"},
		{"guard within a guard", func(k *Builder) {
			p := k.TidX().Lt(k.U32(3))
			k.When(p, func() { k.When(p, func() {}) })
		}, "When within When"},
		{"target", func(k *Builder) { k.WaitForUpstream() }, "needs sm_90 and the module is for sm_80"},
		{"static shared memory", func(k *Builder) { k.Shared("s", 50000, 16) }, "50000 bytes of static shared memory"},
		{"dynamic shared memory", func(k *Builder) { k.DynamicSharedPtr(200<<10, 16) }, "204800 bytes of shared memory where a block of sm_80 has 166912"},
		{"copy of 5 bytes", func(k *Builder) { k.Shared("s", 64, 16).CpAsync(k.Pointer("x"), 5) }, "constant 5 is not one of [4 8 16]"},
		{"three matrices", func(k *Builder) { k.Shared("s", 64, 16).LdMatrix(3) }, `no form with modifiers "sync.aligned.m8n8.x3.shared.b16"`},
		{"a constant set", func(k *Builder) { k.U32(1).Set(k.U32(2)) }, "a constant cannot be set"},
		{"division by zero", func(k *Builder) { k.Divisor(0) }, "a divisor is between 1 and 2^31"},
	}
	for _, test := range tests {
		k := NewKernel("k", SM(80), 32)
		test.build(k)
		if _, err := k.Emit(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, not of %q", test.name, err, test.want)
		}
	}
}

// TestParseFaults looks for line and reason.
func TestParseFaults(t *testing.T) {
	head := ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<2>;\n"
	tests := []struct{ body, want string }{
		{"add.u32 %r0, %r1, %f0;", "line 8: add.u32 %r0, %r1, %f0;: operand 3: %f0 is a .f32 register and .u32 is wanted"},
		{"add.u33 %r0, %r1, %r2;", `line 8: add.u33 %r0, %r1, %r2;: add has no form with modifiers "u33"`},
		{"frob %r0;", "line 8: instruction frob is not supported"},
		{"\nadd.u32 %r0, %r1;", "line 9: add.u32 %r0, %r1;: 2 operands where add takes 3"},
		{"add.u32 %r0, %r1, %r9;", "line 8: %r9 is not declared"},
		{"bra L;", "line 8: label L is not declared"},
		{"ld.global.u32 %r0, [y];", "line 8: y is not declared"},
		{"ret", `line 9: ";" is wanted, not ""`},
		{"call f;", "instruction call is not supported"},
	}
	for _, test := range tests {
		src := head + test.body + "\n}\n"
		if test.body == "ret" {
			src = head + "ret\n"
		}
		_, err := Parse(src)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error is %v, not of %q", test.body, err, test.want)
		}
	}
}

// TestReciprocal compares with division for edge values of both numbers.
func TestReciprocal(t *testing.T) {
	divisors := []uint32{1, 2, 3, 5, 7, 9, 10, 49, 112, 1 << 16, 1<<16 + 1, 1<<30 - 1, 1<<30 + 1, math.MaxInt32, 1 << 31}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		divisors = append(divisors, 1+rng.Uint32()>>(1+rng.IntN(30)))
	}
	for _, d := range divisors {
		m, s := Reciprocal(d)
		ns := []uint32{0, 1, d - 1, d, d + 1, 2*d - 1, 2 * d, math.MaxInt32 / d * d, math.MaxInt32/d*d - 1, math.MaxInt32 - 1, math.MaxInt32}
		for range 200 {
			ns = append(ns, rng.Uint32()>>(1+rng.IntN(31)))
		}
		for _, n := range ns {
			n &= math.MaxInt32
			if got := uint32(uint64(2*n)*uint64(m)>>32) >> s; got != n/d {
				t.Fatalf("%d / %d: %d, not %d (m %d, s %d)", n, d, got, n/d, m, s)
			}
		}
	}
}

// TestSwizzle: it is its own inverse, and the eight rows that are read at once lie in different banks.
func TestSwizzle(t *testing.T) {
	for _, span := range []uint32{32, 64, 128} {
		for chunk := uint32(0); chunk < span; chunk += 16 {
			seen := map[uint32]bool{}
			for row := range uint32(8) {
				at := Swizzle(row*span+chunk, span)
				if Swizzle(at, span) != row*span+chunk {
					t.Errorf("span %d: %d does not come back", span, row*span+chunk)
				}
				seen[at%128/16] = true
			}
			if len(seen) != 8 {
				t.Errorf("span %d, chunk %d: eight rows in %d of 8 groups of banks", span, chunk/16, len(seen))
			}
		}
	}
}
