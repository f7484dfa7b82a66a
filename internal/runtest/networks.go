package runtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
)

// Networks runs whole small networks on the backend, from plan to output: two contexts of one loaded plan in turn, each
// twice, whole and stepped, and compares with the networks' Eval.
func Networks(t *testing.T, b run.Backend) {
	for _, n := range Defined(t) {
		t.Run(n.Name, func(t *testing.T) {
			if err := runNetwork(b, n); err != nil {
				t.Error(err)
			}
		})
	}
}

// Defined returns the networks.
func Defined(t *testing.T) []*graph.Network {
	var list []*graph.Network
	for _, define := range []func() (*graph.Network, error){residual, branches, sliced, parts, cuts, padding, oddParts, manyTerms, wideImage} {
		n, err := define()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// runNetwork plans, loads and runs a network.
func runNetwork(b run.Backend, n *graph.Network) error {
	ctx := context.Background()
	p, err := run.NewPlan(ctx, n, map[string]int{"batch": 2}, b, run.BestGuess)
	if err != nil {
		return err
	}
	l, err := run.Load(ctx, p, b)
	if err != nil {
		return err
	}
	defer l.Close()
	for user := range uint64(2) {
		c, err := l.NewContext()
		if err != nil {
			return err
		}
		defer c.Close()
		for round := range uint64(2) {
			if err := runOnce(c, n, p, rand.New(rand.NewPCG(user, round))); err != nil {
				return fmt.Errorf("context %d, round %d: %w", user, round, err)
			}
		}
	}
	return nil
}

// runOnce compares one inference, whole and stepped, with Eval.
func runOnce(c *run.ExecutionContext, n *graph.Network, p *run.Plan, rnd *rand.Rand) error {
	in := map[string]numeric.Value{}
	for _, t := range n.Inputs {
		bound := *t
		bound.Dims = symbolic.Shape(symbolic.Eval(t.Dims, p.Env())...)
		in[t.Name] = suite.Random(rnd, &bound)
	}
	want, err := n.Eval(context.Background(), in, nil)
	if err != nil {
		return err
	}
	if err := c.SetInputs(in); err != nil {
		return err
	}
	for _, execute := range []func() error{c.Execute, func() error {
		_, err := c.ExecuteTimed(make([]time.Duration, len(p.Steps)))
		return err
	}} {
		if err := execute(); err != nil {
			return err
		}
		got, err := c.Outputs()
		if err != nil {
			return err
		}
		for name, w := range want {
			if err := suite.Near(got[name], w, numeric.Range{}, suite.Tolerance{Real: 1e-4}); err != nil {
				return fmt.Errorf("output %s: %w", name, err)
			}
		}
	}
	return nil
}

// definition is a Definition with random weights.
type definition struct {
	*graph.Definition
	rnd    *rand.Rand
	consts int
}

func define(name string) *definition {
	return &definition{graph.Define(name), rand.New(rand.NewPCG(3, 4)), 0}
}

// weights returns a constant of reals of deviation 1/fan.
func (d *definition) weights(fan float32, dims ...int) *graph.Tensor {
	data := make([]float32, numeric.Count(dims))
	for i := range data {
		data[i] = float32(d.rnd.NormFloat64()) / fan
	}
	d.consts++
	return d.Weights(fmt.Sprintf("w%d", d.consts), data, dims...)
}

// conv is a convolution of square kernels that keeps the extents, or halves them with stride 2.
func (d *definition) conv(x *graph.Tensor, from, to, kernel, stride, group int) *graph.Tensor {
	pad := kernel / 2
	return d.Conv(x, d.weights(float32(kernel), to, from/group, kernel, kernel), d.weights(1, to), graph.ConvAttrs{
		Strides: []int{stride, stride}, Pads: []int{pad, pad, pad, pad}, Group: group,
	})
}

// residual is a small residual network: stem, block, depthwise separable block, pooling, classifier.
func residual() (*graph.Network, error) {
	d := define("residual")
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(13), symbolic.Const(11))
	x = d.Relu(d.conv(x, 3, 20, 3, 1, 1))
	y := d.Relu(d.conv(x, 20, 20, 3, 1, 1))
	x = d.Relu(d.ElementWise(elementwise.Add, x, d.conv(y, 20, 20, 3, 1, 1)))
	x = d.Clip(d.conv(x, 20, 20, 3, 2, 20), 0, 6)
	x = d.conv(x, 20, 33, 1, 1, 1)
	x = d.Reduce(graph.ReduceMean, x, false, 2, 3)
	x = d.FullyConnected(x, d.weights(6, 10, 33), d.weights(1, 10))
	d.Output("probabilities", d.Softmax(x, 1))
	return d.Network()
}

// branches is what inception and squeeze-and-excite are made of: concatenation, pooling, a gate by channel, and an
// intermediate tensor that is an output too.
func branches() (*graph.Network, error) {
	d := define("branches")
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(16), symbolic.Const(8), symbolic.Const(9))
	a := d.Relu(d.conv(x, 16, 32, 1, 1, 1))
	b := d.conv(x, 16, 16, 3, 1, 1)
	pool := graph.PoolAttrs{Kernel: []int{3, 3}, Strides: []int{1, 1}, Pads: []int{1, 1, 1, 1}}
	y := d.Concat(1, a, b, d.MaxPool(x, pool))
	gate := d.Sigmoid(d.conv(d.Reduce(graph.ReduceMean, y, true, 2, 3), 64, 64, 1, 1, 1))
	y = d.ElementWise(elementwise.Mul, y, gate)
	d.Output("gated", y)
	y = d.AveragePool(y, graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}})
	d.Output("features", d.Activation(elementwise.Gelu, d.conv(y, 64, 24, 1, 1, 1)))
	return d.Network()
}

// sliced is a concatenation of a convolution, a depthwise one, a pooling and a sum, whose parts are read
// besides; the last fills no block.
func sliced() (*graph.Network, error) {
	d := define("slices")
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(8), symbolic.Const(9))
	x = d.Relu(d.conv(x, 3, 16, 3, 1, 1))
	a := d.Relu(d.conv(x, 16, 32, 1, 1, 1))
	b := d.Clip(d.conv(a, 32, 32, 3, 1, 32), 0, 6)
	c := d.MaxPool(a, graph.PoolAttrs{Kernel: []int{3, 3}, Strides: []int{1, 1}, Pads: []int{1, 1, 1, 1}})
	e := d.ElementWise(elementwise.Add, d.Activation(elementwise.Tanh, a), b)
	f := d.conv(a, 32, 21, 1, 1, 1)
	d.Output("mean", d.Reduce(graph.ReduceMean, b, false, 2, 3))
	d.Output("y", d.conv(d.Concat(1, a, b, c, e, f), 149, 8, 3, 1, 1))
	return d.Network()
}

// parts splits channels, most of which can be read where they lie: by convolutions, a pooling and element-wise layers, whole
// blocks and the last ones, and a second time; and some that go into a concatenation, or are an output.
func parts() (*graph.Network, error) {
	d := define("parts")
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(6), symbolic.Const(7))
	wide := d.Relu(d.conv(x, 3, 53, 1, 1, 1))
	p := d.Split(wide, 1, 32, 16, 5)
	a := d.conv(p[0], 32, 16, 3, 1, 1)
	b := d.MaxPool(p[1], graph.PoolAttrs{Kernel: []int{3, 3}, Strides: []int{1, 1}, Pads: []int{1, 1, 1, 1}})
	d.Output("sum", d.ElementWise(elementwise.Add, d.ElementWise(elementwise.Add, a, b), d.conv(d.Activation(elementwise.Tanh, p[2]), 5, 16, 1, 1, 1)))
	q := d.Split(d.conv(x, 3, 48, 1, 1, 1), 1, 16, 32)
	d.Output("part", q[0])
	d.Output("joined", d.conv(d.Concat(1, q[1], d.Relu(p[0])), 64, 8, 1, 1, 1))
	r := d.Split(d.Split(wide, 1, 48, 5)[0], 1, 16, 32)
	d.Output("twice", d.ElementWise(elementwise.Mul, r[0], d.conv(r[1], 32, 16, 1, 1, 1)))
	return d.Network()
}

// cuts are slices: of channels in whole blocks and not, of the first items, of one row of one item, with steps and without an
// element; of a whole axis; and of slices.
func cuts() (*graph.Network, error) {
	d := define("cuts")
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(6), symbolic.Const(7))
	wide := d.Relu(d.conv(x, 3, 53, 1, 1, 1))
	cut := func(x *graph.Tensor, axis, from, to, step int) *graph.Tensor {
		return d.Slice(x, graph.SliceAttrs{Starts: []int{from}, Ends: []int{to}, Axes: []int{axis}, Steps: []int{step}})
	}
	d.Output("blocks", d.conv(cut(wide, 1, 16, 48, 1), 32, 16, 3, 1, 1))
	d.Output("odd", d.Relu(cut(wide, 1, 5, 21, 1)))
	d.Output("last", d.Relu(cut(wide, 3, -3, 99, 1)))
	d.Output("steps", d.Relu(cut(wide, 1, 0, 53, 3)))
	d.Output("nothing", d.Relu(cut(wide, 1, 5, 5, 1)))
	d.Output("one", cut(wide, 0, 0, 1, 1))
	item := cut(wide, 0, 1, 2, 1)
	d.Output("row", d.Relu(cut(item, 1, 7, 8, 1)))
	d.Output("whole", d.Relu(cut(item, 1, 0, 53, 1)))
	d.Output("cut twice", d.Softmax(cut(cut(item, 1, 3, 43, 1), 1, 2, 20, 1), -1))
	return d.Network()
}

// padding is a convolution of what is not finite for zeros: formats that pad 21 channels must not let that through.
func padding() (*graph.Network, error) {
	d := define("padding")
	x := d.Input("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(8), symbolic.Const(6), symbolic.Const(5))
	x = d.conv(x, 8, 21, 1, 1, 1)
	y := d.ElementWise(elementwise.Div, x, d.Activation(elementwise.Abs, x)) // signs, 0/0 behind the last channel
	z := d.Activation(elementwise.Log, d.ElementWise(elementwise.Add, d.Activation(elementwise.Abs, x), d.Weights("one", []float32{1e-2}, 1)))
	d.Output("sums", d.conv(d.ElementWise(elementwise.Add, y, z), 21, 16, 3, 1, 1))
	return d.Network()
}

// oddParts is a concatenation whose parts begin at odd places.
func oddParts() (*graph.Network, error) {
	d := define("odd parts")
	x := d.Input("x", numeric.F32, symbolic.Const(1), symbolic.Const(8))
	a := d.FullyConnected(x, d.weights(3, 5, 8), d.weights(1, 5))
	b := d.FullyConnected(x, d.weights(3, 12, 8), d.weights(1, 12))
	d.Output("y", d.Tanh(d.Concat(1, d.Activation(elementwise.Exp, a), d.Relu(b))))
	return d.Network()
}

// manyTerms is a program of more arguments than there are letters.
func manyTerms() (*graph.Network, error) {
	d := define("many terms")
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(7))
	var args []*graph.Tensor
	sum := elementwise.Program{Args: 30}
	last := 0
	for i := range 30 {
		args = append(args, d.ElementWise(elementwise.Add, x, d.weights(1, 3, 7)))
		if i > 0 {
			sum.Code = append(sum.Code, elementwise.Instr{Op: elementwise.Add, Arg: [3]int{last, i}})
			last = 30 + i - 1
		}
	}
	d.Output("y", d.Program(sum, args...))
	return d.Network()
}

// wideImage is longer than kernels with 16 bits for a coordinate reach.
func wideImage() (*graph.Network, error) {
	d := define("wide image")
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(1), symbolic.Const(40000))
	d.Output("y", d.Conv(x, d.weights(5, 5, 3, 1, 11), nil, graph.ConvAttrs{Strides: []int{1, 16}, Pads: []int{0, 5, 0, 5}, Group: 1}))
	return d.Network()
}
