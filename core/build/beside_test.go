package build_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// manyHeads is a network of branches none of which keeps two workers busy: each is moved and summed up in small steps.
func manyHeads(t *testing.T) *graph.Network {
	t.Helper()
	d := graph.Define("heads")
	x := d.Input("x", numeric.F32, symbolic.Shape(1, 24, 120, 8)...)
	for i := range 6 {
		y := x
		for range 3 {
			y = d.CumSum(d.Transpose(y, 0, 2, 1, 3), graph.CumAttrs{Axis: 1})
		}
		d.Output(fmt.Sprint("y", i), y)
	}
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What is measured once is known: a second build with the cache has the same forks, and measures nothing. Layers that are named, and
// builds that are told so, stay in turn.
func TestSideBySide(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	n, ctx, cache := manyHeads(t), context.Background(), build.NewTimingCache()
	p, err := build.Plan(ctx, n, nil, b, build.PlanConfig{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	entries := len(cache.Entries())
	again, err := build.Plan(ctx, n, nil, b, build.PlanConfig{Cache: cache, Progress: func(m build.Timing) { t.Errorf("%s: %s is timed again", m.Layer, m.Tactic) }})
	if err != nil || len(cache.Entries()) != entries || !reflect.DeepEqual(again.Forks, p.Forks) {
		t.Errorf("%v: %d entries after %d, %+v after %+v", err, len(cache.Entries()), entries, again.Forks, p.Forks)
	}
	inTurn, err := build.Plan(ctx, n, nil, b, build.PlanConfig{Cache: cache, InTurn: []string{""}})
	if err != nil || len(inTurn.Forks) > 0 {
		t.Errorf("%v: in turn %+v", err, inTurn.Forks)
	}
	checkDropped(t, p)
	checkDropped(t, inTurn)
	if !slices.ContainsFunc(inTurn.Dropped, func(f run.Dropped) bool { return f.Reason == string(pass.Disabled) }) {
		t.Errorf("a plan in turn says of forks %+v", inTurn.Dropped)
	}
	for _, f := range p.Forks {
		if f.Measured.Beside <= 0 || !f.Measured.Pays() || f.Predicted.Beside <= 0 {
			t.Errorf("a fork that was not measured, or does not pay: %+v", f)
		}
	}
	if len(p.Forks) == 0 {
		t.Skip("the machine is too busy for two lanes at a time")
	}
	name := p.Steps[p.Forks[0].First].Name
	without, err := build.Plan(ctx, n, nil, b, build.PlanConfig{Cache: cache, InTurn: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	checkDropped(t, without)
	if !slices.ContainsFunc(without.Dropped, func(f run.Dropped) bool {
		return f.Reason == string(pass.Disabled) && slices.ContainsFunc(f.Lanes, func(lane []int) bool { return without.Steps[lane[0]].Name == name })
	}) {
		t.Errorf("that %s is switched off is not said: %+v", name, without.Dropped)
	}
	for _, f := range without.Forks {
		for _, lane := range f.Lanes {
			if slices.ContainsFunc(lane, func(i int) bool { return without.Steps[i].Name == name }) {
				t.Errorf("%s is beside others", name)
			}
		}
	}
	if one, err := build.Plan(ctx, n, nil, cpu.Open(1), build.PlanConfig{}); err != nil || len(one.Forks) > 0 {
		t.Errorf("%v: on one worker %+v", err, one.Forks)
	}
}

// What could save but a little of a plan is not measured, which would take runs of the whole plan.
func TestLittleIsNotMeasured(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	d := graph.Define("little")
	x, y := d.Input("x", numeric.F32, symbolic.Shape(512, 512)...), d.Input("y", numeric.F32, symbolic.Shape(128, 256)...)
	d.Output("transposed", d.Transpose(y, 1, 0))
	d.Output("summed", d.CumSum(y, graph.CumAttrs{}))
	for range 8 {
		x = d.MatMul(x, x)
	}
	d.Output("multiplied", x)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	cache := build.NewTimingCache()
	p, err := build.Plan(context.Background(), n, nil, b, build.PlanConfig{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Forks) > 0 {
		t.Errorf("forks %+v", p.Forks)
	}
	if len(p.Dropped) == 0 {
		t.Skip("by their times nothing would be saved")
	}
	for _, e := range cache.Entries() {
		if strings.HasSuffix(e.Tactic, " on one worker") {
			t.Errorf("%s of %s was measured within the plan", e.Tactic, e.Layer)
		}
	}
	checkDropped(t, p)
}

// checkDropped checks that the forks that a plan does not have are in order, and that their times bear out their reasons.
func checkDropped(t *testing.T, p *run.Plan) {
	t.Helper()
	if !slices.IsSortedFunc(p.Dropped, func(a, b run.Dropped) int { return a.First - b.First }) {
		t.Errorf("out of order: %+v", p.Dropped)
	}
	var all time.Duration
	for _, s := range p.Steps {
		all += s.Time
	}
	for _, f := range p.Dropped {
		measured := f.Measured.Beside > 0
		little := float64(f.Predicted.InTurn-f.Predicted.Beside) < 0.005*float64(all)
		switch {
		case f.Detail == "" || len(f.Lanes) < 2:
			t.Errorf("says little: %+v", f)
		case f.Reason == string(pass.NoGain) && measured == f.Measured.Pays() || f.Reason == string(pass.NoGain) && !measured && f.Predicted.Pays() && !little:
			t.Errorf("dropped though it pays: %+v", f)
		case f.Reason == string(pass.Disabled) && measured:
			t.Errorf("measured though it is switched off: %+v", f)
		}
	}
}
