package simulator

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// programCache keeps decoded programs by their text, the newest ones: they have no state but their module variables, so
// that those without any serve every module of that text.
type programCache struct {
	order    [][sha256.Size]byte
	programs map[[sha256.Size]byte]*ptxsim.Program
}

// maxPrograms is how many programs are kept: more than a network of ours has.
const maxPrograms = 256

func (c *programCache) keep(sum [sha256.Size]byte, p *ptxsim.Program) {
	if c.programs == nil {
		c.programs = map[[sha256.Size]byte]*ptxsim.Program{}
	}
	if _, ok := c.programs[sum]; ok {
		return
	}
	if len(c.order) == maxPrograms {
		delete(c.programs, c.order[0])
		c.order = c.order[1:]
	}
	c.order = append(c.order, sum)
	c.programs[sum] = p
}

// ModuleLoad takes PTX text, which it compiles, or a cubin of Link's.
func (s *Context) ModuleLoad(image []byte, _ driver.JITOptions) (driver.Module, driver.JITLog, error) {
	const call = "cuModuleLoadDataEx"
	var log driver.JITLog
	text := image
	var err error
	if isCubin(image) {
		text, err = s.textOf(call, image)
	}
	var p *ptxsim.Program
	if err == nil {
		p, log, err = s.compile(call, text)
	}
	if err != nil {
		return 0, log, err
	}
	m, err := created[driver.Module](s, call, &module{program: p})
	return m, log, err
}

// compile makes a program of text, or finds the one that was made of it.
func (s *Context) compile(call string, text []byte) (*ptxsim.Program, driver.JITLog, error) {
	sum := sha256.Sum256(text)
	unlock, err := s.enter(call)
	if err != nil {
		return nil, driver.JITLog{}, err
	}
	p := s.programs.programs[sum]
	unlock()
	if p != nil {
		return p, driver.JITLog{}, nil
	}
	begin := time.Now()
	p, err = s.decode(sum, text)
	log := driver.JITLog{Wall: time.Since(begin)}
	if err != nil {
		log.Error = err.Error()
		err = &driver.Error{Call: call, Result: driver.InvalidPTX, Log: log.Error}
	}
	return p, log, err
}

// decode makes a program of text.
func (s *Context) decode(sum [sha256.Size]byte, text []byte) (*ptxsim.Program, error) {
	m, err := ptx.Parse(string(text))
	if err != nil {
		return nil, err
	}
	if !m.Target.RunsOn(s.device.SM) {
		return nil, fmt.Errorf("code for %v does not run on sm_%d", m.Target, s.device.SM)
	}
	p, err := ptxsim.Load(s.memory, m)
	if err != nil {
		return nil, err
	}
	for i := range m.Vars {
		if v := m.Vars[i].Space; v == ptx.Global || v == ptx.Const {
			return p, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programs.keep(sum, p)
	return p, nil
}

// ModuleUnload also takes the module's functions away. It takes it that the driver does not wait for launches: its manual does
// not say that it does.
func (s *Context) ModuleUnload(h driver.Module) error {
	const call = "cuModuleUnload"
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	m, err := lookup[*module](s, call, uintptr(h))
	if err != nil {
		return err
	}
	if t := s.pending(func(t *task) bool { return t.function != nil && t.function.module == m }); t != nil {
		return s.misuse(call, "the module is unloaded and %s is not done", t.name())
	}
	m.unloaded = true
	delete(s.handles, uintptr(h))
	for k, v := range s.handles {
		if f, ok := v.(*function); ok && f.module == m {
			delete(s.handles, k)
		}
	}
	return m.program.Unload()
}

func (s *Context) ModuleGetFunction(h driver.Module, name string) (driver.Function, error) {
	const call = "cuModuleGetFunction"
	unlock, err := s.enter(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	m, err := lookup[*module](s, call, uintptr(h))
	if err != nil {
		return 0, err
	}
	if _, _, err := m.program.ParamBytes(name); err != nil {
		return 0, fail(call, driver.NotFound, "%s", name)
	}
	return driver.Function(s.create(&function{module: m, name: name})), nil
}

// kernel looks a function up.
func (s *Context) kernel(call string, f driver.Function) (*function, error) {
	unlock, err := s.enter(call)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return lookup[*function](s, call, uintptr(f))
}

// FuncAttributes tells what the program's text needs. Registers are the most that are live at a time in the order
// of the text. An assembler orders it anew: it takes fewer or more, and may spill.
func (s *Context) FuncAttributes(f driver.Function) (driver.FuncAttributes, error) {
	k, err := s.kernel("cuFuncGetAttribute", f)
	if err != nil {
		return driver.FuncAttributes{}, err
	}
	n, err := k.module.program.Needs(k.name)
	return driver.FuncAttributes{
		Declared: true, Registers: n.Registers, SharedBytes: n.Shared, LocalBytes: n.Local, MaxThreads: n.Threads,
		PTXVersion: 70, BinaryVersion: s.device.SM,
	}, err
}

func (s *Context) FuncSetMaxDynamicShared(f driver.Function, n int) error {
	const call = "cuFuncSetAttribute"
	k, err := s.kernel(call, f)
	if err != nil {
		return err
	}
	needs, err := k.module.program.Needs(k.name)
	if err != nil {
		return err
	}
	if n < 0 || n+needs.Shared > s.device.SharedPerBlockMax {
		return fail(call, driver.InvalidValue, "%d bytes of dynamic shared memory", n)
	}
	s.mu.Lock()
	k.dynamic, k.allowed = n, true
	s.mu.Unlock()
	return nil
}

// checkDynamic refuses a launch with more dynamic shared memory than the function has been allowed: without a word what a
// block has on every device, less its static part.
func (s *Context) checkDynamic(call string, k *function, shared int) error {
	needs, err := k.module.program.Needs(k.name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	most := s.device.SharedPerBlock - needs.Shared
	if k.allowed {
		most = k.dynamic
	}
	s.mu.Unlock()
	if shared > most {
		return fail(call, driver.InvalidValue, "kernel %s: %d bytes of dynamic shared memory, %d are allowed: cuFuncSetAttribute allows more", k.name, shared, most)
	}
	return nil
}

func (s *Context) MaxActiveBlocks(f driver.Function, threads, shared int) (int, error) {
	const call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	k, err := s.kernel(call, f)
	if err != nil {
		return 0, err
	}
	if threads < 1 || threads > 1024 || shared < 0 {
		return 0, fail(call, driver.InvalidValue, "%d threads, %d bytes", threads, shared)
	}
	n, err := k.module.program.Needs(k.name)
	sm := ptxsim.SMOf(ptx.Target{SM: s.device.SM})
	return sm.Occupancy(threads, n.Registers, n.Shared+shared), err
}

// LaunchKernel enqueues a kernel. The first two launches of each are checked in every respect, asynchronous copies arriving as
// late as they may in one and as early in the other, and where the
// simulator looks for races the first for those in global memory too; later ones run faster, with bounds and alignment
// checked alone.
//
// Launches do not overlap here, but what one does that may overlap is checked. Clusters are not simulated.
func (s *Context) LaunchKernel(f driver.Function, l driver.LaunchConfig, st driver.Stream, params []byte) error {
	const call = "cuLaunchKernel"
	if err := l.CheckCluster(); err != nil {
		return fail(call, driver.InvalidValue, "%v", err)
	}
	switch sm := s.device.SM; {
	case sm < 90 && (l.Overlap || l.Cluster != [3]int{}):
		return fail(call, driver.NotSupported, "launches with attributes need sm_90, the device is sm_%d", sm)
	case l.Cluster != [3]int{}:
		return fail(call, driver.NotSupported, "clusters of %v are not simulated", l.Cluster)
	}
	n, err := s.node(call, driver.KernelNode{Function: f, Grid: l.Grid, Block: l.Block, Shared: l.Shared, Params: params}, l.Overlap)
	if err != nil {
		return err
	}
	return s.enqueue(call, st, n)
}

// node makes a launch; its parameters are copied.
func (s *Context) node(call string, launch driver.KernelNode, overlap bool) (node, error) {
	k, err := s.kernel(call, launch.Function)
	if err == nil {
		err = s.checkDynamic(call, k, launch.Shared)
	}
	if err != nil {
		return node{}, err
	}
	launch.Params = append([]byte(nil), launch.Params...)
	return node{kernel: true, launch: launch, overlap: overlap, function: k, what: "of kernel " + k.name, run: func(st *stream) error {
		s.mu.Lock()
		n := k.launches
		k.launches++
		watching, tell := st.ctx, st.tell
		s.mu.Unlock()
		ctx := s.ctx
		if watching != nil {
			both, cancel := context.WithCancel(watching)
			defer context.AfterFunc(s.ctx, cancel)()
			defer cancel()
			ctx = both
		}
		sm := ptxsim.SMOf(ptx.Target{SM: s.device.SM})
		opt := ptxsim.Options{SM: &sm, Overlap: overlap, Seed: uint64(n), Unchecked: n > 1, Races: s.Races && n == 0, Rough: s.Rough, Apart: s.Apart, Touched: s.Streams, Lints: ptxsim.LintNone, Progress: tell}
		if n%2 == 1 {
			opt.Async = ptxsim.Early
		}
		shape := ptxsim.Shape{Grid: launch.Grid, Block: launch.Block, Shared: launch.Shared}
		stats, err := k.module.program.Launch(ctx, k.name, shape, launch.Params, opt)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		st.reads, st.writes = stats.Reads, stats.Writes
		if s.Time != nil {
			st.clock += s.Time(stats)
		}
		return nil
	}}, nil
}
