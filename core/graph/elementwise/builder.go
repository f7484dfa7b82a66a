package elementwise

// Builder appends instructions to Program and numbers their values.
type Builder struct{ Program Program }

// NewBuilder returns a builder of a program of so many arguments, which are its first values.
func NewBuilder(args int) *Builder { return &Builder{Program{Args: args}} }

// Do appends an operation and returns its value.
func (b *Builder) Do(op Op, args ...int) int {
	in := Instr{Op: op}
	copy(in.Arg[:], args)
	b.Program.Code = append(b.Program.Code, in)
	return b.Program.Result()
}

// Constant appends a constant and returns its value.
func (b *Builder) Constant(v float32) int {
	b.Program.Code = append(b.Program.Code, Instr{Op: Const, Imm: [2]float32{v}})
	return b.Program.Result()
}
