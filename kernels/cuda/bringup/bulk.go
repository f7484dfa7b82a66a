package bringup

import (
	"bytes"
	"fmt"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// A bulk probe brings a buffer to shared memory, chunk by chunk, by the copies that a single thread starts and whose end an
// mbarrier tells (PTX ISA, "cp.async.bulk"). Each block has every so-manyth chunk, and a ring of stages for them.
type bulkRing struct {
	chunk  int // bytes
	stages int
}

var bulkRings = []bulkRing{{4 << 10, 8}, {16 << 10, 4}, {32 << 10, 4}}

const bulkThreads = 128

// bulkLimit is how long a kernel waits for a copy before it ends with an error, in nanoseconds: a barrier that never
// completes would hang it.
const bulkLimit = 2_000_000_000

// bulkBegin begins a kernel probe(x, y, chunks): barriers of one arrival each, and a copy for each stage. %r4 is the block,
// %r5 how many there are, %r6 the chunks, %r2 the stages' place.
func bulkBegin(r bulkRing, threads int) *bulkText {
	t := &bulkText{bulkRing: r}
	t.line(`.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 128 .b8 stages[];
.visible .entry probe(.param .u64 x, .param .u64 y, .param .u32 chunks)
.maxntid %d, 1, 1
{
	.reg .pred %%p<8>;
	.reg .b32 %%r<40>;
	.reg .b64 %%w<16>;
	.shared .align 8 .b8 full[%d];
	ld.param.u64 %%w0, [x];
	ld.param.u64 %%w1, [y];
	ld.param.u32 %%r6, [chunks];
	cvta.to.global.u64 %%w0, %%w0;
	cvta.to.global.u64 %%w1, %%w1;
	mov.u32 %%r1, %%tid.x;
	mov.u32 %%r2, stages;
	add.u32 %%r2, %%r2, 127;
	and.b32 %%r2, %%r2, 0xffffff80;
	mov.u32 %%r3, full;
	mov.u32 %%r4, %%ctaid.x;
	mov.u32 %%r5, %%nctaid.x;
	setp.ne.u32 %%p0, %%r1, 0;`, threads, 8*r.stages)
	t.line("\t@%%p0 bra READY;")
	for s := range r.stages {
		t.line("\tmbarrier.init.shared::cta.b64 [%%r3+%d], 1;", 8*s)
	}
	t.line("\tfence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;\n\tmov.u32 %%r7, %%r4;")
	for s := range r.stages {
		t.line("\tsetp.ge.u32 %%p1, %%r7, %%r6;\n\t@%%p1 bra READY;")
		t.line("\tadd.u32 %%r8, %%r3, %d;\n\tadd.u32 %%r9, %%r2, %d;", 8*s, s*r.chunk)
		t.load()
		t.line("\tadd.u32 %%r7, %%r7, %%r5;")
	}
	t.line("READY:")
	return t
}

// bulkText is the text of a kernel with a ring.
type bulkText struct {
	bulkRing
	rawText
}

// load starts the copy of chunk %r7 to %r9; the barrier at %r8 expects its bytes, and the one arrival is this thread's.
func (t *bulkText) load() {
	t.line(`	mul.wide.u32 %%w2, %%r7, %d;
	add.s64 %%w2, %%w0, %%w2;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r8], %d;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r9], [%%w2], %d, [%%r8];`, t.chunk, t.chunk, t.chunk)
}

// wait waits until the copy to stage %r10 is there, whose phase has parity %r11: %r8 becomes its barrier, %r9 its place.
func (t *bulkText) wait() {
	t.line(`	mad.lo.u32 %%r8, %%r10, 8, %%r3;
	mad.lo.u32 %%r9, %%r10, %d, %%r2;
	mov.u64 %%w3, %%globaltimer;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %%p2, [%%r8], %%r11;
	@%%p2 bra THERE;
	mov.u64 %%w4, %%globaltimer;
	sub.s64 %%w4, %%w4, %%w3;
	setp.lt.u64 %%p3, %%w4, %d;
	@%%p3 bra WAIT;
	trap;
THERE:`, t.chunk, bulkLimit)
}

// next goes on to the next stage, whose parity is the other one behind the last.
func (t *bulkText) next() {
	t.line(`	add.u32 %%r10, %%r10, 1;
	setp.eq.u32 %%p4, %%r10, %d;
	selp.b32 %%r10, 0, %%r10, %%p4;
	selp.b32 %%r13, 1, 0, %%p4;
	xor.b32 %%r11, %%r11, %%r13;`, t.stages)
}

// bulkReadText adds up the words of x; each thread writes its sum to y. A stage is loaded again when all threads have
// read it.
func bulkReadText(r bulkRing) string {
	t := bulkBegin(r, bulkThreads)
	t.line(`	bar.sync 0;
	mov.u32 %%r7, %%r4;
	mov.u32 %%r10, 0;
	mov.u32 %%r11, 0;
	mov.u32 %%r20, 0;
	mov.u32 %%r21, 0;
	mov.u32 %%r22, 0;
	mov.u32 %%r23, 0;
	shl.b32 %%r12, %%r1, 4;
	setp.ge.u32 %%p1, %%r7, %%r6;
	@%%p1 bra DONE;
CHUNK:`)
	t.wait()
	t.line("\tadd.u32 %%r14, %%r9, %%r12;")
	for at := 0; at < r.chunk; at += 16 * bulkThreads {
		t.line("\tld.shared.v4.u32 {%%r16, %%r17, %%r18, %%r19}, [%%r14+%d];", at)
		for i := range 4 {
			t.line("\tadd.u32 %%r%d, %%r%d, %%r%d;", 20+i, 20+i, 16+i)
		}
	}
	t.line("\tfence.proxy.async.shared::cta;\n\tbar.sync 0;")
	// The chunk that is so many stages ahead comes where this one was.
	t.line("\tmov.u32 %%r15, %%r7;\n\tmad.lo.u32 %%r7, %%r5, %d, %%r7;\n\tsetp.ge.u32 %%p5, %%r7, %%r6;\n\tor.pred %%p5, %%p5, %%p0;\n\t@%%p5 bra LOADED;", r.stages)
	t.load()
	t.line("LOADED:\n\tadd.u32 %%r7, %%r15, %%r5;")
	t.next()
	t.line(`	setp.lt.u32 %%p1, %%r7, %%r6;
	@%%p1 bra CHUNK;
DONE:
	add.u32 %%r20, %%r20, %%r21;
	add.u32 %%r22, %%r22, %%r23;
	add.u32 %%r20, %%r20, %%r22;
	mad.lo.u32 %%r12, %%r4, %d, %%r1;
	mul.wide.u32 %%w2, %%r12, 4;
	add.s64 %%w2, %%w1, %%w2;
	st.global.u32 [%%w2], %%r20;
	ret;
}`, bulkThreads)
	return t.String()
}

// bulkCopyText copies x to y by way of shared memory, with one thread a block that reads nothing itself. A stage is loaded
// again one turn after its store, when that has read it.
func bulkCopyText(r bulkRing) string {
	t := bulkBegin(r, 32)
	t.line(`	@%%p0 bra DONE;
	mov.u32 %%r7, %%r4;
	mov.u32 %%r10, 0;
	mov.u32 %%r11, 0;
	mov.u32 %%r20, %%r2;
	mov.u32 %%r21, %%r3;
	setp.ge.u32 %%p1, %%r7, %%r6;
	@%%p1 bra DONE;
CHUNK:`)
	t.wait()
	t.line(`	mul.wide.u32 %%w2, %%r7, %d;
	add.s64 %%w2, %%w1, %%w2;
	fence.proxy.async.shared::cta;
	cp.async.bulk.global.shared::cta.bulk_group [%%w2], [%%r9], %d;
	cp.async.bulk.commit_group;
	mov.u32 %%r22, %%r9;
	mov.u32 %%r23, %%r8;
	mov.u32 %%r15, %%r7;
	setp.eq.u32 %%p5, %%r7, %%r4;
	mad.lo.u32 %%r7, %%r5, %d, %%r7;
	setp.ge.u32 %%p6, %%r7, %%r6;
	or.pred %%p5, %%p5, %%p6;
	@%%p5 bra LOADED;
	cp.async.bulk.wait_group.read 1;
	mov.u32 %%r9, %%r20;
	mov.u32 %%r8, %%r21;`, r.chunk, r.chunk, r.stages-1)
	t.load()
	t.line("LOADED:\n\tmov.u32 %%r20, %%r22;\n\tmov.u32 %%r21, %%r23;\n\tadd.u32 %%r7, %%r15, %%r5;")
	t.next()
	t.line("\tsetp.lt.u32 %%p1, %%r7, %%r6;\n\t@%%p1 bra CHUNK;\n\tcp.async.bulk.wait_group 0;\nDONE:\n\tret;\n}")
	return t.String()
}

// bulks measures bulk copies to shared memory, and through it, and checks what arrives.
func (p *probe) bulks() error {
	if p.lacks("bulk copies to shared memory", false) {
		return nil
	}
	return p.bulkCopies(deviceCopy)
}

// bulkCopies measures them on n bytes, a multiple of each ring's chunks.
func (p *probe) bulkCopies(n int) error {
	from, err := p.allocate(n)
	if err != nil {
		return err
	}
	to, err := p.allocate(n)
	if err != nil {
		return err
	}
	sum, err := p.fill(from, n)
	if err != nil {
		return err
	}
	device := p.backend.Context().Device()
	for _, r := range bulkRings {
		shared := r.chunk*r.stages + 128
		blocks := device.Multiprocessors * max(1, device.SharedPerSM/(shared+2048)) // as many as fit
		c := bulkCopy{n: n, blocks: blocks, to: to, params: rawParams([]driver.Ptr{from, to}, n/r.chunk)}
		k, err := p.raw(bulkReadText(r), bulkThreads, shared)
		if err != nil {
			return err
		}
		c.moved, c.check = n, func() error {
			got, err := p.sums(to, blocks*bulkThreads)
			if err == nil && got != sum {
				err = fmt.Errorf("the words add up to %#x, want %#x", got, sum)
			}
			return err
		}
		if err := p.bulk(k, c, fmt.Sprintf("to shared memory, %d x %d bytes", r.stages, r.chunk)); err != nil {
			return err
		}
		if k, err = p.raw(bulkCopyText(r), 32, shared); err != nil {
			return err
		}
		c.moved, c.check = 2*n, func() error { return p.same(to, from, n) }
		if err := p.bulk(k, c, fmt.Sprintf("through shared memory, %d x %d bytes", r.stages, r.chunk)); err != nil {
			return err
		}
	}
	return nil
}

// bulkCopy is a launch of a bulk kernel.
type bulkCopy struct {
	n, blocks int
	to        driver.Ptr // n bytes, some of which it writes
	params    []byte
	moved     int // bytes that are read and written
	check     func() error
}

// bulk clears what a kernel writes, runs it once, checks what it did, and measures it.
func (p *probe) bulk(k *rawKernel, c bulkCopy, name string) error {
	launch, f := func() error { return k.launch(c.blocks, c.params) }, k.finding(name)
	var d time.Duration
	err := p.backend.Context().MemsetD8Async(c.to, 0xff, c.n, p.stream.Handle())
	if err == nil {
		err = launch()
	}
	if err == nil {
		err = p.stream.Wait()
	}
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		if lost(err) {
			return err
		}
		f.Error = err.Error()
	} else if d, err = p.measure(launch); err != nil {
		return err
	} else {
		f.Bytes, f.US, f.GBs = c.n, microseconds(d), perSecond(float64(c.moved), d)
	}
	p.report(f)
	return nil
}

// same compares n bytes of two places, in samples that are spread over them.
func (p *probe) same(to, from driver.Ptr, n int) error {
	const sample, samples = 32 << 10, 64
	want, got := make([]byte, sample), make([]byte, sample)
	for i := range samples {
		at := driver.Ptr((n - sample) / (samples - 1) * i &^ 15)
		if err := p.backend.Context().MemcpyDtoH(want, from+at); err != nil {
			return err
		}
		if err := p.backend.Context().MemcpyDtoH(got, to+at); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("bytes from %d on were not copied", at)
		}
	}
	return nil
}
