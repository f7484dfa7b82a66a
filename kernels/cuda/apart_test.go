package cuda

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// apartTactics have branches that part the lanes of a warp, and what lanes do together behind them: one of each kind.
var apartTactics = []string{
	"softmax_linear", "reduce_linear", "normalize_rows_linear", "arg_linear", "scatter_rows_linear", "conv_stem_nhwc_f16_mma_8x16",
	"gemm_linear_f16_mma_32x64x128_s3_k2", "gemm_batched_f16_mma_32x64x128_s3", "pool_nhwc",
}

// TestApart runs layers of the suite where the lanes of a warp that a branch has parted meet no earlier than they must. make
// sim-apart does so with all tactics.
func TestApart(t *testing.T) {
	b := simulated(t)
	b.ctx.(*simulator.Context).Apart = true
	b.ctx.(*simulator.Context).Races = true
	ran := map[string]int{}
	runtest.Tactics(t, b, suite.Layers(), func(_, tactic string) bool {
		if !slices.Contains(apartTactics, tactic) || ran[tactic] == 2 {
			return false
		}
		ran[tactic]++
		return true
	})
	for _, name := range apartTactics {
		if ran[name] == 0 {
			t.Errorf("%s ran on no layer", name)
		}
	}
}
