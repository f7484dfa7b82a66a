package emit

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// Parts is where the blocks that share a sum meet. Each writes its part and counts itself. The last one adds all parts up,
// always in their order, and goes on alone.
type Parts struct {
	Sums     ptx.GlobalPtr // in the workspace
	Counters ptx.GlobalPtr // by sum, 0 before and after
}

// MaxCounters is how many counters a kernel has; every stream has them.
const MaxCounters = 1024
