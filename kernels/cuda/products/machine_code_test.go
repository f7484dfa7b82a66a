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

// loopBounds returns what a tile's main loop keeps to, as its kernels for sm_90a do: the worse of a convolution of 3x3 taps
// and one of 1x1, f16 and i8 alike. A product keeps the tensor cores of Hopper busy for 4 cycles at their peak, those of Ampere
// for 8: a share of a quarter can feed them, where the other instructions are not all in one place, as they are today.
func loopBounds(t Tile) (emittest.LoopBounds, bool) {
	list := map[[3]int]emittest.LoopBounds{
		{128, 128, 128}: {Share: 51, Gap: 97, Together: 30, Addresses: 51},
		{128, 128, 64}:  {Share: 36, Gap: 49, Together: 16, Addresses: 20},
		{128, 256, 64}:  {Share: 49, Gap: 52, Together: 17, Addresses: 22},
		{128, 64, 128}:  {Share: 38, Gap: 88, Together: 27, Addresses: 44},
		{64, 128, 128}:  {Share: 40, Gap: 82, Together: 27, Addresses: 38},
		{64, 64, 128}:   {Share: 29, Gap: 69, Together: 19, Addresses: 32},
		{32, 64, 128}:   {Share: 26, Gap: 79, Together: 23, Addresses: 38},
		{64, 64, 64}:    {Share: 23, Gap: 53, Together: 15, Addresses: 20},
	}
	if t.Unit == emit.SimtF32 {
		list = map[[3]int]emittest.LoopBounds{
			{128, 128, 64}: {Share: 90, Gap: 49, Together: 17, Addresses: 24},
			{128, 64, 64}:  {Share: 84, Gap: 45, Together: 13, Addresses: 22},
			{64, 64, 64}:   {Share: 84, Gap: 48, Together: 14, Addresses: 24},
			{32, 64, 64}:   {Share: 83, Gap: 54, Together: 16, Addresses: 28},
			{32, 32, 64}:   {Share: 82, Gap: 60, Together: 20, Addresses: 34},
		}
	}
	b, ok := list[[3]int{t.BM, t.BN, t.BK}]
	return b, ok
}

// TestMainLoops reads the machine code of every tile's loop for a convolution of 3x3 taps and one of 1x1: it has the products,
// fragments and copies of a step and no more, nothing is in local memory, and it keeps to the bounds of loopBounds.
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
	c := emittest.Disassemble(t, "sm_90a", text)
	if n := c.Counts(0, len(c.Names)); n["LDL"]+n["STL"] > 0 {
		t.Errorf("%d loads and %d stores of local memory", n["LDL"], n["STL"])
	}
	loop := c.MainLoop(product)
	rows, columns := tl.BM/tl.WarpsM, tl.BN/tl.WarpsN // of a warp
	copies := (tl.BM + tl.BN) * tl.pieces() / tl.threads()
	fragments, want := 0, map[string]int{"LDGSTS": copies, "BAR": 1}
	if tl.Unit == emit.SimtF32 {
		want[product] = rows * columns / 32 * tl.BK / 4
		fragments = (rows/simtRows + columns/simtColumns) * tl.pieces()
	} else {
		want[product] = rows / 16 * columns / 8 * tl.BK / mmaBytes
		fragments = (rows + columns) / 16 * tl.BK / mmaBytes
		want["LDSM"] = fragments
	}
	for name, count := range want {
		if n := loop.Count(name); n != count {
			t.Errorf("%d times %s, want %d", n, name, count)
		}
	}
	rest := len(loop) - want[product] - fragments - copies
	t.Logf("%d of %d instructions are products, %d fragments, %d copies, %d others: %+v", want[product], len(loop), fragments, copies, rest, loop.Measure(product))
	bounds, ok := loopBounds(tl)
	if !ok {
		t.Errorf("the tile has no bounds; its loop has %+v", loop.Measure(product))
	}
	for _, line := range loop.Lint(product, bounds) {
		t.Error(line)
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
