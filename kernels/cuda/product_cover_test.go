package cuda

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
)

// productRuns are the runs of the covering array: of all pairs of levels; where TRTUI_SIM is "full", of all triples.
func productRuns() (f factors, strength int, levels [][]int) {
	if f, strength = productFactors(), 2; os.Getenv("TRTUI_SIM") == "full" {
		strength = 3
	}
	return f, strength, f.array(strength, wantedProducts(f))
}

// TestProductCover proves that the array has every family with every tile and type, every tactic, and every pair (or triple)
// of levels but for those that exclude each other; and that what is excluded is refused.
func TestProductCover(t *testing.T) {
	begin := time.Now()
	f, strength, runs := productRuns()
	pairs := f.tuples(2)
	t.Logf("%d runs for %d combinations of %d levels and %d others, found in %v", len(runs), len(f.tuples(strength)), strength,
		len(wantedProducts(f)), time.Since(begin))
	describe := func(list []choice) (text string) {
		for _, c := range list {
			text += fmt.Sprintf("%s %d ", factorNames[c.factor], c.level)
		}
		return text
	}
	for _, want := range append(wantedProducts(f), f.tuples(strength)...) {
		if !slices.ContainsFunc(runs, func(r []int) bool { return includes(r, want) }) {
			t.Errorf("%sis in no run", describe(want))
		}
	}
	tactics := map[string]bool{}
	for _, levels := range runs {
		r, err := makeRun(levels)
		if err != nil {
			t.Fatalf("%v: %v", levels, err)
		}
		tactics[r.tactic.Name] = true
	}
	for _, e := range products.Tiled() {
		if !tactics[e.Name] {
			t.Errorf("%s is in no run", e.Name)
		}
	}
	all := 0
	for i := range f.levels {
		for j := range i {
			all += f.levels[i] * f.levels[j]
			for a := range f.levels[j] {
				for b := range f.levels[i] {
					if p := []choice{{j, a}, {i, b}}; !f.allows(p, p[0]) && !refused(t, runs, p) {
						t.Errorf("%sis excluded, but can be", describe(p))
					}
				}
			}
		}
	}
	t.Logf("%d of %d pairs exclude each other", all-len(pairs), all)
}

// refused reports whether the first few runs that are made to have both choices are refused, or cannot even be made.
func refused(t *testing.T, runs [][]int, p []choice) bool {
	t.Helper()
	tried := 0
	if p[0].factor == familyFactor && p[1].factor == windowFactor {
		return true // there is no such attribute
	}
	for _, levels := range runs {
		if levels[p[0].factor] != p[0].level && levels[p[1].factor] != p[1].level {
			continue
		}
		levels = slices.Clone(levels)
		levels[p[0].factor], levels[p[1].factor] = p[0].level, p[1].level
		if excluded(choice{familyFactor, levels[familyFactor]}, choice{windowFactor, levels[windowFactor]}) != "" {
			continue // there is no such attribute
		}
		if tried++; tried > 6 {
			break
		}
		r, err := makeRun(levels)
		if err != nil {
			continue
		}
		if b, ok := emittest.BindingOf(r.layer, r.tactic); ok && r.tactic.Matches(b) == nil {
			return false
		}
	}
	return true
}

// TestProducts runs the array on the simulator.
func TestProducts(t *testing.T) {
	_, _, runs := productRuns()
	b := simulated(t)
	t.Run("runs", func(t *testing.T) {
		for _, levels := range runs {
			r, err := makeRun(levels)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				if err := r.check(b); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// check compares the kernel with the layer's definition.
func (r productRun) check(b *Backend) error {
	i := slices.IndexFunc(b.tactics, func(tac kernels.Tactic) bool {
		return tac.Name == r.tactic.Name && tac.Op == r.layer.Op
	})
	if i < 0 {
		return fmt.Errorf("%s is no tactic", r.tactic.Name)
	}
	tac := b.tactics[i]
	binding, ok := suite.Bind(r.layer, tac, 0)
	if !ok {
		return fmt.Errorf("the layer has no such format")
	}
	if err := tac.Match(binding); err != nil {
		return err
	}
	ref, err := suite.NewReference(r.layer, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		return err
	}
	s, err := b.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	k, err := tac.Bind(binding)
	if err != nil {
		return err
	}
	defer kernels.Close(k)
	_, err = suite.Check(b, s, tac, binding, k, []suite.Reference{ref}, r.tol, false)
	return err
}
