package cuda

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/run/runtest"
)

// TestTactics runs every tactic on the layers of the suite that it matches. Of the tiles, which differ in their constants
// alone, it runs each once, on the layers in turn.
func TestTactics(t *testing.T) {
	b, err := OpenSimulator()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	used := map[string]bool{}
	runtest.Tactics(t, b, runtest.Layers(), func(tactic string) { used[tactic] = true })
	for _, tac := range b.tactics {
		if !used[tac.Name] && !strings.Contains(tac.Name, "_k8") {
			t.Errorf("no layer of the suite is computed by %s", tac.Name)
		}
	}
}
