package build_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/testdata"
)

// noisy is the CPU with a clock on which launches take invented times: those that truth says, up to 3 % more, and for
// stretches of the time nearly twice as long, as on a machine that runs something else now and then.
type noisy struct {
	run.Backend
	truth func(b kernels.Binding, t kernels.Tactic) time.Duration
	rnd   *rand.Rand
	clock time.Duration
	busy  bool
	until time.Duration // the end of the present stretch
}

func (n *noisy) Tactics(op *graph.Op) []kernels.Tactic {
	list := append([]kernels.Tactic(nil), n.Backend.Tactics(op)...)
	for i, t := range list {
		list[i].Bind = func(b kernels.Binding) (kernels.Kernel, error) { return pretended{n, n.truth(b, t)}, nil }
	}
	return list
}

func (n *noisy) NewStream() (kernels.Stream, error) { return clockwork{n}, nil }

func (n *noisy) Upload(kernels.Stream, kernels.Mem, []byte) error { return nil }

// pass lets a launch pass.
func (n *noisy) pass(d time.Duration) {
	for n.clock >= n.until {
		n.busy = !n.busy
		stretch := 30 * time.Millisecond
		if n.busy {
			stretch = 10 * time.Millisecond
		}
		n.until += time.Duration(n.rnd.Float64() * 2 * float64(stretch))
	}
	d += time.Duration(0.03 * n.rnd.Float64() * float64(d))
	if n.busy {
		d = d * 19 / 10
	}
	n.clock += d
}

type pretended struct {
	n    *noisy
	time time.Duration
}

func (k pretended) Launch(kernels.Stream, []kernels.Mem, []kernels.Mem, kernels.Mem) error {
	k.n.pass(k.time)
	return nil
}

type clockwork struct{ n *noisy }

func (c clockwork) Record() kernels.Mark { return c.n.clock }
func (c clockwork) Elapsed(a, b kernels.Mark) time.Duration {
	return b.(time.Duration) - a.(time.Duration)
}
func (c clockwork) Wait() error  { return nil }
func (c clockwork) Close() error { return nil }

// allEqual lets every tactic of a layer take the same time, by the size of its output; reformats take a tenth of that.
func allEqual(b kernels.Binding, t kernels.Tactic) time.Duration {
	d := 5*time.Microsecond + time.Duration(numeric.Count(b.Out[0].Dims))
	if b.Layer.Op == graph.Reformat {
		d /= 10
	}
	return d
}

// planarWins makes convolutions that read planes clearly the fastest, reformats before them included.
func planarWins(b kernels.Binding, t kernels.Tactic) time.Duration {
	d := allEqual(b, t)
	if b.Layer.Op == graph.Conv && strings.HasSuffix(t.Name, "_planar") {
		d = d * 6 / 10
	}
	return d
}

// TestPlansAreStable plans the embedded model on a machine that disturbs the measurements, each time with other disturbances:
// the plans must be the same, and take what is clearly faster.
func TestPlansAreStable(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	for _, c := range []struct {
		name      string
		precision numeric.DataType
		truth     func(kernels.Binding, kernels.Tactic) time.Duration
		planar    bool
	}{
		{"equal fp32", numeric.F32, allEqual, false},
		{"equal int8", numeric.I8, allEqual, false},
		{"planar fp32", numeric.F32, planarWins, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := lowered(t, host, c.precision)
			plans := map[string]int{}
			for seed := range uint64(12) {
				b := &noisy{Backend: host, truth: c.truth, rnd: rand.New(rand.NewPCG(seed, 7))}
				p, err := build.Plan(t.Context(), n, map[string]int{"batch": 1}, b, build.PlanConfig{})
				if err != nil {
					t.Fatal(err)
				}
				plans[describe(p)]++
				if c.planar && !planar(p) {
					t.Errorf("seed %d: no convolution reads planes", seed)
				}
			}
			if len(plans) != 1 {
				t.Errorf("%d plans", len(plans))
				for p, times := range plans {
					t.Logf("%d times\n%s", times, p)
				}
			}
		})
	}
}

// lowered is the embedded model in a precision, with ranges that fit any data.
func lowered(t *testing.T, b run.Backend, precision numeric.DataType) *graph.Network {
	t.Helper()
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	shapes := pass.Config{Shapes: map[string]int{"batch": 1}}
	ranges := map[string]numeric.Range{}
	for _, l := range n.Layers {
		for _, x := range append(append([]*graph.Tensor(nil), l.Inputs...), l.Outputs...) {
			if x != nil && !x.IsConst() {
				ranges[x.Name] = numeric.Range{Scale: []float32{1.0 / 16}}
			}
		}
	}
	o, err := build.Optimize(t.Context(), n, shapes)
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(t.Context(), o, build.LowerConfig{Precision: precision, Ranges: ranges, Pass: shapes}, run.Supports(b, shapes.Shapes))
	if err != nil {
		t.Fatal(err)
	}
	return l.Network
}

// planar reports whether a convolution that is not the first reads planes.
func planar(p *run.Plan) bool {
	first := true
	for _, s := range p.Steps {
		if s.Layer.Op == graph.Conv {
			if !first && strings.HasSuffix(s.Tactic, "_planar") {
				return true
			}
			first = false
		}
	}
	return false
}

// describe gives the tactics, formats and places of a plan.
func describe(p *run.Plan) string {
	var s strings.Builder
	for _, step := range p.Steps {
		fmt.Fprintf(&s, "%s: %s", step.Name, step.Tactic)
		for _, o := range step.Out {
			fmt.Fprintf(&s, " %s at %d", p.Slots[o].Desc, p.Slots[o].Offset)
		}
		s.WriteByte('\n')
	}
	return s.String()
}
