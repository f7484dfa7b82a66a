package ptx

// Type is the type of a register, a variable or an instruction, as the text spells it without the dot.
type Type string

// The types that PTX has and we use.
const (
	Pred  Type = "pred"
	B8    Type = "b8"
	B16   Type = "b16"
	B32   Type = "b32"
	B64   Type = "b64"
	B128  Type = "b128"
	U8    Type = "u8"
	U16   Type = "u16"
	U32   Type = "u32"
	U64   Type = "u64"
	S8    Type = "s8"
	S16   Type = "s16"
	S32   Type = "s32"
	S64   Type = "s64"
	F16   Type = "f16"
	F16X2 Type = "f16x2"
	BF16  Type = "bf16"
	BF162 Type = "bf16x2"
	TF32  Type = "tf32"
	F32   Type = "f32"
	F64   Type = "f64"
	E4M3  Type = "e4m3"
	E5M2  Type = "e5m2"
)

// Space is a state space: where a variable lies.
type Space string

// The state spaces of variables. Generic is that of an address without one.
const (
	Generic Space = ""
	Global  Space = "global"
	Shared  Space = "shared"
	Local   Space = "local"
	Const   Space = "const"
	Param   Space = "param"
)

// Version is an ISA version, 7.0 being 70.
type Version int

// Target is a compute capability, sm_80 being 80. Feature targets ("sm_90a") have Arch set.
type Target struct {
	SM   int
	Arch bool // code for this architecture alone
}

// Module is a PTX source: what the driver compiles as a whole.
type Module struct {
	Version Version
	Target  Target
	Vars    []Var // of the module: global, const, and shared ones
	Kernels []*Kernel
}

// Var is a declared variable. Bytes of an extern shared array are given at launch.
type Var struct {
	Name   string
	Space  Space
	Type   Type
	Align  int
	Count  int    // elements; 0 for a scalar
	Extern bool   // dynamic shared memory
	Init   []byte // little-endian, the rest zero; nil: zero (global, const) or undefined (shared, local)
}

// Size is the variable's extent in bytes.
func (v *Var) Size() int { return max(v.Count, 1) * max(v.Type.Bits()/8, 1) }

// Alignment is what the variable's address is a multiple of, in bytes: what it declares, or its element's size.
func (v *Var) Alignment() int { return max(v.Align, v.Type.Bits()/8, 1) }

// Kernel is an entry function.
type Kernel struct {
	Name       string
	Params     []Var
	MaxThreads [3]int // .maxntid; zero where not given
	ReqThreads [3]int // .reqntid; zero where not given
	MinBlocks  int    // .minnctapersm; 0 where not given
	MaxRegs    int    // .maxnreg; 0 where not given
	Vars       []Var  // shared and local ones of the kernel
	Regs       []Register
	Body       []Inst
	Labels     []Label // by place, ascending
}

// ParamLayout returns where each parameter lies in the buffer of a launch, and the buffer's size, in bytes.
func (k *Kernel) ParamLayout() (offsets []int, size int) {
	for i := range k.Params {
		v := &k.Params[i]
		size = (size + v.Alignment() - 1) / v.Alignment() * v.Alignment()
		offsets = append(offsets, size)
		size += v.Size()
	}
	return offsets, size
}

// Register is a virtual register: the compiler allocates real ones.
type Register struct {
	Name string // with its percent sign
	Type Type
}

// Reg is the index of a register in Kernel.Regs.
type Reg int

// Label names a place in a kernel's body.
type Label struct {
	Name string
	At   int // the instruction it stands before; len(Body) at the end

	// Rolled says that the loop which begins here is not to be unrolled: .pragma "nounroll" behind the label.
	Rolled bool
}

// noUnroll is the pragma's name as a token.
const noUnroll = `"nounroll"`

// Inst is one instruction.
type Inst struct {
	Guard Guard
	Op    string   // a key of the opcode table, as in "ld", "mad", "cp.async", "mma.sync"
	Mods  []string // what follows the op, in order, without dots, types included: "global", "v4", "f32"
	Args  []Operand
	Line  int // in the text it was read from; 0 if it was built
}

// Guard makes an instruction depend on a predicate register: @p or @!p.
type Guard struct {
	On  bool
	Not bool
	Reg Reg
}

// OperandKind says which fields of an Operand hold.
type OperandKind uint8

// The kinds of operand.
const (
	RegOperand     OperandKind = iota + 1
	ImmOperand                 // Imm: bits, sign-extended; of a float in the type of the instruction if Float
	SpecialOperand             // Name: "%tid.x", "%laneid", ...
	SymbolOperand              // Name: the address of a variable
	AddrOperand                // [Reg+Off], [Name+Off], [Off]
	VectorOperand              // {Vec...}
	LabelOperand               // Name
	SinkOperand                // "_": a result that is dropped
)

// Operand is an operand of an instruction. Destinations come first, as in the text.
type Operand struct {
	Kind  OperandKind
	Reg   Reg    // RegOperand; AddrOperand where Base is set
	Not   bool   // a predicate source that is negated: !p
	Imm   int64  // ImmOperand: the integer, or the bits of 0f (as 32) and 0d (as 64) constants
	Float int    // ImmOperand: 32 or 64 where written as 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX
	Name  string // SpecialOperand, SymbolOperand, LabelOperand; AddrOperand of a variable or parameter
	Off   int64  // AddrOperand, SymbolOperand
	Base  bool   // AddrOperand: Reg is the base
	Vec   []Operand
	Pair  *Reg // a second destination predicate: p|q
}
