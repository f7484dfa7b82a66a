package ptx

import (
	"fmt"
	"math"
	"slices"
)

// A value is what an instruction reads: a register or an immediate.
type value struct{ op Operand }

// The classes of register. A 32-bit register holds an unsigned, a signed or any other word: the conversions between these
// are free, and a method's name says how it reads its operands. What does not fit is a type error of Go's.
type (
	Uint  struct{ value } // 32 bits, unsigned
	Int   struct{ value } // 32 bits, signed
	Word  struct{ value } // 32 bits of any kind: two halves, four bytes
	Half  struct{ value } // 16 bits: an f16
	Long  struct{ value } // 64 bits, unsigned
	Float struct{ value } // f32
	Cond  struct{ value } // a predicate
)

// The free conversions.
func (u Uint) Int() Int   { return Int(u) }
func (u Uint) Word() Word { return Word(u) }
func (s Int) Uint() Uint  { return Uint(s) }
func (s Int) Word() Word  { return Word(s) }
func (w Word) Uint() Uint { return Uint(w) }
func (w Word) Int() Int   { return Int(w) }

// Not is the complement of a predicate, which costs nothing.
func (p Cond) Not() Cond {
	p.op.Not = !p.op.Not
	return p
}

// U is an unsigned immediate.
func U(n int) Uint { return Uint{immediate(int64(uint32(n)), 0)} }

// I is a signed immediate.
func I(n int) Int { return Int{immediate(int64(int32(n)), 0)} }

// W is an immediate word.
func W(bits uint32) Word { return Word{immediate(int64(bits), 0)} }

// F is a floating-point immediate.
func F(f float32) Float { return Float{immediate(int64(math.Float32bits(f)), 32)} }

func immediate(n int64, float int) value {
	return value{Operand{Kind: ImmOperand, Imm: n, Float: float}}
}

// Constant returns an immediate's value.
func (v value) Constant() (int64, bool) { return v.op.Imm, v.op.Kind == ImmOperand }

// GlobalPtr is an address in device memory, SharedPtr one in the block's shared memory. An offset in bytes costs nothing.
type (
	GlobalPtr struct {
		Long
		off int64
	}
	SharedPtr struct {
		Uint
		off int64
	}
)

// At is the address so many bytes further on.
func (g GlobalPtr) At(bytes int) GlobalPtr { return GlobalPtr{g.Long, g.off + int64(bytes)} }

// At is the address so many bytes further on.
func (s SharedPtr) At(bytes int) SharedPtr { return SharedPtr{s.Uint, s.off + int64(bytes)} }

// global is the operand of an address: what an instruction has no room for is added before.
func (k *K) global(p GlobalPtr) Operand {
	if p.off == int64(int32(p.off)) {
		return address(p.value, p.off)
	}
	d := k.long()
	k.emit("add", mods("s64"), d.op, p.op, immediate(p.off, 0).op)
	return address(d.value, 0)
}

func (s SharedPtr) address() Operand { return address(s.value, s.off) }

func address(v value, off int64) Operand {
	if n, ok := v.Constant(); ok {
		return Operand{Kind: AddrOperand, Off: n + off}
	}
	return Operand{Kind: AddrOperand, Base: true, Reg: v.op.Reg, Off: off}
}

// New starts a module for a target. Its version is settled by [K.End] of its kernels.
func New(t Target) *Module { return &Module{Target: t, Version: max(70, t.minVersion())} }

// Retarget makes a module one for another target, and raises its version to the first that knows it.
func (m *Module) Retarget(t Target) {
	m.Target, m.Version = t, max(m.Version, t.minVersion())
}

// SM80 is the target of the code that every GPU from Ampere on runs, SM90 that from Hopper on; SM90A is Hopper's own.
var (
	SM80  = Target{SM: 80}
	SM90  = Target{SM: 90}
	SM90A = Target{SM: 90, Arch: true}
)

// K builds a kernel: each method appends an instruction, or a few, and returns the register of the result, which is a
// new one every time. Loops over what is known are Go's; If and For are the device's.
type K struct {
	module *Module
	kernel *Kernel
	counts map[string]int // registers by prefix
	labels int
	guard  Guard
}

// Kernel starts a kernel of the module for blocks of so many threads.
func (m *Module) Kernel(name string, threads int) *K {
	k := &Kernel{Name: name, MaxThreads: [3]int{threads, 1, 1}}
	m.Kernels = append(m.Kernels, k)
	return &K{module: m, kernel: k, counts: map[string]int{}}
}

// Resident promises that no more than n blocks need to share a multiprocessor: the compiler may give each of them its part
// of the registers.
func (k *K) Resident(n int) { k.kernel.MinBlocks = n }

// Pointer declares the next parameter, the address of memory, and loads it.
func (k *K) Pointer(name string) GlobalPtr {
	k.kernel.Params = append(k.kernel.Params, Var{Name: name, Space: Param, Type: U64})
	d := k.long()
	k.emit("ld", []string{"param", "u64"}, d.op, Operand{Kind: AddrOperand, Name: name})
	return GlobalPtr{d, 0}
}

// Scalar declares the next parameter, a number, and loads it.
func (k *K) Scalar(name string) Uint {
	k.kernel.Params = append(k.kernel.Params, Var{Name: name, Space: Param, Type: U32})
	d := k.word()
	k.emit("ld", []string{"param", "u32"}, d.op, Operand{Kind: AddrOperand, Name: name})
	return Uint{d}
}

// ScalarF declares the next parameter, a number, and loads it.
func (k *K) ScalarF(name string) Float {
	k.kernel.Params = append(k.kernel.Params, Var{Name: name, Space: Param, Type: F32})
	d := k.float()
	k.emit("ld", []string{"param", "f32"}, d.op, Operand{Kind: AddrOperand, Name: name})
	return d
}

// Array declares static shared memory.
func (k *K) Array(name string, bytes, align int) SharedPtr {
	k.kernel.Vars = append(k.kernel.Vars, Var{Name: name, Space: Shared, Type: B8, Align: align, Count: bytes})
	return k.symbol(name)
}

// Dynamic is the shared memory whose size is given at launch, aligned to 1024 bytes.
func (k *K) Dynamic() SharedPtr {
	v := Var{Name: "dynamic", Space: Shared, Type: B8, Align: 1024, Extern: true}
	if !slices.ContainsFunc(k.module.Vars, func(w Var) bool { return w.Name == v.Name }) {
		k.module.Vars = append(k.module.Vars, v)
	}
	return k.symbol(v.Name)
}

func (k *K) symbol(name string) SharedPtr {
	d := k.word()
	k.emit("mov", []string{"u32"}, d.op, Operand{Kind: SymbolOperand, Name: name})
	return SharedPtr{Uint{d}, 0}
}

// register declares a new register.
func (k *K) register(prefix string, t Type) value {
	n := k.counts[prefix]
	k.counts[prefix]++
	k.kernel.Regs = append(k.kernel.Regs, Register{Name: fmt.Sprintf("%%%s%d", prefix, n), Type: t})
	return value{Operand{Kind: RegOperand, Reg: Reg(len(k.kernel.Regs) - 1)}}
}

func (k *K) word() value  { return k.register("r", B32) }
func (k *K) long() Long   { return Long{k.register("rd", B64)} }
func (k *K) float() Float { return Float{k.register("f", F32)} }
func (k *K) half() Half   { return Half{k.register("h", B16)} }
func (k *K) cond() Cond   { return Cond{k.register("p", Pred)} }

// emit appends an instruction under the guard that holds.
func (k *K) emit(op string, mods []string, args ...Operand) {
	k.kernel.Body = append(k.kernel.Body, Inst{Guard: k.guard, Op: op, Mods: mods, Args: args})
}

// When puts the instructions that body emits under a predicate. They must not branch, and what they write under it alone
// must not be read where it does not hold.
func (k *K) When(p Cond, body func()) {
	if k.guard.On {
		panic("ptx: When within When")
	}
	k.guard = Guard{On: true, Not: p.op.Not, Reg: p.op.Reg}
	body()
	k.guard = Guard{}
}

// newLabel names a place that is set later.
func (k *K) newLabel(kind string) string {
	k.labels++
	return fmt.Sprintf("$%s_%d", kind, k.labels)
}

func (k *K) place(label string) {
	k.kernel.Labels = append(k.kernel.Labels, Label{Name: label, At: len(k.kernel.Body)})
}

func (k *K) branch(label string, p Cond) {
	if k.guard.On {
		panic("ptx: branch within When")
	}
	k.guard = Guard{On: true, Not: p.op.Not, Reg: p.op.Reg}
	k.emit("bra", nil, Operand{Kind: LabelOperand, Name: label})
	k.guard = Guard{}
}

// If runs body where p holds.
func (k *K) If(p Cond, body func()) {
	end := k.newLabel("end")
	k.branch(end, p.Not())
	body()
	k.place(end)
}

// IfElse runs one of two bodies.
func (k *K) IfElse(p Cond, then, otherwise func()) {
	no, end := k.newLabel("else"), k.newLabel("end")
	k.branch(no, p.Not())
	then()
	k.emit("bra", []string{"uni"}, Operand{Kind: LabelOperand, Name: end})
	k.place(no)
	otherwise()
	k.place(end)
}

// For runs body for i from start on, below end, in steps. i may be read after the loop no more.
func (k *K) For(start, end, step Uint, body func(i Uint)) { k.loop(start, end, step, false, body) }

// ForRolled is For for a body that is long enough: a loop whose count the compiler knows it may unroll, with the addresses
// of all turns in registers at once. What is known to have one turn is no loop.
func (k *K) ForRolled(start, end, step Uint, body func(i Uint)) {
	first, known := start.Constant()
	last, too := end.Constant()
	by, three := step.Constant()
	if known && too && three && first < last && first+by >= last {
		body(start)
		return
	}
	k.loop(start, end, step, true, body)
}

func (k *K) loop(start, end, step Uint, rolled bool, body func(i Uint)) {
	i := k.Var(start)
	top, out := k.newLabel("loop"), k.newLabel("done")
	k.branch(out, k.Ge(i, end))
	k.place(top)
	k.kernel.Labels[len(k.kernel.Labels)-1].Rolled = rolled
	body(i)
	k.Set(i, k.Add(i, step))
	k.branch(top, k.Lt(i, end))
	k.place(out)
}

// Loop runs body again and again, until a leave of its own holds. It stays a loop, as that of ForRolled.
func (k *K) Loop(body func(leave func(p Cond))) {
	top, out := k.newLabel("loop"), k.newLabel("done")
	k.place(top)
	k.kernel.Labels[len(k.kernel.Labels)-1].Rolled = true
	body(func(p Cond) { k.branch(out, p) })
	k.emit("bra", []string{"uni"}, Operand{Kind: LabelOperand, Name: top})
	k.place(out)
}

// LoopInto runs body again and again while what it returns holds, as a loop of ForRolled; where midway, the first time from
// the place on where it calls enter.
func (k *K) LoopInto(midway bool, body func(enter func()) (again Cond)) {
	top, in := k.newLabel("loop"), k.newLabel("enter")
	if midway {
		k.emit("bra", []string{"uni"}, Operand{Kind: LabelOperand, Name: in})
	}
	k.place(top)
	k.kernel.Labels[len(k.kernel.Labels)-1].Rolled = true
	k.branch(top, body(func() {
		if midway {
			k.place(in)
		}
	}))
}

// Exit ends the thread, where p holds.
func (k *K) Exit(p Cond) {
	k.guard = Guard{On: true, Not: p.op.Not, Reg: p.op.Reg}
	k.emit("ret", nil)
	k.guard = Guard{}
}

// End closes the kernel, and raises the module's version to what it needs.
func (k *K) End() {
	k.emit("ret", nil)
	k.module.Version = max(k.module.Version, k.module.Needs().Version)
}

// Register is a float's register as a word, of which nothing but a float may be made again.
func (f Float) Register() Word { return Word(f) }

// FloatRegister is the float whose register w is.
func (w Word) FloatRegister() Float { return Float(w) }
