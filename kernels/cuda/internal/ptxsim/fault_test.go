package ptxsim

import (
	"context"
	"strings"
	"testing"
)

// kernelText wraps instructions into a kernel "k" with one pointer parameter, which they find in %rd1, and the thread's
// index in %r1.
func kernelText(declarations, body string) string {
	return ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 P)\n{\n" +
		".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .f32 %f<16>; .reg .b64 %rd<16>; .reg .f64 %fd<8>;\n" + declarations +
		"\nld.param.u64 %rd1, [P]; mov.u32 %r1, %tid.x;\n" + body + "\nret;\n}\n"
}

const sharedWords = ".shared .align 16 .b8 s[1024];"

// mySlot leaves in %r2 the address of the thread's own word of s.
const mySlot = "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;\n"

// faultCases are programs with one mistake each, and without it.
var faultCases = []struct {
	name    string
	threads int
	decl    string
	body    string // "!" begins a line that is the mistake, "?" one that is right in its place
	kind    Kind
	says    string
}{
	{"global past the end", 32, "", "!ld.global.u32 %r4, [%rd1+256];\n?ld.global.u32 %r4, [%rd1+252];", OutOfBounds, "0 bytes past the allocation"},
	{"global across the end", 32, "", "!ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd1+256];\n?ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd1+240];", OutOfBounds, "reads 16 bytes"},
	{"global before the start", 1, "", "!st.global.u32 [%rd1+-4], 1;\n?st.global.u32 [%rd1], 1;", OutOfBounds, "4 bytes before the allocation"},
	{"global cut to 32 bits", 1, "", "cvt.u32.u64 %r4, %rd1; cvt.u64.u32 %rd2, %r4;\n!ld.global.u32 %r5, [%rd2];", OutOfBounds, "fits 32 bits"},
	{"misaligned", 1, "", "!ld.global.u32 %r4, [%rd1+2];\n?ld.global.u16 %r4, [%rd1+2];", Misaligned, "no multiple of 4"},
	{"vector misaligned", 1, "", "!st.global.v2.u32 [%rd1+4], {%r1, %r1};\n?st.global.v2.u32 [%rd1+8], {%r1, %r1};", Misaligned, "no multiple of 8"},
	{"shared past the end", 32, sharedWords, "mov.u32 %r2, s;\n!st.shared.u32 [%r2+1024], 1;\n?st.shared.u32 [%r2+1020], 1;", OutOfBounds, "the block has 0x400 to 0x800"},
	{"shared address 0", 1, sharedWords, "mov.u32 %r2, 0;\n!ld.shared.u32 %r4, [%r2];", OutOfBounds, "shared address 0x0"},
	{"generic address in shared space", 1, sharedWords, "mov.u64 %rd2, s; cvta.shared.u64 %rd3, %rd2; st.u32 [%rd3], 7;\n!ld.shared.u32 %r4, [%rd3];\n?ld.shared.u32 %r4, [%rd2];", OutOfBounds, "cvta.to.shared"},
	{"local past the end", 1, ".local .align 4 .b8 l[16];", "mov.u64 %rd2, l;\n!st.local.u32 [%rd2+16], 1;\n?st.local.u32 [%rd2+12], 1;", OutOfBounds, "a thread has 16 bytes"},
	{"shared never written", 32, sharedWords, mySlot + "?st.shared.u32 [%r2], 1;\nld.shared.u32 %r4, [%r2];", Uninitialised, "holds nothing that was written"},
	{"shared written in part", 1, sharedWords, mySlot + "!st.shared.u16 [%r2], %r1;\n?st.shared.u32 [%r2], %r1;\nld.shared.u32 %r4, [%r2];", Uninitialised, "holds nothing"},
	{"global never written", 1, "", "!ld.global.u32 %r4, [%rd1+128];\n?ld.global.u32 %r4, [%rd1];", Uninitialised, "128 into the allocation"},
	{"local never written", 1, ".local .align 4 .b8 l[16];", "mov.u64 %rd2, l;\n?st.local.u32 [%rd2], 1;\nld.local.u32 %r4, [%rd2];", Uninitialised, "local address 0x0"},
	{"register on one path", 32, "", "setp.lt.u32 %p1, %r1, 5;\n@%p1 mov.u32 %r4, 1;\n?@!%p1 mov.u32 %r4, 2;\nadd.u32 %r5, %r4, 1;", Uninitialised, "%r4 is read before it is written"},
	{"neighbour without a barrier", 64, sharedWords, mySlot + "xor.b32 %r4, %r2, 128;\nst.shared.u32 [%r2], %r1;\n?bar.sync 0;\nld.shared.u32 %r5, [%r4];", "", "no barrier between|holds nothing"},
	{"neighbour in the warp", 32, sharedWords, mySlot + "xor.b32 %r4, %r2, 4;\nst.shared.u32 [%r2], %r1;\n?bar.warp.sync -1;\nld.shared.u32 %r5, [%r4];", Race, "no barrier between"},
	{"write after read", 64, sharedWords, mySlot + "xor.b32 %r4, %r2, 128;\nst.shared.u32 [%r2], %r1; bar.sync 0;\nld.shared.u32 %r5, [%r4];\n?bar.sync 0;\nadd.u32 %r6, %r1, 9; st.shared.u32 [%r2], %r6;", Race, "which warp"},
	{"two writers", 64, sharedWords, "mov.u32 %r2, s;\nshr.u32 %r5, %r1, 5;\n!st.shared.u32 [%r2], %r5;\n?st.shared.u32 [%r2], 3;", Race, "overwrites"},
	{"read by all, then written by one", 32, sharedWords, "mov.u32 %r2, s; setp.eq.u32 %p1, %r1, 31;\n@%p1 st.shared.u32 [%r2], 7;\nbar.warp.sync -1; ld.shared.u32 %r5, [%r2];\n?bar.warp.sync -1;\n@%p1 st.shared.u32 [%r2], 8;", Race, "which warp 0 lane"},
	{"half a warp that meets", 32, sharedWords, mySlot + "xor.b32 %r4, %r2, 64; xor.b32 %r6, %r2, 4;\nsetp.lt.u32 %p1, %r1, 16; selp.u32 %r7, 0xffff, 0xffff0000, %p1;\nst.shared.u32 [%r2], %r1; bar.warp.sync %r7; ld.shared.u32 %r5, [%r6];\n!ld.shared.u32 %r5, [%r4];", Race, "no barrier between"},
	{"half words of two threads", 32, sharedWords, "mov.u32 %r2, s; shl.b32 %r3, %r1, 1; add.u32 %r2, %r2, %r3; cvt.u16.u32 %h1, %r1;\nst.shared.u16 [%r2], %h1; bar.warp.sync -1; xor.b32 %r4, %r2, 2; ld.shared.u16 %h2, [%r4];\n!trap;", Trap, "stops itself"},
	{"named barriers order only who comes", 96, sharedWords, mySlot + "setp.lt.u32 %p1, %r1, 64; xor.b32 %r4, %r2, 128;\n@!%p1 bra C; st.shared.u32 [%r2], %r1;\n?bar.sync 1, 64;\n!bar.warp.sync -1;\nld.shared.u32 %r5, [%r4];\nC:", "", "no barrier between|holds nothing"},
	{"copy not awaited", 32, sharedWords, mySlot + "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;\ncp.async.ca.shared.global [%r2], [%rd2], 4; cp.async.commit_group;\n?cp.async.wait_group 0;\nld.shared.u32 %r4, [%r2];", Pending, "wait for its group"},
	{"copy of another warp without a barrier", 64, sharedWords, mySlot + "xor.b32 %r4, %r2, 128; and.b32 %r5, %r1, 31; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd2, %rd2, %rd1;\ncp.async.ca.shared.global [%r2], [%rd2], 4; cp.async.wait_all;\n?bar.sync 0;\nld.shared.u32 %r6, [%r4];", "", "no barrier between|holds nothing|under way"},
	{"copy over what is read", 64, sharedWords, mySlot + "xor.b32 %r4, %r2, 128; and.b32 %r5, %r1, 31; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd2, %rd2, %rd1;\nst.shared.u32 [%r2], 77; bar.sync 0; ld.shared.u32 %r6, [%r4];\n?bar.sync 0;\ncp.async.ca.shared.global [%r2], [%rd2], 4;", "", "overwrites|under way"},
	{"copy of too much", 1, sharedWords, mySlot + "!mov.u32 %r5, 8;\n?mov.u32 %r5, 0;\ncp.async.ca.shared.global [%r2], [%rd1], 4, %r5;", Illegal, "reads 8 bytes of a copy of 4"},
	{"mma under divergence", 32, "", "mov.b32 %r4, 0; mov.b32 %r5, 0; setp.lt.u32 %p1, %r1, 16;\n!@%p1 bra D;\nmma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r6,%r7}, {%r4}, {%r4}, {%r4,%r5};\nD:", Divergence, "it takes all 32"},
	{"barrier under divergence", 32, "", "setp.lt.u32 %p1, %r1, 16;\n!@%p1 bra E;\nbar.sync 0;\nE: add.u32 %r4, %r1, 1;", Divergence, "it is .aligned"},
	{"barrier with a guard", 32, "", "setp.lt.u32 %p1, %r1, 16;\n!@%p1 bar.sync 0;", Divergence, "guard holds in some lanes"},
	{"barrier that a warp misses", 64, "", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra F;\n!bar.sync 0, 64;\n?bar.sync 0, 32;\nF:", Deadlock, "barrier 0 has 1 warps of 2"},
	{"barriers that differ", 64, "", "shr.u32 %r4, %r1, 5;\n!bar.sync %r4;\n?bar.sync 0;", Deadlock, "every warp waits"},
	{"counts that differ", 64, "", "setp.lt.u32 %p1, %r1, 32; selp.u32 %r4, 32, 64, %p1;\n@%p1 bra G; bar.sync 1, 64; bra H;\nG:\n!bar.sync 0, 64; bar.sync 1, 32;\n?bar.sync 1, 64;\nH:", "", "waits|expects"},
	{"barrier 16", 32, "", "mov.u32 %r4, 16;\n!bar.sync %r4;", Barrier, "barriers 0 to 15"},
	{"count of half a warp", 32, "", "mov.u32 %r4, 16;\n!bar.sync 0, %r4;", Barrier, "no multiple"},
	{"shuffle with lanes that are elsewhere", 32, "", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra I;\n!shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; bra Z;\n?shfl.sync.bfly.b32 %r4, %r1, 1, 31, 0xffff0000; bra Z;\nI:\n!shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;\n?shfl.sync.bfly.b32 %r4, %r1, 1, 31, 0xffff;\nZ: add.u32 %r5, %r1, 1;", Divergence, "never come here"},
	{"shuffle from a lane that takes no part", 32, "", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra J;\n!shfl.sync.bfly.b32 %r4, %r1, 16, 31, 0xffff0000;\n?shfl.sync.bfly.b32 %r4, %r1, 8, 31, 0xffff0000;\nJ: add.u32 %r5, %r1, 1;", Illegal, "takes no part"},
	{"lane not in its own mask", 32, "", "!shfl.sync.bfly.b32 %r4, %r1, 1, 31, 0xffff;", Illegal, "not in its own member mask"},
	{"endless loop", 32, "", "L:\n!bra L;", Budget, "endless"},
	{"guard never written", 32, "", "?setp.lt.u32 %p7, %r1, 5;\n@%p7 st.global.u32 [%rd1], 1;", Uninitialised, "%p7 is read before"},
	{"guard of a branch never written", 32, "", "?setp.lt.u32 %p7, %r1, 5;\n@!%p7 bra K; add.u32 %r4, %r1, 1;\nK:", Uninitialised, "%p7 is read before"},
	{"guard written on one path", 32, "", "setp.lt.u32 %p1, %r1, 5; setp.ne.u32 %p7, %r1, %r1;\n!@%p1 bra M; bra N;\n!M: setp.lt.u32 %p6, %r1, 5;\n?setp.lt.u32 %p6, %r1, 5;\nN: @%p6 add.u32 %r4, %r1, 1;", Uninitialised, "%p6 is read before"},
	{"copy of nothing from a misaligned address", 1, sharedWords, mySlot + "!add.s64 %rd2, %rd1, 2;\n?add.s64 %rd2, %rd1, 4;\nmov.u32 %r5, 0; cp.async.ca.shared.global [%r2], [%rd2], 4, %r5;\ncp.async.wait_all;", Misaligned, "no multiple of 4"},
	{"over the end of a shared variable", 32, sharedWords + " .shared .align 16 .b8 t[1024];", mySlot + "mov.u32 %r4, t; st.shared.u32 [%r4], 1;\n!st.shared.u32 [%r2+1024], %r1;\n?st.shared.u32 [%r2+128], %r1;", OutOfBounds, "s has 1024 bytes from 0x400"},
	{"a row over the end of a shared variable", 32, sharedWords + " .shared .align 16 .b8 t[64];", "mov.u32 %r2, s; and.b32 %r4, %r1, 7; shl.b32 %r3, %r4, 4; add.u32 %r2, %r2, %r3; st.shared.v4.u32 [%r2], {%r4,%r4,%r4,%r4};\nbar.sync 0;\n!add.u32 %r2, %r2, 1024;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];", OutOfBounds, "s has 1024 bytes"},
	{"atomic on what holds nothing", 1, "", "!red.global.add.u32 [%rd1+128], 1;\n?red.global.add.u32 [%rd1], 1;", Uninitialised, "hold nothing"},
}

// variant picks the lines of a case: with its mistake, or right.
func variant(body string, mistake bool) string {
	var out []string
	for _, l := range strings.Split(body, "\n") {
		switch {
		case strings.HasPrefix(l, "!"):
			if mistake {
				out = append(out, l[1:])
			}
		case strings.HasPrefix(l, "?"):
			if !mistake {
				out = append(out, l[1:])
			}
		default:
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

func TestFaults(t *testing.T) {
	for _, c := range faultCases {
		t.Run(c.name, func(t *testing.T) {
			for _, mistake := range []bool{true, false} {
				if !mistake && !strings.Contains(c.body, "?") && c.kind != Budget {
					continue
				}
				for seed := range uint64(8) {
					r := newRig(t, kernelText(c.decl, variant(c.body, mistake)))
					r.opt = Options{Seed: seed, Budget: 10000, Async: Async(seed % 2), Apart: seed >= 4}
					if r.opt.Apart && mistake && c.name == "barrier under divergence" {
						continue // the others may have exited before, which is no mistake
					}
					p := r.alloc(256)
					if err := r.mem.Fill(p, 1, 128); err != nil {
						t.Fatal(err)
					}
					if !mistake {
						if err := r.mem.Fill(p, 1, 256); err != nil {
							t.Fatal(err)
						}
					}
					if strings.Contains(c.says, "past") || strings.Contains(c.says, "16 bytes") {
						_ = r.mem.Fill(p, 1, 256)
					}
					_, err := r.try("k", line(1), line(c.threads), 0, p)
					if !mistake {
						if err != nil && c.kind != Budget {
							t.Fatalf("seed %d: without its mistake: %v", seed, err)
						}
						continue
					}
					checkFault(t, err, c.kind, c.says)
				}
			}
		})
	}
}

// checkFault fails unless err is a fault of that kind, of any kind if it is empty, that says one of the alternatives and
// names a line.
func checkFault(t *testing.T, err error, kind Kind, says string) {
	t.Helper()
	if err == nil {
		t.Fatal("no fault was found")
	}
	said := false
	for _, s := range strings.Split(says, "|") {
		said = said || strings.Contains(err.Error(), s)
	}
	if got := faultOf(err); !said || got == "" || kind != "" && got != kind || !strings.Contains(err.Error(), ": line ") {
		t.Errorf("%v\nwant %q that says %q", err, kind, says)
	}
}

func TestLaunchErrors(t *testing.T) {
	r := newRig(t, strings.Replace(kernelText(".shared .b8 s[40000];", ""), "{", ".maxntid 64\n{", 1))
	p := r.alloc(16)
	for _, c := range []struct {
		name   string
		kernel string
		shape  Shape
		params []byte
		says   string
	}{
		{"kernel", "z", Shape{Grid: line(1), Block: line(1)}, make([]byte, 8), "not in the module, which has k"},
		{"grid", "k", Shape{Grid: [3]int{1, 70000, 1}, Block: line(1)}, make([]byte, 8), "dimension 1 must be from 1 to 65535"},
		{"block", "k", Shape{Grid: line(1), Block: [3]int{1, 0, 1}}, make([]byte, 8), "dimension 1"},
		{"threads", "k", Shape{Grid: line(1), Block: [3]int{64, 32, 1}}, make([]byte, 8), "at most 1024"},
		{"maxntid", "k", Shape{Grid: line(1), Block: line(96)}, make([]byte, 8), ".maxntid"},
		{"parameters", "k", Shape{Grid: line(1), Block: line(32)}, make([]byte, 4), "it takes 8"},
		{"shared", "k", Shape{Grid: line(1), Block: line(32), Shared: 150 << 10}, make([]byte, 8), "at most 166912"},
	} {
		if _, err := r.p.Launch(t.Context(), c.kernel, c.shape, c.params, Options{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.p.Launch(ctx, "k", Shape{Grid: line(4), Block: line(32)}, make([]byte, 8), Options{}); err == nil {
		t.Error("a cancelled launch did not fail")
	}
	if err := r.mem.Free(p); err != nil {
		t.Fatal(err)
	}
	if err := r.mem.Free(p); err == nil || !strings.Contains(err.Error(), "already freed") {
		t.Errorf("freeing twice: %v", err)
	}
}

// TestBlockRaces finds blocks that overwrite each other, and leaves alone those that an atomic orders.
func TestBlockRaces(t *testing.T) {
	r := newRig(t, kernelText("", "mov.u32 %r2, %ctaid.x; st.global.u32 [%rd1], %r2;"))
	r.opt = Options{Races: true, Workers: 1}
	_, err := r.try("k", line(2), line(1), 0, r.alloc(4))
	checkFault(t, err, Race, "which block 0 wrote")
	r = newRig(t, kernelText("", `atom.global.add.u32 %r3, [%rd1], 1; setp.ne.u32 %p1, %r3, 1; @%p1 bra END; st.global.u32 [%rd1+4], %r3; st.global.u32 [%rd1], 0;
END:`))
	r.opt = Options{Races: true, Workers: 1}
	p := r.put([]uint32{0, 0})
	r.run("k", line(2), line(1), p)
	equal(r, get[uint32](r, p, 2), []uint32{0, 1})
}

// raceCases are programs with one mistake each in their use of global memory, and without it.
var raceCases = []struct {
	name            string
	blocks, threads int
	decl, body      string
	kind            Kind
	says            string
}{
	{"neighbouring warp", 1, 64, "", mine + "st.global.u32 [%rd2], %r1;\n?bar.sync 0;\nld.global.u32 %r5, [%rd3];", Race, "with no barrier between"},
	{"read by all, then written by one", 1, 32, "", "setp.eq.u32 %p1, %r1, 31; ld.global.u32 %r5, [%rd1];\n?bar.warp.sync -1;\n@%p1 st.global.u32 [%rd1], 8;", Race, "no barrier between"},
	{"bytes of one word", 1, 32, "", "\n?cvt.u64.u32 %rd2, %r1; add.s64 %rd2, %rd2, %rd1; ld.global.u8 %r5, [%rd2]; add.u32 %r5, %r5, %r1; st.global.u8 [%rd2], %r5;", "", ""},
	{"neighbouring lane", 1, 64, "", mine + "xor.b32 %r4, %r1, 1; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd1; st.global.u32 [%rd2], %r1;\n?bar.warp.sync -1;\nld.global.u32 %r5, [%rd3];", Race, "with no barrier between"},
	{"write after read", 1, 64, "", mine + "ld.global.u32 %r5, [%rd3];\n?bar.sync 0;\nadd.u32 %r6, %r1, 9; st.global.u32 [%rd2], %r6;", Race, "with no barrier between"},
	{"write after read of another block", 2, 32, "", "mov.u32 %r4, %ctaid.x; setp.eq.u32 %p1, %r4, 0;\n!@!%p1 st.global.u32 [%rd1], %r1;\n@%p1 ld.global.u32 %r5, [%rd1];", Race, "which block 0 read"},
	{"part without a fence", 3, 1, "", lastBlock("", "membar.gl;"), Race, "wrote"},
	{"part read without a fence", 3, 1, "", lastBlock("membar.gl;", ""), Race, "wrote"},
	{"part with fences", 3, 1, "", "\n?" + lastBlock("membar.gl;", "membar.gl;"), "", ""},
	{"part with an atomic that orders", 3, 1, "", "\n?" + strings.Replace(lastBlock("", ""), "atom.", "atom.acq_rel.gpu.", 1), "", ""},
	{"fence for the block alone", 3, 1, "", lastBlock("membar.cta;", "membar.gl;"), Race, "wrote"},
	{"read-only load of what was written", 1, 64, "", mine + "st.global.u32 [%rd2], %r1; bar.sync 0;\n!ld.global.nc.u32 %r5, [%rd3];\n?ld.global.u32 %r5, [%rd3];", Race, "of what no thread writes"},
	{"source of a copy overwritten", 1, 32, sharedWords, mySlot + mine + "cp.async.ca.shared.global [%r2], [%rd2], 4;\n?cp.async.wait_all;\nst.global.u32 [%rd2], %r1;\ncp.async.wait_all;", Pending, "from which the copy"},
	{"atomics", 4, 64, "", "\n?red.global.add.u32 [%rd1], 1;", "", ""},
	{"atomic and plain", 1, 64, "", "setp.lt.u32 %p1, %r1, 32;\n@%p1 red.global.add.u32 [%rd1], 1;\n?bar.sync 0;\n@!%p1 ld.global.u32 %r5, [%rd1];", Race, "with no barrier between"},
}

// mine leaves in %rd2 the address of the thread's own word, and in %rd3 that of the other warp's.
const mine = "xor.b32 %r4, %r1, 32; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd1;\n"

// lastBlock has every block write its part and count itself, and the last one read the first part.
func lastBlock(release, acquire string) string {
	return "mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+16], %r4;" + release +
		"atom.global.add.u32 %r5, [%rd1], 1; setp.ne.u32 %p1, %r5, 0x01010103; @%p1 bra LAST;" + acquire +
		"ld.global.u32 %r6, [%rd1+16]; LAST: add.u32 %r7, %r1, 1;"
}

// TestRaces finds what threads do to global memory that nothing orders.
func TestRaces(t *testing.T) {
	for _, c := range raceCases {
		t.Run(c.name, func(t *testing.T) {
			for _, mistake := range []bool{true, false} {
				if mistake && c.kind == "" || !mistake && !strings.Contains(c.body, "?") {
					continue
				}
				for seed := range uint64(8) {
					r := newRig(t, kernelText(c.decl, variant(c.body, mistake)))
					r.opt = Options{Seed: seed, Async: Async(seed % 2), Races: true, Apart: seed >= 4}
					p := r.alloc(256)
					if err := r.mem.Fill(p, 1, 256); err != nil {
						t.Fatal(err)
					}
					_, err := r.try("k", line(c.blocks), line(c.threads), 0, p)
					if mistake {
						checkFault(t, err, c.kind, c.says)
					} else if err != nil {
						t.Fatalf("seed %d: without its mistake: %v", seed, err)
					}
				}
			}
		})
	}
}

// TestAbandoned counts the copies for which nobody waits.
func TestAbandoned(t *testing.T) {
	for wait, want := range map[string]int64{"": 32, "cp.async.wait_all;": 0} {
		r := newRig(t, kernelText(sharedWords, mySlot+mine+"cp.async.ca.shared.global [%r2], [%rd2], 4;"+wait))
		p := r.alloc(256)
		if err := r.mem.Fill(p, 1, 256); err != nil {
			t.Fatal(err)
		}
		s, err := r.try("k", line(1), line(32), 0, p)
		if err != nil || s.Abandoned != want {
			t.Errorf("%q: %d copies abandoned, %v; want %d", wait, s.Abandoned, err, want)
		}
	}
}

// TestLastBlock adds up in the block that comes last, as a split product does: every block writes its part, then counts
// itself with an atomic; the one that counts to the end reads all parts.
func TestLastBlock(t *testing.T) {
	const text = `
.version 7.0
.target sm_80
.address_size 64
.visible .entry split(.param .u64 parts, .param .u64 count, .param .u64 out)
{
	.reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p<4>;
	ld.param.u64 %d0, [parts]; ld.param.u64 %d1, [count]; ld.param.u64 %d2, [out];
	mov.u32 %r0, %ctaid.x; mov.u32 %r1, %nctaid.x; mad.lo.u32 %r2, %r0, 3, 1;
	mul.wide.u32 %d3, %r0, 4; add.u64 %d3, %d3, %d0;
	st.global.u32 [%d3], %r2;
	membar.gl;
	atom.global.add.u32 %r3, [%d1], 1;
	add.u32 %r3, %r3, 1; setp.ne.u32 %p0, %r3, %r1; @%p0 bra END;
	membar.gl;
	mov.u32 %r4, 0; mov.u32 %r5, 0;
LOOP:
	ld.global.u32 %r6, [%d0]; add.u32 %r4, %r4, %r6; add.u64 %d0, %d0, 4;
	add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra LOOP;
	st.global.u32 [%d2], %r4; st.global.u32 [%d1], 0;
END:
	ret;
}`
	const blocks = 37
	for _, opt := range []Options{{Workers: 4}, {Workers: 4, Races: true}, {Workers: 1, Async: Early}} {
		r := newRig(t, text)
		r.opt = opt
		count, out := r.put([]uint32{0}), r.alloc(4)
		for range 3 {
			parts := r.alloc(4 * blocks)
			r.run("split", line(blocks), line(1), parts, count, out)
			equal(r, get[uint32](r, out, 1), []uint32{3*blocks*(blocks-1)/2 + blocks})
			equal(r, get[uint32](r, count, 1), []uint32{0})
		}
	}
}
