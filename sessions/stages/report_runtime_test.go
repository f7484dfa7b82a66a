package stages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// TestExtentsOf: extents are doubled between ends that are far apart, and else lie in even steps that the network allows.
func TestExtentsOf(t *testing.T) {
	any := func(int) bool { return true }
	by := func(n int) func(int) bool { return func(v int) bool { return v%n == 0 } }
	for _, c := range []struct {
		most, low, high int
		possible        func(int) bool
		want            string
	}{
		{12, 1, 8, any, "[1 2 3 4 5 6 7 8]"},
		{6, 1, 8, any, "[1 2 4 6 8]"},
		{12, 1, 15, any, "[1 2 4 6 8 10 12 14 15]"},
		{12, 1, 16, any, "[1 2 4 8 16]"},
		{12, 0, 3, any, "[1 2 3]"},
		{12, 1, 8192, any, "[1 4 16 64 256 1024 4096 8192]"},
		{6, 16, 512, any, "[16 32 64 128 256 512]"},
		{6, 1, 512, any, "[1 4 16 64 256 512]"},
		{12, 160, 640, by(32), "[160 192 256 320 384 448 512 576 640]"},
		{12, 320, 1600, by(160), "[320 480 640 800 960 1120 1280 1440 1600]"},
		{12, 7, 9, by(100), "[7 9]"},
	} {
		if got := fmt.Sprint(extentsOf(&report.RuntimeAxis{Min: c.low, Max: c.high}, c.most, c.possible)); got != c.want {
			t.Errorf("%d from %d to %d: %s, want %s", c.most, c.low, c.high, got, c.want)
		}
	}
}

// TestLimit: where a Reshape is to constants no other extent is possible, and the layer is named; where it is to what is left there is no
// limit, and where a kernel needs so many columns there are these at least.
func TestLimit(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	limits := func(output func(d *graph.Definition, x *graph.Tensor) *graph.Tensor) (list []*report.ExtentLimit) {
		d := graph.Define("limits")
		x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(1), symbolic.Symbol("rows"), symbolic.Symbol("columns"))
		d.Output("y", output(d, d.Named("relu").Relu(x)))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		st := New(&model.Model{Network: n, Path: "limits"}, Workplace{Backend: b, Cache: build.NewTimingCache()}, &Audience{Progress: func(report.Progress) {}, Log: &Journal{}})
		p, err := st.Tuning.Plan(t.Context(), config.Config{Precision: config.FP32, Batch: 2, Shapes: map[string][]int{"x": {2, 1, 8, 16}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range st.Sweeps.Served(p, report.Latency{}).Axes {
			list = append(list, a.Limit)
		}
		return list
	}
	for _, l := range limits(func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
		return d.Named("heads").Reshape(x, 2, 8, 4, 4)
	}) {
		if l == nil || l.Least != l.Most || !strings.Contains(l.Why, "layer heads (Reshape)") {
			t.Errorf("of a Reshape to constants: %+v", l)
		}
	}
	for _, l := range limits(func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Reshape(x, 0, -1) }) {
		if l != nil {
			t.Errorf("of a Reshape to what is left: %+v", l)
		}
	}
	w := numeric.Values(numeric.F32, make([]float32, 25), 1, 1, 5, 5)
	list := limits(func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
		return d.Named("kernel").Conv(x, d.Constant("w", w), nil, graph.ConvAttrs{})
	})
	for i, want := range []string{"<nil>", "5 16777216", "5 16777216"} {
		got := fmt.Sprint(list[i])
		if l := list[i]; l != nil {
			got = fmt.Sprint(l.Least, l.Most)
		}
		if got != want {
			t.Errorf("axis %d of a kernel of 5: %s, want %s", i, got, want)
		}
	}
}
