package compare

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/report"
)

// The layers' own definition tells how far it is after every layer, and ends within an item.
func TestEvaluationIsWatched(t *testing.T) {
	d := graph.Define("deep")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(4))
	for range 5 {
		x = d.Relu(x)
	}
	d.Output("y", x)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told []report.Progress
	c := &Contestant{Network: n, batch: Batch{Batches: Batches{size: 2}}, now: report.Progress{Phase: "running on eval", Done: 2, Total: 4}, progress: func(p report.Progress) {
		if told = append(told, p); len(told) == 8 {
			cancel()
		}
	}}
	in := map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 1, 4)}
	if err := c.evaluate(ctx, in, false); err != nil {
		t.Fatal(err)
	}
	if last := told[len(told)-1]; len(told) != 5 || last.Share != 1 || !strings.HasPrefix(last.String(), "running on eval 2/4: layer 5 of 5, ") || told[0].Share != 0.6 {
		t.Errorf("told %+v", told)
	}
	if err := c.evaluate(ctx, in, false); !errors.Is(err, context.Canceled) || len(told) != 8 {
		t.Errorf("%v after %d words", err, len(told))
	}
}
