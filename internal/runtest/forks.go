package runtest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
)

// Forked lays a network out with as many forks as there may be.
func Forked(n *graph.Network, x run.Extents, b run.Backend) (*run.Plan, error) {
	ctx := context.Background()
	c, err := run.FindCandidates(ctx, n, x, b)
	if err != nil {
		return nil, err
	}
	if err := c.Price(ctx, run.BestGuess); err != nil {
		return nil, err
	}
	choice, err := c.Choose(ctx)
	if err != nil {
		return nil, err
	}
	p, err := choice.Layout()
	if err != nil {
		return nil, err
	}
	pace := func(int) (run.Pace, bool) { return run.Pace{All: time.Millisecond, One: time.Millisecond}, true }
	return choice.LayoutWith(p.FindForks(2, pace))
}

// Forks runs whole networks whose branches run side by side, and compares the bits with those of one step behind the other. hold
// keeps the backend's workers busy until its result is called, so that lanes run one behind the other, in their order and the other
// way round: what one lane does to the memory of another then shows every time.
func Forks(t *testing.T, b run.Backend, hold func() (release func())) {
	forked := 0
	for _, n := range Defined(t) {
		t.Run(n.Name, func(t *testing.T) {
			p, err := Forked(n, run.Extents{Opt: map[string]int{"batch": 2}}, b)
			if err != nil {
				t.Fatal(err)
			}
			forked += len(p.Forks)
			CheckForks(t, p, b, hold)
		})
	}
	if forked < 5 {
		t.Errorf("%d forks in all networks", forked)
	}
}

// CheckForks is Forks for one plan.
func CheckForks(t *testing.T, p *run.Plan, b run.Backend, hold func() (release func())) {
	t.Helper()
	concurrent(t, p)
	around := *p
	around.Forks = slices.Clone(p.Forks)
	for k := range around.Forks {
		f := &around.Forks[k]
		f.Lanes = slices.Clone(f.Lanes)
		slices.Reverse(f.Lanes)
	}
	in := map[string]numeric.Value{}
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, x := range p.Network.Inputs {
		bound := *x
		bound.Dims = symbolic.Shape(symbolic.Eval(x.Dims, p.Env())...)
		in[x.Name] = suite.Random(rnd, &bound)
	}
	want := outputsOf(t, p, b, in, true)
	for name, q := range map[string]*run.Plan{"lanes": p, "lanes reversed": &around} {
		for range 3 {
			same(t, name, outputsOf(t, q, b, in, false), want)
		}
		release := hold()
		same(t, name+" one behind the other", outputsOf(t, q, b, in, false), want)
		release()
	}
}

func same(t *testing.T, what string, got, want map[string]numeric.Value) {
	t.Helper()
	for name, w := range want {
		if !bytes.Equal(got[name].Data, w.Data) {
			t.Errorf("%s: output %s has other bits than one step behind the other", what, name)
		}
	}
}

// outputsOf loads and runs a plan twice, so that the second run finds what the first one left.
func outputsOf(t *testing.T, p *run.Plan, b run.Backend, in map[string]numeric.Value, inTurn bool) map[string]numeric.Value {
	t.Helper()
	l, err := run.Load(context.Background(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.InTurn(inTurn)
	if err := c.SetInputs(in); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := c.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// concurrent fails where memory is used by steps that may run at the same time, or in either order, but for parts of one tensor and
// what all of them read.
func concurrent(t *testing.T, p *run.Plan) {
	t.Helper()
	users := make([][]int, len(p.Slots)) // by root
	root := func(s int) int {
		for p.Slots[s].Of >= 0 {
			s = p.Slots[s].Of
		}
		return s
	}
	for i, s := range p.Steps {
		for _, x := range append(slices.Concat(s.In, s.Out), s.Scratch) {
			if x >= 0 {
				users[root(x)] = append(users[root(x)], i)
			}
		}
	}
	type place struct{ fork, lane int } // from 1 on; 0: in none
	where := make([]place, len(p.Steps))
	for k, f := range p.Forks {
		for lane, steps := range f.Lanes {
			for _, i := range steps {
				where[i] = place{k + 1, lane + 1}
			}
		}
	}
	before := func(a, b []int) bool { // every step of a comes before every one of b, whatever runs beside what
		for _, i := range a {
			for _, j := range b {
				if i >= j || where[i].fork > 0 && where[i].fork == where[j].fork && where[i] != where[j] {
					return false
				}
			}
		}
		return true
	}
	for a, s := range p.Slots {
		for b := range a {
			r := p.Slots[b]
			if s.Of >= 0 || r.Of >= 0 || s.Region != run.Arena || r.Region != run.Arena || len(users[a])*len(users[b]) == 0 ||
				s.Offset+s.Size <= r.Offset || r.Offset+r.Size <= s.Offset {
				continue
			}
			if !before(users[a], users[b]) && !before(users[b], users[a]) {
				t.Errorf("slots %d and %d share bytes, and steps %v and %v may run at the same time", b, a, users[b], users[a])
			}
		}
	}
}
