package build_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// tiled is a device that compiles, whose convolutions come in tiles, each with rings of two lengths and sums in several parts.
// What a launch takes is not what the cost model says.
type tiled struct {
	noisy
	mu    sync.Mutex
	bound map[string]int // by tactic
}

var (
	tileNames = []string{"256x128", "128x256", "128x128", "128x64", "64x128", "64x64", "32x64", "64x32", "32x32", "16x64"}
	splits    = []int{1, 2, 4, 8}
	rings     = []int{3, 4}
)

func (d *tiled) Adopt([]kernels.Code) {}
func (d *tiled) CodeUse() run.CodeUse { return run.CodeUse{} }

func (d *tiled) Tactics(op *graph.Op) []kernels.Tactic {
	if op != graph.Conv {
		return d.noisy.Tactics(op)
	}
	var list []kernels.Tactic
	for i, tile := range tileNames {
		for _, ring := range rings {
			for k, split := range splits {
				name := fmt.Sprintf("conv_%s_s%d_k%d", tile, ring, split)
				list = append(list, kernels.Tactic{
					Name: name, Op: op, Variant: kernels.Variant{Family: "conv", Tile: tile, Split: split},
					Match: func(kernels.Binding) error { return nil },
					Cost:  func(kernels.Binding) time.Duration { return time.Duration(10+2*i+k) * time.Microsecond },
					Bind: func(b kernels.Binding) (kernels.Kernel, error) {
						d.mu.Lock()
						d.bound[name]++
						d.mu.Unlock()
						return pretended{&d.noisy, d.truth(b, kernels.Tactic{Name: name})}, nil
					},
				})
			}
		}
	}
	return list
}

// pretending returns such a device, on which the named convolution is the fastest, and the slower a tactic is the more it
// differs from that.
func pretending(host run.Backend, fastest string) *tiled {
	want := strings.Split(fastest, "_")
	return &tiled{bound: map[string]int{}, noisy: noisy{Backend: host, rnd: rand.New(rand.NewPCG(3, 4)), until: time.Hour, truth: func(b kernels.Binding, t kernels.Tactic) time.Duration {
		d := 20 * time.Microsecond
		for i, part := range strings.Split(t.Name, "_") {
			if b.Layer.Op == graph.Conv && part != want[i] {
				d += []time.Duration{0, 20, 4, 5}[i] * time.Microsecond
			}
		}
		return d
	}}}
}

// convolutions returns what was considered for each convolution of a plan, by layer.
func convolutions(p *run.Plan) map[string][]run.Candidate {
	list := map[string][]run.Candidate{}
	for _, s := range p.Steps {
		if s.Layer.Op == graph.Conv {
			list[s.Name] = s.Candidates
		}
	}
	return list
}

// TestRounds: every tile of a convolution is timed at first, by the best prediction of it, and then the twins of the fastest;
// so that the best is found though no prediction had it in front, and few are timed and compiled. What was left out says why.
// A second build with the timing cache measures nothing and comes to the same plan.
func TestRounds(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	n := lowered(t, host, numeric.F32)
	env := map[string]int{"batch": 1}
	const fastest = "conv_64x64_s4_k2"
	d := pretending(host, fastest)
	cache, compiled := build.NewTimingCache(), 0
	cfg := build.PlanConfig{Cache: cache, Compiling: func(done, total int) {
		if done == total {
			compiled++
		}
	}}
	p, err := build.Plan(t.Context(), n, env, d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if compiled < 2 {
		t.Errorf("%d rounds of compilation, want one before the first measurement and one for twins", compiled)
	}
	for _, s := range p.Steps {
		if s.Layer.Op == graph.Conv && s.Tactic != fastest {
			t.Errorf("%s: %s, want %s", s.Name, s.Tactic, fastest)
		}
	}
	for layer, list := range convolutions(p) {
		timed, tiles, twins, left := 0, map[string]bool{}, 0, 0
		for _, c := range list {
			switch {
			case c.Timed:
				timed++
				tiles[strings.Split(c.Tactic, "_")[1]] = true
				if d.bound[c.Tactic] == 0 {
					t.Errorf("%s: %s has a time and was never bound", layer, c.Tactic)
				}
			case strings.HasPrefix(c.Reason, "same tile as ") && c.Left:
				twins++
			case strings.HasPrefix(c.Reason, "the cost model puts it ") && c.Left:
				left++
			default:
				t.Errorf("%s: %s: %q", layer, c.Tactic, c.Reason)
			}
		}
		if len(tiles) != len(tileNames) || timed < 15 || timed > 20 {
			t.Errorf("%s: %d tactics of %d tiles were timed, want all %d tiles and 15 to 20 tactics", layer, timed, len(tiles), len(tileNames))
		}
		if twins+left+timed != len(tileNames)*len(splits)*len(rings) || twins == 0 {
			t.Errorf("%s: %d timed, %d twins, %d left out by prediction", layer, timed, twins, left)
		}
	}

	clear(d.bound)
	again, err := build.Plan(t.Context(), n, env, d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.bound) > 0 {
		t.Errorf("with the timing cache %v were bound again", d.bound)
	}
	if a, b := describe(p), describe(again); a != b {
		t.Errorf("with the timing cache the plan is another:\n%s\n%s", a, b)
	}
}

// TestRoundsKeepChoices: what is forbidden is no twin that is timed, and what is pinned is all that is.
func TestRoundsKeepChoices(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	n := lowered(t, host, numeric.F32)
	env := map[string]int{"batch": 1}
	const fastest, second, unlikely = "conv_64x64_s4_k2", "conv_64x64_s3_k2", "conv_16x64_s4_k8"
	d := pretending(host, fastest)
	p, err := build.Plan(t.Context(), n, env, d, build.PlanConfig{Choices: build.TacticChoices{Forbid: map[string][]string{"": {fastest}}}})
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, s := range p.Steps {
		if s.Layer.Op == graph.Conv {
			if first = s.Name; s.Tactic != second {
				t.Errorf("%s: %s, want %s", s.Name, s.Tactic, second)
			}
		}
	}
	if d.bound[fastest] > 0 {
		t.Errorf("%s was bound, and is forbidden", fastest)
	}
	p, err = build.Plan(t.Context(), n, env, d, build.PlanConfig{Choices: build.TacticChoices{Pin: map[string]string{first: unlikely}}})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Steps, func(s run.Step) bool { return s.Name == first })
	if p.Steps[i].Tactic != unlikely || !p.Steps[i].Timed {
		t.Errorf("%s: %s, want %s, timed", first, p.Steps[i].Tactic, unlikely)
	}
}
