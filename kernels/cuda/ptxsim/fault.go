package ptxsim

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// Kind says what sort of mistake a Fault is.
type Kind string

// The mistakes that a launch reports.
const (
	OutOfBounds   Kind = "out of bounds"
	Misaligned    Kind = "misaligned"
	Uninitialised Kind = "uninitialised"
	Race          Kind = "race"
	Pending       Kind = "pending copy"  // an access to what an asynchronous copy has not delivered
	Divergence    Kind = "divergence"    // an instruction that needs lanes which are elsewhere
	Deadlock      Kind = "deadlock"      // every warp waits
	Barrier       Kind = "barrier"       // barrier operands that the ISA forbids
	Budget        Kind = "budget"        // more instructions than Options.Budget
	Illegal       Kind = "illegal value" // an operand value that the ISA forbids
	Trap          Kind = "trap"          // the trap instruction
)

// Fault is an error of the program that was run: what the ISA leaves undefined or forbids.
type Fault struct {
	Kind   Kind
	Kernel string
	Block  [3]int
	Warp   int    // in the block
	Lane   int    // -1 where it is the warp's
	Inst   int    // index in the kernel's body; -1 where none
	Line   int    // in the source text; 0 if the kernel was built
	Text   string // the instruction
	Detail string
}

// Error names the place and what is wrong there, in one line.
func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s: block (%d,%d,%d)", f.Kernel, f.Block[0], f.Block[1], f.Block[2])
	if f.Warp >= 0 {
		fmt.Fprintf(&b, " warp %d", f.Warp)
	}
	if f.Lane >= 0 {
		fmt.Fprintf(&b, " lane %d", f.Lane)
	}
	switch {
	case f.Line > 0:
		fmt.Fprintf(&b, ": line %d: %s", f.Line, f.Text)
	case f.Inst >= 0:
		fmt.Fprintf(&b, ": instruction %d: %s", f.Inst, f.Text)
	}
	fmt.Fprintf(&b, ": %s: %s", f.Kind, f.Detail)
	return b.String()
}

// place names instruction i of kernel k for a message about another one.
func place(k *ptx.Kernel, i int) string {
	if line := k.Body[i].Line; line > 0 {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("instruction %d", i)
}

// text spells instruction in as PTX does.
func text(k *ptx.Kernel, in *ptx.Inst) string {
	var b strings.Builder
	if in.Guard.On {
		b.WriteByte('@')
		if in.Guard.Not {
			b.WriteByte('!')
		}
		b.WriteString(k.Regs[in.Guard.Reg].Name)
		b.WriteByte(' ')
	}
	b.WriteString(in.Op)
	for _, m := range in.Mods {
		b.WriteByte('.')
		b.WriteString(m)
	}
	for i := range in.Args {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		b.WriteString(operandText(k, &in.Args[i]))
	}
	return b.String()
}

func operandText(k *ptx.Kernel, o *ptx.Operand) string {
	not := ""
	if o.Not {
		not = "!"
	}
	switch o.Kind {
	case ptx.RegOperand:
		s := not + k.Regs[o.Reg].Name
		if o.Pair != nil {
			s += "|" + k.Regs[*o.Pair].Name
		}
		return s
	case ptx.ImmOperand:
		switch o.Float {
		case 32:
			return fmt.Sprintf("0f%08X", uint32(o.Imm))
		case 64:
			return fmt.Sprintf("0d%016X", uint64(o.Imm))
		}
		return fmt.Sprint(o.Imm)
	case ptx.AddrOperand:
		name := o.Name
		if o.Base {
			name = k.Regs[o.Reg].Name
		}
		if o.Off != 0 || name == "" {
			if name != "" && o.Off > 0 {
				name += "+"
			}
			name += fmt.Sprint(o.Off)
		}
		return "[" + name + "]"
	case ptx.VectorOperand:
		parts := make([]string, len(o.Vec))
		for i := range o.Vec {
			parts[i] = operandText(k, &o.Vec[i])
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case ptx.SinkOperand:
		return "_"
	}
	return o.Name
}
