package run_test

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/runtest"
	"github.com/trtui/trtui/kernels/cpu"
)

// twoHeads is a chain of one convolution, two branches of two and one, and what brings these together.
func twoHeads(t *testing.T) *graph.Network {
	t.Helper()
	d := graph.Define("two heads")
	x := d.Input("x", numeric.F32, symbolic.Shape(1, 16, 12, 12)...)
	conv := func(name string, x *graph.Tensor) *graph.Tensor {
		w := make([]float32, 16*16*9)
		for i := range w {
			w[i] = float32(i*i%29)/290 - 0.05
		}
		return d.Conv(x, d.Weights(name, w, 16, 16, 3, 3), nil, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1})
	}
	x = conv("stem", x)
	d.Output("y", d.Concat(1, conv("a2", conv("a1", x)), conv("b", x)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func forkedPlan(t *testing.T, n *graph.Network, b run.Backend) *run.Plan {
	t.Helper()
	p, err := runtest.Forked(n, run.Extents{}, b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stepNames returns the names of the layers that lanes launch, without what belongs to no layer.
func stepNames(p *run.Plan, lanes [][]int) (names []string) {
	for _, lane := range lanes {
		var list []string
		for _, i := range lane {
			if s := p.Steps[i]; !s.Reformat && s.Layer.Op == graph.Conv {
				list = append(list, s.Layer.Inputs[1].Name)
			}
		}
		names = append(names, strings.Join(list, " "))
	}
	return names
}

// Lanes are the branches, the longest first; who pays nothing for a step on all workers forks nothing.
func TestFindForks(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	p := forkedPlan(t, twoHeads(t), b)
	if len(p.Forks) != 1 {
		t.Fatalf("forks %+v", p.Forks)
	}
	if got := stepNames(p, p.Forks[0].Lanes); !reflect.DeepEqual(got, []string{"a1 a2", "b"}) {
		t.Errorf("lanes of %q", got)
	}
	scales := func(int) (run.Pace, bool) {
		return run.Pace{All: 50 * time.Microsecond, One: 100 * time.Microsecond}, true
	}
	for what, list := range map[string][]run.Fork{
		"steps that scale":          p.FindForks(2, scales),
		"one worker":                p.FindForks(1, func(int) (run.Pace, bool) { return run.Pace{All: 100, One: 100}, true }),
		"steps shorter than a fork": p.FindForks(2, func(int) (run.Pace, bool) { return run.Pace{All: 100, One: 100}, true }),
		"layers that stay alone": p.FindForks(2, func(i int) (run.Pace, bool) {
			return run.Pace{All: time.Second, One: time.Second}, i < p.Forks[0].First
		}),
	} {
		if len(list) > 0 {
			t.Errorf("%s: forks %+v", what, list)
		}
	}
}

// A file keeps forks; those that would run steps beside what they wait for are refused.
func TestForksInFile(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	n := twoHeads(t)
	p := forkedPlan(t, n, b)
	good := p.Forks[0]
	write := func(forks ...run.Fork) (*run.Engine, error) {
		q := *p
		q.Forks = forks
		e := &run.Engine{}
		e.Add(&q)
		var file bytes.Buffer
		if _, err := e.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		return run.ReadEngine(graph.Ops(), file.Bytes())
	}
	e, err := write(good)
	if err != nil || !reflect.DeepEqual(e.Plans[0].Forks, p.Forks) {
		t.Fatalf("%v: %+v, not %+v", err, e, p.Forks)
	}
	for what, lanes := range map[string][][]int{
		"one lane":           {good.Lanes[0]},
		"a lane twice":       {good.Lanes[0], good.Lanes[0]},
		"steps out of order": {{good.Lanes[0][1], good.Lanes[0][0]}, good.Lanes[1]},
		"a chain cut":        {good.Lanes[0][:1], append(append([]int(nil), good.Lanes[0][1:]...), good.Lanes[1]...)},
		"no such step":       {{1000}, good.Lanes[1]},
	} {
		if _, err := write(run.Fork{First: good.First, Lanes: lanes}); err == nil {
			t.Errorf("%s: read without an error", what)
		}
	}
	if _, err := write(good, good); err == nil {
		t.Error("forks that overlap are read without an error")
	}
}

// What lanes take is at the same time, and the fork is over when the last one is.
func TestForkTimes(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	l, err := run.Load(context.Background(), forkedPlan(t, twoHeads(t), b), b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := l.Plan
	samples := 0
	err = c.Profile(context.Background(), run.Profiling{Iterations: 20, PerStep: true}, func(s run.Sample) {
		samples++
		if len(s.Forks) != 1 || len(s.Lanes) != len(p.Steps) {
			t.Fatalf("%d times of forks, %d of steps in lanes", len(s.Forks), len(s.Lanes))
		}
		inTurn := time.Duration(0)
		for _, lane := range p.Forks[0].Lanes {
			sum := time.Duration(0)
			for _, i := range lane {
				sum += s.Lanes[i]
				inTurn += s.Steps[i]
			}
			if sum <= 0 || sum > s.Forks[0].Beside {
				t.Errorf("a lane takes %v, the fork %v", sum, s.Forks[0].Beside)
			}
		}
		if inTurn != s.Forks[0].InTurn {
			t.Errorf("the steps take %v, the fork in turn %v", inTurn, s.Forks[0].InTurn)
		}
	})
	if err != nil || samples == 0 {
		t.Errorf("%d samples: %v", samples, err)
	}
	c.InTurn(true)
	times, err := c.ExecuteForks()
	if err != nil || len(times) != 1 || times[0] <= 0 {
		t.Errorf("in turn %v: %v", times, err)
	}
}

// Running forks allocates nothing, watched steps run one behind the other, and an execution that is stopped ends.
func TestForkedExecution(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	l, err := run.Load(context.Background(), forkedPlan(t, twoHeads(t), b), b)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := l.NewContextOf(2)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n := testing.AllocsPerRun(20, func() {
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := c.ExecuteUntil(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	if err := c.ExecuteUntil(ctx); err == nil {
		t.Error("it ran though it was over")
	}
}
