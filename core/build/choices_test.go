package build_test

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/testdata"
)

// TestPin pins every tactic of a layer in turn: one that takes the layer is used, and the others keep their times; one that
// does not is an error with the reason.
func TestPin(t *testing.T) {
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	env, cache := map[string]int{"batch": 1}, build.NewTimingCache()
	o, err := build.Optimize(t.Context(), n, pass.Config{Shapes: env})
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(t.Context(), o, build.LowerConfig{Precision: numeric.F32, Pass: pass.Config{Shapes: env}}, run.Supports(b, env))
	if err != nil {
		t.Fatal(err)
	}
	plan := func(c build.TacticChoices) (*run.Plan, error) {
		return build.Plan(t.Context(), l.Network, env, b, build.PlanConfig{Cache: cache, Choices: c})
	}
	free, err := plan(build.TacticChoices{})
	if err != nil {
		t.Fatal(err)
	}
	first := free.Steps[0]
	for _, s := range free.Steps {
		if s.Layer.Op == graph.Conv {
			first = s
			break
		}
	}
	used, refused := 0, 0
	for _, want := range first.Candidates {
		p, err := plan(build.TacticChoices{Pin: map[string]string{first.Name: want.Tactic}})
		if want.Unfit {
			refused++
			if err == nil || !strings.Contains(err.Error(), "layer "+first.Name+": tactic "+want.Tactic+" is pinned, but "+want.Reason+"; unpin it") {
				t.Errorf("%s, which does not take the layer, is pinned: %v", want.Tactic, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", want.Tactic, err)
			continue
		}
		used++
		for _, s := range p.Steps {
			if s.Name != first.Name {
				continue
			}
			if s.Tactic != want.Tactic {
				t.Errorf("%s is pinned, and %s is used", want.Tactic, s.Tactic)
			}
			for i, c := range s.Candidates {
				if was := first.Candidates[i]; was.Timed && (!c.Timed || c.Time != was.Time) {
					t.Errorf("%s pinned: %s took %v, now %v", want.Tactic, c.Tactic, was.Time, c.Time)
				} else if was.Timed && c.Tactic != want.Tactic && c.Reason != "pinned to "+want.Tactic {
					t.Errorf("%s pinned: the reason of %s is %q", want.Tactic, c.Tactic, c.Reason)
				}
			}
		}
	}
	if used < 2 || refused < 1 {
		t.Errorf("%d tactics used, %d refused", used, refused)
	}
	if _, err := plan(build.TacticChoices{Pin: map[string]string{first.Name: "conv_of_elsewhere"}}); err == nil || !strings.Contains(err.Error(), "no tactic of that name") {
		t.Errorf("an unknown tactic is pinned: %v", err)
	}
}
