package cuda

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cuda/ptxsim"
)

// TestBatchedAccess: the copies of products of activations are coalesced, and nothing meets in a bank of shared memory.
func TestBatchedAccess(t *testing.T) {
	for _, tl := range batchedTiles {
		t.Run(tl.String(), func(t *testing.T) {
			tr := layerTrial(t, "gemm_batched_"+tl.String(), graph.MatMul, nil, graph.F16, []int{2, 128, 128}, weight(graph.F16, 128, 256))
			stats, right, err := tr.run(t, tr.work.module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
			if err != nil || !right {
				t.Fatal(right, err)
			}
			conflictFree(t, stats[0])
			for _, op := range []string{"cp.async", "st.global"} {
				w := stats[0].Worst(op)
				if w == nil || w.Efficiency() < 1 {
					t.Errorf("%s: %+v", op, w)
				}
			}
		})
	}
}

// TestBatchedOrderings leaves each barrier, wait and commit out: each time the simulator must find it, or the result be
// wrong.
func TestBatchedOrderings(t *testing.T) {
	tl := batchedTiles[len(batchedTiles)-1] // the last step reads the stage that the sums take over
	tr := layerTrial(t, "gemm_batched_"+tl.String(), graph.MatMul, nil, graph.F16, []int{1, 40, 392}, weight(graph.F16, 392, 72))
	tr.needsOrderings(t)
}
