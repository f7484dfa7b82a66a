package cuda_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cuda"
)

// An engine runs on a simulated GPU as on a real one, which Open opens.
func ExampleOpenSimulator() {
	ctx := context.Background()
	d := graph.Define("double")
	x := d.Input("x", numeric.F32, symbolic.Const(3))
	d.Output("y", d.Add(x, x))
	n, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	device, err := cuda.OpenSimulator()
	if err != nil {
		log.Fatal(err)
	}
	defer device.Close()
	plan, err := run.NewPlan(ctx, n, nil, device, run.BestGuess)
	if err != nil {
		log.Fatal(err)
	}
	loaded, err := run.Load(ctx, plan, device)
	if err != nil {
		log.Fatal(err)
	}
	defer loaded.Close()
	c, err := loaded.NewContext()
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if err := c.SetInput("x", numeric.Values(numeric.F32, []float32{1, 2, 3}, 3)); err != nil {
		log.Fatal(err)
	}
	if err := c.Execute(); err != nil {
		log.Fatal(err)
	}
	y, err := c.Output("y")
	fmt.Println(y.F32(), err)
	// Output:
	// [2 4 6] <nil>
}
