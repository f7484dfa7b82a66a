package products

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/emit/emittest"
)

// products are the instructions that the units multiply with.
var products = [...]string{emit.SimtF32: "FFMA", emit.TensorF16: "HMMA", emit.TensorI8: "IMMA"}

// TestMainLoops reads the machine code of every tile's loop for a convolution of 3x3 taps and one of 1x1: it has the products,
// fragments and copies of a step and no more, nothing is spilled, and what finds addresses is few.
func TestMainLoops(t *testing.T) {
	emittest.Assembler(t)
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		for _, tl := range Tiles(u) {
			if tl.Stages != 3 || tl.Split != 1 {
				continue
			}
			for _, taps := range []int{3, 1} {
				t.Run(fmt.Sprintf("%s/%dx%d", tl, taps, taps), func(t *testing.T) {
					tr := trialOf(t, tl, [4]int{1, 512, 14, 14}, [4]int{128, 512, taps, taps}, taps/2, 1, 0)
					checkMainLoop(t, tl, tr.Work.Module.String())
				})
			}
		}
	}
}

// checkMainLoop checks the machine code of a tile's loop.
func checkMainLoop(t *testing.T, tl Tile, text string) {
	t.Helper()
	// Beside products, fragments and copies: what each copy needs (an address of 64 bits, a predicate), then the ring, the
	// count, the step's addresses, and three reads of nothing that the assembler puts before copies.
	const perCopy, others = 3, 31
	product := products[tl.Unit]
	n, all := emittest.Disassemble(t, "sm_90a", text).MainLoop(product)
	rows, columns := tl.BM/tl.WarpsM, tl.BN/tl.WarpsN // of a warp
	copies := (tl.BM + tl.BN) * tl.pieces() / tl.threads()
	fragments, want := 0, map[string]int{"LDGSTS": copies, "LDL": 0, "STL": 0, "BAR": 1}
	share := 0.82 // of all issue slots
	if tl.Unit == emit.SimtF32 {
		want[product] = rows * columns / 32 * tl.BK / 4
		fragments = (rows/simtRows + columns/simtColumns) * tl.pieces()
	} else {
		want[product] = rows / 16 * columns / 8 * tl.BK / mmaBytes
		fragments = (rows + columns) / 16 * tl.BK / mmaBytes
		want["LDSM"] = fragments
		share = 0.23 // the tensor cores of Hopper take 4 cycles for one at their peak, those of Ampere 8
	}
	for name, count := range want {
		if n[name] != count {
			t.Errorf("%d times %s, want %d", n[name], name, count)
		}
	}
	rest := all - want[product] - fragments - copies
	t.Logf("%d of %d instructions are products, %d are neither products, fragments nor copies", n[product], all, rest)
	if got := float64(n[product]) / float64(all); got < share {
		t.Errorf("%.3f of the instructions are products, want %.3f", got, share)
	}
	if most := perCopy*copies + others; rest > most {
		t.Errorf("%d instructions are neither products, fragments nor copies, want at most %d", rest, most)
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
