package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// faulty is a backend whose tactics for Relu panic at a stage.
type faulty struct {
	run.Backend
	stage string
}

func (f faulty) Tactics(op *graph.Op) []kernels.Tactic {
	at := func(stage string) {
		if f.stage == stage {
			panic("a defect")
		}
	}
	return []kernels.Tactic{{
		Name: "defective", Op: op,
		Match: func(kernels.Binding) error { at("match"); return nil },
		Bind:  func(kernels.Binding) (kernels.Kernel, error) { at("bind"); return faultyKernel(at), nil },
	}}
}

type faultyKernel func(stage string)

func (k faultyKernel) Launch(kernels.Stream, []kernels.Mem, []kernels.Mem, kernels.Mem) error {
	k("launch")
	return nil
}

// A panic in a tactic is an error that names layer, tactic and place.
func TestPanicsInTacticsAreErrors(t *testing.T) {
	host := cpu.Open(1)
	defer host.Close()
	d := graph.Define("n")
	d.Output("y", d.Named("act").Relu(d.Input("x", numeric.F32, symbolic.Const(4))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	execute := func(b run.Backend) error {
		p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
		if err != nil {
			return err
		}
		l, err := run.Load(t.Context(), p, b)
		if err != nil {
			return err
		}
		defer l.Close()
		c, err := l.NewContext()
		if err != nil {
			return err
		}
		defer c.Close()
		return c.Execute()
	}
	for _, stage := range []string{"match", "bind", "launch"} {
		err := execute(faulty{host, stage})
		if err == nil {
			t.Errorf("%s: no error", stage)
			continue
		}
		for _, want := range []string{"act", "defective", "internal error: a defect", "fault_test.go:"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", stage, err, want)
			}
		}
		if stage != "match" && !errors.As(err, new(*graph.Fault)) {
			t.Errorf("%s: %T is no fault", stage, err)
		}
	}
	if err := execute(faulty{host, ""}); err != nil {
		t.Error(err)
	}
}
