package ptx

import "fmt"

// pointer is an address: a register, an offset that takes no instruction, and a condition of the accesses through it.
type pointer struct {
	value
	off   int64
	space Space
	cond  Bool
}

// GlobalPtr is an address of global memory, of 64 bits; SharedPtr of the block's shared memory, of 32.
type (
	GlobalPtr struct{ pointer }
	SharedPtr struct{ pointer }
)

// Access says how a load or store deals with caches and with other threads; "" is the plain one.
type Access string

// The ways of access.
const (
	ReadOnly Access = "nc"          // of loads: nobody writes there while the kernel runs
	Streamed Access = "cs"          // it will not be used again soon
	InL2     Access = "cg"          // past the first-level cache
	Volatile Access = "volatile"    // not moved nor joined
	Relaxed  Access = "relaxed.gpu" // whole, for all threads of the device
	Acquire  Access = "acquire.gpu" // of loads: what was before the release that it reads from is seen after it
	Release  Access = "release.gpu" // of stores
)

// Pointer declares the next parameter, an address of global memory, and loads it.
func (b *Builder) Pointer(name string) GlobalPtr {
	p := b.param(name, U64, B64).op("cvta.to.global.u64", B64)
	return GlobalPtr{pointer{value: p, space: Global}}
}

// Shared declares bytes of shared memory, and moves their address to a register.
func (b *Builder) Shared(name string, bytes, align int) SharedPtr {
	b.k.Vars = append(b.k.Vars, Var{Name: name, Space: Shared, Type: B8, Align: align, Count: bytes})
	return b.sharedSymbol(name)
}

// DynamicSharedPtr declares the block's dynamic shared memory, of so many bytes at launch; a kernel has it once.
func (b *Builder) DynamicSharedPtr(bytes, align int) SharedPtr {
	if len(b.vars) > 0 {
		b.fail("dynamic shared memory is declared twice")
	}
	name := b.k.Name + "_dynamic"
	b.vars = append(b.vars, Var{Name: name, Space: Shared, Type: B8, Align: align, Extern: true})
	b.dynamic = bytes
	return b.sharedSymbol(name)
}

func (b *Builder) sharedSymbol(name string) SharedPtr {
	d := b.fresh(B32)
	b.emit("mov.u32", d.o, Operand{Kind: SymbolOperand, Name: name})
	return SharedPtr{pointer{value: d, space: Shared}}
}

// At is the address so many bytes on; it takes no instruction.
func (p GlobalPtr) At(bytes int) GlobalPtr {
	p.off += int64(bytes)
	return p
}

// At is the address so many bytes on; it takes no instruction.
func (p SharedPtr) At(bytes int) SharedPtr {
	p.off += int64(bytes)
	return p
}

// When is the address for the threads for which c holds; for others loads give zero and stores and copies do nothing. Each
// load then takes one more instruction a register.
func (p GlobalPtr) When(c Bool) GlobalPtr {
	p.cond = c
	return p
}

// When is the address for the threads for which c holds, as GlobalPtr's.
func (p SharedPtr) When(c Bool) SharedPtr {
	p.cond = c
	return p
}

// Index is the address i elements of size bytes on.
func (p GlobalPtr) Index(i Uint32, size uint32) GlobalPtr {
	p.value = i.op("mad.wide.u32", B64, p.b.U32(size).value, p.value)
	return p
}

// IndexS is the address i elements of size bytes on, or back.
func (p GlobalPtr) IndexS(i Int32, size int32) GlobalPtr {
	p.value = i.op("mad.wide.s32", B64, p.b.S32(size).value, p.value)
	return p
}

// Add is the address n bytes on.
func (p GlobalPtr) Add(n Uint64) GlobalPtr {
	p.value = p.op("add.u64", B64, n.value)
	return p
}

// Var is an address in a register of its own, to be changed with Advance.
func (p GlobalPtr) Var() GlobalPtr {
	p.value = p.op("mov.b64", B64)
	return p
}

// Advance moves the address of a Var so many bytes on.
func (p GlobalPtr) Advance(bytes Uint64) { p.b.emit("add.u64", p.o, p.o, bytes.o) }

// Index is the address i elements of size bytes on.
func (p SharedPtr) Index(i Uint32, size uint32) SharedPtr {
	p.value = i.op("mad.lo.u32", B32, p.b.U32(size).value, p.value)
	return p
}

// Add is the address n bytes on.
func (p SharedPtr) Add(n Uint32) SharedPtr {
	p.value = p.op("add.u32", B32, n.value)
	return p
}

// Uint is the address as a number, without its offset.
func (p SharedPtr) Uint() Uint32 { return Uint32{p.value} }

func (p pointer) address() Operand {
	return Operand{Kind: AddrOperand, Base: true, Reg: p.o.Reg, Off: p.off}
}

func vector(v ...value) Operand {
	o := Operand{Kind: VectorOperand}
	for _, e := range v {
		o.Vec = append(o.Vec, e.o)
	}
	return o
}

// guarded adds instructions under the pointer's condition.
func (p pointer) guarded(emit func()) {
	if p.cond.b == nil {
		emit()
		return
	}
	p.b.When(p.cond, emit)
}

// name is an access's name with its modifiers, the first word being ld or st.
func (p pointer) name(op string, a []Access, n int, t Type) string {
	how := ""
	for _, one := range a {
		how += string(one)
	}
	switch Access(how) {
	case "":
		op += "." + string(p.space)
	case ReadOnly, Streamed, InL2:
		op += "." + string(p.space) + "." + how
	default:
		op += "." + how + "." + string(p.space)
	}
	if n > 1 {
		op += fmt.Sprintf(".v%d", n)
	}
	return op + "." + string(t)
}

// load reads n values of type t into registers of a class.
func (p pointer) load(t, class Type, n int, a []Access) []value {
	d := make([]value, n)
	for i := range d {
		d[i] = p.b.fresh(class)
		if p.cond.b != nil {
			zero := p.b.integer(0)
			if class == F32 {
				zero = p.b.F32(0).value
			}
			p.b.emit("mov."+string(class), d[i].o, zero.o)
		}
	}
	p.guarded(func() { p.b.emit(p.name("ld", a, n, t), operandOf(d), p.address()) })
	return d
}

// store writes values of type t.
func (p pointer) store(t Type, a []Access, v ...value) {
	p.guarded(func() { p.b.emit(p.name("st", a, len(v), t), p.address(), operandOf(v)) })
}

// operandOf is one value, or a vector of several.
func operandOf(v []value) Operand {
	if len(v) == 1 {
		return v[0].o
	}
	return vector(v...)
}
