package onnx

import (
	"bytes"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// TestWholeExtents: with align_corners and a scale of 1.7 PyTorch aligns the last of the six elements that four become, as
// torch.nn.functional.interpolate([1, 2, 3, 4], scale_factor=1.7, mode="linear", align_corners=True) of 2.15 computes them; ONNX's
// definition, onnx.reference 1.23, aligns element 5.8.
func TestWholeExtents(t *testing.T) {
	scales := numeric.Values(numeric.F32, []float32{1, 1, 1.7}, 3)
	node := nodeField("Resize", "r", list("x", "", "scales"), list("y"), stringAttr("mode", "linear"), stringAttr("coordinate_transformation_mode", "align_corners"))
	x := map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{1, 2, 3, 4}, 1, 1, 4)}
	for producer, want := range map[string][]float32{
		"pytorch": {1, 1.6, 2.2, 2.8, 3.4, 4},
		"":        {1, 1.517241, 2.034483, 2.551724, 3.068966, 3.586207},
	} {
		model := slices.Concat(modelBytes(input("x", 1, 1, 4), initializer("scales", scales), node, output("y")), str(2, producer))
		n, err := Parse(graph.Ops(), "m.onnx", model)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := Export(&again, n); err != nil {
			t.Fatal(err)
		}
		exported, err := Parse(graph.Ops(), "again.onnx", again.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for what, n := range map[string]*graph.Network{"imported": n, "exported": exported} {
			out, err := n.Eval(t.Context(), x, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := near(out["y"], numeric.Values(numeric.F32, want, 1, 1, 6)); text != "" {
				t.Errorf("%s, by %q: %s; %v, want %v", what, producer, text, out["y"].F32(), want)
			}
		}
	}
}

// stringAttr is an attribute that is a string.
func stringAttr(name, s string) []byte { return sub(5, msg(str(1, name), num(20, 3), str(4, s))) }
