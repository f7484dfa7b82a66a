package products

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// TestSkinny: products of 1 to 16 rows, of sums that are no multiples of what a warp multiplies, in straight code and in loops.
func TestSkinny(t *testing.T) {
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8, emit.SimtF32} {
		for _, warps := range []int{4, 8, 16} {
			for _, e := range [][3]int{{1, 64, 16}, {3, 1008, 33}, {8, 5264, 24}, {9, 48, 5}, {16, 784, 40}} {
				if u == emit.SimtF32 { // which takes fewer
					if e[0] = min(e[0], 8); warps > 8 {
						e[0] = min(e[0], 4)
					}
				}
				name := skinnyTactic(graph.MatMul, kernels.Linear, u, warps).Name
				t.Run(fmt.Sprint(name, e), func(t *testing.T) {
					tr := emittest.LayerTrial(t, skinnyTactics(), name, graph.MatMul, nil, u.Type(), []int{e[0], e[1]}, emittest.Weight(u.Type(), e[1], e[2]))
					stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
					if err != nil || !right {
						t.Fatal(right, err)
					}
					conflicts(t, stats[0], []string{"st", "ld"}, func(op string) int { return 2 })
				})
			}
		}
	}
}

// TestSkinnyCode: weights are read 512 bytes at a time by a warp, all of a turn before the first product, and nothing spills.
func TestSkinnyCode(t *testing.T) {
	tool := emittest.Assembler(t)
	for _, c := range []struct {
		unit  emit.Unit
		rows  []int
		warps int
	}{
		{emit.TensorF16, []int{1, 8, 16}, 8}, {emit.TensorI8, []int{1, 16}, 8}, {emit.TensorF16, []int{16}, 16},
		{emit.SimtF32, []int{1, 2, 4, 8}, 8}, {emit.SimtF32, []int{1, 2, 4}, 16},
	} {
		u := c.unit
		for _, rows := range c.rows {
			for _, depth := range []int{768, 8192} {
				e := skinnyTactic(graph.MatMul, kernels.Linear, u, c.warps)
				t.Run(fmt.Sprint(e.Name, rows, depth), func(t *testing.T) {
					tr := emittest.LayerTrial(t, skinnyTactics(), e.Name, graph.MatMul, nil, u.Type(), []int{rows, depth}, emittest.Weight(u.Type(), depth, 768))
					for _, arch := range []string{"sm_80", "sm_90a"} {
						registers := emittest.Registers(t, tool, arch, tr.Work.Module.String())
						c := emittest.Disassemble(t, arch, tr.Work.Module.String())
						n := c.Counts(0, len(c.Names))
						t.Logf("%s: %d registers, %d loads, %d products of %d instructions; the loop has %d, %d and %d", arch, registers,
							n["LDG"], n[products[u]], len(c.Names), c.MainLoop(products[u]).Count("LDG"), c.MainLoop(products[u]).Count(products[u]), len(c.MainLoop(products[u])))
					}
				})
			}
		}
	}
}
