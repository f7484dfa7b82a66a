package cuda

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// roughTactics have what differs between GPUs and a simulator that computes exactly: approximate instructions, and the sums
// of tensor cores. One of each kind.
var roughTactics = []string{
	"pointwise_linear", "softmax_linear", "normalize_rows_linear", "reduce_linear", "conv_stem_nhwc_f16_mma_8x16",
	"gemm_linear_f16_mma_32x64x128_s3_k2", "gemm_batched_f16_mma_32x64x128_s3",
}

// TestRough runs layers of the suite where everything that the ISA leaves open is as far off as it may be: that must be within
// the tolerance by which a GPU is judged.
func TestRough(t *testing.T) {
	b := simulated(t)
	b.ctx.(*simulator.Context).Rough = true
	ran := map[string]bool{}
	runtest.Tactics(t, b, suite.Layers(), func(layer, tactic string) bool {
		if !slices.Contains(roughTactics, tactic) || !strings.Contains(tactic, "f16") && strings.Contains(layer, "_f16_") { // the tolerance of f32 is less
			return false
		}
		ran[tactic] = true
		return true
	})
	for _, name := range roughTactics {
		if !ran[name] {
			t.Errorf("%s ran on no layer", name)
		}
	}
}
