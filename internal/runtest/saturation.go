package runtest

import (
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
)

// Saturation runs every tactic that quantises on outputs whose ranges hold few of the numbers: infinities and what is too
// large become the ends of the range, NaN becomes its zero point, as Eval says. Each tactic has the smallest layers of the
// suite that it matches: one that passes its inputs on, where there is one, and one that is quantised. take leaves out tactics for which it returns false.
func Saturation(t *testing.T, b run.Backend, take func(tactic string) bool) {
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	seen := map[[2]string]bool{}
	for _, l := range suite.SaturatedLayers() {
		for _, tac := range b.Tactics(l.Layer.Op) {
			key := [2]string{tac.Name, l.Group()}
			if seen[key] || !take(tac.Name) {
				continue
			}
			for _, c := range l.Ranges() {
				if !c.Matches(tac) {
					continue
				}
				seen[key] = true
				t.Run(tac.Name+"/"+c.Name, func(t *testing.T) {
					r, err := c.Reference(rand.New(rand.NewPCG(7, uint64(len(c.Name)))))
					if err != nil {
						t.Fatal(err)
					}
					binding, _ := suite.Bind(c.Layer, tac, 0)
					if err := check(b, s, tac, binding, r, c.Tolerance); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
	if len(seen) == 0 {
		t.Error("no tactic quantises")
	}
}
