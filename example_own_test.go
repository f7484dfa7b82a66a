package trtui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/trtui/trtui"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/kernels/cpu"
)

// cube is an op of the program's own: y = x * x * x.
var cube = trtui.NewOp("Cube",
	func(l *trtui.Layer) error {
		x := l.Input(0)
		if x == nil || x.Type != trtui.F32 {
			return errors.New("want one input of f32")
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = x.Type, x.Dims
		return nil
	},
	func(_ *trtui.Layer, in, out []trtui.Value) error {
		for i, x := range in[0].F32() {
			out[0].F32()[i] = x * x * x
		}
		return nil
	})

// cubed defines a network with the op.
func cubed() *trtui.Network {
	d := trtui.Define("cubed")
	x := d.Input("x", trtui.F32, trtui.Const(3))
	d.Output("y", d.Named("cube").Layer(cube, nil, d.Neg(d.Neg(x))))
	net, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	return net
}

// run builds a network, runs it on one input, and prints the output.
func run(net *trtui.Network, o trtui.Options, x ...float32) *trtui.Engine {
	ctx := context.Background()
	eng, err := trtui.Build(ctx, net, o)
	if err != nil {
		log.Fatal(err)
	}
	s, err := eng.NewSession(trtui.SessionOptions{Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(ctx, trtui.Inputs{"x": trtui.ValueOf(x)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out["y"].F32())
	return eng
}

// An op of a program's own needs its shapes and its meaning, and runs at once; an engine with it opens where it is known.
func ExampleNewOp() {
	eng := run(cubed(), trtui.Options{Untimed: true}, 1, 2, 3)
	defer eng.Close()

	var file bytes.Buffer
	if _, err := eng.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	_, err := trtui.ReadEngine(context.Background(), bytes.NewReader(file.Bytes()), trtui.OpenOptions{})
	fmt.Println("without the op:", err != nil)
	again, err := trtui.ReadEngine(context.Background(), &file, trtui.OpenOptions{Ops: []*trtui.Op{cube}})
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	fmt.Println("with it:", again.Inputs(), "to", again.Outputs())
	// Output:
	// [1 8 27]
	// without the op: true
	// with it: [x f32[3]] to [y f32[3]]
}

// cubeKernel computes Cube on the CPU with the session's threads.
type cubeKernel struct{ elements int }

func (k cubeKernel) Launch(s trtui.Stream, in, out []trtui.Mem, _ trtui.Mem) error {
	x, y := numeric.View[float32](in[0].Host), numeric.View[float32](out[0].Host)
	cpu.Loop(s)(k.elements, func(i int) { y[i] = x[i] * x[i] * x[i] })
	return nil
}

// A kernel of a program's own is a tactic, which competes with those of the device.
func ExampleOptions_kernels() {
	fast := trtui.Tactic{
		Name: "cube_f32_mine", Op: cube,
		Match: func(b trtui.Binding) error { return b.Only(trtui.F32) },
		Bind: func(b trtui.Binding) (trtui.Kernel, error) {
			return cubeKernel{numeric.Count(b.Out[0].Dims)}, nil
		},
	}
	eng := run(cubed(), trtui.Options{Untimed: true, Kernels: []trtui.Tactic{fast}}, 1, 2, 3)
	defer eng.Close()
	for _, s := range eng.Plan().Steps {
		if s.Name == "cube" {
			fmt.Println(s.Name, "is computed by", s.Tactic)
		}
	}
	// Output:
	// [1 8 27]
	// cube is computed by cube_f32_mine
}

// cancelNegations replaces -(-x) by x.
//
//	t = Neg(x)
//	y = Neg(t)   ->   x
var cancelNegations = trtui.NewPass("cancel-negations", "replace the negation of a negation", "", []string{"double-negation"}, func(r *trtui.Rewrite) {
	r.Each(func(l *trtui.Layer) bool {
		if l.Op.Name != "Neg" || l.Inputs[0].Producer == nil || l.Inputs[0].Producer.Op.Name != "Neg" {
			return false
		}
		first := l.Inputs[0].Producer
		c := r.Candidate("double-negation", first, l)
		if !c.Enabled() || !c.Sole(l.Inputs[0], l) {
			return false
		}
		x := first.Inputs[0]
		if !r.Bypass(l, x) {
			return c.Miss("network output", "it is all that ties %s to %s", l.Outputs[0].Name, x.Name)
		}
		r.Network().Remove(first)
		r.Eliminate(first, x.Producer)
		r.Eliminate(l, x.Producer)
		return c.Fire()
	})
})

// A pass of a program's own is recorded as the built-in ones are: what it did, what it left and why.
func ExampleNewPass() {
	for _, disable := range [][]string{nil, {"double-negation"}} {
		eng := run(cubed(), trtui.Options{Untimed: true, Passes: []trtui.Pass{cancelNegations}, Disable: disable}, 1, 2, 3)
		step := eng.Passes()[0]
		for _, f := range step.Fired {
			fmt.Println(step.Pass, "did", f.Site, "and saved", f.KernelsSaved, "layers")
		}
		for _, m := range step.Missed {
			fmt.Println(step.Pass, "left", m.Site, "since", m.Detail)
		}
		for _, e := range step.Ledger {
			fmt.Println(e.Layer, "is", e.Fate)
		}
		eng.Close()
	}
	// Output:
	// [1 8 27]
	// cancel-negations did double-negation:Neg,Neg_2 and saved 2 layers
	// Neg is eliminated
	// Neg_2 is eliminated
	// cube is kept
	// [1 8 27]
	// cancel-negations left double-negation:Neg,Neg_2 since rule double-negation is switched off
	// Neg is kept
	// Neg_2 is kept
	// cube is kept
}

// share clips at a share of the largest magnitude that was seen.
type share float64

func (s share) String() string { return fmt.Sprintf("share:%g", float64(s)) }

func (s share) Range(h *quant.Histogram) trtui.Range {
	return quant.Scheme{}.Range(-float64(s)*float64(h.AMax()), float64(s)*float64(h.AMax()))
}

// A calibrator of a program's own is any type that makes a range of a histogram.
func ExampleOptions_calibrator() {
	d := trtui.Define("linear")
	x := d.Input("x", trtui.F32, trtui.Symbol("batch"), trtui.Const(16))
	weights := make([]float32, 16*16)
	for i := range weights {
		weights[i] = float32(i%7) / 8
	}
	d.Output("y", d.FullyConnected(x, d.Weights("w", weights, 16, 16), nil))
	net, err := d.Network()
	if err != nil {
		log.Fatal(err)
	}
	in := trtui.NewValue(trtui.F32, 1, 16)
	in.F32()[3] = 12.7
	eng, err := trtui.Build(context.Background(), net, trtui.Options{
		Precision: trtui.INT8, Calibration: trtui.Batches(trtui.Inputs{"x": in}), Calibrator: share(0.5), Untimed: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close()
	for _, l := range eng.Plan().Network.Layers {
		if l.Op == graph.Gemm {
			fmt.Printf("one step of %s is %.2f\n", l.Name, l.Inputs[0].Range.ScaleAt(0))
		}
	}
	// Output:
	// one step of Gemm is 0.05
}
