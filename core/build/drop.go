package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
)

// DropQuantization returns the network of real numbers that a quantised one stands for, and the step that took it back; see [passes.Dropping]. Integers that mean something else, such as those that a network is given, are an error.
func DropQuantization(ctx context.Context, n *graph.Network) (*graph.Network, *pass.Step, error) {
	n, steps, err := passes.Run(ctx, n, passes.Dropping(), pass.Config{})
	if err != nil {
		return nil, nil, err
	}
	for _, l := range n.AllLayers() {
		switch l.Op {
		case graph.Quantize, graph.Dequantize, graph.QLinearConv, graph.QLinearMatMul:
			return nil, nil, fmt.Errorf("layer %s: what it quantises is not dequantised, or is no result of quantisation; the model's own quantisation cannot be dropped", l.Name)
		}
		l.From = []string{l.Name} // the source of what comes
	}
	at := slices.IndexFunc(steps, func(st pass.Step) bool { return st.Pass == quantise.Drop.Name })
	return n, &steps[at], nil
}
