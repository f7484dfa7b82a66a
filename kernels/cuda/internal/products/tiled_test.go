package products

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// trialOf emits a tile's product for a convolution of the geometry.
func trialOf(t *testing.T, tl Tile, x, w [4]int, pad, stride int, zero int32) *emittest.Trial {
	t.Helper()
	return emittest.ConvTrial(t, OnTile("", graph.Conv, kernels.NHWC, tl), tl.Unit.Type(), x, w, pad, stride, zero)
}

// Accesses of shared memory: copies, operands, and sums that are staged there or leave from registers.
var (
	stagedAccess = []string{"cp", "ld", "st"}
	directAccess = []string{"cp", "ldmatrix"}
)

// conflictFree asserts that no access of a product to shared memory meets in a bank, and that all of the list are among those
// measured.
func conflictFree(t *testing.T, s *ptxsim.Stats, list []string) {
	t.Helper()
	conflicts(t, s, list, func(string) int { return 1 })
}

// conflicts asserts that each access to shared memory takes no more passes than most says of the instruction, and that all of
// the list are among those measured.
func conflicts(t *testing.T, s *ptxsim.Stats, list []string, most func(op string) int) {
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
	for _, op := range list {
		if !measured[op] {
			t.Errorf("no %s to shared memory was measured", op)
		}
	}
}

// TestProductAccess: the ring's copies and the outputs are coalesced, and nothing meets in a bank: neither copies, fragments and
// operands nor, of kernels without tensor cores, the sums that are written and read in rows.
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
				list := directAccess
				if u == emit.SimtF32 {
					list = stagedAccess
				}
				conflictFree(t, s, list)
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

// TestStagedSums: rows of outputs that no lane can write by 8 bytes go through shared memory, where nothing meets in a bank
// either; what a warp writes is side by side.
func TestStagedSums(t *testing.T) {
	for _, tl := range Tiles(emit.TensorF16) {
		if tl.Stages != 3 || tl.Split != 1 {
			continue
		}
		t.Run(tl.String(), func(t *testing.T) {
			tr := emittest.LayerTrial(t, []emit.Tactic{OnTile("", graph.MatMul, kernels.Linear, tl)}, tl.String(), graph.MatMul, nil, numeric.F16, []int{144, 128},
				emittest.Weight(numeric.F16, 128, 251))
			stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
			if err != nil || !right {
				t.Fatal(right, err)
			}
			conflictFree(t, stats[0], stagedAccess)
			if w := stats[0].Worst("st.global"); w.Efficiency() < 0.5 { // rows of 502 bytes begin anywhere
				t.Errorf("outputs are not coalesced: %+v", w)
			}
		})
	}
}

// TestLaneRows: with the weights in the rows that laneRow says, the sums of the rows 2t and 2t+1 of every 8, which an m16n8
// instruction gives lane t of four, are of channels side by side, vector after vector; every row has one channel.
func TestLaneRows(t *testing.T) {
	const channels = 128
	for _, v := range []int{0, 2, 4, 8, 16} {
		channelOf := map[int]int{}
		for c := range channels {
			channelOf[laneRow(c, v)] = c
		}
		if len(channelOf) != channels {
			t.Fatalf("vectors of %d: %d rows of %d", v, len(channelOf), channels)
		}
		e := tensor{vector: max(2, v)}
		for lane := range 4 {
			for j := range channels / 8 {
				for i := range 2 {
					if got, want := channelOf[8*j+2*lane+i], lane*e.vector+e.columnOf(j)+i; got != want {
						t.Errorf("vectors of %d: row %d has channel %d, lane %d reads it as %d", v, 8*j+2*lane+i, got, lane, want)
					}
				}
			}
		}
	}
}

// TestLaneVectors: what a lane writes at a time, of outputs of each size on warps of 64 and of 32 columns.
func TestLaneVectors(t *testing.T) {
	wide, narrow := tensorTiles[0], tensorTiles[1]
	for _, c := range []struct{ vector, size, wide, narrow int }{
		{8, 2, 8, 8}, {4, 2, 4, 4}, {2, 2, 0, 0}, {1, 2, 0, 0},
		{16, 1, 16, 8}, {8, 1, 8, 8}, {4, 1, 0, 0},
		{4, 4, 4, 4}, {2, 4, 2, 2}, {1, 4, 0, 0},
	} {
		for i, want := range []int{c.wide, c.narrow} {
			tl := []Tile{wide, narrow}[i]
			if tl.Unit = emit.TensorF16; tl.laneVector(c.vector, c.size) != want {
				t.Errorf("%s: %d elements of %d bytes, want %d", tl, tl.laneVector(c.vector, c.size), c.size, want)
			}
			if tl.Unit = emit.SimtF32; tl.laneVector(c.vector, c.size) != 0 {
				t.Errorf("%s has no fragments", tl)
			}
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
