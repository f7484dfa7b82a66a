package ptxsim

import (
	"fmt"
	"strings"
	"sync"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Program is a module ready to run: its kernels decoded, its global and constant variables in device memory.
type Program struct {
	mem     *Memory
	module  *ptx.Module
	kernels map[string]*kernel
	globals map[string]uint64 // addresses of module variables in global and const space
}

// kernel is a decoded kernel.
type kernel struct {
	src     *ptx.Kernel
	code    []inst // in the order of weakOrder
	regs32  int    // sizes of a warp's register files, constants and special registers included
	regs64  int
	preds   int
	truth   slot // a predicate that always holds
	const32 []constant
	const64 []constant
	special []special
	tracked []string // names of the registers whose lanes are tracked

	params     map[string]variable
	paramBytes int
	shared     map[string]variable // by name; addresses are those of shared space
	static     int                 // bytes of shared memory that are not dynamic
	span       int                 // the same with the gaps that part the variables, in which no access may lie
	areas      []variable          // of the variables in shared memory, from 0 on; nil where there is one
	dynamic    []string            // extern shared arrays: all begin after the static ones
	align      int                 // of the dynamic part
	local      map[string]variable
	localBytes int
	live       int                // most live 32-bit registers
	idle       sync.Pool          // workers that no launch has
	insts      func() []InstStats // the instructions' names, in the code's order
}

// variable is where a variable lies in its space.
type variable struct{ addr, size int }

// A slot is the place of a register in its file: 32-bit ones (narrower ones too), 64-bit ones, or predicates. A predicate
// operand that is negated is the complement of its slot.
type slot = int32

// constant is an immediate operand, which lies in a slot of its own, the same in all lanes.
type constant struct {
	slot  slot
	value uint64
}

// special is a special register, which lies in a slot of its own.
type special struct {
	slot slot
	name string
	wide bool // in the 64-bit file
}

// execFunc does an instruction for the lanes of m, which is not zero.
type execFunc func(w *warp, in *inst, m uint32)

// flow is what an instruction does to control.
type flow uint8

const (
	flowNext flow = iota
	flowBranch
	flowJump // inserted where the layout parts what the text has side by side
	flowExit
	flowBarrier // may block the warp
	flowMembers // needs the lanes of a member mask together
)

// inst is a decoded instruction. What the fields mean is up to exec; these are the usual meanings.
type inst struct {
	exec    execFunc
	flow    flow
	aligned bool // all live lanes of the warp must be here
	negated bool // the guard
	narrow  bool // the address register has 32 bits
	guard   slot // -1: none
	d, e    slot // destinations
	a, b, c slot // sources; a is an address's base
	p       slot // predicate source
	off     uint64
	off2    uint64 // of a second address, whose base is b
	size    uint32 // bytes of a lane's access
	elem    uint8  // bytes of an element
	n       uint8  // elements
	wide    bool   // elements lie in 64-bit registers
	signed  bool
	mask    uint32 // of a register narrower than 32 bits, what it holds
	space   ptx.Space
	v       []slot // a vector's elements
	va, vb  []slot
	vc      []slot
	target  int  // of a branch, in code
	src     int  // in the body; -1 if inserted
	at      int  // in the code
	work    work // counted by Stats
	uses    []int32
	defs    []int32 // tracked registers it reads and writes
	// guardUse: the first of uses is the guard's.
	guardUse bool
	readOnly bool     // ld.global.nc
	strong   strength // of an atomic, volatile, relaxed, acquiring or releasing access
	acquire  bool
	release  bool
	x        any
}

// work is what an execution adds to the totals of Stats, per lane.
type work struct {
	fma      int64 // fused multiply-adds of floats
	floats   int64 // additions, multiplications and multiply-adds of 32-bit floats
	macs     int64 // of tensor cores, per warp, on 16 bits and more
	byteMACs int64 // and on bytes
	bytes    int64 // moved
	moves    moves
}

// moves is which way an instruction moves its bytes.
type moves uint8

const (
	movesRead moves = iota + 1
	movesWrite
	movesCopy // from global to shared
)

// Load decodes the kernels of m and puts its variables into mem. An instruction that the simulator does not have is an
// error that names its line.
func Load(mem *Memory, m *ptx.Module) (*Program, error) {
	p := &Program{mem: mem, module: m, kernels: map[string]*kernel{}, globals: map[string]uint64{}}
	if err := p.placeGlobals(); err != nil {
		return nil, err
	}
	for _, k := range m.Kernels {
		if p.kernels[k.Name] != nil {
			return nil, fmt.Errorf("kernel %s: defined twice", k.Name)
		}
		dk, err := p.decode(k)
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		p.kernels[k.Name] = dk
	}
	return p, nil
}

// Global returns the address and the size in bytes of a module variable in global or constant memory.
func (p *Program) Global(name string) (addr uint64, size int64, ok bool) {
	addr, ok = p.globals[name]
	if !ok {
		return 0, 0, false
	}
	for i := range p.module.Vars {
		if p.module.Vars[i].Name == name {
			size = int64(p.module.Vars[i].Size())
		}
	}
	return addr, size, true
}

// Unload frees the module's variables.
func (p *Program) Unload() error {
	for i := range p.module.Vars {
		if addr, ok := p.globals[p.module.Vars[i].Name]; ok {
			if err := p.mem.Free(addr); err != nil {
				return err
			}
		}
	}
	clear(p.globals)
	return nil
}

func (p *Program) placeGlobals() error {
	for i := range p.module.Vars {
		v := &p.module.Vars[i]
		if v.Space != ptx.Global && v.Space != ptx.Const {
			continue
		}
		if _, ok := p.globals[v.Name]; ok {
			return fmt.Errorf("variable %s: defined twice", v.Name)
		}
		size := v.Size()
		addr, err := p.mem.Alloc(int64(size))
		if err != nil {
			return fmt.Errorf("variable %s: %w", v.Name, err)
		}
		p.globals[v.Name] = addr
		if err := p.mem.Fill(addr, 0, int64(size)); err != nil {
			return fmt.Errorf("variable %s: %w", v.Name, err)
		}
		if len(v.Init) > size {
			return fmt.Errorf("variable %s: %d bytes of initialiser for %d bytes", v.Name, len(v.Init), size)
		}
		if err := p.mem.Write(addr, v.Init); err != nil {
			return fmt.Errorf("variable %s: %w", v.Name, err)
		}
	}
	return nil
}

// decode makes a kernel's code.
func (p *Program) decode(src *ptx.Kernel) (*kernel, error) {
	if len(src.Body) == 0 {
		return nil, fmt.Errorf("has no instructions")
	}
	k := &kernel{src: src}
	if err := p.layout(k); err != nil {
		return nil, err
	}
	g, err := newGraph(src)
	if err != nil {
		return nil, err
	}
	k.live = g.maxLive(src)
	d, err := newDecoder(p, k)
	if err != nil {
		return nil, err
	}
	if err := d.body(g); err != nil {
		return nil, err
	}
	d.track(g)
	k.insts = sync.OnceValue(k.nameInsts)
	return k, nil
}

// sharedStart is the first address of shared memory; those before it are the system's, so that address 0 is none.
const sharedStart = 1024

// layout gives the kernel's parameters, shared and local variables their places.
func (p *Program) layout(k *kernel) error {
	k.params, k.shared, k.local = map[string]variable{}, map[string]variable{}, map[string]variable{}
	offsets, size := k.src.ParamLayout()
	for i := range k.src.Params {
		v := &k.src.Params[i]
		k.params[v.Name] = variable{offsets[i], v.Size()}
	}
	k.paramBytes = size
	end := sharedStart
	var statics []*ptx.Var
	for _, vars := range [][]ptx.Var{p.module.Vars, k.src.Vars} {
		for i := range vars {
			v := &vars[i]
			switch {
			case v.Space == ptx.Shared && v.Extern:
				k.dynamic = append(k.dynamic, v.Name)
				k.align = max(k.align, alignOf(v))
			case v.Space == ptx.Shared:
				end = alignUp(end, alignOf(v))
				statics = append(statics, v)
				end += v.Size()
			case v.Space == ptx.Local:
				k.localBytes = alignUp(k.localBytes, alignOf(v))
				k.local[v.Name] = variable{k.localBytes, v.Size()}
				k.localBytes += v.Size()
			}
			if end > 1<<20 || k.localBytes > 1<<20 {
				return fmt.Errorf("variable %s: more than 1 MiB of shared or local memory", v.Name)
			}
		}
	}
	end = alignUp(end, max(k.align, 1))
	k.static = end - sharedStart
	k.placeShared(statics)
	return nil
}

// sharedGap is how far shared variables lie apart, so that running over the end of one hits nothing. It is a multiple of a
// row of the banks, which keeps their conflicts.
const sharedGap = 256

// placeShared gives the static variables of shared memory their places, and the dynamic ones theirs behind them.
func (k *kernel) placeShared(statics []*ptx.Var) {
	end := 0
	for _, v := range statics {
		end = alignUp(end, alignOf(v))
		k.shared[v.Name] = variable{sharedStart + end, v.Size()}
		k.areas = append(k.areas, variable{end, v.Size()})
		k.span = end + v.Size()
		end = k.span + sharedGap
	}
	if len(k.dynamic) > 0 {
		if len(statics) == 0 {
			end = 0
		}
		k.span = alignUp(end, max(k.align, 1))
		k.areas = append(k.areas, variable{k.span, 0})
		for _, name := range k.dynamic {
			k.shared[name] = variable{sharedStart + k.span, 0}
		}
	}
	if len(k.areas) < 2 {
		k.areas = nil
	}
}

// Kernels lists the names of the kernels, in the module's order.
func (p *Program) Kernels() []string {
	names := make([]string, len(p.module.Kernels))
	for i, k := range p.module.Kernels {
		names[i] = k.Name
	}
	return names
}

// ParamBytes is the size of a kernel's parameter block, and Offsets the places of its parameters in it.
func (p *Program) ParamBytes(name string) (size int, offsets []int, err error) {
	k := p.kernels[name]
	if k == nil {
		return 0, nil, p.unknown(name)
	}
	for i := range k.src.Params {
		offsets = append(offsets, k.params[k.src.Params[i].Name].addr)
	}
	return k.paramBytes, offsets, nil
}

func (p *Program) unknown(name string) error {
	return fmt.Errorf("kernel %s: not in the module, which has %s", name, strings.Join(p.Kernels(), ", "))
}

// alignOf is a variable's alignment, at most that of allocations.
func alignOf(v *ptx.Var) int { return min(v.Alignment(), 1<<16) }

func alignUp(n, to int) int { return (n + to - 1) / to * to }

// bitsOf is the width of a type: 1 of a predicate.
func bitsOf(t ptx.Type) int {
	switch t {
	case ptx.Pred:
		return 1
	case ptx.B8, ptx.U8, ptx.S8, ptx.E4M3, ptx.E5M2:
		return 8
	case ptx.B16, ptx.U16, ptx.S16, ptx.F16, ptx.BF16, "e4m3x2", "e5m2x2":
		return 16
	case ptx.B32, ptx.U32, ptx.S32, ptx.F32, ptx.F16X2, ptx.BF162, ptx.TF32, "u16x2", "s16x2":
		return 32
	case ptx.B64, ptx.U64, ptx.S64, ptx.F64:
		return 64
	case ptx.B128:
		return 128
	}
	return 0
}

// isSigned reports whether t is a signed integer.
func isSigned(t ptx.Type) bool { return t == ptx.S8 || t == ptx.S16 || t == ptx.S32 || t == ptx.S64 }
