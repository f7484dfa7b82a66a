package drivertest

import (
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// The methods of driver.Context: each logs its call, fails it if so told, or passes it on.

func (r *Recorder) Synchronize() error {
	if err := r.call("Synchronize"); err != nil {
		return err
	}
	return r.Context.Synchronize()
}

func (r *Recorder) Close() error {
	if err := r.call("Close"); err != nil {
		return err
	}
	return r.Context.Close()
}

func (r *Recorder) MemGetInfo() (uint64, uint64, error) {
	if err := r.call("MemGetInfo"); err != nil {
		return 0, 0, err
	}
	return r.Context.MemGetInfo()
}

func (r *Recorder) MemAlloc(n int) (driver.Ptr, error) {
	if err := r.call("MemAlloc", n); err != nil {
		return 0, err
	}
	return r.Context.MemAlloc(n)
}

func (r *Recorder) MemFree(p driver.Ptr) error {
	if err := r.call("MemFree", p); err != nil {
		return err
	}
	return r.Context.MemFree(p)
}

func (r *Recorder) MemHostAlloc(n int) ([]byte, error) {
	if err := r.call("MemHostAlloc", n); err != nil {
		return nil, err
	}
	return r.Context.MemHostAlloc(n)
}

func (r *Recorder) MemFreeHost(b []byte) error {
	if err := r.call("MemFreeHost", b); err != nil {
		return err
	}
	return r.Context.MemFreeHost(b)
}

func (r *Recorder) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	if err := r.call("MemcpyHtoD", dst, src); err != nil {
		return err
	}
	return r.Context.MemcpyHtoD(dst, src)
}

func (r *Recorder) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	if err := r.call("MemcpyDtoH", dst, src); err != nil {
		return err
	}
	return r.Context.MemcpyDtoH(dst, src)
}

func (r *Recorder) MemcpyHtoDAsync(dst driver.Ptr, src []byte, s driver.Stream) error {
	if err := r.call("MemcpyHtoDAsync", dst, src, s); err != nil {
		return err
	}
	return r.Context.MemcpyHtoDAsync(dst, src, s)
}

func (r *Recorder) MemcpyDtoHAsync(dst []byte, src driver.Ptr, s driver.Stream) error {
	if err := r.call("MemcpyDtoHAsync", dst, src, s); err != nil {
		return err
	}
	return r.Context.MemcpyDtoHAsync(dst, src, s)
}

func (r *Recorder) MemcpyDtoDAsync(dst, src driver.Ptr, n int, s driver.Stream) error {
	if err := r.call("MemcpyDtoDAsync", dst, src, n, s); err != nil {
		return err
	}
	return r.Context.MemcpyDtoDAsync(dst, src, n, s)
}

func (r *Recorder) MemsetD8Async(dst driver.Ptr, v uint8, n int, s driver.Stream) error {
	if err := r.call("MemsetD8Async", dst, v, n, s); err != nil {
		return err
	}
	return r.Context.MemsetD8Async(dst, v, n, s)
}

func (r *Recorder) MemsetD32Async(dst driver.Ptr, v uint32, n int, s driver.Stream) error {
	if err := r.call("MemsetD32Async", dst, v, n, s); err != nil {
		return err
	}
	return r.Context.MemsetD32Async(dst, v, n, s)
}

func (r *Recorder) ModuleLoad(image []byte, o driver.JITOptions) (driver.Module, driver.JITLog, error) {
	if err := r.call("ModuleLoad", image, o); err != nil {
		return 0, driver.JITLog{}, err
	}
	return r.Context.ModuleLoad(image, o)
}

func (r *Recorder) Link(ptx []byte, o driver.JITOptions) ([]byte, driver.JITLog, error) {
	if err := r.call("Link", ptx, o); err != nil {
		return nil, driver.JITLog{}, err
	}
	return r.Context.Link(ptx, o)
}

func (r *Recorder) ModuleUnload(m driver.Module) error {
	if err := r.call("ModuleUnload", m); err != nil {
		return err
	}
	return r.Context.ModuleUnload(m)
}

func (r *Recorder) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	if err := r.call("ModuleGetFunction", m, name); err != nil {
		return 0, err
	}
	return r.Context.ModuleGetFunction(m, name)
}

func (r *Recorder) FuncAttributes(f driver.Function) (driver.FuncAttributes, error) {
	if err := r.call("FuncAttributes", f); err != nil {
		return driver.FuncAttributes{}, err
	}
	return r.Context.FuncAttributes(f)
}

func (r *Recorder) FuncSetMaxDynamicShared(f driver.Function, n int) error {
	if err := r.call("FuncSetMaxDynamicShared", f, n); err != nil {
		return err
	}
	return r.Context.FuncSetMaxDynamicShared(f, n)
}

func (r *Recorder) MaxActiveBlocks(f driver.Function, threads, shared int) (int, error) {
	if err := r.call("MaxActiveBlocks", f, threads, shared); err != nil {
		return 0, err
	}
	return r.Context.MaxActiveBlocks(f, threads, shared)
}

func (r *Recorder) LaunchKernel(f driver.Function, l driver.LaunchConfig, s driver.Stream, params []byte) error {
	if err := r.call("LaunchKernel", f, l, s, params); err != nil {
		return err
	}
	return r.Context.LaunchKernel(f, l, s, params)
}

func (r *Recorder) StreamCreate(priority int) (driver.Stream, error) {
	if err := r.call("StreamCreate", priority); err != nil {
		return 0, err
	}
	return r.Context.StreamCreate(priority)
}

func (r *Recorder) StreamDestroy(s driver.Stream) error {
	if err := r.call("StreamDestroy", s); err != nil {
		return err
	}
	return r.Context.StreamDestroy(s)
}

func (r *Recorder) StreamSynchronize(s driver.Stream) error {
	if err := r.call("StreamSynchronize", s); err != nil {
		return err
	}
	return r.Context.StreamSynchronize(s)
}

func (r *Recorder) StreamQuery(s driver.Stream) (bool, error) {
	if err := r.call("StreamQuery", s); err != nil {
		return false, err
	}
	return r.Context.StreamQuery(s)
}

func (r *Recorder) StreamWaitEvent(s driver.Stream, e driver.Event) error {
	if err := r.call("StreamWaitEvent", s, e); err != nil {
		return err
	}
	return r.Context.StreamWaitEvent(s, e)
}

func (r *Recorder) EventCreate(timing bool) (driver.Event, error) {
	if err := r.call("EventCreate", timing); err != nil {
		return 0, err
	}
	return r.Context.EventCreate(timing)
}

func (r *Recorder) EventDestroy(e driver.Event) error {
	if err := r.call("EventDestroy", e); err != nil {
		return err
	}
	return r.Context.EventDestroy(e)
}

func (r *Recorder) EventRecord(e driver.Event, s driver.Stream) error {
	if err := r.call("EventRecord", e, s); err != nil {
		return err
	}
	return r.Context.EventRecord(e, s)
}

func (r *Recorder) EventRecordExternal(e driver.Event, s driver.Stream) error {
	if err := r.call("EventRecordExternal", e, s); err != nil {
		return err
	}
	return r.Context.EventRecordExternal(e, s)
}

func (r *Recorder) EventSynchronize(e driver.Event) error {
	if err := r.call("EventSynchronize", e); err != nil {
		return err
	}
	return r.Context.EventSynchronize(e)
}

func (r *Recorder) EventQuery(e driver.Event) (bool, error) {
	if err := r.call("EventQuery", e); err != nil {
		return false, err
	}
	return r.Context.EventQuery(e)
}

func (r *Recorder) EventElapsed(start, end driver.Event) (time.Duration, error) {
	if err := r.call("EventElapsed", start, end); err != nil {
		return 0, err
	}
	return r.Context.EventElapsed(start, end)
}

func (r *Recorder) CapturedNode(s driver.Stream) (driver.GraphNode, error) {
	if err := r.call("CapturedNode", s); err != nil {
		return 0, err
	}
	return r.Context.CapturedNode(s)
}

func (r *Recorder) GraphKernelNodes(g driver.Graph) ([]driver.KernelNode, error) {
	if err := r.call("GraphKernelNodes", g); err != nil {
		return nil, err
	}
	return r.Context.GraphKernelNodes(g)
}

func (r *Recorder) GraphDestroy(g driver.Graph) error {
	if err := r.call("GraphDestroy", g); err != nil {
		return err
	}
	return r.Context.GraphDestroy(g)
}

func (r *Recorder) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	if err := r.call("GraphInstantiate", g); err != nil {
		return 0, err
	}
	return r.Context.GraphInstantiate(g)
}

func (r *Recorder) GraphUpload(x driver.GraphExec, s driver.Stream) error {
	if err := r.call("GraphUpload", x, s); err != nil {
		return err
	}
	return r.Context.GraphUpload(x, s)
}

func (r *Recorder) GraphLaunch(x driver.GraphExec, s driver.Stream) error {
	if err := r.call("GraphLaunch", x, s); err != nil {
		return err
	}
	return r.Context.GraphLaunch(x, s)
}

func (r *Recorder) GraphExecUpdate(x driver.GraphExec, g driver.Graph) error {
	if err := r.call("GraphExecUpdate", x, g); err != nil {
		return err
	}
	return r.Context.GraphExecUpdate(x, g)
}

func (r *Recorder) GraphExecKernelNodeSetParams(x driver.GraphExec, n driver.KernelNode) error {
	if err := r.call("GraphExecKernelNodeSetParams", x, n); err != nil {
		return err
	}
	return r.Context.GraphExecKernelNodeSetParams(x, n)
}

func (r *Recorder) GraphExecDestroy(x driver.GraphExec) error {
	if err := r.call("GraphExecDestroy", x); err != nil {
		return err
	}
	return r.Context.GraphExecDestroy(x)
}
