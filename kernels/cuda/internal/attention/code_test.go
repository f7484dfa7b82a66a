package attention

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
)

// loopCode is how many instructions a thread has for a tile of keys.
type loopCode struct{ products, fragments, copies, others int }

// loopCodeOf counts them. A score takes its scaling, largest, exponential and sum, and half a conversion; a sum of values its
// scaling. Beside them there are the ring, addresses and predicates of copies, and what is done once for a row.
func loopCodeOf(tl Tile, p *problem) loopCode {
	keys, values := tl.widths(p)
	rows := tl.BM / tl.Warps
	c := loopCode{
		products:  rows / 16 * (tl.BN/8*keys/tensorDepth + values/8*tl.BN/16),
		fragments: tl.BN / 16 * (keys + values) / 16,
		copies:    2 * tl.BN * (keys + values) / 16 / tl.threads(),
	}
	if !tl.kept(p) {
		c.fragments += rows / 16 * keys / tensorDepth
	}
	scores, sums := rows*tl.BN/32, rows*values/32
	c.others = 11*scores/2 + sums + 30 + 12*rows/16 + c.copies
	return c
}

// TestMainLoops reads the machine code of every tile's loop: a tile of keys has exactly the products, fragments and copies that it
// needs, one barrier, and little beside what the softmax takes; nothing is in local memory.
func TestMainLoops(t *testing.T) {
	emittest.Assembler(t)
	for _, tl := range tiles() {
		for _, size := range []int{64, 128} {
			if tl.Unit != emit.TensorF16 || size > tl.Most || tl.Split > 1 {
				continue
			}
			t.Run(fmt.Sprint(tl, "/", size), func(t *testing.T) {
				tr := shape{1, 2, 2, 128, 1024, size, size, true}.trial(t, tl, graph.AttentionAttrs{}, numeric.F16)
				p, err := problemOf(tr.Binding)
				if err != nil {
					t.Fatal(err)
				}
				want := loopCodeOf(tl, p)
				for _, arch := range []string{"sm_80", "sm_90a"} {
					c := emittest.Disassemble(t, arch, tr.Work.Module.String())
					if n := c.Counts(0, len(c.Names)); n["LDL"]+n["STL"] > 0 {
						t.Errorf("%s: %d loads and %d stores of local memory", arch, n["LDL"], n["STL"])
					}
					loop := c.MainLoop("HMMA")
					for name, count := range map[string]int{"HMMA": want.products, "LDSM": want.fragments, "LDGSTS": want.copies, "BAR": 1} {
						if n := loop.Count(name); n != count {
							t.Errorf("%s: %d times %s in the loop, want %d", arch, n, name, count)
						}
					}
					others := len(loop) - want.products - want.fragments - want.copies
					t.Logf("%s: %d of %d instructions are products, %d fragments, %d copies, %d others, at most %d",
						arch, want.products, len(loop), want.fragments, want.copies, others, want.others)
					if others > want.others {
						t.Errorf("%s: %d instructions are neither products, fragments nor copies, want at most %d", arch, others, want.others)
					}
				}
			})
		}
	}
}

// TestCode: no tile spills, whatever its heads' size, masked or not, with grouped queries, past keys, or parts.
func TestCode(t *testing.T) {
	tool := emittest.Assembler(t)
	for i, tl := range tiles() {
		for j, size := range []int{32, 64, 80, 128, 256} {
			if size > tl.Most || tl.Split > 2 {
				continue
			}
			kinds := []int{(i + j) % 4}
			if kinds[0] != apartMask {
				kinds = append(kinds, apartMask)
			}
			for _, kind := range kinds {
				if kind == apartMask && size > tl.Apart {
					continue
				}
				t.Run(fmt.Sprint(tl, "/", size, "/", kind), func(t *testing.T) {
					a := graph.AttentionAttrs{Causal: (i+j/2)%2 == 0}
					if j%3 == 1 {
						a.Softcap = 30
					}
					s := shape{1, 4, 4 >> (j % 2), 128, 1024, size, size, true}
					tr := s.trial(t, tl, a, tl.Unit.Type(), testMask(kind))
					for _, arch := range []string{"sm_80", "sm_90a"} {
						t.Logf("%s: %d registers", arch, emittest.Registers(t, tool, arch, tr.Work.Module.String()))
					}
				})
			}
		}
	}
}

// apartMask is the kind whose masks are read one by one.
const apartMask = 3

// testMask returns a mask of 128 queries and 1024 keys; nil is one, too.
func testMask(kind int) *graph.Tensor {
	return [...]*graph.Tensor{
		nil,
		{Name: "m", Type: numeric.F32, Dims: symbolic.Shape(1, 1, 128, 1024)},
		{Name: "m", Type: numeric.F16, Dims: symbolic.Shape(1, 1024)},
		apartMask: {Name: "m", Type: numeric.Bool, Dims: symbolic.Shape(128, 1023)},
	}[kind]
}
