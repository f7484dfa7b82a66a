//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
)

var stubs struct {
	sync.Mutex
	dir  string
	made map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if stubs.dir != "" {
		_ = os.RemoveAll(stubs.dir)
	}
	os.Exit(code)
}

// build compiles a stub library of testdata/stub once, and returns its path.
func build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc to build the stub library with")
	}
	stubs.Lock()
	defer stubs.Unlock()
	name := strings.Join(append([]string{source}, flags...), "")
	if path, ok := stubs.made[name]; ok {
		return path
	}
	if stubs.dir == "" {
		if stubs.dir, err = os.MkdirTemp("", "stub"); err != nil {
			t.Fatal(err)
		}
		stubs.made = map[string]string{}
	}
	path := filepath.Join(stubs.dir, name+".so")
	args := append([]string{"-O1", "-shared", "-fPIC", "-o", path, "testdata/stub/" + source, "-lpthread"}, flags...)
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	stubs.made[name] = path
	return path
}

// stub is the stub libcuda, and what steers it.
type stub struct {
	reset    func(log int32)
	fail     func(name string, after, result int32)
	log      func(to []byte, n uint64) uint64
	pending  func(n int32)
	calls    func() int64
	retain   func(n int32)
	retained func() int32
}

// newStub makes the stub this test's libcuda.
func newStub(t testing.TB) *stub {
	t.Helper()
	path := build(t, "cuda.c")
	t.Setenv("TRTUI_LIBCUDA", path)
	t.Setenv("TRTUI_LIBNVML", "/nonexistent/libnvidia-ml.so")
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{}
	purego.RegisterLibFunc(&s.reset, handle, "stub_reset")
	purego.RegisterLibFunc(&s.fail, handle, "stub_fail")
	purego.RegisterLibFunc(&s.log, handle, "stub_log")
	purego.RegisterLibFunc(&s.pending, handle, "stub_pending")
	purego.RegisterLibFunc(&s.calls, handle, "stub_calls")
	purego.RegisterLibFunc(&s.retain, handle, "stub_retain")
	purego.RegisterLibFunc(&s.retained, handle, "stub_retained")
	s.reset(1)
	s.retain(0)
	return s
}

// UseStub is newStub for package driver_test.
func UseStub(t testing.TB) { newStub(t) }

// lines is the log since the last reset, without the calls that make the context current.
func (s *stub) lines() []string {
	buf := make([]byte, 1<<20)
	text := string(buf[:s.log(buf, uint64(len(buf)))])
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "cuCtxSetCurrent(") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func open(t testing.TB, ordinal int) Context {
	t.Helper()
	c, err := Open(ordinal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// step is a method of Context called with arguments of its own.
type step struct {
	method string
	fails  string // the function whose failure is the method's
	call   func(c Context) (any, error)
}

func none(err error) (any, error) { return nil, err }

// The handles and addresses are any: the stub does not look at them. Sizes are such that 32 bits would cut them off.
const (
	m  = Module(0x100000001)
	f  = Function(0x100000002)
	s  = Stream(0x100000003)
	e  = Event(0x100000004)
	e2 = Event(0x100000005)
	g  = Graph(0x100000006)
	x  = GraphExec(0x100000007)
	p  = Ptr(0x700000000100)
	q  = Ptr(0x700000000200)
	gb = 5<<30 + 3
)

// oneWarp is the least launch.
var oneWarp = LaunchConfig{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}}

var launch = KernelNode{Node: 0x100000008, Function: f, Grid: [3]int{1 << 30, 2, 3}, Block: [3]int{4, 5, 6}, Shared: 77777,
	Params: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}}

var steps = []step{
	{"Device", "", func(c Context) (any, error) {
		type fields Device // without String
		return fmt.Sprintf("%+v", fields(c.Device())), nil
	}},
	{"Synchronize", "cuCtxSynchronize", func(c Context) (any, error) { return none(c.Synchronize()) }},
	{"MemGetInfo", "cuMemGetInfo_v2", func(c Context) (any, error) {
		free, total, err := c.MemGetInfo()
		return []uint64{free, total}, err
	}},
	{"MemAlloc", "cuMemAlloc_v2", func(c Context) (any, error) { return c.MemAlloc(gb) }},
	{"MemFree", "cuMemFree_v2", func(c Context) (any, error) { return none(c.MemFree(p)) }},
	{"MemHostAlloc", "cuMemHostAlloc", func(c Context) (any, error) {
		b, err := c.MemHostAlloc(100)
		return len(b), err
	}},
	{"MemFreeHost", "cuMemFreeHost", func(c Context) (any, error) { return none(c.MemFreeHost(nil)) }},
	{"MemcpyHtoD", "cuMemcpyHtoD_v2", func(c Context) (any, error) { return none(c.MemcpyHtoD(p, []byte{1, 2, 3})) }},
	{"MemcpyDtoH", "cuMemcpyDtoH_v2", func(c Context) (any, error) { return none(c.MemcpyDtoH(make([]byte, 5), p)) }},
	{"MemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2", func(c Context) (any, error) {
		return none(c.MemcpyHtoDAsync(p, []byte{4, 5, 6, 7}, s))
	}},
	{"MemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2", func(c Context) (any, error) {
		return none(c.MemcpyDtoHAsync(make([]byte, 6), p, s))
	}},
	{"MemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2", func(c Context) (any, error) { return none(c.MemcpyDtoDAsync(p, q, gb, s)) }},
	{"MemsetD8Async", "cuMemsetD8Async", func(c Context) (any, error) { return none(c.MemsetD8Async(p, 0xfe, gb, s)) }},
	{"MemsetD32Async", "cuMemsetD32Async", func(c Context) (any, error) {
		return none(c.MemsetD32Async(p, 0xfedcba98, gb, s))
	}},
	{"ModuleLoad", "cuModuleLoadDataEx", func(c Context) (any, error) {
		m, log, err := c.ModuleLoad([]byte(".entry k"), JITOptions{MaxRegisters: 128, OptLevel: 3, LineInfo: true})
		return fmt.Sprintf("%#x %+v", m, log), err
	}},
	{"Link", "cuLinkAddData_v2", func(c Context) (any, error) {
		cubin, log, err := c.Link([]byte(".entry k"), JITOptions{})
		return fmt.Sprintf("%q %+v", cubin, log), err
	}},
	{"ModuleUnload", "cuModuleUnload", func(c Context) (any, error) { return none(c.ModuleUnload(m)) }},
	{"ModuleGetFunction", "cuModuleGetFunction", func(c Context) (any, error) { return c.ModuleGetFunction(m, "gemm") }},
	{"FuncAttributes", "cuFuncGetAttribute", func(c Context) (any, error) { return c.FuncAttributes(f) }},
	{"FuncSetMaxDynamicShared", "cuFuncSetAttribute", func(c Context) (any, error) {
		return none(c.FuncSetMaxDynamicShared(f, 232448))
	}},
	{"MaxActiveBlocks", "cuOccupancyMaxActiveBlocksPerMultiprocessor", func(c Context) (any, error) {
		return c.MaxActiveBlocks(f, 256, 98304)
	}},
	{"LaunchKernel", "cuLaunchKernel", func(c Context) (any, error) {
		return none(c.LaunchKernel(f, launch.Config(), s, launch.Params))
	}},
	{"LaunchKernel overlapping", "cuLaunchKernelEx", func(c Context) (any, error) {
		l := launch.Config()
		l.Overlap = true
		return none(c.LaunchKernel(f, l, s, launch.Params))
	}},
	{"LaunchKernel in clusters", "cuLaunchKernelEx", func(c Context) (any, error) {
		l := launch.Config()
		l.Overlap, l.Cluster = true, [3]int{4, 2, 1}
		return none(c.LaunchKernel(f, l, s, launch.Params))
	}},
	{"StreamCreate", "cuStreamCreateWithPriority", func(c Context) (any, error) { return c.StreamCreate(-99) }},
	{"StreamDestroy", "cuStreamDestroy_v2", func(c Context) (any, error) { return none(c.StreamDestroy(s)) }},
	{"StreamSynchronize", "cuStreamSynchronize", func(c Context) (any, error) { return none(c.StreamSynchronize(s)) }},
	{"StreamQuery", "cuStreamQuery", func(c Context) (any, error) { return c.StreamQuery(s) }},
	{"StreamWaitEvent", "cuStreamWaitEvent", func(c Context) (any, error) { return none(c.StreamWaitEvent(s, e)) }},
	{"EventCreate", "cuEventCreate", func(c Context) (any, error) { return c.EventCreate(false) }},
	{"EventDestroy", "cuEventDestroy_v2", func(c Context) (any, error) { return none(c.EventDestroy(e)) }},
	{"EventRecord", "cuEventRecord", func(c Context) (any, error) { return none(c.EventRecord(e, s)) }},
	{"EventRecordExternal", "cuEventRecordWithFlags", func(c Context) (any, error) {
		return none(c.EventRecordExternal(e, s))
	}},
	{"EventSynchronize", "cuEventSynchronize", func(c Context) (any, error) { return none(c.EventSynchronize(e)) }},
	{"EventQuery", "cuEventQuery", func(c Context) (any, error) { return c.EventQuery(e) }},
	{"EventElapsed", "cuEventElapsedTime", func(c Context) (any, error) { return c.EventElapsed(e, e2) }},
	{"Capture", "cuStreamEndCapture", func(c Context) (any, error) {
		return c.Capture(s, func() error { return c.LaunchKernel(f, oneWarp, s, nil) })
	}},
	{"CapturedNode", "cuStreamGetCaptureInfo_v2", func(c Context) (node any, err error) {
		_, cerr := c.Capture(s, func() error {
			if err := c.LaunchKernel(f, LaunchConfig{Grid: launch.Grid, Block: launch.Block, Shared: 5}, s, launch.Params); err != nil {
				return err
			}
			node, err = c.CapturedNode(s)
			return err
		})
		return node, cerr
	}},
	{"GraphKernelNodes", "cuGraphGetNodes", func(c Context) (any, error) {
		g, err := c.Capture(s, func() error {
			return errors.Join(c.LaunchKernel(f, LaunchConfig{Grid: launch.Grid, Block: launch.Block, Shared: 5}, s, launch.Params),
				c.LaunchKernel(f, LaunchConfig{Grid: [3]int{1, 2, 3}, Block: [3]int{4, 5, 6}}, s, nil))
		})
		if err != nil {
			return nil, err
		}
		return c.GraphKernelNodes(g)
	}},
	{"GraphDestroy", "cuGraphDestroy", func(c Context) (any, error) { return none(c.GraphDestroy(g)) }},
	{"GraphInstantiate", "cuGraphInstantiateWithFlags", func(c Context) (any, error) { return c.GraphInstantiate(g) }},
	{"GraphUpload", "cuGraphUpload", func(c Context) (any, error) { return none(c.GraphUpload(x, s)) }},
	{"GraphLaunch", "cuGraphLaunch", func(c Context) (any, error) { return none(c.GraphLaunch(x, s)) }},
	{"GraphExecUpdate", "cuGraphExecUpdate_v2", func(c Context) (any, error) { return none(c.GraphExecUpdate(x, g)) }},
	{"GraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2", func(c Context) (any, error) {
		return none(c.GraphExecKernelNodeSetParams(x, launch))
	}},
	{"GraphExecDestroy", "cuGraphExecDestroy", func(c Context) (any, error) { return none(c.GraphExecDestroy(x)) }},
	{"Close", "cuDevicePrimaryCtxRelease_v2", func(c Context) (any, error) { return none(c.Close()) }},
}
