package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/sessions/config"
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
	twice := graph.NewOp("Twice", sameShape, func(_ *graph.Layer, in, out []numeric.Value) error {
		for i, x := range in[0].F32() {
			out[0].F32()[i] = 2 * x
		}
		return nil
	})
	twice.Onnx = []string{"com.example:Twice"}
	return Own{
		Ops: []*graph.Op{twice},
		Kernels: []kernels.Tactic{{
			Name: "twice_mine", Op: twice, Match: func(b kernels.Binding) error { return b.Only(numeric.F32) },
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

// share is a calibrator that clips at a share of the largest magnitude that was seen.
type share struct {
	of     float64
	scheme quant.Scheme
}

func (s share) String() string { return fmt.Sprintf("share:%g", s.of) }

func (s share) Range(h *quant.Histogram) numeric.Range {
	return s.scheme.Range(-s.of*float64(h.AMax()), s.of*float64(h.AMax()))
}

var shares = quant.Method{
	Name: "share", Doc: "a share of the largest magnitude", Param: "share", Value: 0.5, Min: 0.01, Max: 1,
	New: func(of float64, s quant.Scheme) quant.Calibrator { return share{of, s} },
}

// A program's own calibrator is a value of --calibrator, in files of configurations too, and is compared with the others.
func TestOwnCalibrator(t *testing.T) {
	own := Own{Calibrators: []quant.Method{shares}}
	on, err := own.tables(backends)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := config.Marshal(config.Config{Precision: config.INT8, Calibrator: "share:0.25", Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, saved, 0o600); err != nil {
		t.Fatal(err)
	}
	few := strings.Join(rough(t), " ")
	for _, c := range []struct {
		on   tables
		args string
		want []string
	}{
		{on, "calibrate --compare --calibrator share:0.75 -q " + few, []string{"share:0.5", "share:0.75", "mse"}},
		{on, "eval --items 0-3 --precision int8 --calibrator share,minmax -q " + few, []string{"share", "minmax"}},
		{on, "inspect passes --format json -q --config " + file + " " + few, []string{`"calibrator": "share:0.25"`}},
		{on, "eval --help", []string{"mse, share[:S]", "entropy,percentile,mse,share"}},
		{on, "build --help", []string{"minmax, entropy[:B], percentile[:P], mse or"}},
		{on, "__complete calibrate --calibrator sh", []string{"share"}},
		{on, "calibrate --calibrator share:2", []string{"share must be a number from 0.01 to 1"}},
		{tables{backends: backends}, "calibrate --calibrator share", []string{"minmax, entropy, percentile, mse"}}, // which has it not
	} {
		var out bytes.Buffer
		executeOn(t.Context(), c.on, strings.Fields(c.args), &out, &out)
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("trtui %s prints %q, want %q", c.args, out.String(), want)
			}
		}
	}
	if _, err := (Own{Calibrators: []quant.Method{shares, shares}}).tables(backends); err == nil {
		t.Error("a calibrator was taken twice")
	}
}

// TestOwnCalibratorInWorkbench begins with a program's own calibrator, and leaves it for the next one.
func TestOwnCalibratorInWorkbench(t *testing.T) {
	f := &workbenchFlags{modelFlags: modelFlags{own: Own{Calibrators: []quant.Method{shares}}, device: deviceFlags{table: backends}}}
	f.register(&cobra.Command{}, takeAll)
	f.config.precision, f.config.calibrator = "int8", "share"
	p, err := f.open("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	cfg, err := f.begin(p.model, operand{})
	if err != nil || cfg.Calibrator != "share:0.5" {
		t.Fatalf("it begins with %+v, %v", cfg, err)
	}
}

type twiceKernel struct{}

func (twiceKernel) Launch(_ kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	x, y := numeric.View[float32](in[0].Host), numeric.View[float32](out[0].Host)
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
	d.Output("y", d.Softmax(d.Named("double").Layer(own.Ops[0], nil, d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(8))), 1))
	path := definedFile(t, d)
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
		{on, "run --items 1 --backends cpu,eval -q", "agree"},
		{on, "inspect tactics -q", "twice_mine"},
		{on, "inspect passes -q", "my-rule"},
		{on, "inspect passes -q --disable my-rule", "my-rule"},
		{tables{backends: backends}, "inspect passes -q --disable my-rule", "my-rule"}, // which there is not
		{tables{backends: backends}, "run --items 1 -q", "com.example:Twice"},
	} {
		if out := run(c.on, append(strings.Fields(c.args), path)...); !strings.Contains(out, c.want) {
			t.Errorf("trtui %s prints %q, want %q", c.args, out, c.want)
		}
	}
	softmax := Own{Ops: []*graph.Op{graph.NewOp("Softmax", sameShape, func(*graph.Layer, []numeric.Value, []numeric.Value) error { return nil })}}
	if _, err := softmax.tables(backends); err == nil {
		t.Error("an op that there is was taken")
	}
	late := Own{Passes: []pass.Pass{pass.New("late", "", "no such pass", nil, func(*pass.Rewrite) {})}}
	if _, err := late.tables(backends); err == nil {
		t.Error("a pass that runs nowhere was taken")
	}
}
