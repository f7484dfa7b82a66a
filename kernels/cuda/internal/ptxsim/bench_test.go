package ptxsim

import (
	"fmt"
	"strings"
	"testing"
)

// fragments fills the registers of operands of mma with what the first one holds.
const fragments = "mov.b32 %r5, %r4; mov.b32 %r6, %r4; mov.b32 %r7, %r4;"

// BenchmarkInstructions runs loops of one instruction in full warps: millions of lanes a second.
func BenchmarkInstructions(b *testing.B) {
	for _, c := range []struct{ name, setup, inst string }{
		{"fma.f32", "mov.f32 %f1, 0f3F000000; mov.f32 %f2, 0f3F800000;", "fma.rn.f32 %f2, %f1, %f2, %f1"},
		{"mad.s32", "", "mad.lo.s32 %r9, %r1, %r1, %r1"},
		{"dp4a", "", "dp4a.s32.u32 %r9, %r1, %r1, %r1"},
		{"dp2a", "", "dp2a.lo.s32.u32 %r9, %r1, %r1, %r1"},
		{"lop3", "", "lop3.b32 %r9, %r1, %r1, %r1, 0x6a"},
		{"setp.selp", "", "setp.lt.s32 %p1, %r1, 5; selp.b32 %r9, %r1, 3, %p1"},
		{"ld.shared", mySlot + "st.shared.u32 [%r2], 1;", "ld.shared.u32 %r9, [%r2]"},
		{"st.shared", mySlot, "st.shared.u32 [%r2], %r1"},
		{"ld.global.v4", "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd2, %rd2, %rd1;", "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2]"},
		{"st.global", "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;", "st.global.u32 [%rd2], %r1"},
		{"cvt.f16", "mov.f32 %f1, 0f3F000000;", "cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f2, %h1"},
		{"mma.f16", "mov.b32 %r4, 0x3c003800; mov.b32 %f1, 0f3F800000;" + fragments, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r4, %r5, %r6, %r7}, {%r4, %r5}, {%f1, %f1, %f1, %f1}"},
		{"mma.s8", "mov.b32 %r4, 0x01020304;" + fragments, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10, %r11, %r12, %r13}, {%r4, %r5, %r6, %r7}, {%r4, %r5}, {%r4, %r5, %r6, %r7}"},
		{"shfl", "", "shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1"},
	} {
		b.Run(c.name, func(b *testing.B) {
			const repeat, loops, blocks, threads = 64, 100, 4, 128
			body := c.setup + "mov.u32 %r30, 0;\nLOOP:\n" + strings.Repeat(c.inst+";\n", repeat) + "add.u32 %r30, %r30, 1; setp.lt.u32 %p7, %r30, " + fmt.Sprint(loops) + "; @%p7 bra LOOP;"
			r := newRig(b, kernelText(sharedWords, body))
			r.opt = Options{Lints: LintNone}
			p := r.put(make([]uint32, 4*threads))
			for b.Loop() {
				r.run("k", line(blocks), line(threads), p)
			}
			n := repeat * loops * blocks * threads * (1 + strings.Count(c.inst, ";"))
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
		})
	}
}
