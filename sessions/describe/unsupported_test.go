package describe

import (
	"testing"

	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions/report"
)

// TestNotRunnable: a node whose operator is supported, and what it has is not, is not called one of an unsupported operator.
func TestNotRunnable(t *testing.T) {
	sift := report.UnsupportedLayer{Layer: "s", Op: "Sift", Reason: onnx.NoOperator}
	conv := report.UnsupportedLayer{Layer: "c", Op: "Conv", Reason: "input x has 5 channels, weights want 3"}
	behind := report.UnsupportedLayer{Layer: "d", Op: "Relu", Reason: "its input has no known shape", Behind: "c"}
	for want, list := range map[string][]report.UnsupportedLayer{
		"1 of 9 layers has an unsupported operator (Sift)":   {sift},
		"2 of 9 layers have unsupported operators (Sift x2)": {sift, sift},
		"1 of 9 layers cannot be imported (Conv)":            {conv, behind},
		"2 of 9 layers cannot be imported (Sift, Conv)":      {sift, conv},
	} {
		if got := NotRunnable(&onnx.ImportError{}, list, 9); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
