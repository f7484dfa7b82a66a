package emit

import (
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// Kernels whose threads do not work together: each one has an index and computes a few elements of the output.

// ThreadIndex is the thread's index in the grid. Threads from total on end.
func ThreadIndex(k *ptx.K, total int) ptx.Uint {
	index := k.Mad(k.BlockX(), ptx.U(BlockThreads), k.Thread())
	k.Exit(k.Ge(index, ptx.U(total)))
	return index
}
