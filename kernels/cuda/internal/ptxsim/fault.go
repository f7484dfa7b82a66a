package ptxsim

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
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
	Overlap       Kind = "overlap"       // what the kernel before may still use, or what lets the kernel after begin too early
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

// spelled is instruction i of kernel k as the text has it.
func spelled(k *ptx.Kernel, i int) string { return strings.TrimSuffix(k.Text(&k.Body[i]), ";") }
