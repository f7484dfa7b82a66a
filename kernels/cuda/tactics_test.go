package cuda

import (
	"hash/fnv"
	"os"
	"testing"

	"github.com/trtui/trtui/core/run/runtest"
	"github.com/trtui/trtui/core/run/suite"
)

// TestTactics runs every tactic on the layers of the suite that it matches. The tiles are many and differ in their numbers
// alone: each runs on the first layer that it matches and then on one in so many, another one each; on all of them where
// TRTUI_SIM is "full" (make sim-full).
func TestTactics(t *testing.T) {
	b := simulated(t)
	used, full := map[string]bool{}, os.Getenv("TRTUI_SIM") == "full"
	every := map[string]uint32{} // the shares of those that do not run on all layers
	for _, e := range productEmitters() {
		every[e.name] = 24
	}
	for _, e := range multiplyEmitters() {
		every[e.name] = 4
	}
	for _, e := range directEmitters() {
		every[e.name] = 2
	}
	runtest.Tactics(t, b, suite.Layers(), func(layer, tactic string) bool {
		if used[tactic] && every[tactic] > 1 && !full && !sampled(layer, tactic, every[tactic]) {
			return false
		}
		used[tactic] = true
		return true
	})
	for _, tac := range b.tactics {
		if !used[tac.Name] {
			t.Errorf("no layer of the suite is computed by %s", tac.Name)
		}
	}
}

// sampled picks one pair of a layer and a tactic in so many.
func sampled(layer, tactic string, every uint32) bool {
	h := fnv.New32a()
	h.Write([]byte(layer + " " + tactic))
	return h.Sum32()%every == 0
}

// TestNetworks runs whole networks.
func TestNetworks(t *testing.T) { runtest.Networks(t, simulated(t)) }

// simulated returns a simulated device for the test's time, which must give back all that it takes.
func simulated(t testing.TB) *Backend {
	t.Helper()
	b, err := OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := b.ctx.(*simulator).live(); len(left) > 0 {
			t.Errorf("the test leaves behind: %v", left)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
