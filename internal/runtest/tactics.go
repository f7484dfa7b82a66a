package runtest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
)

// Tactics runs every tactic of the backend on every layer that it matches, dense and, where it says it can, in slices
// of larger tensors, and compares with Eval. take is asked about each tactic that matches a layer, by name: it leaves out
// where it returns false, and what it has seen tells whether any tactic ran on no layer.
func Tactics(t *testing.T, b run.Backend, layers []suite.Case, take func(layer, tactic string) bool) {
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range layers {
		l := c.Layer
		reference := sync.OnceValues(func() (suite.Reference, error) { // the same for every tactic
			return suite.NewReference(l, rand.New(rand.NewPCG(11, uint64(len(c.Name)))))
		})
		for _, tac := range b.Tactics(l.Op) {
			if tac.Reference && l.Op != graph.Reformat {
				continue
			}
			for _, batch := range []int{0, 48} {
				binding, ok := suite.Bind(l, tac, batch)
				if !ok || tac.Match(binding) != nil || !take(c.Name, tac.Name) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/stride%d", c.Name, tac.Name, batch), func(t *testing.T) {
					r, err := reference()
					if err != nil {
						t.Fatal(err)
					}
					if err := check(b, s, tac, binding, r, c.Tolerance); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// check binds a tactic and runs it on the reference's inputs.
func check(b run.Backend, s kernels.Stream, tac kernels.Tactic, binding kernels.Binding, r suite.Reference, tol suite.Tolerance) error {
	k, err := tac.Bind(binding)
	if err != nil {
		return err
	}
	defer kernels.Close(k)
	_, err = suite.Check(b, s, tac, binding, k, []suite.Reference{r}, tol, false)
	return err
}
