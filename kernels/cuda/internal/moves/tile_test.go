package moves

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// tiledCase is a reformat or a transposition through tiles.
type tiledCase struct {
	tactic string
	op     *graph.Op
	attrs  any
	typ    numeric.DataType
	dims   []int
}

func (c tiledCase) String() string { return fmt.Sprintf("%s_%s_%v", c.tactic, c.typ, c.dims) }

// trial emits the case, from the input's type to the same or another.
func (c tiledCase) trial(t *testing.T, to numeric.DataType) *emittest.Trial {
	t.Helper()
	x := &graph.Tensor{Name: "x", Type: c.typ, Dims: symbolic.Shape(c.dims...)}
	if c.typ == numeric.I8 && to != c.typ {
		x.Range = numeric.PerTensor(0.03, -7)
	}
	l := emittest.LayerOf(t, c.op, c.attrs, x)
	if l.Outputs[0].Type = to; to != c.typ {
		if l.Outputs[0].Range = (numeric.Range{}); to == numeric.I8 {
			l.Outputs[0].Range = numeric.PerTensor(0.05, 3)
		}
	}
	for _, e := range append(reformatTactics(), transposeTactics()...) {
		if e.Name == c.tactic {
			tr := emittest.NewTrial(t, e, l, rand.New(rand.NewPCG(1, 2)))
			tr.Tolerance = suite.Tolerance{}
			return tr
		}
	}
	t.Fatalf("there is no tactic %s", c.tactic)
	return nil
}

// wide returns why an access of global memory is not of 16 bytes a thread and the least sectors, or one of shared memory
// meets others in a bank.
func wide(stats []*ptxsim.Stats) (faults []string) {
	for _, s := range stats {
		for _, in := range s.Insts {
			global := strings.Contains(in.Op, ".global")
			switch {
			case in.Requests == 0:
			case global && !strings.HasSuffix(in.Op, "v4.b32"):
				faults = append(faults, in.Text+" is narrower than 16 bytes")
			case in.Efficiency() < 1 || in.Conflicts > 1:
				faults = append(faults, fmt.Sprintf("%s: %.2f of its sectors, %d passes over the banks", in.Text, in.Efficiency(), in.Conflicts))
			}
		}
	}
	return faults
}

// TestWideTiles: where rows begin at multiples of 16 bytes, tiles are read and written by 16 bytes a thread, without a sector
// too many and without bank conflicts.
func TestWideTiles(t *testing.T) {
	swap := graph.TransposeAttrs{Perm: []int{0, 2, 1}}
	for _, typ := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		for _, c := range []tiledCase{
			{"reformat_linear_nhwc", graph.Reformat, nil, typ, []int{1, 64, 56, 56}},
			{"reformat_nhwc_linear", graph.Reformat, nil, typ, []int{1, 64, 56, 56}},
			{"reformat_linear_nhwc", graph.Reformat, nil, typ, []int{2, 32, 40, 40}},
			{"transpose_tiled_linear", graph.Transpose, swap, typ, []int{12, 128, 64}},
			{"transpose_tiled_linear", graph.Transpose, swap, typ, []int{3, 160, 96}},
			{"transpose_tiled_linear", graph.Transpose, graph.TransposeAttrs{Perm: []int{2, 1, 0}}, typ, []int{32, 3, 512}},
		} {
			t.Run(c.String(), func(t *testing.T) {
				tr := c.trial(t, typ)
				stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
				if err != nil || !right {
					t.Fatal(right, err)
				}
				for _, f := range wide(stats) {
					t.Error(f)
				}
				n := int64(numeric.Count(c.dims))
				if got := 32 * stats[0].Instructions; got > 24*n {
					t.Errorf("%.1f instructions for each element", float64(got)/float64(n))
				}
			})
		}
	}
}

// TestOddTiles: rows that begin anywhere, axes shorter and longer than tiles, and changes of type are right in every order,
// and no two threads meet in a bank where the tile does not lie in pieces.
func TestOddTiles(t *testing.T) {
	types := []numeric.DataType{numeric.F32, numeric.F16, numeric.I8}
	swap := graph.TransposeAttrs{Perm: []int{1, 0}}
	for _, typ := range types {
		for _, dims := range [][]int{{8, 9}, {300, 9}, {9, 300}, {16, 260}, {131, 130}, {132, 68}, {40, 1000}, {1001, 24}, {8, 4096}} {
			c := tiledCase{"transpose_tiled_linear", graph.Transpose, swap, typ, dims}
			t.Run(c.String(), func(t *testing.T) { survives(t, c.trial(t, typ)) })
		}
		for _, to := range types {
			for _, dims := range [][]int{{1, 3, 20, 20}, {2, 5, 7, 7}, {1, 70, 14, 14}, {2, 300, 3, 3}, {1, 6, 5, 2}, {1, 16, 33, 5}, {1, 1, 1, 1}} {
				for _, name := range []string{"reformat_linear_nhwc", "reformat_nhwc_linear"} {
					c := tiledCase{name, graph.Reformat, nil, typ, dims}
					t.Run(fmt.Sprint(c, to), func(t *testing.T) { survives(t, c.trial(t, to)) })
				}
			}
		}
	}
}

func survives(t *testing.T, tr *emittest.Trial) {
	t.Helper()
	if !tr.Survives(t, tr.Work.Module) {
		_, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Races: true})
		t.Fatal(right, err)
	}
	stats, _, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"ld.shared", "st.shared"} {
		if w := stats[0].Worst(op); w != nil && w.Conflicts > 4 {
			t.Errorf("%s: %d passes over the banks", w.Text, w.Conflicts)
		}
	}
}

// TestAssembledTiles: nothing is spilled, and as many threads fit a multiprocessor as it has.
func TestAssembledTiles(t *testing.T) {
	tool := emittest.Assembler(t)
	for _, c := range []tiledCase{
		{"reformat_linear_nhwc", graph.Reformat, nil, numeric.F16, []int{1, 64, 56, 56}},
		{"reformat_linear_nhwc", graph.Reformat, nil, numeric.I8, []int{1, 64, 7, 7}},
		{"transpose_tiled_linear", graph.Transpose, graph.TransposeAttrs{Perm: []int{1, 0}}, numeric.I8, []int{512, 512}},
		{"transpose_tiled_linear", graph.Transpose, graph.TransposeAttrs{Perm: []int{1, 0}}, numeric.F32, []int{512, 511}},
	} {
		tr := c.trial(t, c.typ)
		for _, arch := range []string{"sm_80", "sm_90a"} {
			n := emittest.Registers(t, tool, arch, tr.Work.Module.String())
			if limit := emit.RegistersPerSM / 2048; n > limit {
				t.Errorf("%v, %s: %d registers, at most %d wanted", c, arch, n, limit)
			}
		}
	}
}
