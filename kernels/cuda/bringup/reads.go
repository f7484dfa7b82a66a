package bringup

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// A read probe adds up the words of a buffer, again and again. The buffer has a part for each block, of turns of readTurn
// bytes; in each pass a block reads the part behind the one before, so that no multiprocessor finds in its own cache what
// it read.
const (
	readThreads = 256
	readLoads   = 4 // of 16 bytes each, in flight for a thread
	readTurn    = readThreads * readLoads * 16
)

// readText is the kernel probe(x, y, turns, passes). Each thread writes the sum of what it read to y. Loads pass by the
// cache of the multiprocessor.
func readText() string {
	t := &rawText{}
	t.line(`.version 7.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 x, .param .u64 y, .param .u32 turns, .param .u32 passes)
.maxntid %d, 1, 1
{
	.reg .pred %%p<4>;
	.reg .b32 %%r<48>;
	.reg .b64 %%w<8>;
	ld.param.u64 %%w0, [x];
	ld.param.u64 %%w1, [y];
	ld.param.u32 %%r0, [turns];
	ld.param.u32 %%r1, [passes];
	cvta.to.global.u64 %%w0, %%w0;
	cvta.to.global.u64 %%w1, %%w1;
	mov.u32 %%r2, %%tid.x;
	mov.u32 %%r3, %%ctaid.x;
	mov.u32 %%r4, %%nctaid.x;
	mul.wide.u32 %%w2, %%r2, 16;
	add.s64 %%w0, %%w0, %%w2;
	mul.lo.u32 %%r5, %%r0, %d;
	mov.u32 %%r6, %%r3;
	mov.u32 %%r7, 0;`, readThreads, readTurn)
	for i := range 4 {
		t.line("\tmov.u32 %%r%d, 0;", 10+i)
	}
	t.line(`PASS:
	mul.wide.u32 %%w3, %%r6, %%r5;
	add.s64 %%w3, %%w0, %%w3;
	mov.u32 %%r8, 0;
TURN:`)
	for i := range readLoads {
		t.line("\tld.global.cg.v4.u32 {%%r%d, %%r%d, %%r%d, %%r%d}, [%%w3+%d];", 20+4*i, 21+4*i, 22+4*i, 23+4*i, i*readThreads*16)
	}
	for i := range 4 * readLoads {
		t.line("\tadd.u32 %%r%d, %%r%d, %%r%d;", 10+i%4, 10+i%4, 20+i)
	}
	t.line(`	add.s64 %%w3, %%w3, %d;
	add.u32 %%r8, %%r8, 1;
	setp.lt.u32 %%p0, %%r8, %%r0;
	@%%p0 bra TURN;
	add.u32 %%r6, %%r6, 1;
	setp.eq.u32 %%p1, %%r6, %%r4;
	selp.b32 %%r6, 0, %%r6, %%p1;
	add.u32 %%r7, %%r7, 1;
	setp.lt.u32 %%p2, %%r7, %%r1;
	@%%p2 bra PASS;
	add.u32 %%r10, %%r10, %%r11;
	add.u32 %%r12, %%r12, %%r13;
	add.u32 %%r10, %%r10, %%r12;
	mad.lo.u32 %%r9, %%r3, %d, %%r2;
	mul.wide.u32 %%w4, %%r9, 4;
	add.s64 %%w4, %%w1, %%w4;
	st.global.u32 [%%w4], %%r10;
	ret;
}`, readTurn, readThreads)
	return t.String()
}

// reads measures how fast a buffer is read that stays in the L2, half of it and less, and one that does not.
func (p *probe) reads() error {
	device := p.backend.Context().Device()
	blocks := 4 * device.Multiprocessors
	type buffer struct {
		name          string
		bytes, passes int
	}
	buffers := []buffer{{"L2, an eighth of it", device.L2Bytes / 8, 256}, {"L2, half of it", device.L2Bytes / 2, 64}, {"memory", deviceCopy, 1}}
	if p.small {
		blocks, buffers = 2, []buffer{{"L2, a little of it", 2 * readTurn, 3}}
	}
	k, err := p.raw(readText(), readThreads, 0)
	if err != nil {
		return err
	}
	to, err := p.allocate(4 * blocks * readThreads)
	if err != nil {
		return err
	}
	for _, b := range buffers {
		turns := max(1, b.bytes/(blocks*readTurn))
		n := turns * blocks * readTurn
		from, err := p.allocate(n)
		if err != nil {
			return err
		}
		sum, err := p.fill(from, n)
		if err != nil {
			return err
		}
		params := rawParams([]driver.Ptr{from, to}, turns, b.passes)
		d, err := p.measure(func() error { return k.launch(blocks, params) })
		if err != nil {
			return err
		}
		f := k.finding(b.name)
		f.Bytes, f.Count, f.US = n, b.passes, microseconds(d)
		if got, err := p.sums(to, blocks*readThreads); err != nil {
			return err
		} else if want := sum * uint32(b.passes); got != want {
			f.Error = fmt.Sprintf("the words add up to %#x, want %#x", got, want)
		} else {
			f.GBs = perSecond(float64(n)*float64(b.passes), d)
		}
		p.report(f)
	}
	return nil
}
