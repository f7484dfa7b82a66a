package cuda

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// Kernels whose threads do not work together: each one has an index and computes a few elements of the output.

// threads starts a kernel of the work in which total threads have an index each. The launch goes to the work by
// [work.end].
func (w *work) threads(name string, total int) (k *ptx.K, l *launch) {
	k = w.module.Kernel(name, blockThreads)
	return k, &launch{kernel: name, grid: [3]int{ceilDiv(total, blockThreads), 1, 1}, block: [3]int{blockThreads, 1, 1}}
}

// threadIndex is the thread's index in the grid. Threads from total on end.
func threadIndex(k *ptx.K, total int) ptx.Uint {
	index := k.Mad(k.BlockX(), ptx.U(blockThreads), k.Thread())
	k.Exit(k.Ge(index, ptx.U(total)))
	return index
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

// plainOutput is what becomes of a row of real numbers that need neither scale nor bias: the epilogue and the output's type.
func plainOutput(b kernels.Binding, w *work) (*rowOutput, error) {
	to := layoutOf(b.Out[0])
	return newRowOutput(b, &product{k: to.last, groups: 1, widthOut: to.width, pitchOut: to.pitch, alpha: 1}, w)
}

// threadJob estimates a launch of so many threads that execute so many instructions each.
func threadJob(threads, instructions int, bytes float64) job {
	const resident = 6 // blocks of an SM
	cycles := float64(instructions*blockThreads) / threadsPerCycle
	return job{
		blocks: ceilDiv(threads, blockThreads), resident: resident, cycles: cycles, latency: 800 + 6*float64(instructions), bytes: bytes,
	}
}

// multiplying says that each thread of a [threadJob] has so many 32-bit multiply-adds among its instructions.
func (j job) multiplying(n int) job {
	j.unit, j.multiplied = simtF32, float64(n*blockThreads)
	j.beside, j.cycles = j.cycles, 0
	return j
}

// quantized reports whether a tensor holds bytes that stand for real numbers by one scale.
func quantized(t *graph.Tensor) bool {
	return (t.Type == graph.I8 || t.Type == graph.U8) && t.Range.IsSet() && !t.Range.PerChannel()
}

// words returns the words of n consecutive elements from element at on, and where when does not hold, words of otherwise.
func (s storage) words(k *ptx.K, at ptx.Uint, n int, when *ptx.Cond, otherwise ptx.Word) []ptx.Word {
	p := k.Offset(s.base, at, s.typ.Size())
	var list []ptx.Word
	for i := 0; i < n*s.typ.Size(); i += 16 {
		count := min(4, (n*s.typ.Size()-i)/4)
		if when != nil {
			list = append(list, k.LoadOr(*when, p.At(i), count, otherwise)...)
		} else {
			list = append(list, k.Load(p.At(i), count)...)
		}
	}
	return list
}

// bytesOf returns the four integers of a word of bytes.
func bytesOf(k *ptx.K, w ptx.Word, signed bool) [4]ptx.Int {
	var q [4]ptx.Int
	for i := range q {
		if signed {
			q[i] = k.BfeS(w, 8*i, 8)
		} else {
			q[i] = k.Bfe(w, 8*i, 8).Int()
		}
	}
	return q
}

// repeated is a word of four equal bytes.
func repeated(b int32) ptx.Word { return ptx.W(uint32(byte(b)) * 0x01010101) }
