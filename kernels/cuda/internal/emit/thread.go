package emit

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// Kernels whose threads do not work together: each one has an index and computes a few elements of the output.

// BlockThreads is how many threads a block has in kernels whose threads do not work together.
const BlockThreads = 256

// Threads starts a kernel of the work in which total threads have an index each. The launch goes to the work by
// [Work.End].
func (w *Work) Threads(name string, total int) (k *ptx.K, l *Launch) {
	k = w.Module.Kernel(name, BlockThreads)
	return k, &Launch{Kernel: name, Grid: [3]int{CeilDiv(total, BlockThreads), 1, 1}, Block: [3]int{BlockThreads, 1, 1}}
}

// ThreadIndex is the thread's index in the grid. Threads from total on end.
func ThreadIndex(k *ptx.K, total int) ptx.Uint {
	index := k.Mad(k.BlockX(), ptx.U(BlockThreads), k.Thread())
	k.Exit(k.Ge(index, ptx.U(total)))
	return index
}

// End closes the kernel and appends its launch.
func (w *Work) End(k *ptx.K, l *Launch) {
	k.End()
	w.Launches = append(w.Launches, *l)
}
