package products

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// TestBatchedAccess: the copies of products of activations are coalesced, and nothing meets in a bank of shared memory.
func TestBatchedAccess(t *testing.T) {
	for _, tl := range batchedTiles {
		t.Run(tl.String(), func(t *testing.T) {
			tr := emittest.LayerTrial(t, batchedTactics(), "gemm_batched_"+tl.String(), graph.MatMul, nil, tl.Unit.Type(), []int{2, 128, 128}, emittest.Weight(tl.Unit.Type(), 128, 256))
			stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
			if err != nil || !right {
				t.Fatal(right, err)
			}
			conflictFree(t, stats[0], stagedAccess)
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
	for _, tl := range []Tile{batchedTiles[3], batchedTiles[5]} { // the last step reads the stage that the sums take over
		typ := tl.Unit.Type()
		tr := emittest.LayerTrial(t, batchedTactics(), "gemm_batched_"+tl.String(), graph.MatMul, nil, typ, []int{1, 40, 392}, emittest.Weight(typ, 392, 72))
		tr.NeedsOrderings(t)
	}
}

// TestBatchedSides: each side may be transposed, and rows of any length are copied in pieces of what they are aligned to, halves
// one by one.
func TestBatchedSides(t *testing.T) {
	for _, tl := range batchedTiles {
		for _, extents := range [][3]int{{40, 136, 72}, {37, 100, 68}, {130, 70, 66}, {33, 67, 35}, {1, 1, 1}} {
			for sides := range 4 {
				m, k, n := extents[0], extents[1], extents[2]
				a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransA: sides&1 != 0, TransB: sides&2 != 0}
				x, w := []int{m, k}, []int{k, n}
				if a.TransA {
					slices.Reverse(x)
				}
				if a.TransB {
					slices.Reverse(w)
				}
				t.Run(fmt.Sprintf("%s/%d/%v", tl, sides, extents), func(t *testing.T) {
					typ := tl.Unit.Type()
					tr := emittest.LayerTrial(t, batchedTactics(), "gemm_batched_"+tl.String(), graph.Gemm, a, typ, x, emittest.Weight(typ, w...))
					for _, async := range []ptxsim.Async{ptxsim.Late, ptxsim.Early} {
						stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Async: async, Lints: ptxsim.LintAll, Races: true})
						if err != nil || !right {
							t.Fatal(right, err)
						}
						for _, in := range stats[0].Insts {
							if a.TransA && typ == numeric.F32 && strings.HasPrefix(in.Op, "st.shared") && in.Conflicts <= 4 {
								continue // a lane's rows are side by side: sums of four lanes meet, once a tile
							}
							if in.Conflicts > 1 {
								t.Errorf("%s meets in %d banks", in.Text, in.Conflicts)
							}
						}
					}
				})
			}
		}
	}
}
