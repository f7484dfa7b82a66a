package emit

import (
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// Work is what a tactic emits for a binding.
type Work struct {
	Module    *ptx.Module
	Launches  []Launch // in order
	Constants []byte   // packed weights and tables, placed in device memory at a multiple of 256
}

// NewWork returns a work whose module is empty, and for sm_80. Where a tactic needs more it says so, and [Tactic.Work] sees
// to it: what emits does not.
func NewWork() *Work { return &Work{Module: ptx.New(ptx.SM80)} }

// Launch is one launch of a kernel of the module. Shapes are part of the code, so addresses are all that it takes.
type Launch struct {
	Kernel      string
	Grid, Block [3]int
	Shared      int // bytes of dynamic shared memory
	Args        []Arg
}

// Arg is a kernel's parameter: the address of something, plus offset.
type Arg struct {
	Kind   ArgKind
	Index  int // of the input or output
	Offset int // bytes
}

// ArgKind is what an argument is the address of.
type ArgKind uint8

// The kinds: an input, an output, the work's constants, the workspace, and the stream's counters ([MaxCounters]).
const (
	InputArg ArgKind = iota
	OutputArg
	ConstantArg
	WorkspaceArg
	CounterArg
)

// InArg is the address of input i.
func InArg(i int) Arg { return Arg{InputArg, i, 0} }

// OutArg is the address of output i.
func OutArg(i int) Arg { return Arg{OutputArg, i, 0} }

// ConstArg is an address among the constants, offset bytes from where they begin.
func ConstArg(offset int) Arg { return Arg{ConstantArg, 0, offset} }

// ScratchArg is an address in the workspace, offset bytes from where it begins.
func ScratchArg(offset int) Arg { return Arg{WorkspaceArg, 0, offset} }

// CountersArg is the address of the counters.
func CountersArg() Arg { return Arg{CounterArg, 0, 0} }

// Append adds constants at a multiple of 256 and returns where.
func (w *Work) Append(data []byte) int {
	at := RoundUp(len(w.Constants), 256)
	w.Constants = append(append(w.Constants, make([]byte, at-len(w.Constants))...), data...)
	return at
}

// Input declares the address of input i as the kernel's next parameter.
func (l *Launch) Input(k *ptx.K, i int) ptx.GlobalPtr {
	l.Args = append(l.Args, InArg(i))
	return k.Pointer("x" + string(rune('a'+i)))
}

// Output declares the address of output i as the kernel's next parameter.
func (l *Launch) Output(k *ptx.K, i int) ptx.GlobalPtr {
	l.Args = append(l.Args, OutArg(i))
	return k.Pointer("y" + string(rune('a'+i)))
}

// Operand declares the address of a layer's input, or of its elements among the constants where it is one.
func (l *Launch) Operand(k *ptx.K, w *Work, b kernels.Binding, i int) ptx.GlobalPtr {
	if b.Consts[i] != nil {
		return l.Constant(k, "x"+string(rune('a'+i)), w.Append(b.Consts[i]))
	}
	return l.Input(k, i)
}

// Constant declares the address of constants.
func (l *Launch) Constant(k *ptx.K, name string, offset int) ptx.GlobalPtr {
	l.Args = append(l.Args, ConstArg(offset))
	return k.Pointer(name)
}

// Scratch declares the address of a place in the workspace.
func (l *Launch) Scratch(k *ptx.K, name string, offset int) ptx.GlobalPtr {
	l.Args = append(l.Args, ScratchArg(offset))
	return k.Pointer(name)
}
