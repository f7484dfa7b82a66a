package program

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/kernels"
)

// sameShape infers an output like the input.
func sameShape(l *graph.Layer) error {
	x := l.Input(0)
	if x == nil {
		return errors.New("want an input")
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.Type, x.Dims
	return nil
}

// mine is a program's own op, which ONNX models have as com.example:Twice, with a kernel and a pass.
func mine() Own {
	twice := graph.NewOp("Twice", sameShape, func(_ *graph.Layer, in, out []graph.Value) error {
		for i, x := range in[0].F32() {
			out[0].F32()[i] = 2 * x
		}
		return nil
	})
	twice.Onnx = []string{"com.example:Twice"}
	return Own{
		Ops: []*graph.Op{twice},
		Kernels: []kernels.Tactic{{
			Name: "twice_mine", Op: twice, Match: func(b kernels.Binding) error { return b.Only(graph.F32) },
			Bind: func(kernels.Binding) (kernels.Kernel, error) { return twiceKernel{}, nil },
		}},
		Passes: []pass.Pass{pass.New("mine", "names what is twice", "", []string{"my-rule"}, func(r *pass.Rewrite) {
			r.Each(func(l *graph.Layer) bool {
				if c := r.Candidate("my-rule", l); l.Op == twice && c.Enabled() {
					return c.Miss(pass.NetworkOutput, "it is only looked at")
				}
				return false
			})
		})},
	}
}

type twiceKernel struct{}

func (twiceKernel) Launch(_ kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	x, y := graph.View[float32](in[0].Host), graph.View[float32](out[0].Host)
	for i := range y {
		y[i] = 2 * x[i]
	}
	return nil
}

// A program with an op, a kernel and a pass of its own opens models with that op, runs its kernel, and shows its rule.
func TestOwn(t *testing.T) {
	own := mine()
	on, err := own.tables(backends)
	if err != nil {
		t.Fatal(err)
	}
	d := graph.Define("doubled")
	d.Output("y", d.Softmax(d.Named("double").Layer(own.Ops[0], nil, d.Input("x", graph.F32, graph.Const(1), graph.Const(8))), 1))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := onnx.Export(&file, n); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "doubled.onnx")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(on tables, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		executeOn(t.Context(), on, args, &out, &out)
		return out.String()
	}
	for _, c := range []struct {
		on   tables
		args string
		want string
	}{
		{on, "run --items 1 --backends cpu,eval -q --timing-cache none", "agree"},
		{on, "inspect tactics -q --timing-cache none", "twice_mine"},
		{on, "inspect passes -q", "my-rule"},
		{on, "inspect passes -q --disable my-rule", "my-rule"},
		{tables{backends: backends}, "inspect passes -q --disable my-rule", "my-rule"}, // which there is not
		{tables{backends: backends}, "run --items 1 -q --timing-cache none", "com.example:Twice"},
	} {
		if out := run(c.on, append(strings.Fields(c.args), path)...); !strings.Contains(out, c.want) {
			t.Errorf("trtui %s prints %q, want %q", c.args, out, c.want)
		}
	}
	softmax := Own{Ops: []*graph.Op{graph.NewOp("Softmax", sameShape, func(*graph.Layer, []graph.Value, []graph.Value) error { return nil })}}
	if _, err := softmax.tables(backends); err == nil {
		t.Error("an op that there is was taken")
	}
	late := Own{Passes: []pass.Pass{pass.New("late", "", "no such pass", nil, func(*pass.Rewrite) {})}}
	if _, err := late.tables(backends); err == nil {
		t.Error("a pass that runs nowhere was taken")
	}
}
