package products

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// TestStemAccess: the fragments that a stem reads straight from the input's pixels, and its sums, do not meet in a bank, and
// its outputs are coalesced.
func TestStemAccess(t *testing.T) {
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8} {
		e := stemTactic(u, kernels.NHWC, 8)
		for _, channels := range []int{64, 32} {
			t.Run(fmt.Sprint(e.Name, channels), func(t *testing.T) {
				tr := emittest.ConvTrial(t, e, u.Type(), [4]int{1, 3, 63, 65}, [4]int{channels, 3, 7, 7}, 3, 2, 0)
				stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll})
				if err != nil || !right {
					t.Fatal(right, err)
				}
				// Rows of 32 sums, 40 words apart, are read by two or four threads: those of four rows begin in all banks
				// for the stores, which are twice as many, and not for these loads.
				most := map[int]int{64: 1, 32: 2}[channels]
				conflicts(t, stats[0], stagedAccess, func(op string) int {
					if op == "ld.shared.v4.b32" {
						return most
					}
					return 1
				})
				if w := stats[0].Worst("st.global"); w.Efficiency() < 1 {
					t.Errorf("outputs are not coalesced: %+v", w)
				}
			})
		}
	}
}
