package cuda

import (
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// Kernels whose threads do not work together: each one has an index and computes a few elements of the output.

// threadIndex is the thread's index in the grid. Threads from total on end.
func threadIndex(k *ptx.K, total int) ptx.Uint {
	index := k.Mad(k.BlockX(), ptx.U(blockThreads), k.Thread())
	k.Exit(k.Ge(index, ptx.U(total)))
	return index
}
