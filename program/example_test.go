package program_test

import (
	"errors"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/program"
)

// A trtui whose models may have the operator com.example:Square.
func ExampleMain() {
	square := graph.NewOp("Square",
		func(l *graph.Layer) error {
			x := l.Input(0)
			if x == nil {
				return errors.New("want an input")
			}
			l.Outputs[0].Type, l.Outputs[0].Dims = x.Type, x.Dims
			return nil
		},
		func(_ *graph.Layer, in, out []graph.Value) error {
			for i, x := range in[0].F32() {
				out[0].F32()[i] = x * x
			}
			return nil
		})
	square.Onnx = []string{"com.example:Square"}
	program.Main(program.Own{Ops: []*graph.Op{square}})
}
