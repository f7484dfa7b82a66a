package run_test

import (
	"bytes"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestUnboundedEngine: a Relu behind a Relu is a clip with no upper bound, which JSON has no number for.
func TestUnboundedEngine(t *testing.T) {
	d := graph.Define("relus")
	x := d.Input("x", numeric.F32, symbolic.Const(4))
	d.Output("y", d.Relu(d.Relu(x)))
	source, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	n, _, err := passes.Run(t.Context(), source, passes.Standard(), pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	e := &run.Engine{Source: source, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}
	var file, again bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	back, err := run.ReadEngine(graph.Ops(), file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if back.Plans[0].Network.String() != n.String() {
		t.Errorf("read as\n%s\nwant\n%s", back.Plans[0].Network, n)
	}
	if _, err := back.WriteTo(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Errorf("an engine read and written again differs: %v", err)
	}
}
