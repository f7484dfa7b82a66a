package ptxsim

import (
	"strings"
	"testing"
)

// apartCases are programs of one warp, and what it leaves for each thread; body ends with that in %r5.
var apartCases = []struct {
	name, decl, body string
	want             func(thread uint32) uint32
	together         string // what goes wrong where lanes meet as early as may be; "" nothing does
	apart            string // and where they stay apart; "wrong" is a wrong result
}{
	{
		"an if before a shuffle", "", "setp.lt.u32 %p1, %r1, 7; mov.u32 %r4, %r1;\n@%p1 bra A; add.u32 %r4, %r4, 100;\nA: shfl.sync.bfly.b32 %r5, %r4, 31, 31, -1;",
		func(n uint32) uint32 {
			if n ^= 31; n >= 7 {
				n += 100
			}
			return n
		}, "", "",
	},
	{
		"a member mask of those that happen to be here", "", "setp.lt.u32 %p1, %r1, 7; mov.u32 %r4, %r1;\n@%p1 bra A; add.u32 %r4, %r4, 0;\nA: activemask.b32 %r6; vote.sync.ballot.b32 %r5, 1, %r6;",
		func(uint32) uint32 { return all }, "", "wrong",
	},
	{
		"a loop of uneven lengths before a barrier", sharedWords, mySlot + "mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L;\nst.shared.u32 [%r2], %r4; bar.sync 0; xor.b32 %r6, %r2, 4; ld.shared.u32 %r5, [%r6];",
		func(n uint32) uint32 { return max(n^1, 1) }, "", "",
	},
	{
		"a loop of uneven lengths around a barrier", "", "mov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1; bar.sync 0; setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;\nbar.sync 0;",
		func(n uint32) uint32 { return max(n, 1) }, "it is .aligned", "it is .aligned",
	},
	{
		"a barrier on each side of an if", "", "setp.lt.u32 %p1, %r1, 7; mov.u32 %r5, 0;\n@%p1 bra A; bar.sync 0; bra Z;\nA: bar.sync 0;\nZ: bar.sync 0;",
		func(uint32) uint32 { return 0 }, "it is .aligned", "never come here",
	},
	{
		"a product on each side of an if", "", "setp.lt.u32 %p1, %r1, 7; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;\n" +
			"@%p1 bra A; mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r7,%r8}, {%r4}, {%r4}, {%r5,%r6}; bra Z;\n" +
			"A: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r7,%r8}, {%r4}, {%r4}, {%r5,%r6};\nZ: add.u32 %r5, %r5, 0;",
		func(uint32) uint32 { return 0 }, "it takes all 32", "never come here",
	},
	{
		"a product behind an if", "", "setp.lt.u32 %p1, %r1, 7; mov.u32 %r4, 0; mov.u32 %r5, 3; mov.u32 %r6, 0;\n@%p1 bra A; mov.u32 %r6, 4;\n" +
			"A: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r5,%r6}, {%r4}, {%r4}, {%r5,%r6};",
		func(uint32) uint32 { return 3 }, "", "",
	},
	{
		"a lock that the lanes take in turn", sharedWords, "mov.u32 %r2, s; setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r2], 0;\nbar.sync 0;\n" +
			"L: atom.shared.cas.b32 %r4, [%r2], 0, 1; setp.eq.u32 %p2, %r4, 0; @!%p2 bra L;\natom.shared.exch.b32 %r4, [%r2], 0; mov.u32 %r5, 9;",
		func(uint32) uint32 { return 9 }, "endless", "",
	},
	{
		"arrivals of lanes apart", "", "setp.lt.u32 %p1, %r1, 7; mov.u32 %r5, 1;\n@%p1 bra A; mov.u32 %r5, 1;\nA: barrier.arrive 1, 32; mov.u32 %r5, 2;",
		func(uint32) uint32 { return 2 }, "", "",
	},
}

// TestApart runs programs with the lanes of a warp together and apart.
func TestApart(t *testing.T) {
	for _, c := range apartCases {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(10) {
				r := newRig(t, kernelText(c.decl, c.body+"\nmul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r5;"))
				r.opt = Options{Seed: seed, Apart: seed > 0, Budget: 100000}
				wrong := c.apart
				if !r.opt.Apart {
					wrong = c.together
				}
				p := r.alloc(128)
				_, err := r.try("k", line(1), line(32), 0, p)
				if wrong != "" && wrong != "wrong" {
					if err == nil || !strings.Contains(err.Error(), wrong) {
						t.Errorf("seed %d: %v, want %q", seed, err, wrong)
					}
					continue
				}
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
					continue
				}
				right := true
				for n, got := range get[uint32](r, p, 32) {
					right = right && got == c.want(uint32(n))
				}
				if right != (wrong == "") {
					t.Errorf("seed %d: right is %v", seed, right)
				}
			}
		})
	}
}
