package emit

import (
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Launch is one launch of a kernel of the module. Shapes are part of the code, so addresses are mostly all that it
// takes, and the numbers of code that is [Open].
type Launch struct {
	Kernel      string
	Grid, Block [3]int
	Shared      int // bytes of dynamic shared memory
	Args        []Arg
	// Cluster is how many blocks run together, where the code means them to; they divide the grid. It needs sm_90.
	Cluster [3]int
	// Overlap says that the kernel waits for what is before it in the stream by itself, so that it may begin earlier.
	Overlap bool
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

// Uint declares a number as the kernel's next parameter.
func (l *Launch) Uint(k *ptx.K, name string, n uint32) ptx.Uint {
	l.Args = append(l.Args, UintArg(n))
	return k.Scalar(name)
}

// Float declares a number as the kernel's next parameter.
func (l *Launch) Float(k *ptx.K, name string, x float32) ptx.Float {
	l.Args = append(l.Args, FloatArg(x))
	return k.ScalarF(name)
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
