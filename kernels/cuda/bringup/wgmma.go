package bringup

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// A wgmma probe lets warpgroups of a block multiply tiles of shared memory again and again (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions"): each has a tile of A of its own, 64 rows, all the same tile of B, 256 rows, both of
// 128 bytes a row, which are the depth, swizzled by 128 bytes. A round is the product of both tiles: 4 instructions.
const (
	wgmmaRows, wgmmaColumns = 64, 256
	wgmmaRow                = 128 // bytes
	wgmmaSteps              = 4   // instructions a round, of 32 bytes of the depth each
	wgmmaUnroll             = 4   // rounds in a group, which is what is waited for
	wgmmaSums               = wgmmaColumns / 2
	wgmmaRounds             = 4096
	wgmmaShared             = 128 << 10 // more than half of an SM's: one block each
)

// wgmmaType is a type of operands.
type wgmmaType struct {
	name  string
	shape string // of the instruction
	types string // of sums, A and B, in the instruction
	tail  string // operands behind the one that says whether to add
	bytes int    // of an element
	// restart begins each round's sums anew: those of e4m3 have too few bits for many rounds, and kernels add them up
	// elsewhere after so many instructions.
	restart bool
}

var wgmmaTypes = []wgmmaType{
	{"f16", "m64n256k16", "f32.f16.f16", ", 1, 1, 0, 0", 2, false},
	{"e4m3", "m64n256k32", "f32.e4m3.e4m3", ", 1, 1", 1, true},
	{"s8", "m64n256k32", "s32.s8.s8", "", 1, false},
}

// wgmmaText is the kernel: probe(x, y, cycles, rounds) for a multiple of wgmmaUnroll. x has the rows of A and then of B; each
// thread writes its sums to y, and the first one to cycles how long the products took.
func wgmmaText(w wgmmaType, groups int) string {
	t, threads := &rawText{}, 128*groups
	wgmmaTiles(t, groups)
	wgmmaDescriptors(t, groups)
	for i := range wgmmaSums {
		t.line("\tmov.b32 %%d%d, 0;", i)
	}
	t.line("\tsetp.eq.u32 %%p1, %%r0, %%r0;") // add
	t.line("\tsetp.eq.u32 %%p2, %%r0, 0;")    // begin anew; an assembler that knew would drop what nobody adds to
	t.line("\tmov.u32 %%r15, 0;")
	t.line("\tmov.u64 %%w4, %%clock64;")
	t.line("ROUND:")
	t.line("\twgmma.fence.sync.aligned;")
	var sums []string
	for i := range wgmmaSums {
		sums = append(sums, fmt.Sprintf("%%d%d", i))
	}
	for i := range wgmmaUnroll * wgmmaSteps {
		s, add := i%wgmmaSteps, "%p1"
		if w.restart && s == 0 {
			add = "%p2"
		}
		t.line("\twgmma.mma_async.sync.aligned.%s.%s {%s}, %%a%d, %%b%d, %s%s;", w.shape, w.types, strings.Join(sums, ", "), s, s, add, w.tail)
	}
	t.line("\twgmma.commit_group.sync.aligned;")
	t.line("\twgmma.wait_group.sync.aligned 1;")
	t.line("\tadd.u32 %%r15, %%r15, %d;", wgmmaUnroll)
	t.line("\tsetp.lt.u32 %%p0, %%r15, %%r0;")
	t.line("\t@%%p0 bra ROUND;")
	t.line("\twgmma.wait_group.sync.aligned 0;")
	t.line("\tmov.u64 %%w5, %%clock64;")
	// The sums, and the time.
	t.line("\tmov.u32 %%r16, %%ctaid.x;")
	t.line("\tmad.lo.u32 %%r17, %%r16, %d, %%r1;", threads)
	t.line("\tmul.wide.u32 %%w6, %%r17, %d;", 4*wgmmaSums)
	t.line("\tadd.s64 %%w6, %%w1, %%w6;")
	for i := 0; i < wgmmaSums; i += 4 {
		t.line("\tst.global.v4.b32 [%%w6+%d], {%s};", 4*i, strings.Join(sums[i:i+4], ", "))
	}
	t.line("\tor.b32 %%r18, %%r16, %%r1;")
	t.line("\tsetp.ne.u32 %%p3, %%r18, 0;")
	t.line("\t@%%p3 bra END;")
	t.line("\tsub.s64 %%w5, %%w5, %%w4;")
	t.line("\tst.global.u64 [%%w2], %%w5;")
	t.line("END:\n\tret;\n}")
	return t.String()
}

// wgmmaTiles begins the kernel: it copies the rows to shared memory, 16 bytes at a time, chunk j of row r to place j^(r&7) of
// it, and makes them visible to the products. %r2 is where they begin, at a multiple of 1024 bytes.
func wgmmaTiles(t *rawText, groups int) {
	threads := 128 * groups
	t.line(`.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 128 .b8 tiles[];
.visible .entry probe(.param .u64 x, .param .u64 y, .param .u64 cycles, .param .u32 rounds)
.maxntid %d, 1, 1
.minnctapersm 1
{
	.reg .pred %%p<4>;
	.reg .b32 %%r<32>, %%d<%d>;
	.reg .b64 %%w<16>, %%a<%d>, %%b<%d>;
	ld.param.u64 %%w0, [x];
	ld.param.u64 %%w1, [y];
	ld.param.u64 %%w2, [cycles];
	ld.param.u32 %%r0, [rounds];
	cvta.to.global.u64 %%w0, %%w0;
	cvta.to.global.u64 %%w1, %%w1;
	cvta.to.global.u64 %%w2, %%w2;
	mov.u32 %%r1, %%tid.x;
	mov.u32 %%r2, tiles;
	add.u32 %%r2, %%r2, 1023;
	and.b32 %%r2, %%r2, 0xfffffc00;
	mov.u32 %%r3, %%r1;
COPY:
	mul.wide.u32 %%w3, %%r3, 16;
	add.s64 %%w3, %%w0, %%w3;
	ld.global.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%w3];
	shr.u32 %%r8, %%r3, 3;
	xor.b32 %%r9, %%r8, %%r3;
	and.b32 %%r9, %%r9, 7;
	shl.b32 %%r9, %%r9, 4;
	shl.b32 %%r8, %%r8, 7;
	add.u32 %%r8, %%r8, %%r9;
	add.u32 %%r8, %%r8, %%r2;
	st.shared.v4.b32 [%%r8], {%%r4, %%r5, %%r6, %%r7};
	add.u32 %%r3, %%r3, %d;
	setp.lt.u32 %%p0, %%r3, %d;
	@%%p0 bra COPY;
	fence.proxy.async.shared::cta;
	bar.sync 0;`, threads, wgmmaSums, wgmmaSteps, wgmmaSteps, threads, (groups*wgmmaRows+wgmmaColumns)*wgmmaRow/16)
}

// wgmmaDescriptors makes %a0 and so on and %b0 and so on, one for each step of the depth: the address in units of 16 bytes, 1 for
// the step along a row, which swizzling leaves no say, 1024 bytes from 8 rows to the next, and swizzling by 128 bytes. The
// group's number is the same in all lanes: it comes from one.
func wgmmaDescriptors(t *rawText, groups int) {
	t.line("\tshr.u32 %%r10, %%r1, 7;")
	t.line("\tshfl.sync.idx.b32 %%r10, %%r10, 0, 31, -1;")
	t.line("\tmad.lo.u32 %%r11, %%r10, %d, %%r2;", wgmmaRows*wgmmaRow)
	t.line("\tadd.u32 %%r12, %%r2, %d;", groups*wgmmaRows*wgmmaRow)
	t.line("\tmov.b32 %%r14, 0x%x;", 1024>>4|1<<30)
	for i, name := range []string{"a", "b"} {
		t.line("\tand.b32 %%r13, %%r%d, 0x3ffff;", 11+i)
		t.line("\tshr.u32 %%r13, %%r13, 4;")
		t.line("\tor.b32 %%r13, %%r13, 0x10000;")
		t.line("\tmov.b64 %%%s0, {%%r13, %%r14};", name)
		for s := 1; s < wgmmaSteps; s++ {
			t.line("\tadd.s64 %%%s%d, %%%s0, %d;", name, s, name, s*wgmmaRow/wgmmaSteps/16)
		}
	}
}

// encode returns a small integer as an element.
func (w wgmmaType) encode(v int) []byte {
	switch w.name {
	case "f16":
		return binary.LittleEndian.AppendUint16(nil, numeric.F32ToF16(float32(v)))
	case "e4m3":
		sign := byte(0)
		if v < 0 {
			sign, v = 0x80, -v
		}
		return []byte{sign | byte(7+v>>1)<<3} // 1 and 2
	}
	return []byte{byte(v)}
}

// operands returns the rows of A and B, of 1, 2 and their negatives, as values and as the kernel takes them.
func (w wgmmaType) operands(groups int) (values []int, data []byte) {
	rnd := rand.New(rand.NewPCG(11, uint64(groups)))
	for range (groups*wgmmaRows + wgmmaColumns) * wgmmaRow / w.bytes {
		v := (1 + rnd.IntN(2)) * (1 - 2*rnd.IntN(2))
		values = append(values, v)
		data = append(data, w.encode(v)...)
	}
	return values, data
}

// wanted returns the sums of a block after so many rounds, thread by thread.
func (w wgmmaType) wanted(values []int, groups, rounds int) []int {
	depth := wgmmaRow / w.bytes
	if w.restart {
		rounds = 1
	}
	b := values[groups*wgmmaRows*depth:]
	var sums []int
	for thread := range 128 * groups {
		lane := thread % 32
		for i := range wgmmaSums {
			row := thread/128*wgmmaRows + thread%128/32*16 + lane/4 + 8*(i%4/2)
			column := 8*(i/4) + 2*(lane%4) + i%2
			sum := 0
			for k := range depth {
				sum += values[row*depth+k] * b[column*depth+k]
			}
			sums = append(sums, sum*rounds)
		}
	}
	return sums
}

// check compares the sums of a block.
func (w wgmmaType) check(data []byte, want []int) error {
	wrong, first := 0, ""
	for i, v := range want {
		word := binary.LittleEndian.Uint32(data[4*i:])
		got := float64(int32(word))
		if w.name != "s8" {
			got = float64(math.Float32frombits(word))
		}
		if got != float64(v) {
			if wrong++; wrong == 1 {
				first = fmt.Sprintf("sum %d of thread %d is %v, want %d", i%wgmmaSums, i/wgmmaSums, got, v)
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d sums are wrong; %s", wrong, len(want), first)
	}
	return nil
}

// wgmmaStep measures the products of a type, by one warpgroup of a multiprocessor and by two.
func wgmmaStep(w wgmmaType) func(*probe) error {
	return func(p *probe) error {
		if p.lacks(w.shape+" "+w.name, true) {
			return nil
		}
		for _, groups := range []int{1, 2} {
			if err := p.wgmma(w, groups); err != nil {
				return fmt.Errorf("%d warpgroups: %w", groups, err)
			}
		}
		return nil
	}
}

// wgmma reports a rate, if the sums of few and of many rounds are right.
func (p *probe) wgmma(w wgmmaType, groups int) error {
	ctx, device := p.backend.Context(), p.backend.Context().Device()
	k, err := p.raw(wgmmaText(w, groups), 128*groups, wgmmaShared)
	if err != nil {
		return err
	}
	r := wgmmaRun{wgmmaType: w, kernel: k, groups: groups, blocks: device.Multiprocessors}
	values, data := w.operands(groups)
	r.values = values
	for i, n := range []int{len(data), r.blocks * r.size(), 8} {
		if r.mem[i], err = p.allocate(n); err != nil {
			return err
		}
	}
	if err := ctx.MemcpyHtoD(r.mem[0], data); err != nil {
		return err
	}
	f := k.finding(fmt.Sprintf("%s %s, %d x 128 threads", w.shape, w.name, groups))
	f.Count = wgmmaRounds
	var took time.Duration
	for _, rounds := range []int{wgmmaUnroll, wgmmaRounds} {
		var wrong error
		if took, wrong, err = r.run(p, rounds); err != nil {
			return err
		}
		if wrong != nil {
			f.US, f.Error = microseconds(took), fmt.Sprintf("after %d rounds %v", rounds, wrong)
			p.report(f)
			return nil
		}
	}
	var cycles [8]byte
	if err := ctx.MemcpyDtoH(cycles[:], r.mem[2]); err != nil {
		return err
	}
	instructions := float64(wgmmaRounds * wgmmaSteps * groups)
	perInstruction := 2.0 * wgmmaRows * wgmmaColumns * wgmmaRow / wgmmaSteps / float64(w.bytes)
	f.US, f.TFLOPs = microseconds(took), perSecond(instructions*perInstruction*float64(r.blocks), took)/1e3
	n := float64(binary.LittleEndian.Uint64(cycles[:]))
	f.Value = fmt.Sprintf("%s; an instruction in %.1f cycles of a multiprocessor, at about %.0f MHz",
		shareOfPeak(device, w.bytes, f.TFLOPs), n/instructions, n/max(1, f.US))
	p.report(f)
	return nil
}

// wgmmaRun is a kernel with its operands.
type wgmmaRun struct {
	wgmmaType
	kernel         *rawKernel
	groups, blocks int
	values         []int
	mem            [3]driver.Ptr // x, y and cycles
}

// size is that of a block's sums in bytes.
func (r wgmmaRun) size() int { return 128 * r.groups * 4 * wgmmaSums }

// run measures so many rounds, and compares the first block's sums and the last one's.
func (r wgmmaRun) run(p *probe, rounds int) (took time.Duration, wrong, err error) {
	ctx, params := p.backend.Context(), rawParams(r.mem[:], rounds)
	if err = ctx.MemsetD8Async(r.mem[1], 0xff, r.blocks*r.size(), p.stream.Handle()); err != nil {
		return 0, nil, err
	}
	launch := func() error { return r.kernel.launch(r.blocks, params) }
	if rounds == wgmmaRounds {
		took, err = p.measure(launch)
	} else if err = launch(); err == nil {
		err = p.stream.Wait()
	}
	if err != nil {
		return 0, nil, err
	}
	want := r.wanted(r.values, r.groups, rounds)
	for _, block := range []int{0, r.blocks - 1} {
		got := make([]byte, r.size())
		if err := ctx.MemcpyDtoH(got, r.mem[1]+driver.Ptr(block*r.size())); err != nil {
			return 0, nil, err
		}
		if wrong := r.check(got, want); wrong != nil {
			return took, fmt.Errorf("block %d: %w", block, wrong), nil
		}
	}
	return took, nil, nil
}

// hopperPeaks are the dense peaks of products of halves that NVIDIA's datasheets state, in TFLOP/s, by what is in the
// device's name; those of bytes are twice as much. The first that fits counts.
var hopperPeaks = []struct {
	name   string
	tflops float64
}{{"NVL", 835.5}, {"PCIe", 756}, {"H100", 989.4}, {"H200", 989.4}} // GH200 has the last one, too

// shareOfPeak says what share of the datasheet's peak a rate is; where the datasheet is not known, of what the multiprocessors
// do at the highest clock.
func shareOfPeak(d driver.Device, bytes int, tflops float64) string {
	for _, h := range hopperPeaks {
		if strings.Contains(d.Name, h.name) {
			peak := h.tflops * 2 / float64(bytes)
			return fmt.Sprintf("%.1f %% of the datasheet's %.0f", 100*tflops/peak, peak)
		}
	}
	const halvesPerCycle = 4096 // operations of a multiprocessor
	peak := halvesPerCycle * 2 / float64(bytes) * float64(d.Multiprocessors) * float64(d.ClockKHz) / 1e9
	return fmt.Sprintf("%.1f %% of the %.0f at the highest clock", 100*tflops/max(1, peak), peak)
}
