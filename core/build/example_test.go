package build_test

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// The stages one by one, for a program that keeps what each makes; trtui.Build does all of it.
func Example() {
	ctx := context.Background()
	d := graph.Define("double")
	d.Output("y", d.Add(d.Input("x", numeric.F32, symbolic.Symbol("n")), d.Weights("one", []float32{1}, 1)))
	n, err := d.Network()
	if err != nil {
		fmt.Println(err)
		return
	}
	device := cpu.Open(1)
	defer device.Close()
	symbols := map[string]int{"n": 3}
	passes := pass.Config{Shapes: symbols}

	optimized, err := build.Optimize(ctx, n, passes)
	if err != nil {
		fmt.Println(err)
		return
	}
	lowered, err := build.Lower(ctx, optimized, build.LowerConfig{Precision: numeric.F32, Pass: passes}, run.Supports(device, symbols))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := build.Plan(ctx, lowered.Network, symbols, device, build.PlanConfig{Untimed: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	loaded, err := run.Load(ctx, plan, device)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer loaded.Close()
	c, err := loaded.NewContext()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	if err := c.SetInput("x", numeric.Values(numeric.F32, []float32{1, 2, 3}, 3)); err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Execute(); err != nil {
		fmt.Println(err)
		return
	}
	out, err := c.Output("y")
	fmt.Println(out.F32(), err)
	// Output:
	// [2 3 4] <nil>
}
