package ptx

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Builder makes one kernel. A method of a value or of the Builder adds one instruction, unless its comment says otherwise;
// results are fresh registers. Faults of use are kept and come out of Kernel, Module and Emit.
type Builder struct {
	k       Kernel
	vars    []Var // dynamic shared memory, which is the module's
	target  Target
	dynamic int // bytes
	guard   Guard
	labels  int
	errs    []error
}

// value is an operand and the kernel it belongs to.
type value struct {
	b *Builder
	o Operand
}

// Values by class. Those of 16 and of 32 bits that are not Float32 lie in registers of one kind each, so that going from
// one such type to another, as with Bits32.Uint32, takes no instruction.
type (
	Bool       struct{ value }
	Bits16     struct{ value }
	Float16    struct{ value }
	BFloat16   struct{ value }
	Bits32     struct{ value }
	Uint32     struct{ value }
	Int32      struct{ value }
	Float16x2  struct{ value }
	BFloat16x2 struct{ value }
	Float32    struct{ value }
	Bits64     struct{ value }
	Uint64     struct{ value }
	Int64      struct{ value }
	Float64    struct{ value }
)

// SM is the target of a compute capability, 80 being 8.0; code for it runs on later GPUs too.
func SM(n int) Target { return Target{SM: n} }

// NewKernel begins a kernel for a target, of blocks of so many threads.
func NewKernel(name string, target Target, threads int) *Builder {
	return &Builder{k: Kernel{Name: name, MaxThreads: [3]int{threads, 1, 1}}, target: target}
}

// MinBlocks asks for registers few enough that n blocks fit a multiprocessor.
func (b *Builder) MinBlocks(n int) { b.k.MinBlocks = n }

// fail keeps a fault of use.
func (b *Builder) fail(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("kernel %s: instruction %d: "+format, append([]any{b.k.Name, len(b.k.Body)}, args...)...))
}

// registerClasses are the kinds of registers that the builder uses, in the order in which they are declared.
var registerClasses = [...]struct {
	t      Type
	prefix string
}{{Pred, "%p"}, {B16, "%h"}, {B32, "%r"}, {B64, "%d"}, {F32, "%f"}, {F64, "%fd"}}

// fresh makes a register.
func (b *Builder) fresh(t Type) value {
	b.k.Regs = append(b.k.Regs, Register{Type: t})
	return value{b, Operand{Kind: RegOperand, Reg: Reg(len(b.k.Regs) - 1)}}
}

// emit adds an instruction, its name with modifiers as in the text.
func (b *Builder) emit(text string, args ...Operand) {
	op, mods, ok := splitOp(text)
	if !ok {
		b.fail("%s is not in the table of opcodes", text)
	}
	if len(mods) == 0 {
		mods = nil
	}
	b.k.Body = append(b.k.Body, Inst{Guard: b.guard, Op: op, Mods: mods, Args: args})
}

// op adds an instruction with this value as its first source and a fresh register of type t as its result.
func (v value) op(text string, t Type, more ...value) value {
	d := v.b.fresh(t)
	args := []Operand{d.o, v.o}
	for _, m := range more {
		args = append(args, m.o)
	}
	v.b.emit(text, args...)
	return d
}

// set moves src into this register.
func (v value) set(text string, src value) {
	if v.o.Kind != RegOperand {
		v.b.fail("a constant cannot be set")
	}
	v.b.emit(text, v.o, src.o)
}

func (b *Builder) integer(n int64) value { return value{b, Operand{Kind: ImmOperand, Imm: n}} }

// U32 is a constant; like all constants it takes no instruction unless it says so.
func (b *Builder) U32(n uint32) Uint32 { return Uint32{b.integer(int64(n))} }

// S32 is a constant.
func (b *Builder) S32(n int32) Int32 { return Int32{b.integer(int64(n))} }

// B32 is a constant.
func (b *Builder) B32(n uint32) Bits32 { return Bits32{b.integer(int64(n))} }

// U64 is a constant.
func (b *Builder) U64(n uint64) Uint64 { return Uint64{b.integer(int64(n))} }

// F32 is a constant.
func (b *Builder) F32(f float32) Float32 {
	return Float32{value{b, Operand{Kind: ImmOperand, Float: 32, Imm: int64(math.Float32bits(f))}}}
}

// F64 is a constant.
func (b *Builder) F64(f float64) Float64 {
	return Float64{value{b, Operand{Kind: ImmOperand, Float: 64, Imm: int64(math.Float64bits(f))}}}
}

// F16x2 moves the bits of two halves, the low one first, into a register: halves have no constants.
func (b *Builder) F16x2(bits uint32) Float16x2 {
	return Float16x2{b.integer(int64(bits)).op("mov.b32", B32)}
}

// F16 moves the bits of a half into a register.
func (b *Builder) F16(bits uint16) Float16 { return Float16{b.integer(int64(bits)).op("mov.b16", B16)} }

func (b *Builder) special(name string) Uint32 {
	return Uint32{value{b, Operand{Kind: SpecialOperand, Name: name}}.op("mov.u32", B32)}
}

// TidX, TidY, CtaX, CtaY, CtaZ, CtasX and LaneID read the thread's and the block's place in block and grid, the grid's width
// in blocks, and the thread's place in its warp.
func (b *Builder) TidX() Uint32   { return b.special("%tid.x") }
func (b *Builder) TidY() Uint32   { return b.special("%tid.y") }
func (b *Builder) CtaX() Uint32   { return b.special("%ctaid.x") }
func (b *Builder) CtaY() Uint32   { return b.special("%ctaid.y") }
func (b *Builder) CtaZ() Uint32   { return b.special("%ctaid.z") }
func (b *Builder) CtasX() Uint32  { return b.special("%nctaid.x") }
func (b *Builder) CtasY() Uint32  { return b.special("%nctaid.y") }
func (b *Builder) LaneID() Uint32 { return b.special("%laneid") }

// param declares a parameter and loads it.
func (b *Builder) param(name string, t, class Type) value {
	name = b.k.Name + "_" + name
	b.k.Params = append(b.k.Params, Var{Name: name, Space: Param, Type: t})
	d := b.fresh(class)
	b.emit("ld.param."+string(t), d.o, Operand{Kind: AddrOperand, Name: name})
	return d
}

// ParamU32, ParamS32, ParamU64 and ParamF32 declare the next parameter and load it. Parameters have a place for each bit of
// theirs in the order of declaration, each at a multiple of its size.
func (b *Builder) ParamU32(name string) Uint32  { return Uint32{b.param(name, U32, B32)} }
func (b *Builder) ParamS32(name string) Int32   { return Int32{b.param(name, U32, B32)} }
func (b *Builder) ParamU64(name string) Uint64  { return Uint64{b.param(name, U64, B64)} }
func (b *Builder) ParamF32(name string) Float32 { return Float32{b.param(name, F32, F32)} }

// Kernel is the finished kernel with its registers numbered by class. It is checked as far as it can be without its module.
func (b *Builder) Kernel() (*Kernel, error) {
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	k := b.k
	number := make([]Reg, len(b.k.Regs))
	k.Regs = make([]Register, 0, len(b.k.Regs))
	for _, class := range registerClasses {
		n := 0
		for i, r := range b.k.Regs {
			if r.Type == class.t {
				number[i] = Reg(len(k.Regs))
				k.Regs = append(k.Regs, Register{class.prefix + strconv.Itoa(n), r.Type})
				n++
			}
		}
	}
	k.Body = make([]Inst, len(b.k.Body), len(b.k.Body)+1)
	for i, in := range b.k.Body {
		if in.Guard.On {
			in.Guard.Reg = number[in.Guard.Reg]
		}
		in.Args = renumber(in.Args, number)
		k.Body[i] = in
	}
	if n := len(k.Body); n == 0 || k.Body[n-1].Op != "ret" || k.Body[n-1].Guard.On || len(k.Labels) > 0 && k.Labels[len(k.Labels)-1].At == n {
		k.Body = append(k.Body, Inst{Op: "ret"})
	}
	return &k, nil
}

// renumber is operands with other numbers for their registers.
func renumber(args []Operand, number []Reg) []Operand {
	if len(args) == 0 {
		return nil
	}
	fresh := make([]Operand, len(args))
	for i, o := range args {
		if o.Kind == RegOperand || o.Kind == AddrOperand && o.Base {
			o.Reg = number[o.Reg]
		}
		if o.Pair != nil {
			second := number[*o.Pair]
			o.Pair = &second
		}
		if o.Vec != nil {
			o.Vec = renumber(o.Vec, number)
		}
		fresh[i] = o
	}
	return fresh
}

// Module is a module of this kernel alone, checked.
func (b *Builder) Module() (*Module, error) {
	k, err := b.Kernel()
	if err != nil {
		return nil, err
	}
	m := &Module{Target: b.target, Vars: b.vars, Kernels: []*Kernel{k}}
	m.Version = m.Needs().Version
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if static := sharedBytes(m.Vars) + sharedBytes(k.Vars); static+b.dynamic > b.target.sharedLimit() {
		return nil, fmt.Errorf("kernel %s: %d bytes of shared memory where a block of %s has %d", k.Name, static+b.dynamic, b.target, b.target.sharedLimit())
	}
	return m, nil
}

// Emit is the checked module's text.
func (b *Builder) Emit() (string, error) {
	m, err := b.Module()
	if err != nil {
		return "", err
	}
	return m.String(), nil
}

// DynamicShared is how many bytes of dynamic shared memory a launch must give.
func (b *Builder) DynamicShared() int { return b.dynamic }
