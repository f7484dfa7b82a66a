package ptxsim

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Async says when what is copied asynchronously arrives.
type Async uint8

const (
	// Late: when a wait demands it, with what the source holds then.
	Late Async = iota
	// Early: at once.
	Early
)

// Lints says in which blocks accesses to memory are measured.
type Lints uint8

const (
	LintSome Lints = iota // in a few: the first, the last, two between
	LintAll
	LintNone
)

// Options are the ways to run a kernel. The zero value checks everything.
type Options struct {
	Async   Async
	Seed    uint64 // of the order in which warps run
	Workers int    // blocks at a time; 0: one for each CPU
	Lints   Lints
	Budget  int64 // instructions of a warp that a block may execute, all its warps together; 0: 1<<28
	// Unchecked leaves out the checks of races in shared memory and of what has been written. Bounds, alignment and
	// divergence are always checked.
	Unchecked bool
	// Races looks for threads, of one block or of several, that use global memory which another writes with nothing between
	// them that orders the two, and for loads through the read-only cache of what the launch writes. Blocks run one at a time.
	Races bool
	// Touched notes for Stats which global memory the launch reads and writes. Blocks run one at a time.
	Touched bool
	// Rough makes results that the ISA leaves open as far off as it lets them be: of .approx and .full instructions, and of
	// tensor cores' sums.
	Rough bool
	// Apart keeps lanes that a branch has parted apart until an instruction brings them together, in an order that the seed
	// draws, instead of letting them meet as early as may be.
	Apart bool
	// Overlap says that the kernel was launched before the one before it has ended: no thread touches global memory before
	// its griddepcontrol.wait, some thread waits, and nothing is read through the cache of what no thread writes.
	Overlap bool
	SM      *SM // whose limits hold; nil: those of the module's target
	// Progress is told how many of the launch's blocks have run, by one of its goroutines at a time; nil tells nobody. Of
	// blocks that end while it is being told it hears with the next.
	Progress func(done, total int)
}

// Shape is how many threads run: blocks in the grid, threads in a block, and the dynamic shared memory of a block, in bytes.
type Shape struct {
	Grid, Block [3]int
	Shared      int
}

// launch is a kernel that runs.
type launch struct {
	kernel *kernel
	table  []*allocation
	mem    *Memory
	grid   [3]int
	block  [3]int
	params []byte
	opt    Options
	blocks int
	shared int             // bytes, static and dynamic, with the gaps between variables
	syncs  map[uint64]view // what was released, by address; nil unless races are looked for

	ctx    context.Context
	done   atomic.Bool  // ctx has ended
	waited atomic.Bool  // a thread has waited for the kernel before
	next   atomic.Int64 // the block to run next
	failed atomic.Int64 // the lowest block at fault so far
	mu     sync.Mutex
	fault  *Fault // of that block

	ran     atomic.Int64 // blocks
	telling sync.Mutex
}

// worker runs blocks one after another.
type worker struct {
	block block
	count []int64 // executions, by place in the code
	idle  []int64 // lanes that did not take part in them
	lints []lintCount
	lint  bool // in this block
	// abandoned counts copies that were under way when their block ended.
	abandoned int64

	floats mmaFloats // scratch
	pairs  bytePairs
}

// Launch runs a kernel over a grid, with the bytes of its parameters as ParamBytes lays them out. What the program does
// wrong is a *Fault: that of the lowest block at fault, whatever the order in which they ran.
func (p *Program) Launch(ctx context.Context, name string, shape Shape, params []byte, opt Options) (*Stats, error) {
	k := p.kernels[name]
	if k == nil {
		return nil, p.unknown(name)
	}
	l, err := p.newLaunch(ctx, k, shape, params, opt)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	if f := l.readsThroughCache(); f != nil {
		return nil, f
	}
	all := make([]*worker, l.opt.Workers)
	var wg sync.WaitGroup
	for i := range all {
		all[i] = l.takeWorker()
		wg.Go(all[i].run)
	}
	wg.Wait()
	defer func() {
		for _, wk := range all {
			k.release(wk)
		}
	}()
	if l.fault != nil {
		return nil, l.fault
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	if opt.Overlap && !l.waited.Load() {
		return nil, l.neverWaits()
	}
	return l.stats(all), nil
}

func (p *Program) newLaunch(ctx context.Context, k *kernel, shape Shape, params []byte, opt Options) (*launch, error) {
	l := &launch{kernel: k, mem: p.mem, grid: shape.Grid, block: shape.Block, params: params, opt: opt, ctx: ctx}
	if l.opt.SM == nil {
		sm := SMOf(p.module.Target)
		l.opt.SM = &sm
	}
	if l.opt.Workers <= 0 {
		l.opt.Workers = runtime.GOMAXPROCS(0)
	}
	if l.opt.Budget <= 0 {
		l.opt.Budget = 1 << 28
	}
	if err := checkShape(k, shape, l.opt.SM); err != nil {
		return nil, err
	}
	if len(params) != k.paramBytes {
		return nil, fmt.Errorf("%d bytes of parameters, it takes %d", len(params), k.paramBytes)
	}
	threads := shape.Block[0] * shape.Block[1] * shape.Block[2]
	warps := (threads + warpSize - 1) / warpSize
	l.blocks = shape.Grid[0] * shape.Grid[1] * shape.Grid[2]
	l.shared = k.span + shape.Shared
	l.opt.Workers = min(l.opt.Workers, l.blocks)
	if opt.Races || opt.Touched {
		l.opt.Workers = 1
	}
	if bytes := warps * l.opt.Workers * warpSize * (4*k.regs32 + 8*k.regs64 + 2*k.localBytes); bytes > maxThreadBytes {
		return nil, fmt.Errorf("%d registers and %d bytes of local memory for %d threads are more than the simulator holds", k.regs32+k.regs64, k.localBytes, threads)
	}
	l.failed.Store(int64(l.blocks))
	p.mem.mu.Lock()
	l.table = p.mem.table
	p.mem.mu.Unlock()
	if opt.Races || opt.Touched {
		l.table = withShadows(l.table, &opt)
	}
	if opt.Races {
		l.syncs = map[uint64]view{}
	}
	return l, nil
}

// maxThreadBytes bounds what the registers and the local memory of the blocks that run at a time take.
const maxThreadBytes = 1 << 30

// maxBlocks bounds a grid.
const maxBlocks = 1 << 40

// checkShape holds a launch against the limits of the kernel and of the SM.
func checkShape(k *kernel, s Shape, sm *SM) error {
	limits := [3]int{1<<31 - 1, 65535, 65535}
	for i := range 3 {
		if s.Grid[i] < 1 || s.Grid[i] > limits[i] {
			return fmt.Errorf("grid %v: dimension %d must be from 1 to %d", s.Grid, i, limits[i])
		}
		if s.Block[i] < 1 || s.Block[i] > 1024 {
			return fmt.Errorf("block %v: dimension %d must be from 1 to 1024", s.Block, i)
		}
	}
	if blocks := int64(s.Grid[0]) * int64(s.Grid[1]); blocks > maxBlocks || blocks*int64(s.Grid[2]) > maxBlocks {
		return fmt.Errorf("grid %v: more than %d blocks", s.Grid, int64(maxBlocks))
	}
	threads := s.Block[0] * s.Block[1] * s.Block[2]
	if threads > 1024 || s.Block[2] > 64 {
		return fmt.Errorf("block %v: %d threads; a block has at most 1024, and 64 in dimension 2", s.Block, threads)
	}
	if m := k.src.MaxThreads; m[0] > 0 && threads > max(m[0], 1)*max(m[1], 1)*max(m[2], 1) {
		return fmt.Errorf("block %v: %d threads are more than its .maxntid %v", s.Block, threads, m)
	}
	switch total := k.static + s.Shared; {
	case s.Shared < 0:
		return fmt.Errorf("%d bytes of dynamic shared memory", s.Shared)
	case k.static > 48<<10:
		return fmt.Errorf("%d bytes of static shared memory; at most %d, the rest must be dynamic", k.static, 48<<10)
	case total > sm.SharedPerBlock:
		return fmt.Errorf("%d bytes of shared memory (%d static, %d dynamic); a block of %s has at most %d", total, k.static, s.Shared, sm.Name, sm.SharedPerBlock)
	}
	return nil
}

// takeWorker makes a worker, out of one that an earlier launch of the kernel is done with if there is one.
func (l *launch) takeWorker() *worker {
	k := l.kernel
	wk, _ := k.idle.Get().(*worker)
	if wk == nil {
		wk = &worker{count: make([]int64, len(k.code)), idle: make([]int64, len(k.code)), lints: make([]lintCount, len(k.code))}
	}
	clear(wk.count)
	clear(wk.idle)
	clear(wk.lints)
	wk.abandoned = 0
	b := &wk.block
	b.kernel, b.launch, b.worker = k, l, wk
	b.shared = resize(b.shared, l.shared)
	b.cells = resize(b.cells, (l.shared+3)/4)
	if l.opt.Unchecked {
		b.cells = nil
	}
	threads := l.block[0] * l.block[1] * l.block[2]
	warps := (threads + warpSize - 1) / warpSize
	for len(b.all) < warps {
		b.all = append(b.all, b.newWarp(len(b.all)))
	}
	b.warps = b.all[:warps]
	return wk
}

// release lets go of what a worker holds of a launch, so that another can have the worker.
func (k *kernel) release(wk *worker) {
	wk.block.launch = nil
	for i := range wk.block.all {
		wk.block.all[i].last, wk.block.all[i].fault = nil, nil
	}
	k.idle.Put(wk)
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// run takes blocks in order until there are none, or a lower one has been at fault.
func (wk *worker) run() {
	l := wk.block.launch
	for {
		n := l.next.Add(1) - 1
		if n >= l.failed.Load() || l.stopped(int(n)) {
			return
		}
		wk.lint = l.lints(int(n))
		wk.block.start(int(n))
		if f := wk.block.run(); f != nil {
			l.report(n, f)
		}
		wk.countAbandoned()
		l.tell()
	}
}

// tell says that one more block has run, unless something is being told.
func (l *launch) tell() {
	ran := l.ran.Add(1)
	if l.opt.Progress != nil && l.telling.TryLock() {
		l.opt.Progress(int(ran), l.blocks)
		l.telling.Unlock()
	}
}

// countAbandoned counts the copies that are still under way.
func (wk *worker) countAbandoned() {
	for i := range wk.block.warps {
		for _, c := range wk.block.warps[i].copies {
			for l := range c.n {
				if c.mask>>l&1 != 0 && c.n[l] > 0 {
					wk.abandoned++
				}
			}
		}
	}
}

// stopped reports whether running block n is of no use any more.
func (l *launch) stopped(n int) bool {
	if int64(n) > l.failed.Load() || l.done.Load() {
		return true
	}
	if l.ctx.Err() != nil {
		l.done.Store(true)
		return true
	}
	return false
}

func (l *launch) report(n int64, f *Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < l.failed.Load() {
		l.failed.Store(n)
		l.fault = f
	}
}

// lints reports whether block n is measured.
func (l *launch) lints(n int) bool {
	switch l.opt.Lints {
	case LintAll:
		return true
	case LintNone:
		return false
	}
	return n == 0 || n == l.blocks-1 || n == l.blocks/2 || n == l.blocks/3
}
