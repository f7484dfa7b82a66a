package run_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestStopWhileChoosing: the choice of tactics ends with its context, when it has priced everything.
func TestStopWhileChoosing(t *testing.T) {
	n := graph.NewNetwork("chain")
	x := n.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(8))
	for range 3 {
		l, err := n.Add("", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, []*graph.Tensor{x}, "")
		if err != nil {
			t.Fatal(err)
		}
		x = l.Outputs[0]
	}
	n.MarkOutput(x)
	b := cpu.Open(1)
	defer b.Close()
	ctx, stop := context.WithCancel(t.Context())
	c, err := run.FindCandidates(ctx, n, run.Extents{}, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Price(ctx, run.BestGuess); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := c.Choose(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the choice ends with %v", err)
	}
}
