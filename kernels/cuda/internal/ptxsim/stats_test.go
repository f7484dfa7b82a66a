package ptxsim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// TestLints measures known patterns of access.
func TestLints(t *testing.T) {
	for _, c := range []struct {
		name, body string
		op         string
		conflicts  int
		sectors    float64
		ideal      float64
	}{
		{"shared words in a row", mySlot + "st.shared.u32 [%r2], 1;", "st.shared", 1, 0, 0},
		{"shared words, 2 apart", "mov.u32 %r2, s; shl.b32 %r3, %r1, 3; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], 1;", "st.shared", 2, 0, 0},
		{"shared words, 32 apart", "mov.u32 %r2, s; shl.b32 %r3, %r1, 7; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], 1;", "st.shared", 32, 0, 0},
		{"one shared word for all", "mov.u32 %r2, s; st.shared.u32 [%r2], 1;", "st.shared", 1, 0, 0},
		{"shared vectors in a row", "mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; st.shared.v4.u32 [%r2], {1, 2, 3, 4};", "st.shared", 1, 0, 0},
		{"shared vectors, 2 apart", "mov.u32 %r2, s; shl.b32 %r3, %r1, 5; add.u32 %r2, %r2, %r3; st.shared.v4.u32 [%r2], {1, 2, 3, 4};", "st.shared", 2, 0, 0},
		{"global words in a row", "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], 1;", "st.global", 0, 4, 4},
		{"global words, one off", "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+4], 1;", "st.global", 0, 5, 4},
		{"global words, 32 apart", "mul.wide.u32 %rd2, %r1, 128; add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], 1;", "st.global", 0, 32, 4},
		{"one global word for all", "st.global.u32 [%rd1], 1;", "st.global", 0, 1, 1},
	} {
		r := newRig(t, kernelText(".shared .align 16 .b8 s[4096];", c.body))
		s := r.run("k", line(1), line(32), r.alloc(8192))
		w := s.Worst(c.op)
		if w == nil || w.Conflicts != c.conflicts || w.Sectors != c.sectors || w.Ideal != c.ideal || w.Lanes != 32 {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

// TestLiveRegisters counts registers that are live at one time.
func TestLiveRegisters(t *testing.T) {
	for _, c := range []struct {
		body string
		live int
	}{
		{"", 0},
		{"add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; st.global.u32 [%rd1], %r4;", 4},
		{"mov.u32 %r5, 0;\nL: add.u32 %r5, %r5, %r1; setp.lt.u32 %p1, %r5, 100; @%p1 bra L; st.global.u32 [%rd1], %r5;", 4},
	} {
		m := parse(t, kernelText("", c.body))
		g, err := newGraph(m.Kernels[0])
		if err != nil {
			t.Fatal(err)
		}
		if live := g.maxLive(m.Kernels[0]); live != c.live {
			t.Errorf("%s: %d live, want %d", c.body, live, c.live)
		}
	}
}

func TestOccupancy(t *testing.T) {
	sm := SMOf(ptx.Target{SM: 90})
	for _, c := range []struct{ threads, registers, shared, want int }{
		{1024, 32, 0, 2}, {256, 64, 0, 4}, {256, 65, 0, 3}, {128, 32, 100 << 10, 2}, {32, 16, 0, 32}, {128, 255, 0, 2}, {128, 32, 227 << 10, 1},
	} {
		if n := sm.Occupancy(c.threads, c.registers, c.shared); n != c.want {
			t.Errorf("%+v: %d blocks", c, n)
		}
	}
}

// TestWarpExchange runs shuffles, votes, matches and reductions, with a partial warp and guarded lanes among them.
func TestWarpExchange(t *testing.T) {
	for _, c := range []struct {
		inst string // of value %a into %d
		want func(l int, x []uint32) uint32
	}{
		{"shfl.sync.bfly.b32 %d, %a, 5, 31, -1", func(l int, x []uint32) uint32 { return x[l^5] }},
		{"shfl.sync.down.b32 %d, %a, 3, 31, -1", func(l int, x []uint32) uint32 { return x[choose(l+3 < 32, l+3, l)] }},
		{"shfl.sync.up.b32 %d, %a, 3, 0, -1", func(l int, x []uint32) uint32 { return x[choose(l >= 3, l-3, l)] }},
		{"shfl.sync.idx.b32 %d, %a, 6, 0x181f, -1", func(l int, x []uint32) uint32 { return x[l&^7+6] }}, // segments of 8
		{"shfl.sync.down.b32 %d, %a, 4, 0x181f, -1", func(l int, x []uint32) uint32 { return x[choose(l&7 < 4, l+4, l)] }},
		{"{ .reg .pred %q; shfl.sync.up.b32 %d|%q, %a, 2, 0, -1; selp.u32 %d, 1, 0, %q; }", func(l int, _ []uint32) uint32 { return uint32(bit(l >= 2)) }},
		{"redux.sync.add.u32 %d, %a, -1", func(_ int, x []uint32) (s uint32) {
			for _, v := range x {
				s += v
			}
			return s
		}},
		{"redux.sync.max.s32 %d, %a, -1", func(_ int, x []uint32) uint32 {
			s := int32(x[0])
			for _, v := range x {
				s = max(s, int32(v))
			}
			return uint32(s)
		}},
		{"redux.sync.xor.b32 %d, %a, -1", func(_ int, x []uint32) (s uint32) {
			for _, v := range x {
				s ^= v
			}
			return s
		}},
		{"{ .reg .pred %q; and.b32 %d, %a, 1; setp.eq.u32 %q, %d, 1; vote.sync.ballot.b32 %d, %q, -1; }", func(_ int, x []uint32) (s uint32) {
			for i, v := range x {
				s |= v & 1 << i
			}
			return s
		}},
		{"{ .reg .b32 %k; and.b32 %k, %a, 3; match.any.sync.b32 %d, %k, -1; }", func(l int, x []uint32) (s uint32) {
			for i, v := range x {
				s |= uint32(bit(v&3 == x[l]&3)) << i
			}
			return s
		}},
		{"activemask.b32 %d", func(int, []uint32) uint32 { return all }},
	} {
		body := strings.NewReplacer("%d", "%r10", "%a", "%r9", "%k", "%r11", "%q", "%p3").Replace(c.inst)
		body = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(body, ".reg .b32 %r11;", ""), ".reg .pred %p3;", ""), "match.any.sync", "match.sync.any")
		if strings.HasPrefix(body, "{") {
			body = strings.TrimSuffix(strings.TrimPrefix(body, "{"), "}")
		} else {
			body += ";"
		}
		text := kernelText("", "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1; ld.global.u32 %r9, [%rd2];\n"+body+"\nst.global.u32 [%rd2], %r10;")
		m, err := ptx.Parse(text)
		if err != nil {
			m, err = ptx.Parse(strings.ReplaceAll(text, "match.sync.any", "match.any.sync"))
		}
		if err != nil {
			t.Fatal(err)
		}
		x := make([]uint32, 32)
		for i := range x {
			x[i] = uint32(i*i*2654435761 + i)
		}
		r := rigOf(t, m)
		p := r.put(x)
		r.run("k", line(1), line(32), p)
		for l, v := range get[uint32](r, p, 32) {
			if want := c.want(l, x); v != want {
				t.Errorf("%s: lane %d is %#x, want %#x", c.inst, l, v, want)
				break
			}
		}
	}
}

// TestDeterminism runs a kernel twice with each of some seeds, with different numbers of workers.
func TestDeterminism(t *testing.T) {
	m := parse(t, gemmText(3))
	g := newGEMM(64, 128, 64)
	var first string
	for i := range 4 {
		s, _, err := g.run(t, m, Options{Seed: 9, Workers: 1 + i%2, Lints: LintAll})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(s); first == "" {
			first = text
		} else if text != first {
			t.Fatalf("run %d differs:\n%s\n%s", i, text, first)
		}
	}
}
