package build

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
)

// DropQuantization returns the network of real numbers that a quantised one stands for; see [passes.Dropping]. Integers that mean
// something else, such as those that a network is given, are an error.
func DropQuantization(ctx context.Context, n *graph.Network) (*graph.Network, error) {
	n, _, err := passes.Run(ctx, n, passes.Dropping(), pass.Config{})
	if err != nil {
		return nil, err
	}
	for _, l := range n.AllLayers() {
		switch l.Op {
		case graph.Quantize, graph.Dequantize, graph.QLinearConv, graph.QLinearMatMul:
			return nil, fmt.Errorf("layer %s: what it quantises is not dequantised, or is no result of quantisation; the model's own quantisation cannot be dropped", l.Name)
		}
		l.From = []string{l.Name} // the source of what comes
	}
	return n, nil
}
