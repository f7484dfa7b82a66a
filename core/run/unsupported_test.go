package run_test

import (
	"context"
	"errors"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// f32Only is a backend whose kernels take floating point in F32 alone, and some only integers.
type f32Only struct{ run.Backend }

func (f32Only) Tactics(op *graph.Op) []kernels.Tactic {
	tactic := func(name string, takes func(numeric.DataType) bool) kernels.Tactic {
		return kernels.Tactic{Name: name, Op: op, Match: func(b kernels.Binding) error {
			for _, d := range append(b.In, b.Out...) {
				if !takes(d.Type) {
					return errors.New(d.Type.String() + " is not taken")
				}
			}
			return nil
		}}
	}
	return []kernels.Tactic{
		tactic("floats", func(t numeric.DataType) bool { return t == numeric.F32 && op != graph.Softmax }),
		tactic("integers", func(t numeric.DataType) bool { return t == numeric.I32 }),
	}
}

// Of the reasons that a layer is not computed the first to be told is one that a person can act upon.
func TestReasonsThatCanBeActedUpon(t *testing.T) {
	b := f32Only{cpu.Open(1)}
	defer b.Close()
	inType := func(typ numeric.DataType, layer func(d *graph.Definition, x *graph.Tensor) *graph.Tensor) *graph.Network {
		d := graph.Define("n")
		d.Output("y", layer(d, d.Input("x", typ, symbolic.Const(2), symbolic.Const(3))))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	sigmoid := func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Sigmoid(x) }
	doubled := func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
		return d.ElementWise(elementwise.Mul, x, d.Constant("two", numeric.Values(numeric.F64, []float64{2, 2, 2}, 3)))
	}
	softmax := func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Softmax(x, 1) }
	for _, c := range []struct {
		name string
		n    *graph.Network
		want string
	}{
		{"f32", inType(numeric.F32, sigmoid), ""},
		{"f64", inType(numeric.F64, sigmoid), "it is in f64, and computed in f32: export the model in float32"},
		{"f64 constant", inType(numeric.F64, doubled), "it is in f64, and computed in f32: export the model in float32"},
		{"nowhere", inType(numeric.BF16, softmax), "integers: bf16 is not taken; and 1 more"},
	} {
		_, err := run.NewPlan(context.Background(), c.n, nil, b, run.BestGuess)
		var missing *run.Unsupported
		switch {
		case !errors.As(err, &missing):
			if c.want != "" || err != nil {
				t.Errorf("%s: error %v", c.name, err)
			}
		case missing.Layers[0].Reason() != c.want:
			t.Errorf("%s: %q, want %q", c.name, missing.Layers[0].Reason(), c.want)
		}
	}
}

// TestReasonBesideHalves: why no tactic takes a layer is not that those for half precision are for others.
func TestReasonBesideHalves(t *testing.T) {
	l := run.UnsupportedLayer{Layer: "c", Op: "Conv", Reasons: []run.Candidate{
		{Tactic: "direct", Reason: "its stride is too large"}, {Tactic: "half", Reason: kernels.ErrNotHalf.Error()},
	}}
	if got, want := l.Reason(), "direct: its stride is too large; and 1 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	l.Reasons = l.Reasons[1:]
	if got, want := l.Reason(), "half: no tensor is f16"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
