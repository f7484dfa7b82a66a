package cpu

import (
	"testing"

	"github.com/trtui/trtui/core/run/runtest"
	"github.com/trtui/trtui/core/run/suite"
)

func TestTactics(t *testing.T) {
	b := Open(2)
	defer b.Close()
	b.tactics = everyTactic(b.features, 2)
	used := map[string]bool{}
	runtest.Tactics(t, b, suite.Layers(), func(_, tactic string) bool {
		used[tactic] = true
		return true
	})
	for _, tac := range b.tactics {
		if !tac.Reference && !used[tac.Name] {
			t.Errorf("no layer of the suite is computed by %s", tac.Name)
		}
	}
}

func TestNetworks(t *testing.T) {
	b := Open(2)
	defer b.Close()
	runtest.Networks(t, b)
}

func TestSaturation(t *testing.T) {
	b := Open(2)
	defer b.Close()
	b.tactics = everyTactic(b.features, 2)
	runtest.Saturation(t, b, func(string) bool { return true })
}
