package products

import (
	"testing"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/ptxsim"
)

// TestStemAccess: the fragments that a stem reads straight from the input's pixels do not meet in a bank, and its outputs
// are coalesced.
func TestStemAccess(t *testing.T) {
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8} {
		e := stemTactic(u, kernels.NHWC, 8)
		t.Run(e.Name, func(t *testing.T) {
			tr := emittest.ConvTrial(t, e, u.Type(), [4]int{1, 3, 63, 65}, [4]int{64, 3, 7, 7}, 3, 2, 0)
			stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll})
			if err != nil || !right {
				t.Fatal(right, err)
			}
			if w := stats[0].Worst("ldmatrix"); w == nil || w.Conflicts > 1 {
				t.Errorf("fragments meet in banks: %+v", w)
			}
			if w := stats[0].Worst("st.global"); w.Efficiency() < 1 {
				t.Errorf("outputs are not coalesced: %+v", w)
			}
		})
	}
}
