package cmd_test

import (
	"errors"

	"github.com/trtui/trtui/cmd"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
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
		func(_ *graph.Layer, in, out []numeric.Value) error {
			for i, x := range in[0].F32() {
				out[0].F32()[i] = x * x
			}
			return nil
		})
	square.Onnx = []string{"com.example:Square"}
	cmd.Main(cmd.Own{Ops: []*graph.Op{square}})
}

// half clips at half of the largest magnitude that was seen.
type half struct{ scheme quant.Scheme }

func (half) String() string { return "half" }

func (c half) Range(h *quant.Histogram) numeric.Range {
	return c.scheme.Range(-float64(h.AMax())/2, float64(h.AMax())/2)
}

// A trtui with a calibrator of its own: --calibrator half chooses it, and panes, trtui calibrate --compare and trtui eval show
// it beside the others.
func ExampleOwn_calibrators() {
	cmd.Main(cmd.Own{Calibrators: []quant.Method{{
		Name: "half", Doc: "half of the largest magnitude",
		New: func(_ float64, s quant.Scheme) quant.Calibrator { return half{s} },
	}}})
}
