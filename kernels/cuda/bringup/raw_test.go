package bringup

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
)

// TestRawTexts gives the texts written by hand to NVIDIA's assembler, which must spill nothing and warn of nothing, of products
// that wait for each other among others, and looks for the instructions that they are about.
func TestRawTexts(t *testing.T) {
	tool := emittest.Assembler(t)
	type text struct {
		name, arch, text string
		has              map[string]int
	}
	var list []text
	for i, w := range wgmmaTypes {
		for _, groups := range []int{1, 2} {
			list = append(list, text{fmt.Sprintf("wgmma %s %d", w.name, groups), "sm_90a", wgmmaText(w, groups),
				map[string]int{[]string{"HGMMA", "QGMMA", "IGMMA"}[i]: wgmmaUnroll * wgmmaSteps}})
		}
	}
	for _, r := range bulkRings {
		list = append(list,
			text{fmt.Sprintf("bulk read %d", r.chunk), "sm_90a", bulkReadText(r), map[string]int{"UBLKCP": r.stages + 1, "LDS": r.chunk / (16 * bulkThreads)}},
			text{fmt.Sprintf("bulk copy %d", r.chunk), "sm_90a", bulkCopyText(r), map[string]int{"UBLKCP": r.stages + 2}})
	}
	for _, arch := range []string{"sm_80", "sm_90a"} {
		list = append(list,
			text{"read " + arch, arch, readText(), nil},
			text{"empty " + arch, arch, chainText(false, false), nil},
			text{"tiny " + arch, arch, chainText(true, false), map[string]int{"FADD": 1}})
	}
	list = append(list,
		text{"programmatic empty", "sm_90a", chainText(false, true), map[string]int{"ACQBULK": 1, "PREEXIT": 1}},
		text{"programmatic tiny", "sm_90a", chainText(true, true), map[string]int{"ACQBULK": 1, "PREEXIT": 1}})
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			registers := emittest.Registers(t, tool, c.arch, c.text)
			code := emittest.Disassemble(t, c.arch, c.text)
			counts := code.Counts(0, len(code.Names))
			for name, n := range c.has {
				loop := code.MainLoop(name)
				t.Logf("%d registers, main loop of %d instructions, %d of them %s", registers, len(loop), loop.Count(name), name)
				if counts[name] != n {
					t.Errorf("%d of %s, want %d", counts[name], name, n)
				}
			}
		})
	}
}
