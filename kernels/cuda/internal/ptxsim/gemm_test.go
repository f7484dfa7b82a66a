package ptxsim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// gemmTile is the tile of a block of gemmText: 64 x 64, in steps of 32.
const gemmTile = 64

// gemmText is a GEMM as one writes it for sm_80: C (f32, row-major) = A (f16, [M][K]) times B (f16, [N][K]), a ring of
// stages filled by cp.async, swizzled tiles read by ldmatrix, four warps of 32 x 32 each. K is a multiple of 32.
func gemmText(stages int) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(".version 7.0\n.target sm_80\n.address_size 64")
	p(".visible .entry gemm(.param .u64 A, .param .u64 B, .param .u64 C, .param .u32 N, .param .u32 K)\n.maxntid 128\n{")
	p(".reg .pred %%p<4>; .reg .b32 %%r<64>; .reg .b64 %%rd<20>; .reg .b32 %%a<8>; .reg .b32 %%b<8>; .reg .f32 %%c<32>;")
	p(".shared .align 128 .b8 tile[%d];", stages*8192)
	p("ld.param.u64 %%rd1, [A]; ld.param.u64 %%rd2, [B]; ld.param.u64 %%rd3, [C]; ld.param.u32 %%r1, [N]; ld.param.u32 %%r2, [K];")
	p("cvta.to.global.u64 %%rd1, %%rd1; cvta.to.global.u64 %%rd2, %%rd2; cvta.to.global.u64 %%rd3, %%rd3;")
	p("mov.u32 %%r3, %%tid.x; mov.u32 %%r4, %%ctaid.x; mov.u32 %%r5, %%ctaid.y; and.b32 %%r6, %%r3, 31; shr.u32 %%r7, %%r3, 5;")
	p("and.b32 %%r8, %%r7, 1; shr.u32 %%r9, %%r7, 1;")                                  // the warp's place
	p("shr.u32 %%r10, %%r3, 2; and.b32 %%r11, %%r3, 3;")                                // row and chunk to copy
	p("shr.u32 %%r12, %%r10, 1; and.b32 %%r12, %%r12, 3; xor.b32 %%r12, %%r12, %%r11;") // swizzled chunk
	p("shl.b32 %%r13, %%r10, 6; shl.b32 %%r12, %%r12, 4; add.u32 %%r13, %%r13, %%r12; mov.u32 %%r14, tile; add.u32 %%r13, %%r13, %%r14;")
	for i, m := range []string{"%r5", "%r4"} { // sources of A and B
		p("mad.lo.u32 %%r15, %s, 64, %%r10; mul.lo.u32 %%r15, %%r15, %%r2; shl.b32 %%r16, %%r11, 3; add.u32 %%r15, %%r15, %%r16;", m)
		p("mul.wide.u32 %%rd%d, %%r15, 2; add.s64 %%rd%d, %%rd%d, %%rd%d;", 4+i, 4+i, 4+i, 1+i)
	}
	p("mul.wide.u32 %%rd6, %%r2, 64;")                                                                                        // 32 rows on
	p("shr.u32 %%r17, %%r6, 1; and.b32 %%r17, %%r17, 3; shr.u32 %%r18, %%r6, 4; xor.b32 %%r17, %%r17, %%r18;")                // chunk of ldmatrix
	p("and.b32 %%r18, %%r6, 15; shl.b32 %%r18, %%r18, 6; shl.b32 %%r17, %%r17, 4; add.u32 %%r17, %%r17, %%r18;")              //
	p("add.u32 %%r17, %%r17, %%r14; shl.b32 %%r19, %%r8, 11; add.u32 %%r19, %%r19, %%r17; shl.b32 %%r20, %%r9, 11;")          //
	p("add.u32 %%r20, %%r20, %%r17; add.u32 %%r20, %%r20, 4096; shr.u32 %%r21, %%r2, 5; mov.u32 %%r22, 0; mov.u32 %%r23, 0;") // tiles, next to copy, its stage
	for i := range 32 {
		p("mov.f32 %%c%d, 0f00000000;", i)
	}
	issue := func() {
		p("setp.ge.u32 %%p1, %%r22, %%r21; @%%p1 bra SKIP%d;", b.Len())
		label := b.String()[strings.LastIndex(b.String(), "SKIP"):]
		p("shl.b32 %%r24, %%r23, 13; add.u32 %%r24, %%r24, %%r13;")
		for i := range 2 {
			p("add.s64 %%rd7, %%rd%d, %%rd6;", 4+i)
			p("cp.async.cg.shared.global [%%r24+%d], [%%rd%d], 16; cp.async.cg.shared.global [%%r24+%d], [%%rd7], 16;", i*4096, 4+i, i*4096+2048)
			p("add.s64 %%rd%d, %%rd%d, 64;", 4+i, 4+i)
		}
		p("%s:", strings.TrimRight(label, ";\n"))
		p("cp.async.commit_group; add.u32 %%r22, %%r22, 1; add.u32 %%r23, %%r23, 1; setp.eq.u32 %%p2, %%r23, %d; selp.u32 %%r23, 0, %%r23, %%p2;", stages)
	}
	for range stages - 1 {
		issue()
	}
	p("mov.u32 %%r25, 0; mov.u32 %%r26, 0;") // tile, stage
	p("LOOP:\ncp.async.wait_group %d;\nbar.sync 0;", stages-2)
	issue()
	p("shl.b32 %%r27, %%r26, 13; add.u32 %%r28, %%r27, %%r19; add.u32 %%r29, %%r27, %%r20;")
	for kk := range 2 {
		p("xor.b32 %%r30, %%r28, %d; xor.b32 %%r31, %%r29, %d;", kk*32, kk*32)
		for i := range 2 {
			p("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%a%d, %%a%d, %%a%d, %%a%d}, [%%r30+%d];", 4*i, 4*i+1, 4*i+2, 4*i+3, i*1024)
			p("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%b%d, %%b%d, %%b%d, %%b%d}, [%%r31+%d];", 4*i, 4*i+1, 4*i+2, 4*i+3, i*1024)
		}
		for i := range 2 {
			for j := range 4 {
				c, f := (i*4+j)*4, j/2*4+j%2
				p("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%c%d, %%c%d, %%c%d, %%c%d}, {%%a%d, %%a%d, %%a%d, %%a%d}, {%%b%d, %%b%d}, {%%c%d, %%c%d, %%c%d, %%c%d};",
					c, c+1, c+2, c+3, 4*i, 4*i+1, 4*i+2, 4*i+3, f, f+2, c, c+1, c+2, c+3)
			}
		}
	}
	p("add.u32 %%r25, %%r25, 1; add.u32 %%r26, %%r26, 1; setp.eq.u32 %%p2, %%r26, %d; selp.u32 %%r26, 0, %%r26, %%p2;", stages)
	p("setp.lt.u32 %%p1, %%r25, %%r21; @%%p1 bra LOOP;")
	p("shr.u32 %%r32, %%r6, 2; and.b32 %%r33, %%r6, 3; mad.lo.u32 %%r34, %%r5, 64, %%r32; mad.lo.u32 %%r34, %%r8, 32, %%r34;")
	p("mad.lo.u32 %%r35, %%r4, 64, 0; mad.lo.u32 %%r35, %%r9, 32, %%r35; mad.lo.u32 %%r35, %%r33, 2, %%r35; mad.lo.u32 %%r36, %%r34, %%r1, %%r35;")
	p("mul.wide.u32 %%rd8, %%r36, 4; add.s64 %%rd8, %%rd8, %%rd3; mul.wide.u32 %%rd9, %%r1, 32;")
	for i := range 4 {
		for j := range 4 {
			c := (i/2*4+j)*4 + i%2*2
			p("st.global.v2.f32 [%%rd8+%d], {%%c%d, %%c%d};", j*32, c, c+1)
		}
		p("add.s64 %%rd8, %%rd8, %%rd9;")
	}
	p("ret;\n}")
	return b.String()
}

// gemmProblem is random operands and their product.
type gemmProblem struct {
	m, n, k int
	a, b    []uint16
	want    []float32
}

func newGEMM(m, n, k int) *gemmProblem {
	rnd := rand.New(rand.NewPCG(1, 2))
	g := &gemmProblem{m: m, n: n, k: k, a: make([]uint16, m*k), b: make([]uint16, n*k), want: make([]float32, m*n)}
	for _, x := range [][]uint16{g.a, g.b} {
		for i := range x {
			x[i] = uint16(rnd.Uint32()&0x83ff | 0x3800) // 0.5 to 1 and -1 to -0.5
		}
	}
	fa, fb := each(g.a, halfValue), each(g.b, halfValue)
	for i := range m {
		for j := range n {
			var s float64
			for p := range k {
				s += fa[i*k+p] * fb[j*k+p]
			}
			g.want[i*n+j] = float32(s)
		}
	}
	return g
}

// run multiplies and returns the greatest difference, or the fault.
func (g *gemmProblem) run(t testing.TB, m *ptx.Module, opt Options) (*Stats, float64, error) {
	r := rigOf(t, m)
	r.opt = opt
	c := r.alloc(4 * g.m * g.n)
	s, err := r.try("gemm", [3]int{g.n / gemmTile, g.m / gemmTile, 1}, line(128), 0, r.put(g.a), r.put(g.b), c, uint32(g.n), uint32(g.k))
	if err != nil {
		return nil, 0, err
	}
	var worst float64
	for i, v := range get[float32](r, c, g.m*g.n) {
		if d := math.Abs(float64(v - g.want[i])); !(d <= worst) {
			worst = d
		}
	}
	return s, worst, nil
}

func parse(t testing.TB, text string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGEMM(t *testing.T) {
	g := newGEMM(128, 192, 160)
	for _, stages := range []int{2, 3, 4} {
		m := parse(t, gemmText(stages))
		for _, opt := range []Options{{}, {Async: Early, Seed: 1}, {Seed: 2, Lints: LintAll}, {Seed: 3, Unchecked: true}, {Races: true}} {
			s, worst, err := g.run(t, m, opt)
			if err != nil {
				t.Fatalf("%d stages, %+v: %v", stages, opt, err)
			}
			if !(worst < 1e-3) {
				t.Errorf("%d stages, %+v: off by %v", stages, opt, worst)
			}
			if w := s.Worst("ldmatrix"); w == nil || w.Conflicts != 1 {
				t.Errorf("%d stages: ldmatrix: %+v", stages, w)
			}
			if w := s.Worst("cp.async"); w == nil || w.Conflicts != 1 || w.Efficiency() != 1 {
				t.Errorf("%d stages: cp.async: %+v", stages, w)
			}
			if s.MACs != int64(g.m*g.n*g.k) {
				t.Errorf("%d MACs, want %d", s.MACs, g.m*g.n*g.k)
			}
		}
	}
}

func BenchmarkGEMM(b *testing.B) {
	for _, c := range []struct {
		name string
		opt  Options
	}{{"checked", Options{}}, {"unchecked", Options{Unchecked: true, Lints: LintNone}}} {
		b.Run(c.name, func(b *testing.B) {
			g := newGEMM(256, 256, 512)
			m := parse(b, gemmText(3))
			r := rigOf(b, m)
			r.opt = c.opt
			da, db, dc := r.put(g.a), r.put(g.b), r.alloc(4*g.m*g.n)
			for b.Loop() {
				if _, err := r.try("gemm", [3]int{g.n / gemmTile, g.m / gemmTile, 1}, line(128), 0, da, db, dc, uint32(g.n), uint32(g.k)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(g.m*g.n*g.k)*float64(b.N)/b.Elapsed().Seconds()/1e6, "MMAC/s")
		})
	}
}
