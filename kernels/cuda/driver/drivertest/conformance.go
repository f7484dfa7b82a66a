package drivertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Text is a module with one kernel, add: of n words at p, each grows by v. Its parameters are p (u64), v and n (u32).
const Text = `.version 7.0
.target sm_80
.address_size 64

.visible .entry add(.param .u64 add_p, .param .u32 add_v, .param .u32 add_n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [add_p];
	ld.param.u32 %r1, [add_v];
	ld.param.u32 %r2, [add_n];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r6, %r3, %r4, %r5;
	setp.ge.u32 %p1, %r6, %r2;
	@%p1 bra DONE;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.u32 %rd3, %r6, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.u32 %r7, [%rd4];
	add.s32 %r7, %r7, %r1;
	st.global.u32 [%rd4], %r7;
DONE:
	ret;
}
`

// Conformance checks what every context does alike: memory, code, streams, events, graphs. runs tells whether launches run
// kernels, as on a GPU and on the simulator, or are accepted only.
func Conformance(t *testing.T, c driver.Context, runs bool) {
	t.Run("memory", func(t *testing.T) { checkMemory(t, c) })
	t.Run("code", func(t *testing.T) { checkCode(t, c) })
	t.Run("stream", func(t *testing.T) { checkStream(t, c, runs) })
	t.Run("graph", func(t *testing.T) { checkGraph(t, c, runs) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// alloc returns device memory of n bytes that the test gives back.
func alloc(t *testing.T, c driver.Context, n int) driver.Ptr {
	t.Helper()
	p, err := c.MemAlloc(n)
	must(t, err)
	if p == 0 || p%256 != 0 {
		t.Errorf("MemAlloc: address %#x", uint64(p))
	}
	t.Cleanup(func() { must(t, c.MemFree(p)) })
	return p
}

func newStream(t *testing.T, c driver.Context) driver.Stream {
	t.Helper()
	s, err := c.StreamCreate(-1)
	must(t, err)
	t.Cleanup(func() { must(t, c.StreamDestroy(s)) })
	return s
}

func checkMemory(t *testing.T, c driver.Context) {
	const n = 1003
	p, q, s := alloc(t, c, n), alloc(t, c, n), newStream(t, c)
	in := make([]byte, n)
	for i := range in {
		in[i] = byte(7 * i)
	}
	out, err := c.MemHostAlloc(n)
	must(t, err)
	must(t, c.MemcpyHtoD(p, in))
	must(t, c.MemcpyDtoDAsync(q, p, n, s))
	must(t, c.MemsetD8Async(q+1, 0xee, 2, s))
	must(t, c.MemsetD32Async(q+8, 0x04030201, 2, s))
	must(t, c.MemcpyDtoHAsync(out, q, s))
	must(t, c.StreamSynchronize(s))
	copy(in[1:], "\xee\xee")
	copy(in[8:], "\x01\x02\x03\x04\x01\x02\x03\x04")
	if !bytes.Equal(in, out) {
		t.Errorf("through the device came %x..., want %x...", out[:20], in[:20])
	}
	must(t, c.MemcpyHtoDAsync(p+500, out[:503], s))
	must(t, c.StreamSynchronize(s))
	half := make([]byte, 503)
	must(t, c.MemcpyDtoH(half, p+500))
	if !bytes.Equal(half, in[:503]) {
		t.Error("a part at an offset did not come back")
	}
	must(t, c.MemFreeHost(out))
	free, total, err := c.MemGetInfo()
	if err != nil || free > total || total == 0 {
		t.Errorf("MemGetInfo: %d of %d, %v", free, total, err)
	}
	for _, bad := range []int{0, -1} {
		if _, err := c.MemAlloc(bad); !errors.Is(err, &driver.Error{Result: driver.InvalidValue}) {
			t.Errorf("MemAlloc(%d): %v", bad, err)
		}
	}
}

// add loads the kernel by way of a cubin, where the context makes one.
func add(t *testing.T, c driver.Context) driver.Function {
	t.Helper()
	image := []byte(Text)
	if cubin, _, err := c.Link(image, driver.JITOptions{}); err == nil {
		image = cubin
	} else {
		t.Logf("no cubin: %v", err)
	}
	m, _, err := c.ModuleLoad(image, driver.JITOptions{})
	must(t, err)
	t.Cleanup(func() { must(t, c.ModuleUnload(m)) })
	f, err := c.ModuleGetFunction(m, "add")
	must(t, err)
	return f
}

func checkCode(t *testing.T, c driver.Context) {
	m, log, err := c.ModuleLoad([]byte(Text), driver.JITOptions{})
	must(t, err)
	t.Logf("compiled in %v: %s", log.Wall, log.Info)
	f, err := c.ModuleGetFunction(m, "add")
	must(t, err)
	a, err := c.FuncAttributes(f)
	if err != nil || a.Registers < 1 || a.MaxThreads < 32 {
		t.Errorf("FuncAttributes: %+v, %v", a, err)
	}
	must(t, c.FuncSetMaxDynamicShared(f, 64<<10))
	if n, err := c.MaxActiveBlocks(f, 128, 1024); err != nil || n < 1 {
		t.Errorf("MaxActiveBlocks: %d, %v", n, err)
	}
	if _, err := c.ModuleGetFunction(m, "absent"); !errors.Is(err, &driver.Error{Result: driver.NotFound}) {
		t.Errorf("a kernel that is not there: %v", err)
	}
	must(t, c.ModuleUnload(m))
	if _, log, err := c.ModuleLoad([]byte("bad text"), driver.JITOptions{}); err == nil {
		t.Error("bad text was loaded")
	} else {
		t.Logf("bad text: %v\n%s", err, log.Error)
	}
}

// words is n words of device memory that the kernel counts in.
type words struct {
	c   driver.Context
	f   driver.Function
	p   driver.Ptr
	n   int
	sum uint32 // what every word has to be
}

func newWords(t *testing.T, c driver.Context) *words {
	w := &words{c: c, f: add(t, c), n: 1000}
	w.p = alloc(t, c, 4*w.n)
	must(t, c.MemcpyHtoD(w.p, make([]byte, 4*w.n)))
	return w
}

// node is a launch that adds v.
func (w *words) node(v uint32) driver.KernelNode {
	params := binary.LittleEndian.AppendUint64(nil, uint64(w.p))
	params = binary.LittleEndian.AppendUint32(params, v)
	params = binary.LittleEndian.AppendUint32(params, uint32(w.n))
	return driver.KernelNode{Function: w.f, Grid: [3]int{(w.n + 127) / 128, 1, 1}, Block: [3]int{128, 1, 1}, Params: params}
}

func (w *words) launch(s driver.Stream, v uint32) error {
	n := w.node(v)
	return w.c.LaunchKernel(n.Function, n.Config(), s, n.Params)
}

// check waits for s and compares every word with the sum, where kernels run.
func (w *words) check(t *testing.T, s driver.Stream, runs bool) {
	t.Helper()
	must(t, w.c.StreamSynchronize(s))
	got := make([]byte, 4*w.n)
	must(t, w.c.MemcpyDtoH(got, w.p))
	for i := 0; i < w.n && runs; i++ {
		if v := binary.LittleEndian.Uint32(got[4*i:]); v != w.sum {
			t.Fatalf("word %d is %d, want %d", i, v, w.sum)
		}
	}
}

func checkStream(t *testing.T, c driver.Context, runs bool) {
	w, s, other := newWords(t, c), newStream(t, c), newStream(t, c)
	var events [2]driver.Event
	for i := range events {
		e, err := c.EventCreate(true)
		must(t, err)
		t.Cleanup(func() { must(t, c.EventDestroy(e)) })
		events[i] = e
	}
	must(t, c.EventRecord(events[0], s))
	must(t, w.launch(s, 5))
	must(t, c.EventRecord(events[1], s))
	must(t, c.StreamWaitEvent(other, events[1]))
	must(t, w.launch(other, 6))
	w.sum = 11
	w.check(t, other, runs)
	must(t, c.EventSynchronize(events[1]))
	for _, e := range events {
		if done, err := c.EventQuery(e); !done || err != nil {
			t.Errorf("EventQuery: %v, %v", done, err)
		}
	}
	if d, err := c.EventElapsed(events[0], events[1]); err != nil || d < 0 {
		t.Errorf("EventElapsed: %v, %v", d, err)
	}
	must(t, c.Synchronize())
	if done, err := c.StreamQuery(s); !done || err != nil {
		t.Errorf("StreamQuery: %v, %v", done, err)
	}
}

func checkGraph(t *testing.T, c driver.Context, runs bool) {
	w, s := newWords(t, c), newStream(t, c)
	capture := func(v uint32) (g driver.Graph, node driver.GraphNode) {
		g, err := c.Capture(s, func() (err error) {
			if err = w.launch(s, v); err == nil {
				node, err = c.CapturedNode(s)
			}
			return err
		})
		must(t, err)
		t.Cleanup(func() { must(t, c.GraphDestroy(g)) })
		return g, node
	}
	g, node := capture(10)
	w.check(t, s, runs) // a capture runs nothing
	nodes, err := c.GraphKernelNodes(g)
	if err != nil || len(nodes) != 1 || nodes[0].Node != node || nodes[0].Function != w.f || nodes[0].Block != [3]int{128, 1, 1} {
		t.Errorf("GraphKernelNodes: %+v, %v; want node %v", nodes, err, node)
	}
	x, err := c.GraphInstantiate(g)
	must(t, err)
	t.Cleanup(func() { must(t, c.GraphExecDestroy(x)) })
	launch := func(v uint32) {
		t.Helper()
		must(t, c.GraphLaunch(x, s))
		w.sum += v
		w.check(t, s, runs)
	}
	must(t, c.GraphUpload(x, s))
	launch(10)
	launch(10)
	n := w.node(300)
	n.Node = node
	must(t, c.GraphExecKernelNodeSetParams(x, n))
	launch(300)
	again, _ := capture(4000)
	must(t, c.GraphExecUpdate(x, again))
	launch(4000)

	failed := errors.New("recording failed")
	if _, err := c.Capture(s, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a failed recording: %v", err)
	}
	must(t, w.launch(s, 1)) // and the stream is as before
	w.sum++
	w.check(t, s, runs)
}
