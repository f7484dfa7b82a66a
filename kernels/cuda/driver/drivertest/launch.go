package drivertest

import (
	"slices"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// ModuleLoad takes PTX text, or what Link made of it.
func (m *Memory) ModuleLoad(image []byte, _ driver.JITOptions) (driver.Module, driver.JITLog, error) {
	const call = "cuModuleLoadDataEx"
	unlock, err := m.lock(call)
	if err != nil {
		return 0, driver.JITLog{}, err
	}
	defer unlock()
	if !entry.Match(image) {
		return 0, driver.JITLog{Error: "no entry"}, fail(call, driver.InvalidPTX, "%d bytes", len(image))
	}
	return driver.Module(m.handle(&module{slices.Clone(image)})), driver.JITLog{Wall: time.Millisecond}, nil
}

// Link returns the text itself: what this device's cubins are.
func (m *Memory) Link(ptx []byte, _ driver.JITOptions) ([]byte, driver.JITLog, error) {
	unlock, err := m.lock("cuLinkAddData_v2")
	if err != nil {
		return nil, driver.JITLog{}, err
	}
	defer unlock()
	if !entry.Match(ptx) {
		return nil, driver.JITLog{Error: "no entry"}, fail("cuLinkAddData_v2", driver.InvalidPTX, "%d bytes", len(ptx))
	}
	return slices.Clone(ptx), driver.JITLog{Wall: time.Millisecond}, nil
}

func (m *Memory) ModuleUnload(h driver.Module) error {
	return drop[*module](m, "cuModuleUnload", uintptr(h))
}

func (m *Memory) ModuleGetFunction(h driver.Module, name string) (driver.Function, error) {
	const call = "cuModuleGetFunction"
	unlock, err := m.lock(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	mod, err := find[*module](m, call, uintptr(h))
	if err != nil {
		return 0, err
	}
	for _, e := range entry.FindAllSubmatch(mod.text, -1) {
		if string(e[1]) == name {
			return driver.Function(m.handle(&function{name: name, shared: m.device.SharedPerBlock})), nil
		}
	}
	return 0, fail(call, driver.NotFound, "%s", name)
}

func (m *Memory) FuncAttributes(f driver.Function) (driver.FuncAttributes, error) {
	const call = "cuFuncGetAttribute"
	unlock, err := m.lock(call)
	if err != nil {
		return driver.FuncAttributes{}, err
	}
	defer unlock()
	_, err = find[*function](m, call, uintptr(f))
	return driver.FuncAttributes{Registers: 32, MaxThreads: 1024, PTXVersion: 70, BinaryVersion: m.device.SM}, err
}

func (m *Memory) FuncSetMaxDynamicShared(f driver.Function, n int) error {
	const call = "cuFuncSetAttribute"
	unlock, err := m.lock(call)
	if err != nil {
		return err
	}
	defer unlock()
	fn, err := find[*function](m, call, uintptr(f))
	if err != nil {
		return err
	}
	if n < 0 || n > m.device.SharedPerBlockMax {
		return fail(call, driver.InvalidValue, "%d bytes of dynamic shared memory", n)
	}
	fn.shared = max(n, m.device.SharedPerBlock)
	return nil
}

func (m *Memory) MaxActiveBlocks(f driver.Function, threads, shared int) (int, error) {
	const call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	unlock, err := m.lock(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if _, err := find[*function](m, call, uintptr(f)); err != nil {
		return 0, err
	}
	if threads < 1 || threads > 1024 || shared < 0 {
		return 0, fail(call, driver.InvalidValue, "%d threads, %d bytes", threads, shared)
	}
	return min(m.device.BlocksPerSM, m.device.ThreadsPerSM/threads, m.device.SharedPerSM/(shared+1024)), nil
}

// checkLaunch refuses what the driver would.
func (m *Memory) checkLaunch(call string, n driver.KernelNode) error {
	fn, err := find[*function](m, call, uintptr(n.Function))
	if err != nil {
		return err
	}
	threads := 1
	for i := range n.Grid {
		if n.Grid[i] < 1 || n.Block[i] < 1 || n.Block[i] > 1024 || i > 0 && n.Grid[i] > 65535 {
			return fail(call, driver.InvalidValue, "%s, grid %v, block %v", fn.name, n.Grid, n.Block)
		}
		threads *= n.Block[i]
	}
	if threads > 1024 || n.Shared < 0 || n.Shared > fn.shared || len(n.Params) > driver.MaxParams {
		return fail(call, driver.InvalidValue, "%s, %d threads, %d bytes shared, %d bytes of parameters",
			fn.name, threads, n.Shared, len(n.Params))
	}
	return nil
}

func (m *Memory) LaunchKernel(f driver.Function, l driver.LaunchConfig, s driver.Stream, params []byte) error {
	const call = "cuLaunchKernel"
	unlock, err := m.lock(call)
	if err != nil {
		return err
	}
	defer unlock()
	n := driver.KernelNode{Function: f, Grid: l.Grid, Block: l.Block, Shared: l.Shared, Params: slices.Clone(params)}
	if err := m.checkLaunch(call, n); err != nil {
		return err
	}
	if err := l.CheckCluster(); err != nil {
		return fail(call, driver.InvalidValue, "%v", err)
	}
	return m.enqueue(call, s, work{node: n, kernel: true, run: m.tick})
}

// tick is the time that a kernel takes.
func (m *Memory) tick() error {
	m.clock += time.Microsecond
	return nil
}
