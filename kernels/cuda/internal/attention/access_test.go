package attention

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// TestAccess: copies and outputs are whole sectors, and nothing meets in a bank of shared memory.
func TestAccess(t *testing.T) {
	for _, tl := range tiles() {
		for _, size := range []int{64, 80, 128} {
			if tl.Split > 1 || size > tl.Most {
				continue
			}
			t.Run(tl.String(), func(t *testing.T) {
				s := shape{1, 2, 2, 2 * tl.BM, 2 * tl.BN, size, size, true}
				tr := s.trial(t, tl, graph.AttentionAttrs{}, tl.Unit.Type(), nil)
				stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
				if err != nil || !right {
					t.Fatal(right, err)
				}
				for _, in := range stats[0].Insts {
					if in.Conflicts > 1 {
						t.Errorf("%s meets in %d banks, %.2f on the mean", in.Text, in.Conflicts, in.MeanConflicts)
					}
				}
				for _, op := range []string{"cp.async", "st.global"} {
					if w := stats[0].Worst(op); w == nil || w.Efficiency() < 1 {
						t.Errorf("%s: %+v", op, w)
					}
				}
			})
		}
	}
}

// TestOrderings leaves each barrier, wait and commit out: each time the simulator must find it, or the result be wrong.
func TestOrderings(t *testing.T) {
	for _, tl := range []Tile{tileNamed(t, "f16_mma_32x64_w2"), tileNamed(t, "f16_mma_16x64_w1"), tileNamed(t, "f32_simt_32x32_w4")} {
		t.Run(tl.String(), func(t *testing.T) {
			s := shape{1, 1, 1, 3, 5 * tl.BN, 32, 32, true}
			tr := s.trial(t, tl, graph.AttentionAttrs{}, tl.Unit.Type(), nil)
			k := tr.Work.Module.Kernels[0]
			found := ptxsim.Orderings(k)
			if len(found) < 5 {
				t.Fatalf("%d orderings in the kernel", len(found))
			}
			for _, i := range found {
				broken, err := ptxsim.Without(tr.Work.Module, k.Name, i)
				if err != nil {
					t.Fatal(err)
				}
				if tr.Survives(t, broken) {
					t.Errorf("nothing tells that %q is missing at %d", k.Text(&k.Body[i]), i)
				}
			}
		})
	}
}

func tileNamed(t *testing.T, name string) Tile {
	t.Helper()
	for _, tl := range tiles() {
		if tl.String() == name {
			return tl
		}
	}
	t.Fatalf("there is no tile %s", name)
	return Tile{}
}
