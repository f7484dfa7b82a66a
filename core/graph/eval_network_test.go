package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func chain(t *testing.T, layers int, dims ...symbolic.Dim) *graph.Network {
	t.Helper()
	d := graph.Define("chain")
	x := d.Input("x", numeric.F32, dims...)
	for range layers {
		x = d.Relu(x)
	}
	d.Output("y", x)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An evaluation ends between layers with its context, and with what its tap returns.
func TestEvalEnds(t *testing.T) {
	n := chain(t, 5, symbolic.Const(3))
	in := map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 3)}
	for _, c := range []struct {
		name string
		tap  func(cancel func()) error
		want error
	}{
		{"context", func(cancel func()) error { cancel(); return nil }, context.Canceled},
		{"tap", func(func()) error { return errDone }, errDone},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		layers := 0
		_, err := n.Eval(ctx, in, func(*graph.Layer, []numeric.Value) error {
			if layers++; layers == 2 {
				return c.tap(cancel)
			}
			return nil
		})
		cancel()
		if !errors.Is(err, c.want) || layers != 2 {
			t.Errorf("%s: %v after %d layers", c.name, err, layers)
		}
	}
}

var errDone = errors.New("done")

// What an evaluation takes is estimated before it begins: a chain of two layers holds one tensor beside the one it makes.
func TestEvalWithin(t *testing.T) {
	n := chain(t, 3, symbolic.Const(1<<20))
	in := map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 1<<20)}
	const need = 8<<20 + 16<<20 // the results of two layers, and the numbers that one reads and writes
	var e *graph.NoMemory
	_, err := n.EvalWithin(t.Context(), need-1, in, nil)
	if !errors.As(err, &e) || e.Need != need || e.Own != 16<<20 || e.Layer != "Relu_2" || !e.Given || !strings.Contains(err.Error(), "layer Relu_2 (Relu)") {
		t.Errorf("%v: %+v", err, e)
	}
	if _, err := n.EvalWithin(t.Context(), need, in, nil); err != nil {
		t.Error(err)
	}
	// Tensors that live to the end add up.
	large := graph.Define("large")
	x := large.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(1))
	for i := range 40 {
		large.Output(string(rune('a'+i%26))+string(rune('a'+i/26)), large.Layer(graph.Tile, graph.TileAttrs{Repeats: []int{1 << 14, 1 << 14}}, x))
	}
	if n, err = large.Network(); err != nil {
		t.Fatal(err)
	}
	e = nil
	if _, err = n.EvalWithin(t.Context(), 8<<30, map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 1, 1)}, nil); !errors.As(err, &e) || e.Need < 40<<30 {
		t.Errorf("%v", err)
	}
}
