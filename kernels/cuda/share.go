package cuda

import "github.com/trtui/trtui/kernels/cuda/ptx"

// parts is where the blocks that share a sum meet. Each writes its part and counts itself. The last one adds all parts up,
// always in their order, and goes on alone.
type parts struct {
	sums     ptx.GlobalPtr // in the workspace
	counters ptx.GlobalPtr // by sum, 0 before and after
}

// maxCounters is how many counters a kernel has; every stream has them.
const maxCounters = 1024
