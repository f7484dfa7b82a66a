package cuda

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/run/suite"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/emit/emittest"
)

// TestTexts holds what every tactic emits: a line with the hash of the texts, launches and constants for the layers of the
// suite, and of the reasons for which it refuses the others. A change that should leave kernels as they are leaves
// testdata/TestTexts.golden as it is; one that should not is brought in with -update, and the diff names the tactics.
func TestTexts(t *testing.T) {
	t.Parallel()
	type sum struct {
		hash.Hash
		emitted, refused int
	}
	type key struct{ tactic, op string }
	var order []key
	sums := map[key]*sum{}
	take := func(e emit.Tactic, r productRun) {
		k := key{e.Name, r.layer.Op.Name}
		if sums[k] == nil {
			sums[k], order = &sum{Hash: sha256.New()}, append(order, k)
		}
		s := sums[k]
		b, ok := emittest.BindingOf(r.layer, e)
		if !ok {
			return
		}
		if err := e.Matches(b); err != nil {
			s.refused++
			fmt.Fprintf(s, "%s refused: %v\n", r.name, err)
			return
		}
		s.emitted++
		if e.Emit == nil {
			return
		}
		w, err := e.Emit(b)
		if err != nil {
			t.Fatalf("%s on %s: %v", e.Name, r.name, err)
		}
		fmt.Fprintf(s, "%s\n%s%+v\n%x\n", r.name, w.Module, w.Launches, sha256.Sum256(w.Constants))
	}
	layers := suite.Layers()
	for _, e := range Tactics() {
		for _, c := range layers {
			if c.Layer.Op == e.Op {
				take(e, productRun{name: c.Name, layer: c.Layer})
			}
		}
	}
	for _, r := range residualRuns(t, 3) {
		take(r.tactic, r)
	}
	var text strings.Builder
	for _, k := range order {
		s := sums[k]
		fmt.Fprintf(&text, "%-48s %-24s %4d emitted %4d refused %.6x\n", k.tactic, k.op, s.emitted, s.refused, s.Sum(nil))
	}
	golden.RequireEqual(t, text.String())
}
