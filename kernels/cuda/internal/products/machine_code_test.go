package products

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
)

// products are the instructions that the units multiply with.
var products = [...]string{emit.SimtF32: "FFMA", emit.TensorF16: "HMMA", emit.TensorI8: "IMMA"}

// stepCode is how many instructions a step of a tile's main loop cannot do without, of a thread.
type stepCode struct{ products, fragments, copies, others int }

// stepCodeOf counts them for a convolution of so many taps.
func stepCodeOf(t Tile, taps int) stepCode {
	rows, columns := t.BM/t.WarpsM, t.BN/t.WarpsN // of a warp
	c := stepCode{copies: (t.BM + t.BN) * t.pieces() / t.threads()}
	if t.Unit == emit.SimtF32 {
		c.products = rows * columns / 32 * t.BK / 4
		c.fragments = (rows/simtRows + columns/simtColumns) * t.pieces()
	} else {
		c.products = rows / 16 * columns / 8 * t.BK / mmaBytes
		c.fragments = (rows + columns) / 16 * t.BK / mmaBytes
	}
	// To commit, to wait, the barrier; the two words of the weights' address; and three reads of nothing that the assembler puts
	// before each of two bunches of copies.
	c.others = 3 + 2 + 6
	copied := t.BM * pixelLanes / t.threads() // rows of pixels
	c.others += 2 * copied                    // their addresses' two words
	if taps > 1 {                             // whether each lies in the image; the tap's entry, and its address
		c.others += copied + 1 + 3
	}
	if t.tight() || t.Unit == emit.SimtF32 { // of one step a turn: the ring's two places, whether it has ended, what is left, the loop
		c.others += 5 + 2 + 2 + 3
	}
	return c
}

// bound is the share of products, in percent, if there were nothing but them, fragments and copies.
func (c stepCode) bound() float64 {
	return 100 * float64(c.products) / float64(c.products+c.fragments+c.copies)
}

// least is the same with the others.
func (c stepCode) least() float64 {
	return 100 * float64(c.products) / float64(c.products+c.fragments+c.copies+c.others)
}

// wantedShare is the share that a main loop is to have where its step's own instructions leave so much, and what is wanted of that
// where they do not.
const (
	wantedShare = 60
	ofBound     = 0.97
)

// share returns the percentage of products that the tile's main loop must have.
func (c stepCode) share() int { return int(min(wantedShare, ofBound*c.least())) }

// loopBounds returns what else a tile's main loop keeps to, as its kernels for sm_80 and sm_90a do: the worse of a convolution of
// 3x3 taps and one of 1x1, f16 and i8 mostly alike. A turn of the loop is as many steps as the ring has stages, three here, but of tight
// tiles and in f32 one.
func loopBounds(t Tile) (emittest.LoopBounds, bool) {
	list := map[[3]int]emittest.LoopBounds{
		{128, 128, 128}: {Gap: 6, Together: 5, Addresses: 54},
		{128, 128, 64}:  {Gap: 7, Together: 5, Addresses: 19},
		{128, 256, 64}:  {Gap: 5, Together: 5, Addresses: 36},
		{128, 64, 128}:  {Gap: 6, Together: 5, Addresses: 54},
		{64, 128, 128}:  {Gap: 7, Together: 5, Addresses: 36},
		{64, 64, 128}:   {Gap: 32, Together: 20, Addresses: 36},
		{32, 64, 128}:   {Gap: 31, Together: 22, Addresses: 36},
		{64, 64, 64}:    {Gap: 28, Together: 14, Addresses: 36},
	}
	if t.Unit == emit.TensorI8 { // whose reads and copies stand in front of the step's products
		list[[3]int{128, 128, 64}] = emittest.LoopBounds{Gap: 45, Together: 17, Addresses: 16}
	}
	if t.Unit == emit.SimtF32 {
		list = map[[3]int]emittest.LoopBounds{
			{128, 128, 64}: {Gap: 50, Together: 17, Addresses: 24},
			{128, 64, 64}:  {Gap: 46, Together: 16, Addresses: 24},
			{64, 64, 64}:   {Gap: 47, Together: 17, Addresses: 24},
			{32, 64, 64}:   {Gap: 49, Together: 19, Addresses: 24},
			{32, 32, 64}:   {Gap: 58, Together: 18, Addresses: 30},
		}
	}
	b, ok := list[[3]int{t.BM, t.BN, t.BK}]
	return b, ok
}

// TestMainLoops reads the machine code of every tile's loop for a convolution of 3x3 taps and one of 1x1: it has the products,
// fragments and copies of its steps and no more, nothing is in local memory, and it keeps to the bounds of loopBounds.
func TestMainLoops(t *testing.T) {
	emittest.Assembler(t)
	for _, u := range []emit.Unit{emit.SimtF32, emit.TensorF16, emit.TensorI8} {
		for _, tl := range Tiles(u) {
			if tl.Stages != 3 || tl.Split != 1 {
				continue
			}
			for _, taps := range []int{3, 1} {
				t.Run(fmt.Sprintf("%s/%dx%d", tl, taps, taps), func(t *testing.T) {
					channels := 1536 / taps
					tr := trialOf(t, tl, [4]int{1, channels, 6, 6}, [4]int{128, channels, taps, taps}, taps/2, 1, 0)
					for _, arch := range []string{"sm_80", "sm_90a"} {
						checkMainLoop(t, tl, stepCodeOf(tl, taps), arch, emittest.Disassemble(t, arch, tr.Work.Module.String()))
					}
				})
			}
		}
	}
}

// checkMainLoop checks the machine code of a tile.
func checkMainLoop(t *testing.T, tl Tile, step stepCode, arch string, c emittest.MachineCode) {
	t.Helper()
	product := products[tl.Unit]
	if n := c.Counts(0, len(c.Names)); n["LDL"]+n["STL"] > 0 {
		t.Errorf("%s: %d loads and %d stores of local memory", arch, n["LDL"], n["STL"])
	}
	loop := c.MainLoop(product)
	want := map[string]int{product: step.products, "LDGSTS": step.copies, "BAR": 1}
	steps := 1 // of a turn
	if tl.Unit != emit.SimtF32 {
		want["LDSM"] = step.fragments
		if !tl.tight() {
			steps = tl.Stages
		}
	}
	for name, count := range want {
		if n := loop.Count(name); n != steps*count {
			t.Errorf("%s: %d times %s in %d steps, want %d", arch, n, name, steps, steps*count)
		}
	}
	rest := len(loop) - steps*(step.products+step.fragments+step.copies)
	m := loop.Measure(product)
	t.Logf("%s: %d of %d instructions are products, %.1f %%; without others than products, fragments and copies, %d, %.1f %%, with those that it needs %.1f %%: %+v",
		arch, loop.Count(product), len(loop), 100*loop.Share(product), rest, step.bound(), step.least(), m)
	bounds, ok := loopBounds(tl)
	if bounds.Share = step.share(); !ok {
		t.Errorf("%s: the tile has no bounds; its loop has %+v", arch, m)
	}
	for _, line := range loop.Lint(product, bounds) {
		t.Errorf("%s: %s", arch, line)
	}
	// Beside products, fragments and copies: the address and predicate of every copy of pixels, the weights' address, the
	// step's tap, its barrier, and six reads of nothing that the assembler puts before copies; of one stage a turn the ring too.
	others := 18
	if steps == 1 {
		others = 37
	}
	if most := steps * (3*tl.BM*tl.pieces()/tl.threads() + others); rest > most {
		t.Errorf("%s: %d instructions are neither products, fragments nor copies, want at most %d", arch, rest, most)
	}
}

// TestFinishCode reads the machine code of every tensor tile's kernel for a sum of one step: it waits for its copies, multiplies,
// and stores outputs from registers, 16 bytes at a time where a lane has so many, with nothing staged and no other barrier; and it
// has shared memory for that step alone.
func TestFinishCode(t *testing.T) {
	emittest.Assembler(t)
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8} {
		for _, tl := range Tiles(u) {
			if tl.Stages != 3 || tl.Split != 1 {
				continue
			}
			t.Run(tl.String(), func(t *testing.T) {
				size := u.Type().Size()
				channels := tl.BK / size
				tr := trialOf(t, tl, [4]int{1, channels, 16, 16}, [4]int{256, channels, 1, 1}, 0, 1, 0)
				if got := tr.Work.Launches[0].Shared; got != tl.stageBytes() {
					t.Errorf("%d bytes of shared memory, want %d", got, tl.stageBytes())
				}
				for _, arch := range []string{"sm_80", "sm_90a"} {
					c := emittest.Disassemble(t, arch, tr.Work.Module.String())
					n := c.Counts(0, len(c.Names))
					lane := min(16/size, tl.BN/tl.WarpsN/4) // elements
					if stores := tl.BM * tl.BN / tl.threads() / lane; n["STG"] != stores || n["STS"] > 0 || n["BAR"] != 1 || n["LDL"]+n["STL"] > 0 {
						t.Errorf("%s: %d stores of outputs, want %d; %d stores to shared memory, %d barriers, %d spills",
							arch, n["STG"], stores, n["STS"], n["BAR"], n["LDL"]+n["STL"])
					}
				}
			})
		}
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

// TestOddCode: products of two activations whose rows are of odd length spill nothing either, on every tile of halves.
func TestOddCode(t *testing.T) {
	tool := emittest.Assembler(t)
	for _, tl := range batchedTiles {
		for sides := range 4 {
			if tl.Unit != emit.TensorF16 {
				continue
			}
			a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransA: sides&1 != 0, TransB: sides&2 != 0}
			t.Run(fmt.Sprintf("%s/%d", tl, sides), func(t *testing.T) {
				tr := emittest.LayerTrial(t, batchedTactics(), "gemm_batched_"+tl.String(), graph.Gemm, a, numeric.F16, []int{131, 131}, emittest.Weight(numeric.F16, 131, 131))
				emittest.Registers(t, tool, "sm_80", tr.Work.Module.String())
			})
		}
	}
}

// TestBatchedCode: products of two activations spill nothing, whatever lies how.
func TestBatchedCode(t *testing.T) {
	tool := emittest.Assembler(t)
	for _, tl := range batchedTiles {
		for sides := range 4 {
			a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransA: sides&1 != 0, TransB: sides&2 != 0}
			t.Run(fmt.Sprintf("%s/%d", tl, sides), func(t *testing.T) {
				typ := tl.Unit.Type()
				tr := emittest.LayerTrial(t, batchedTactics(), "gemm_batched_"+tl.String(), graph.Gemm, a, typ, []int{260, 260}, emittest.Weight(typ, 260, 260))
				for _, arch := range []string{"sm_80", "sm_90a"} {
					registers := emittest.Registers(t, tool, arch, tr.Work.Module.String())
					loop := emittest.Disassemble(t, arch, tr.Work.Module.String()).MainLoop(products[tl.Unit])
					t.Logf("%s: %d registers, %d of %d instructions are products", arch, registers, loop.Count(products[tl.Unit]), len(loop))
				}
			})
		}
	}
}
