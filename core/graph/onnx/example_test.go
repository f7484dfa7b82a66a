package onnx_test

import (
	"bytes"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// What keeps a network from being written is named at once, by layer.
func ExampleExport() {
	d := graph.Define("integers")
	x := d.Input("x", numeric.F32, symbolic.Const(4))
	d.Output("y", d.Named("wide").Quantize(x, numeric.PerTensor(0.5, 0), numeric.I32))
	n, err := d.Network()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(onnx.Export(&bytes.Buffer{}, n))
	// Output:
	// network integers cannot be written as ONNX: layer wide (QuantizeLinear): ONNX does not quantise to i32
}
