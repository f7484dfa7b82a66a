//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/ebitengine/purego"
)

// TestTable compares the tables with what the published headers declare, name by name and argument by argument.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			name, args, _ := strings.Cut(line, " ")
			declared[name] = args
		}
	}
	seen := map[string]bool{}
	for _, f := range append(append([]prototype{}, functions...), nvmlFunctions...) {
		args, ok := declared[f.name]
		if !ok || args != f.args {
			t.Errorf("%s(%s): the header has (%s)", f.name, f.args, args)
		}
		if seen[f.name] {
			t.Errorf("%s is there twice", f.name)
		}
		seen[f.name] = true
	}
	if len(seen) != len(declared) {
		t.Errorf("the tables have %d functions, testdata/functions.txt %d", len(seen), len(declared))
	}
}

// TestStubHasTable finds every function of the table in the stub, whose prototypes a C compiler checks.
func TestStubHasTable(t *testing.T) {
	newStub(t)
	lib, err := openLibrary("libcuda.so.1", "TRTUI_LIBCUDA", functions)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions {
		if _, err := purego.Dlsym(lib.handle, f.name); err != nil {
			t.Error(err)
		}
	}
}

// TestArguments calls every method: what arrives in C, and what comes back, is in the golden file.
func TestArguments(t *testing.T) {
	stub := newStub(t)
	c := open(t, 1)
	var b strings.Builder
	fmt.Fprintf(&b, "Open\n\t%s\n", strings.Join(stub.lines(), "\n\t"))
	for _, st := range steps {
		stub.reset(1)
		got, err := st.call(c)
		fmt.Fprintf(&b, "%s -> %v", st.method, got)
		if err != nil {
			fmt.Fprintf(&b, ", %v", err)
		}
		b.WriteByte('\n')
		for _, line := range stub.lines() {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	golden.RequireEqual(t, b.String())
}

// TestErrors lets the function behind every method fail: first as out of memory, then with a result without a name, then
// with one after which the context is beyond use.
func TestErrors(t *testing.T) {
	stub := newStub(t)
	var b strings.Builder
	for _, st := range steps {
		if st.fails == "" {
			continue
		}
		for _, r := range []Result{OutOfMemory, 12345, IllegalAddress} {
			c := open(t, 0)
			stub.fail(st.fails, 1, int32(r))
			_, err := st.call(c)
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%s: %v is no *Error", st.method, err)
				continue
			}
			if e.Result != r || e.Call != st.fails || e.OutOfMemory() != (r == OutOfMemory) || e.Sticky() != (r == IllegalAddress) {
				t.Errorf("%s: %+v", st.method, e)
			}
			fmt.Fprintf(&b, "%s: %v\n", st.method, err)
			stub.reset(1)
			_ = c.Close()
			reset := strings.Contains(strings.Join(stub.lines(), "\n"), "cuDevicePrimaryCtxReset_v2")
			if want := r == IllegalAddress && st.method != "Close"; reset != want {
				t.Errorf("%s, %v: the device is reset: %v, want %v", st.method, r, reset, want)
			}
		}
	}
	golden.RequireEqual(t, b.String())
}

// TestThreadWithoutContext has the context refused by a thread: the error names that call, and not the one that was to come.
func TestThreadWithoutContext(t *testing.T) {
	stub := newStub(t)
	c := open(t, 0)
	stub.fail("cuCtxSetCurrent", 1, int32(InvalidContext))
	if _, err := c.MemAlloc(8); !errors.Is(err, &Error{Call: "cuCtxSetCurrent", Result: InvalidContext}) {
		t.Errorf("got %v", err)
	}
}

// TestBuild asks NVML for the driver's build, which a device without NVML lacks.
func TestBuild(t *testing.T) {
	newStub(t)
	for lib, want := range map[string]string{"/nonexistent": "12.4", build(t, "nvml.c"): "12.4 build 535.104.05"} {
		t.Setenv("TRTUI_LIBNVML", lib)
		if got := open(t, 0).Device().Compiler(); got != want {
			t.Errorf("with %s: %q, want %q", lib, got, want)
		}
	}
}

// TestStepsCoverContext keeps the two tests above complete.
func TestStepsCoverContext(t *testing.T) {
	have := map[string]bool{}
	for _, st := range steps {
		have[st.method] = true
	}
	it := reflect.TypeFor[Context]()
	for i := range it.NumMethod() {
		if name := it.Method(i).Name; !have[name] {
			t.Errorf("no step calls %s", name)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	newStub(t)
	old := build(t, "cuda.c", "-DOLD")
	text := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(text, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		env     map[string]string
		ordinal int
		want    string
	}{
		{"wrong path", map[string]string{"TRTUI_LIBCUDA": "/nonexistent/libcuda.so"}, 0, "TRTUI_LIBCUDA: /nonexistent/libcuda.so"},
		{"not a library", map[string]string{"TRTUI_LIBCUDA": text}, 0, "TRTUI_LIBCUDA: " + text},
		{"another library", map[string]string{"TRTUI_LIBCUDA": build(t, "nvml.c")}, 0, "is not an NVIDIA driver library: it has no cuInit"},
		{"old driver", map[string]string{"STUB_VERSION": "11040"}, 0,
			"no CUDA: the NVIDIA driver is too old: it is for CUDA 11.4; update it to one for CUDA 12.0 or newer"},
		{"no device", map[string]string{"STUB_DEVICES": "0"}, 0, "no NVIDIA device is visible"},
		{"no such device", nil, 2, "CUDA device 2: the driver shows 2, numbered from 0"},
		{"negative device", nil, -1, "CUDA device -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			if _, err := Open(c.ordinal); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("missing function", func(t *testing.T) {
		t.Setenv("TRTUI_LIBCUDA", old)
		c := open(t, 0)
		err := c.GraphExecUpdate(x, g)
		if want := "too old: " + old + " has no cuGraphExecUpdate_v2; update it to one for CUDA 12.0 or newer"; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		l := oneWarp
		if l.Overlap = true; c.LaunchKernel(f, l, s, nil) != nil {
			t.Error("a hint that the driver does not know is more than a hint")
		}
		l.Cluster = [3]int{1, 1, 1}
		if err := c.LaunchKernel(f, l, s, nil); err == nil || !strings.Contains(err.Error(), "has no cuLaunchKernelEx; update it") {
			t.Errorf("clusters: %v", err)
		}
		if err := c.Synchronize(); err != nil {
			t.Errorf("what the driver has still works: %v", err)
		}
	})
}

func TestNoLibrary(t *testing.T) {
	_, err := openLibrary("libtrtui-absent.so.9", "TRTUI_ABSENT", nil)
	if want := "libtrtui-absent.so.9 is not on this machine: install the NVIDIA driver, or set TRTUI_ABSENT to the library's path"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestProbe(t *testing.T) {
	stub := newStub(t)
	devices, err := Probe()
	if err != nil || len(devices) != 2 {
		t.Fatalf("%v, %v", devices, err)
	}
	if got, want := devices[1].String(), "Stub 1, sm_90, 150.0 GiB, driver CUDA 12.4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if stub.retained() != 0 {
		t.Error("probing retained a context")
	}
	stub.fail("cuDeviceGetAttribute", 5, int32(InvalidValue))
	if devices, err := Probe(); err != nil || devices[0].BlocksPerSM != 0 || devices[1].BlocksPerSM == 0 {
		t.Errorf("with an attribute that the driver does not know: %+v, %v", devices, err)
	}
	stub.fail("cuDeviceGetAttribute", 1, int32(InvalidValue))
	if _, err := Probe(); err == nil || !strings.Contains(err.Error(), "CUDA device 0: cuDeviceGetAttribute (attribute 75)") {
		t.Errorf("without a compute capability: %v", err)
	}
	stub.fail("cuInit", 1, int32(Unknown))
	if _, err := Probe(); !errors.Is(err, &Error{Result: Unknown}) {
		t.Errorf("cuInit failed, but got %v", err)
	}
}

func TestRelease(t *testing.T) {
	stub := newStub(t)
	c, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := stub.retained(); n != 0 {
		t.Errorf("%d contexts are retained", n)
	}
	if err := c.Synchronize(); !errors.Is(err, &Error{Result: InvalidContext}) {
		t.Errorf("after Close: %v", err)
	}
	stub.fail("cuCtxGetStreamPriorityRange", 1, int32(InvalidValue))
	if _, err := Open(0); err == nil || stub.retained() != 0 {
		t.Errorf("a failed Open: %v, %d contexts retained", err, stub.retained())
	}
}

// TestBounds is about arguments that would be cut off on their way, and work on nothing.
func TestBounds(t *testing.T) {
	stub := newStub(t)
	c := open(t, 0)
	stub.reset(1)
	one := [3]int{1, 1, 1}
	for name, err := range map[string]error{
		"grid":        c.LaunchKernel(f, LaunchConfig{Grid: [3]int{1 << 32, 1, 1}, Block: one, Shared: 0}, s, nil),
		"block":       c.LaunchKernel(f, LaunchConfig{Grid: one, Block: [3]int{1, -1, 1}, Shared: 0}, s, nil),
		"shared":      c.LaunchKernel(f, LaunchConfig{Grid: one, Block: one, Shared: -1}, s, nil),
		"cluster":     c.LaunchKernel(f, LaunchConfig{Grid: one, Block: one, Cluster: [3]int{1, 1 << 32, 1}}, s, nil),
		"params":      c.LaunchKernel(f, LaunchConfig{Grid: one, Block: one, Shared: 0}, s, make([]byte, MaxParams+1)),
		"node params": c.GraphExecKernelNodeSetParams(x, KernelNode{Grid: one, Block: one, Params: make([]byte, MaxParams+1)}),
		"set":         c.MemsetD8Async(p, 0, -1, s),
		"copy":        c.MemcpyDtoDAsync(p, q, -1, s),
	} {
		if !errors.Is(err, &Error{Result: InvalidValue}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"set 0": c.MemsetD32Async(p, 0, 0, s), "copy 0": c.MemcpyDtoDAsync(p, q, 0, s),
		"upload 0": c.MemcpyHtoD(p, nil), "download 0": c.MemcpyDtoH(nil, p),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if lines := stub.lines(); lines != nil {
		t.Errorf("calls were made: %q", lines)
	}
}

func TestCompilerErrors(t *testing.T) {
	newStub(t)
	c := open(t, 0)
	_, log, err := c.ModuleLoad([]byte("bad text"), JITOptions{})
	if want := "cuModuleLoadDataEx (8 bytes): the driver's compiler refused the PTX (CUDA_ERROR_INVALID_PTX, 218)\n" +
		"ptxas line 3; fatal : unexpected token"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if log.Info == "" || log.Error == "" || log.Wall.Microseconds() != 12500 {
		t.Errorf("log %+v", log)
	}
	if _, _, err := c.Link([]byte("bad text"), JITOptions{}); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("got %v", err)
	}
	if _, err := c.ModuleGetFunction(m, "absent"); err == nil || !strings.Contains(err.Error(), "(absent)") {
		t.Errorf("got %v", err)
	}
	for _, image := range [][]byte{nil, {}} {
		if _, _, err := c.ModuleLoad(image, JITOptions{}); !errors.Is(err, &Error{Result: InvalidValue}) {
			t.Errorf("an empty image: %v", err)
		}
	}
}

// TestMigration has goroutines that change threads all the time allocate, copy and launch on two devices at once; the stub
// refuses a call on a thread without the context. Run it with -race.
func TestMigration(t *testing.T) {
	stub := newStub(t)
	stub.reset(0)
	contexts := []Context{open(t, 0), open(t, 1)}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			c := contexts[i%2]
			for j := range 200 {
				if err := errors.Join(c.LaunchKernel(f, oneWarp, s, []byte{byte(i), byte(j)}),
					c.MemcpyHtoDAsync(p, []byte{byte(i)}, s), c.Synchronize()); err != nil {
					t.Error(err)
					return
				}
				runtime.Gosched()
			}
		})
	}
	for range 50 { // the stub has one capture at a time
		_, err := contexts[0].Capture(s, func() error {
			runtime.Gosched()
			return contexts[0].LaunchKernel(f, oneWarp, s, nil)
		})
		if err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// TestCapturePanic: a capture that is left by a panic is ended.
func TestCapturePanic(t *testing.T) {
	stub := newStub(t)
	c := open(t, 0)
	stub.reset(1)
	func() {
		defer func() { _ = recover() }()
		_, _ = c.Capture(s, func() error { panic("in the recording") })
	}()
	if got := strings.Join(stub.lines(), " "); !strings.Contains(got, "cuStreamEndCapture") || !strings.Contains(got, "cuGraphDestroy") {
		t.Errorf("calls: %s", got)
	}
	failed := errors.New("failed")
	if g, err := c.Capture(s, func() error { return failed }); !errors.Is(err, failed) || g != 0 {
		t.Errorf("graph %v, %v", g, err)
	}
}

func TestLaunchDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	stub := newStub(t)
	stub.reset(0)
	c := open(t, 0)
	overlapping := launch.Config()
	overlapping.Overlap = true
	if n := testing.AllocsPerRun(1000, func() {
		if err := c.LaunchKernel(f, launch.Config(), s, launch.Params); err != nil {
			t.Fatal(err)
		}
		if err := c.LaunchKernel(f, overlapping, s, launch.Params); err != nil {
			t.Fatal(err)
		}
		if err := c.GraphLaunch(x, s); err != nil {
			t.Fatal(err)
		}
		if err := c.EventRecord(e, s); err != nil {
			t.Fatal(err)
		}
		if err := c.MemcpyHtoDAsync(p, launch.Params, s); err != nil {
			t.Fatal(err)
		}
		if err := c.StreamSynchronize(s); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLaunch(b *testing.B) {
	stub := newStub(b)
	stub.reset(0)
	c := open(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.LaunchKernel(f, launch.Config(), s, launch.Params); err != nil {
			b.Fatal(err)
		}
	}
}
