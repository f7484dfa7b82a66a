package passes_test

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// The standard passes on a small network: each step says what it did, and the ledger what became of every layer.
func ExampleRun() {
	d := graph.Define("small")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(2), symbolic.Const(8), symbolic.Const(8))
	w := d.Weights("w", make([]float32, 2*2*3*3), 2, 2, 3, 3)
	y := d.Named("conv").Conv(d.Named("copy").Identity(x), w, nil, graph.ConvAttrs{})
	d.Output("y", d.Named("relu").Relu(y))
	n, err := d.Network()
	if err != nil {
		fmt.Println(err)
		return
	}
	out, steps, err := passes.Run(context.Background(), n, passes.Standard(), pass.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range steps {
		for _, f := range s.Fired {
			fmt.Println(s.Pass, f.Site)
		}
	}
	for _, e := range steps[len(steps)-1].Ledger {
		fmt.Println(e.Layer, e.Fate)
	}
	fmt.Print(out)
	// Output:
	// remove-no-ops no-op:copy
	// fuse-epilogue fuse-activation:conv,relu
	// copy eliminated
	// conv fused
	// relu fused
	// network small
	// input  x f32[1,2,8,8]
	// conv + relu: y f32[1,2,6,6] = Conv(x, w f32[2,2,3,3]) group=1 | relu($0)  <- conv + relu
	// output y
}
