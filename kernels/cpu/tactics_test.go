package cpu

import (
	"testing"

	"github.com/trtui/trtui/core/run/runtest"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

func TestTactics(t *testing.T) {
	b := Open(2)
	defer b.Close()
	used := map[string]bool{}
	runtest.Tactics(t, b, runtest.Layers(), func(tactic string) { used[tactic] = true })
	for _, tac := range b.tactics {
		if !tac.Reference && b.features.Has(asm.Features(tac.Needs)) && !used[tac.Name] {
			t.Errorf("no layer of the suite is computed by %s", tac.Name)
		}
	}
}
