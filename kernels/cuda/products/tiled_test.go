package products

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/ptx"
	"github.com/trtui/trtui/kernels/cuda/ptxsim"
)

// trialOf emits a tile's product for a convolution of the geometry.
func trialOf(t *testing.T, tl Tile, x, w [4]int, pad, stride int, zero int32) *emittest.Trial {
	t.Helper()
	return emittest.ConvTrial(t, OnTile("", graph.Conv, kernels.NHWC, tl), tl.Unit.Type(), x, w, pad, stride, zero)
}

// conflictFree asserts that no access of a product to shared memory meets in a bank, and that copies, operands and sums are
// among those measured.
func conflictFree(t *testing.T, s *ptxsim.Stats) {
	t.Helper()
	conflicts(t, s, func(string) int { return 1 })
}

// conflicts asserts that each access to shared memory takes no more passes than most says of the instruction, and that
// copies, operands and sums are among those measured.
func conflicts(t *testing.T, s *ptxsim.Stats, most func(op string) int) {
	t.Helper()
	measured := map[string]bool{}
	for _, in := range s.Insts {
		if in.Conflicts > 0 {
			measured[strings.SplitN(in.Op, ".", 2)[0]] = true
		}
		if in.Conflicts > most(in.Op) {
			t.Errorf("%s meets in %d banks, %.2f on the mean", in.Text, in.Conflicts, in.MeanConflicts)
		}
	}
	for _, op := range []string{"cp", "ld", "st"} {
		if !measured[op] {
			t.Errorf("no %s to shared memory was measured", op)
		}
	}
}

// TestProductAccess: the ring's copies are coalesced, and nothing meets in a bank: neither copies, fragments and operands nor
// the sums that are written and read in rows.
func TestProductAccess(t *testing.T) {
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		for _, tl := range Tiles(u) {
			if tl.Stages != 3 || tl.Split != 1 {
				continue
			}
			t.Run(tl.String(), func(t *testing.T) {
				tr := trialOf(t, tl, [4]int{1, 128, 12, 12}, [4]int{256, 128, 1, 1}, 0, 1, 0)
				stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
				if err != nil || !right {
					t.Fatal(right, err)
				}
				s := stats[0]
				if s.Abandoned != 0 {
					t.Errorf("nobody waits for %d copies", s.Abandoned)
				}
				conflictFree(t, s)
				if w := s.Worst("cp.async"); w == nil || w.Efficiency() < 1 {
					t.Errorf("copies are not coalesced: %+v", w)
				}
				if w := s.Worst("st.global"); w.Efficiency() < 1 {
					t.Errorf("outputs are not coalesced: %+v", w)
				}
			})
		}
	}
}

// TestProductOrderings leaves each barrier, wait and commit out of a product's kernel: each time the simulator must find
// it, or the result be wrong.
func TestProductOrderings(t *testing.T) {
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		list := slices.DeleteFunc(Tiles(u), func(t Tile) bool { return t.Split > 1 || t.Stages > 3 })
		tl := list[len(list)-1] // the smallest
		t.Run(tl.String(), func(t *testing.T) {
			tr := trialOf(t, tl, [4]int{1, 40, 7, 9}, [4]int{48, 40, 3, 3}, 1, 1, 5)
			tr.NeedsOrderings(t)
		})
	}
}

// TestSharedSums splits sums among blocks: the result is right in whatever order they end, and the last one must not go on
// before the barrier that tells it so.
func TestSharedSums(t *testing.T) {
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		tl := Tiles(u)[len(Tiles(u))-1]
		if tl.Split < 8 {
			t.Fatalf("%s is not split", tl)
		}
		t.Run(tl.String(), func(t *testing.T) {
			tr := trialOf(t, tl, [4]int{1, 256, 5, 9}, [4]int{72, 256, 3, 3}, 1, 1, 5)
			if !tr.Survives(t, tr.Work.Module) {
				t.Fatal("the result is wrong")
			}
			k := tr.Work.Module.Kernels[0]
			count := slices.IndexFunc(k.Body, func(i ptx.Inst) bool { return i.Op == "atom" })
			found := ptxsim.Orderings(k)
			next := found[slices.IndexFunc(found, func(i int) bool { return i > count })]
			broken, err := ptxsim.Without(tr.Work.Module, k.Name, next)
			if err != nil {
				t.Fatal(err)
			}
			if tr.Survives(t, broken) {
				t.Errorf("nothing tells that %q is missing at %d", k.Text(&k.Body[next]), next)
			}
		})
	}
}
