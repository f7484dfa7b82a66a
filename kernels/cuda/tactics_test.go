package cuda

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/simulator"
)

// TestTactics runs every tactic, on a device of the least capability that its code is for, on the layers of the suite that it
// matches. Of the products that are not of tiles, and of the convolutions that compute without shared memory, it takes
// runs that have all pairs of traits; what tiles run on is TestProducts's. With TRTUI_SIM=full (make sim-full) all of them run on everything.
func TestTactics(t *testing.T) {
	tiled, sampled := map[string]bool{}, map[string]bool{}
	for _, e := range products.Tiled() {
		tiled[e.Name] = true
	}
	for _, name := range sampledTactics() {
		sampled[name] = true
	}
	byCapability := map[int]map[string]bool{}
	for _, e := range Tactics() {
		sm := cmp.Or(e.Target, ptx.SM80).SM
		if byCapability[sm] == nil {
			byCapability[sm] = map[string]bool{}
		}
		byCapability[sm][e.Name] = true
	}
	layers := suite.Layers()
	for sm, names := range byCapability {
		d := simulator.Device()
		d.SM = sm
		b := simulatedOn(t, d)
		b.ctx.(*simulator.Context).Races = true
		chosen, full := map[suiteRun]bool{}, os.Getenv("TRTUI_SIM") == "full"
		for _, r := range cover(suiteRuns(b, layers, sampled)) {
			chosen[r.suiteRun] = true
		}
		matched := map[string]bool{}
		runtest.Tactics(t, b, layers, func(layer, tactic string) bool {
			matched[tactic] = true
			switch {
			case !names[tactic]:
				return false
			case full:
				return true
			case sampled[tactic]:
				return chosen[suiteRun{layer, tactic}]
			}
			return !tiled[tactic]
		})
		for name := range names {
			if !matched[name] {
				t.Errorf("no layer of the suite is computed by %s on sm_%d", name, sm)
			}
		}
	}
}

// sampledTactics returns the products that are not of tiles, and the convolutions without shared memory.
func sampledTactics() []string {
	var names []string
	for _, e := range Tactics() {
		if strings.HasPrefix(e.Name, "gemm_linear_plain_") || strings.HasPrefix(e.Name, "conv_direct_") {
			names = append(names, e.Name)
		}
	}
	return names
}

// suiteRun is a tactic on a layer of the suite.
type suiteRun struct{ layer, tactic string }

// traitsOf is a run with what distinguishes it from others, and its work.
type traitsOf struct {
	suiteRun
	traits []string
	work   int // multiply-adds
}

// suiteRuns returns the runs of some tactics on the layers that they match, those with the least work first.
func suiteRuns(b *Backend, layers []suite.Case, tactics map[string]bool) []traitsOf {
	var list []traitsOf
	for _, c := range layers {
		for _, tac := range b.Tactics(c.Layer.Op) {
			if !tactics[tac.Name] {
				continue
			}
			if binding, ok := suite.Bind(c.Layer, tac, 0); ok && tac.Match(binding) == nil {
				list = append(list, traits(c.Name, tac.Name, binding))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b traitsOf) int { return cmp.Compare(a.work, b.work) })
	return list
}

// traits describes a run by its tactic, op, types, attributes, epilogue and kinds of extents.
func traits(layer, tactic string, b kernels.Binding) traitsOf {
	l := b.Layer
	r := traitsOf{suiteRun: suiteRun{layer, tactic}, work: numeric.Count(b.Out[0].Dims)}
	add := func(name string, value any) { r.traits = append(r.traits, fmt.Sprintf("%s %v", name, value)) }
	add("tactic", tactic)
	add("op", l.Op.Name)
	var types []string
	for i, x := range l.OpInputs() {
		types = append(types, fmt.Sprint(x.Type, b.Consts[i] != nil, x.Range.IsSet() && x.Range.ZeroAt(0) != 0))
	}
	add("types", strings.Join(types, ", ")+" to "+l.Outputs[0].Type.String())
	add("epilogue", fmt.Sprint(l.Epilogue))
	add("sum", extent(lastOf(b.In[1].Dims)))
	add("columns", extent(lastOf(b.Out[0].Dims)))
	add("ranks", fmt.Sprint(len(b.In[0].Dims), len(b.In[1].Dims)))
	switch a := l.Attrs.(type) {
	case graph.ConvAttrs:
		w := b.In[1].Dims
		r.work *= numeric.Count(w[1:])
		add("taps", w[2:])
		add("window", fmt.Sprint(a.Strides, a.Dilations, a.Pads))
		add("channels", fmt.Sprint(extent(w[0]/max(1, a.Group)), " of ", extent(w[1])))
		add("groups", extent(a.Group))
	case graph.GemmAttrs:
		r.work *= b.In[0].Dims[1]
		add("transposed", fmt.Sprint(a.TransA, a.TransB))
	default:
		r.work *= b.In[0].Dims[len(b.In[0].Dims)-1]
	}
	return r
}

// lastOf is the extent of the last axis, 1 where there is none.
func lastOf(dims []int) int {
	if len(dims) == 0 {
		return 1
	}
	return dims[len(dims)-1]
}

// extent is the kind of a number: one, or how it lies to a vector of 16 bytes and to a tile.
func extent(n int) string {
	switch {
	case n <= 1:
		return "one"
	case n%16 == 0:
		return "whole"
	case n > 64:
		return "long"
	case n%4 == 0:
		return "fours"
	}
	return "odd"
}

// pairsOf calls f with each two traits of a run.
func (r traitsOf) pairsOf(f func(pair [2]string)) {
	for i := range r.traits {
		for j := range i {
			f([2]string{r.traits[j], r.traits[i]})
		}
	}
}

// cover takes each run that has two traits together which none before it has.
func cover(runs []traitsOf) []traitsOf {
	var list []traitsOf
	seen := map[[2]string]bool{}
	for _, r := range runs {
		fresh := false
		r.pairsOf(func(pair [2]string) {
			fresh = fresh || !seen[pair]
			seen[pair] = true
		})
		if fresh {
			list = append(list, r)
		}
	}
	return list
}

// TestCover counts what is left out.
func TestCover(t *testing.T) {
	b := simulated(t)
	all := map[string]bool{}
	for _, name := range sampledTactics() {
		all[name] = true
	}
	runs := suiteRuns(b, suite.Layers(), all)
	pairs := map[[2]string]bool{}
	for _, r := range runs {
		r.pairsOf(func(pair [2]string) { pairs[pair] = true })
	}
	chosen, work, most := cover(runs), 0, 0
	t.Logf("%d of %d runs have all %d pairs of traits", len(chosen), len(runs), len(pairs))
	for _, r := range chosen {
		r.pairsOf(func(pair [2]string) { delete(pairs, pair) })
		work += r.work
	}
	for _, r := range runs {
		most += r.work
	}
	if len(pairs) > 0 || len(chosen) >= len(runs) {
		t.Errorf("%d pairs are in none of %d runs of %d", len(pairs), len(chosen), len(runs))
	}
	t.Logf("%d of %d multiply-adds", work, most)
}

// TestSaturation: numbers that a quantised output does not hold become the ends of its range.
// Tiles of one family end alike: of each it takes one.
func TestSaturation(t *testing.T) {
	tiled := map[string]bool{}
	for _, e := range products.Tiled() {
		tiled[e.Name] = !strings.HasSuffix(e.Name, "_64x64x64_s3")
	}
	runtest.Saturation(t, simulated(t), func(tactic string) bool { return !tiled[tactic] })
}

// TestNotNumbers: NaN among numbers that are compared.
func TestNotNumbers(t *testing.T) {
	runtest.NotNumbers(t, simulated(t), func(string) bool { return true })
}

// TestTainted: NaN and infinities stay within what depends on them, but for the stem, which pads windows to whole products and
// multiplies the pixels beside them by zeros, and for attention, where a query whose scores are all -Inf is one that sees no key.
// Of the tiles of one family it takes one.
func TestTainted(t *testing.T) {
	tiled := map[string]bool{}
	for _, e := range products.Tiled() {
		tiled[e.Name] = !strings.HasSuffix(e.Name, "_64x64x64_s3")
	}
	runtest.Tainted(t, simulated(t), func(tactic string, before int) bool {
		return !tiled[tactic] && before < 12 && !strings.HasPrefix(tactic, "conv_stem_") && !strings.HasPrefix(tactic, "attention_")
	})
}

// TestNetworks runs whole networks.
func TestNetworks(t *testing.T) { runtest.Networks(t, simulated(t)) }

// simulated returns a simulated device for the test's time, which must give back all that it takes. With TRTUI_SIM=apart (make
// sim-apart) the lanes of its warps stay apart for as long as they may.
func simulated(t testing.TB) *Backend {
	t.Helper()
	return simulatedOn(t, simulator.Device())
}

// simulatedOn is simulated for a device with such figures.
func simulatedOn(t testing.TB, d driver.Device) *Backend {
	t.Helper()
	b, err := OpenSimulatorOn(func() (driver.Context, error) { return Simulate(d), nil })
	if err != nil {
		t.Fatal(err)
	}
	b.ctx.(*simulator.Context).Apart = os.Getenv("TRTUI_SIM") == "apart"
	t.Cleanup(func() {
		if left := b.ctx.(*simulator.Context).Live(); len(left) > 0 {
			t.Errorf("the test leaves behind: %v", left)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
