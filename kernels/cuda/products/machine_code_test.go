package products

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/emit/emittest"
)

// products are the instructions that the units multiply with.
var products = [...]string{emit.SimtF32: "FFMA", emit.TensorF16: "HMMA", emit.TensorI8: "IMMA"}

// loopShares are the least shares, in thousandths, of products among the instructions of the loops of tiles on tensor cores,
// of 3x3 taps and of 1x1. What a step cannot do without, its products, fragments and copies, leaves small tiles less.
var loopShares = map[string][2]int{
	"128x128x128": {610, 650},
	"128x256x64":  {600, 620},
	"128x64x128":  {490, 540},
	"64x128x128":  {515, 545},
	"64x64x128":   {395, 430},
	"32x64x128":   {375, 400},
	"64x64x64":    {325, 360},
	"128x128x64":  {390, 410}, // two blocks share the registers: one stage a turn
}

// TestMainLoops reads the machine code of every tile's loop for a convolution of 3x3 taps and one of 1x1: it has the products,
// fragments and copies of its steps and no more, nothing is spilled, what finds addresses is few, and copies and fragments lie
// between the products.
func TestMainLoops(t *testing.T) {
	emittest.Assembler(t)
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		for _, tl := range Tiles(u) {
			if tl.Stages != 3 || tl.Split != 1 {
				continue
			}
			for i, taps := range []int{3, 1} {
				t.Run(fmt.Sprintf("%s/%dx%d", tl, taps, taps), func(t *testing.T) {
					channels := 1536 / taps
					tr := trialOf(t, tl, [4]int{1, channels, 6, 6}, [4]int{128, channels, taps, taps}, taps/2, 1, 0)
					share := 820 // of all issue slots
					if u != emit.SimtF32 {
						share = loopShares[fmt.Sprintf("%dx%dx%d", tl.BM, tl.BN, tl.BK)][i]
					}
					for _, arch := range []string{"sm_80", "sm_90a"} {
						checkMainLoop(t, tl, emittest.Disassemble(t, arch, tr.Work.Module.String()).Loop(products[u]), share)
					}
				})
			}
		}
	}
}

// checkMainLoop checks the machine code of a tile's loop, some steps of which are products at least.
func checkMainLoop(t *testing.T, tl Tile, loop []string, share int) {
	t.Helper()
	product := products[tl.Unit]
	n := map[string]int{}
	longest, run := 0, 0 // instructions between two products, around the loop
	for _, name := range slices.Concat(loop, loop) {
		if run++; name == product {
			run = 0
		}
		longest = max(longest, run)
	}
	for _, name := range loop {
		n[name]++
	}
	rows, columns := tl.BM/tl.WarpsM, tl.BN/tl.WarpsN // of a warp
	copies := (tl.BM + tl.BN) * tl.pieces() / tl.threads()
	fragments, want := 0, map[string]int{"LDGSTS": copies, "BAR": 1}
	steps := 1
	if tl.Unit == emit.SimtF32 {
		want[product] = rows * columns / 32 * tl.BK / 4
		fragments = (rows/simtRows + columns/simtColumns) * tl.pieces()
	} else {
		want[product] = rows / 16 * columns / 8 * tl.BK / mmaBytes
		fragments = (rows + columns) / 16 * tl.BK / mmaBytes
		want["LDSM"] = fragments
		if !tl.tight() {
			steps = tl.Stages
		}
	}
	for name, count := range want {
		if n[name] != steps*count {
			t.Errorf("%d times %s in %d steps, want %d", n[name], name, steps, steps*count)
		}
	}
	if n["LDL"]+n["STL"] > 0 {
		t.Errorf("%d spills", n["LDL"]+n["STL"])
	}
	rest := len(loop) - steps*(want[product]+fragments+copies)
	t.Logf("%d of %d instructions are products, %.3f; %d are neither products, fragments nor copies; %d between two products",
		n[product], len(loop), float64(n[product])/float64(len(loop)), rest, longest)
	if got := 1000 * n[product] / len(loop); got < share {
		t.Errorf("%d of 1000 instructions are products, want %d", got, share)
	}
	// Beside products, fragments and copies: the address and predicate of every copy of pixels, the weights' address, the
	// step's tap, its barrier, and six reads of nothing that the assembler puts before copies; of one stage a turn the ring too.
	others := 18
	if steps == 1 {
		others = 37
	}
	if most := steps * (3*tl.BM*tl.pieces()/tl.threads() + others); rest > most {
		t.Errorf("%d instructions are neither products, fragments nor copies, want at most %d", rest, most)
	}
	if rows*columns >= 32*64 && steps > 1 && longest > 8 {
		t.Errorf("%d instructions between two products: copies and fragments do not lie between them", longest)
	}
}

// TestStemCode reads the machine code of the stem of a residual network: its products, fragments that are loaded at most
// once for each, and no spills.
func TestStemCode(t *testing.T) {
	emittest.Assembler(t)
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8} {
		for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
			for _, lines := range []int{8, 16} {
				e := stemTactic(u, f, lines)
				t.Run(e.Name, func(t *testing.T) {
					tr := emittest.ConvTrial(t, e, u.Type(), [4]int{1, 3, 64, 64}, [4]int{64, 3, 7, 7}, 3, 2, 0)
					c := emittest.Disassemble(t, "sm_90a", tr.Work.Module.String())
					n := c.Counts(0, len(c.Names))
					// 7 rows of 8 taps, 4 an instruction, by 2 lines, by 8 times 8 channels
					if n[products[u]] != 7*2*2*8 || n["LDSM"] > 7*2*(2+4) || n["LDL"]+n["STL"] > 0 {
						t.Errorf("%d products, %d fragments, %d spills", n[products[u]], n["LDSM"], n["LDL"]+n["STL"])
					}
				})
			}
		}
	}
}

// TestBatchedCode: products of two activations spill nothing, whatever lies how.
func TestBatchedCode(t *testing.T) {
	ptxas := emittest.Assembler(t)
	for _, tl := range batchedTiles {
		for sides := range 4 {
			a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransA: sides&1 != 0, TransB: sides&2 != 0}
			t.Run(fmt.Sprintf("%s/%d", tl, sides), func(t *testing.T) {
				typ := tl.Unit.Type()
				tr := emittest.LayerTrial(t, batchedTactics(), "gemm_batched_"+tl.String(), graph.Gemm, a, typ, []int{260, 260}, emittest.Weight(typ, 260, 260))
				c := emittest.Disassemble(t, "sm_90a", tr.Work.Module.String())
				loop := c.Loop(products[tl.Unit])
				n := 0
				for _, name := range loop {
					if name == products[tl.Unit] {
						n++
					}
				}
				t.Logf("%d of %d instructions are products", n, len(loop))
				for _, arch := range []string{"sm_80", "sm_90a"} {
					if got := emittest.Assemble(t, ptxas, arch, tr.Work.Module.String()); got.Spills > 0 {
						t.Errorf("%s: %d bytes of spills, %d registers", arch, got.Spills, got.Registers)
					}
				}
			})
		}
	}
}
