package trtui_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui"
)

// TestShapeValues: one plan serves a range of the values of an input on whose elements shapes depend, whether the engine comes from a
// file or not.
func TestShapeValues(t *testing.T) {
	d := trtui.Define("values")
	x := d.Input("x", trtui.F32, trtui.Symbol("n"), trtui.Const(4))
	to := d.ShapeInput("to", trtui.Symbol("rows"), trtui.Symbol("columns"), trtui.Const(2))
	d.Output("y", d.Softmax(d.MatMul(d.Relu(d.ReshapeTo(x, to)), d.Weights("w", []float32{1, 2, 3, 4, 5, 6}, 2, 3)), -1))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	at := func(items, rows, columns int) map[string][]int {
		return map[string][]int{"x": {items, 4}, "to": {rows, columns, 2}}
	}
	profile := trtui.Profile{Min: at(1, 1, 2), Opt: at(4, 4, 2), Max: at(32, 16, 4)}
	if _, err := trtui.Build(t.Context(), n, trtui.Options{Untimed: true}); err == nil || !strings.Contains(err.Error(), "input to is i64[3], on whose elements shapes depend") {
		t.Error(err)
	}
	e := built(t, n, trtui.Options{Profiles: []trtui.Profile{profile}})
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	opened, err := trtui.ReadEngine(t.Context(), &file, trtui.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	data := func(items int, to ...int64) trtui.Inputs {
		x, shape := trtui.NewValue(trtui.F32, items, 4), trtui.NewValue(trtui.I64, len(to))
		copy(x.Data, pictures(0, 1)["image"].Data)
		copy(shape.I64(), to)
		return trtui.Inputs{"x": x, "to": shape}
	}
	for _, e := range []*trtui.Engine{e, opened} {
		if got := e.Profiles(); got[0].Min["to"][1] != 2 || got[0].Opt["to"][0] != 4 || got[0].Max["to"][0] != 16 {
			t.Errorf("profiles are %v", got)
		}
		s := session(t, e, trtui.SessionOptions{Threads: 1})
		for _, in := range []trtui.Inputs{data(4, 4, 2, 2), data(1, 1, 2, 2), data(32, 16, 4, 2), data(24, 16, 3, 2), data(16, 8, 4, 2), data(24, 16, -1, 2), data(16, 0, -1, 2), data(16, 8, 4, 2), data(4, 4, 2, 2)} {
			out, err := s.Run(t.Context(), in)
			if err != nil {
				t.Errorf("%v: %v", in["to"].I64(), err)
			} else if want := reference(t, n, in)["y"]; !near(out["y"], want, 1e-5) {
				t.Errorf("%v: %v, want %v", in["to"].I64(), out["y"], want)
			}
		}
		var out *trtui.OutOfRange
		if _, err := s.Run(t.Context(), data(4, 8, -1, 2)); !errors.As(err, &out) || out.Value != 1 {
			t.Errorf("an inferred value out of range: %v", err)
		}
		if _, err := s.Run(t.Context(), data(4, 8, 1, 2)); !errors.As(err, &out) || !out.Element || err.Error() != "input to: element 1 (columns) is 1, the engine was built for 2 to 4" {
			t.Errorf("values out of range: %v", err)
		}
		if _, err := s.Run(t.Context(), data(4, 8, -2, 2)); err == nil || !strings.Contains(err.Error(), "input to: element 1 is -2, want 0 to") {
			t.Errorf("a negative value: %v", err)
		}
	}
}
