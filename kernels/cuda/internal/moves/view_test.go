package moves

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
)

// TestViewsAreCopied: every op whose output can share its input's memory has a tactic for where it cannot.
func TestViewsAreCopied(t *testing.T) {
	copied := map[*graph.Op]bool{}
	for _, tactic := range moveTactics() {
		copied[tactic.Op] = copied[tactic.Op] || tactic.Name == "copy_linear"
	}
	for _, op := range graph.Ops().All() {
		if copied[op] != (op.Memory == graph.Viewed) {
			t.Errorf("%s is copied: %v; its memory is %d", op.Name, copied[op], op.Memory)
		}
	}
}
