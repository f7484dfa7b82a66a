package cuda

import (
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// work is what a tactic emits for a binding.
type work struct {
	module    *ptx.Module
	launches  []launch // in order
	constants []byte   // packed weights and tables, placed in device memory at a multiple of 256
}

// launch is one launch of a kernel of the module. Shapes are part of the code, so addresses are all that it takes.
type launch struct {
	kernel      string
	grid, block [3]int
	shared      int // bytes of dynamic shared memory
	args        []arg
}

// arg is a kernel's parameter: the address of something, plus offset.
type arg struct {
	kind   argKind
	index  int // of the input or output
	offset int // bytes
}

type argKind uint8

const (
	inputArg argKind = iota
	outputArg
	constantArg
	workspaceArg
	counterArg
)

func inArg(i int) arg           { return arg{inputArg, i, 0} }
func outArg(i int) arg          { return arg{outputArg, i, 0} }
func constArg(offset int) arg   { return arg{constantArg, 0, offset} }
func scratchArg(offset int) arg { return arg{workspaceArg, 0, offset} }
func countersArg() arg          { return arg{counterArg, 0, 0} }

// append adds constants at a multiple of 256 and returns where.
func (w *work) append(data []byte) int {
	at := roundUp(len(w.constants), 256)
	w.constants = append(append(w.constants, make([]byte, at-len(w.constants))...), data...)
	return at
}

// threads starts a kernel of the work in which total threads have an index each. The launch goes to the work by
// [work.end].
func (w *work) threads(name string, total int) (k *ptx.K, l *launch) {
	k = w.module.Kernel(name, blockThreads)
	return k, &launch{kernel: name, grid: [3]int{ceilDiv(total, blockThreads), 1, 1}, block: [3]int{blockThreads, 1, 1}}
}

// end closes the kernel and appends its launch.
func (w *work) end(k *ptx.K, l *launch) {
	k.End()
	w.launches = append(w.launches, *l)
}

// input declares the address of an input, and output that of an output, as the kernel's next parameter.
func (l *launch) input(k *ptx.K, i int) ptx.GlobalPtr {
	l.args = append(l.args, inArg(i))
	return k.Pointer("x" + string(rune('a'+i)))
}

func (l *launch) output(k *ptx.K, i int) ptx.GlobalPtr {
	l.args = append(l.args, outArg(i))
	return k.Pointer("y" + string(rune('a'+i)))
}

// operand declares the address of a layer's input, or of its elements among the constants where it is one.
func (l *launch) operand(k *ptx.K, w *work, b kernels.Binding, i int) ptx.GlobalPtr {
	if b.Consts[i] != nil {
		return l.constant(k, "x"+string(rune('a'+i)), w.append(b.Consts[i]))
	}
	return l.input(k, i)
}

// constant declares the address of constants.
func (l *launch) constant(k *ptx.K, name string, offset int) ptx.GlobalPtr {
	l.args = append(l.args, constArg(offset))
	return k.Pointer(name)
}

// scratch declares the address of a place in the workspace.
func (l *launch) scratch(k *ptx.K, name string, offset int) ptx.GlobalPtr {
	l.args = append(l.args, scratchArg(offset))
	return k.Pointer(name)
}
