package runtest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
)

// NotNumbers runs every tactic on the layers of the suite that it matches and that only compare reals, on inputs of which some
// are NaN or infinite: what NaN is compared with becomes what Eval says. take leaves out tactics for which it returns false.
func NotNumbers(t *testing.T, b run.Backend, take func(tactic string) bool) {
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ran := false
	for _, c := range suite.ComparingLayers() {
		reference := sync.OnceValues(func() (suite.Reference, error) {
			return c.Reference(rand.New(rand.NewPCG(13, uint64(len(c.Name)))))
		})
		for _, tac := range b.Tactics(c.Layer.Op) {
			binding, ok := suite.Bind(c.Layer, tac, 0)
			if !ok || tac.Reference || tac.Match(binding) != nil || !take(tac.Name) {
				continue
			}
			ran = true
			t.Run(c.Name+"/"+tac.Name, func(t *testing.T) {
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
	if !ran {
		t.Error("no tactic compares")
	}
}

// Tainted runs every tactic on the layers of the suite that it matches and that sum reals up, on inputs of which one element or
// channel is NaN or infinite: results that do not depend on it are what they are without. take is told how many layers the
// tactic was run on before, and says whether it runs on another.
func Tainted(t *testing.T, b run.Backend, take func(tactic string, before int) bool) {
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ran := map[string]int{}
	for _, c := range suite.TaintedLayers() {
		references := sync.OnceValues(func() ([]suite.Reference, error) {
			return c.References(rand.New(rand.NewPCG(17, uint64(len(c.Name)))))
		})
		for _, tac := range b.Tactics(c.Layer.Op) {
			binding, ok := suite.Bind(c.Layer, tac, 0)
			if !ok || tac.Reference || tac.Match(binding) != nil || !take(tac.Name, ran[tac.Name]) {
				continue
			}
			ran[tac.Name]++
			t.Run(c.Name+"/"+tac.Name, func(t *testing.T) {
				refs, err := references()
				if err != nil {
					t.Fatal(err)
				}
				k, err := tac.Bind(binding)
				if err != nil {
					t.Fatal(err)
				}
				defer kernels.Close(k)
				if _, err := suite.Check(b, s, tac, binding, k, refs, c.Tolerance, false); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
