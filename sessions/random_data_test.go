package sessions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// An index that random data made up and a layer refuses is told with the input's integers, since no layer was at fault.
func TestRandomIndexOutOfRange(t *testing.T) {
	d := graph.Define("shifted")
	seven := numeric.NewValue(numeric.I64, 1)
	numeric.View[int64](seven.Data)[0] = 7
	index := d.ElementWise(elementwise.Add, d.Input("ids", numeric.I64, symbolic.Symbol("batch"), symbolic.Const(50)), d.Constant("seven", seven))
	d.Output("y", d.Named("rows").Layer(graph.Gather, graph.GatherAttrs{}, d.Constant("table", numeric.NewValue(numeric.F32, 9, 2)), index))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Random(n.Inputs, nil, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	w := workplace(t, b)
	if w.Data, err = set.Bind(n.Inputs); err != nil {
		t.Fatal(err)
	}
	r := sessions.NewRunner(&model.Model{Network: n, Path: "shifted"}, w, nil)
	_, err = r.Report(context.Background(), config.Config{Precision: config.FP32, Batch: 1}, report.PartTimings|report.PartAccuracy, run.Profiling{})
	if err == nil || !strings.Contains(err.Error(), "rows") || !strings.Contains(err.Error(), "is outside 9 elements: the data is random (ids 0 to 9), and the graph does not tell which integers fit") {
		t.Error(err)
	}
}
