package cuda

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
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
		w, err := e.Work(emit.Device{SM: 80}, b)
		if err != nil {
			t.Fatalf("%s on %s: %v", e.Name, r.name, err)
		}
		dynamic, fixed, said := sharedOf(w.Launches), fixedShared(w.Module), sharedOfJobs(e.Jobs(b))
		if said != dynamic && said != dynamic+fixed {
			t.Errorf("%s on %s: a launch takes %d bytes of shared memory and has %d, its cost says %d", e.Name, r.name, dynamic, fixed, said)
		}
		fmt.Fprintf(s, "%s\n%s%s\n%x\n", r.name, w.Module, launchesText(w.Launches), sha256.Sum256(w.Constants))
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

// sharedOf is the most dynamic shared memory of a work's launches, and sharedOfJobs what a tactic says before it emits: by
// that a device refuses it.
func sharedOf(list []emit.Launch) int {
	n := 0
	for _, l := range list {
		n = max(n, l.Shared)
	}
	return n
}

// fixedShared returns the bytes of shared memory that a kernel's variables take, at most.
func fixedShared(m *ptx.Module) int {
	n := 0
	for _, k := range m.Kernels {
		bytes := 0
		for _, v := range k.Vars {
			if v.Space == ptx.Shared && !v.Extern {
				bytes += v.Size()
			}
		}
		n = max(n, bytes)
	}
	return n
}

func sharedOfJobs(list []emit.Job) int {
	n := 0
	for _, j := range list {
		n = max(n, j.Shared)
	}
	return n
}

// launchesText spells launches out; what a launch does not have is not mentioned.
func launchesText(list []emit.Launch) string {
	var texts []string
	for _, l := range list {
		var args []string
		for _, a := range l.Args {
			text := fmt.Sprintf("{Kind:%v Index:%v Offset:%v", a.Kind, a.Index, a.Offset)
			if a.Bits != 0 {
				text += fmt.Sprintf(" Bits:%#x", a.Bits)
			}
			args = append(args, text+"}")
		}
		text := fmt.Sprintf("{Kernel:%v Grid:%v Block:%v Shared:%v Args:%v", l.Kernel, l.Grid, l.Block, l.Shared, args)
		if l.Cluster != [3]int{} {
			text += fmt.Sprintf(" Cluster:%v", l.Cluster)
		}
		texts = append(texts, text+"}")
	}
	return fmt.Sprint(texts)
}
