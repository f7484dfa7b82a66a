package build_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cpu"
)

// openNetwork draws small networks whose extents are symbols that inference takes to be equal, or multiples, where two of
// them meet; values drawn for the symbols then often contradict that.
type openNetwork struct {
	*graph.Network
	rnd     *rand.Rand
	tensors []*graph.Tensor
	env     map[string]int
	consts  int
}

func drawOpenNetwork(seed uint64) *openNetwork {
	rnd := rand.New(rand.NewPCG(seed, 17))
	n := &openNetwork{Network: graph.NewNetwork(fmt.Sprint("open", seed)), rnd: rnd, env: map[string]int{}}
	for i := range 2 + rnd.IntN(3) {
		rank := 1 + rnd.IntN(4)
		dims := make([]symbolic.Dim, rank)
		for a := range dims {
			if name := string(rune('a' + rnd.IntN(4))); rnd.IntN(3) > 0 {
				dims[a] = symbolic.Symbol(name)
			} else {
				dims[a] = symbolic.Const(1 + rnd.IntN(4))
			}
		}
		n.tensors = append(n.tensors, n.AddInput(fmt.Sprint("x", i), numeric.F32, dims...))
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		n.env[name] = []int{0, 1, 1, 2, 2, 3, 4, 5}[rnd.IntN(8)]
	}
	for layers, tries := 1+rnd.IntN(4), 0; layers > 0 && tries < 200; tries++ {
		if n.layer() {
			layers--
		}
	}
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			if len(t.Users) == 0 {
				n.MarkOutput(t)
			}
		}
	}
	return n
}

func (n *openNetwork) pick() *graph.Tensor {
	if n.rnd.IntN(2) == 0 {
		return n.tensors[len(n.tensors)-1]
	}
	return n.tensors[n.rnd.IntN(len(n.tensors))]
}

func (n *openNetwork) constant(v numeric.Value) *graph.Tensor {
	n.consts++
	return n.AddConst(fmt.Sprint("w", n.consts), v)
}

func (n *openNetwork) weights(dims ...int) *graph.Tensor {
	return n.constant(suite.Random(n.rnd, &graph.Tensor{Type: numeric.F32, Dims: symbolic.Shape(dims...)}))
}

func (n *openNetwork) ints(v ...int64) *graph.Tensor {
	return n.constant(numeric.Values(numeric.I64, v, len(v)))
}

func (n *openNetwork) add(op string, attrs any, inputs ...*graph.Tensor) bool {
	return n.addOutputs(1, op, attrs, inputs...)
}

func (n *openNetwork) addOutputs(outputs int, op string, attrs any, inputs ...*graph.Tensor) bool {
	var names []string
	for i := range outputs {
		names = append(names, fmt.Sprintf("t%d_%d", len(n.Layers), i))
	}
	l, err := n.Network.Add(fmt.Sprint(op, len(n.Layers)), graph.Ops().Named(op), attrs, inputs, names...)
	if err != nil {
		return false
	}
	n.tensors = append(n.tensors, l.Outputs...)
	return true
}

func (n *openNetwork) axis(x *graph.Tensor) int { return n.rnd.IntN(len(x.Dims)) }

// channels returns the extent of axis 1 if it is fixed, or a guess: weights settle a symbol.
func (n *openNetwork) channels(x *graph.Tensor) int {
	if len(x.Dims) > 1 {
		if c, ok := x.Dims[1].IsConst(); ok {
			return c
		}
	}
	return 1 + n.rnd.IntN(4)
}

func (n *openNetwork) repeat(v, count int) []int {
	list := make([]int, max(0, count))
	for i := range list {
		list[i] = v
	}
	return list
}

// layer tries to add one random layer.
func (n *openNetwork) layer() bool {
	x, y, r := n.pick(), n.pick(), n.rnd
	if len(x.Dims) == 0 || x.Type != numeric.F32 || y.Type != numeric.F32 {
		return false
	}
	spatial := len(x.Dims) - 2
	binary := func(name string, op elementwise.Op) bool {
		return n.add(name, graph.Elementwise{Program: elementwise.Binary(op)}, x, y)
	}
	switch r.IntN(26) {
	case 0, 1:
		return binary("Add", elementwise.Add)
	case 2:
		return binary("Mul", elementwise.Mul)
	case 3:
		return n.add("Relu", graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, x)
	case 4, 5:
		return n.add("Concat", graph.ConcatAttrs{Axis: n.axis(x)}, x, y, n.pick())
	case 6, 7:
		return n.add("MatMul", nil, x, y)
	case 8:
		return n.add("MatMul", nil, x, n.weights(1+r.IntN(4), 1+r.IntN(20)))
	case 9:
		return n.add("Gemm", graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: r.IntN(2) == 0, TransA: r.IntN(2) == 0}, x, y)
	case 10: // the shape of another tensor
		return n.add("Shape", graph.ShapeAttrs{End: 8}, y) && n.add("Reshape", graph.ReshapeAttrs{}, x, n.tensors[len(n.tensors)-1])
	case 11:
		return n.add("Reshape", graph.ReshapeAttrs{}, x, n.ints([][]int64{{-1}, {2, -1}, {-1, 3}, {0, -1}, {1, -1, 2, 2}}[r.IntN(5)]...))
	case 12:
		return n.add("Shape", graph.ShapeAttrs{End: 8}, y) && n.add("Expand", nil, x, n.tensors[len(n.tensors)-1])
	case 13, 14:
		return n.resize(x, y)
	case 15:
		index := n.ints(int64(r.IntN(4)), int64(r.IntN(4))-1)
		return n.add("Gather", graph.GatherAttrs{Axis: n.axis(x)}, x, index)
	case 16:
		indices := n.constant(numeric.Values(numeric.I64, make([]int64, 4), 4, 1))
		return n.add("ScatterND", graph.ScatterAttrs{Reduction: "none"}, x, indices, y)
	case 17:
		if len(x.Dims) != len(y.Dims) || !n.add("ArgMax", graph.ArgAttrs{Axis: n.axis(y), KeepDims: true}, y) {
			return false
		}
		return n.add("ScatterElements", graph.ScatterAttrs{Axis: n.axis(x), Reduction: []string{"none", "add"}[r.IntN(2)]}, x, n.tensors[len(n.tensors)-1], n.pick())
	case 18:
		m := 1 + r.IntN(18)
		return spatial > 0 && n.add("Conv", graph.ConvAttrs{Strides: n.repeat(1+r.IntN(3), spatial), Dilations: n.repeat(1+r.IntN(2), spatial), Pads: n.repeat(r.IntN(2), 2*spatial), Group: 1},
			x, n.weights(append([]int{m, n.channels(x)}, n.repeat(1+r.IntN(3), spatial)...)...))
	case 19:
		return spatial > 0 && n.add([]string{"MaxPool", "AveragePool"}[r.IntN(2)], graph.PoolAttrs{Kernel: n.repeat(1+r.IntN(3), spatial), Strides: n.repeat(1+r.IntN(2), spatial), Pads: n.repeat(0, 2*spatial), Dilations: n.repeat(1, spatial)}, x)
	case 20:
		return n.addOutputs(2, "Split", graph.SplitAttrs{Axis: n.axis(x)}, x)
	case 21:
		c := n.channels(x)
		return n.add("BatchNormalization", graph.BatchNormAttrs{Epsilon: 1}, x, n.weights(c), n.weights(c), n.weights(c), n.constant(numeric.Values(numeric.F32, make([]float32, c), c)))
	case 22:
		return n.add("Transpose", graph.TransposeAttrs{}, x)
	case 23:
		op := []string{"ReduceMean", "ReduceSum", "ReduceMax"}[r.IntN(3)]
		return n.add(op, graph.ReduceAttrs{Axes: []int{n.axis(x)}, KeepDims: r.IntN(2) == 0}, x)
	case 24:
		return n.add("Slice", graph.SliceAttrs{Starts: []int{r.IntN(3) - 1}, Ends: []int{r.IntN(5)}, Axes: []int{n.axis(x)}}, x)
	default:
		return n.add("Where", graph.Elementwise{Program: elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}}, x, y, n.pick())
	}
}

func (n *openNetwork) resize(x, y *graph.Tensor) bool {
	r := n.rnd
	a := graph.ResizeAttrs{Mode: []string{"nearest", "linear", "cubic"}[r.IntN(3)], Coordinates: []string{"half_pixel", "asymmetric", "align_corners"}[r.IntN(3)], Nearest: "floor", CubicA: -0.75}
	switch r.IntN(3) {
	case 0:
		a.Sizes = n.repeat(1+r.IntN(4), len(x.Dims))
		return n.add("Resize", a, x)
	case 1:
		for range x.Dims {
			a.Scales = append(a.Scales, []float32{1, 2, 0.5}[r.IntN(3)])
		}
		return n.add("Resize", a, x)
	}
	return n.add("Shape", graph.ShapeAttrs{End: 8}, y) && n.add("Resize", a, x, n.tensors[len(n.tensors)-1])
}

func (n *openNetwork) inputs() map[string]numeric.Value {
	in := map[string]numeric.Value{}
	for _, t := range n.Inputs {
		in[t.Name] = suite.Random(n.rnd, &graph.Tensor{Type: t.Type, Dims: symbolic.Shape(symbolic.Eval(t.Dims, n.env)...)})
	}
	return in
}

// buildAndRun takes a network through every stage to its outputs.
func buildAndRun(ctx context.Context, n *graph.Network, env map[string]int, in map[string]numeric.Value, b run.Backend, shapes map[string]int, precision numeric.DataType) (map[string]numeric.Value, error) {
	cfg := pass.Config{Shapes: shapes}
	o, err := build.Optimize(ctx, n, cfg)
	if err != nil {
		return nil, err
	}
	l, err := build.Lower(ctx, o, build.LowerConfig{Precision: precision, Pass: cfg}, run.Supports(b, env))
	if err != nil {
		return nil, err
	}
	p, err := build.Plan(ctx, l.Network, env, b, build.PlanConfig{Untimed: true})
	if err != nil {
		return nil, err
	}
	loaded, err := run.Load(ctx, p, b)
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	c, err := loaded.NewContext()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetInputs(in); err != nil {
		return nil, err
	}
	if err := c.Execute(); err != nil {
		return nil, err
	}
	return c.Outputs()
}

// checkOpen compares what is built with Eval: both refuse the extents, or both give the same outputs.
func checkOpen(ctx context.Context, n *graph.Network, env map[string]int, in map[string]numeric.Value, b run.Backend) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	want, wrong := n.Eval(context.Background(), in, nil)
	for _, shapes := range []map[string]int{nil, env} {
		for _, precision := range []numeric.DataType{numeric.F32, numeric.F16} {
			got, err := buildAndRun(ctx, n, env, in, b, shapes, precision)
			switch {
			case err != nil && (strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "internal error")):
				return fmt.Errorf("built in %s: %w", precision, err)
			case wrong != nil && err == nil:
				return fmt.Errorf("built in %s and run though Eval refuses: %w", precision, wrong)
			case wrong == nil && err != nil:
				return fmt.Errorf("built in %s: Eval takes it: %w", precision, err)
			case wrong != nil:
				continue
			}
			tol := suite.Tolerance{Real: 1e-3}
			if precision == numeric.F16 {
				tol.Real = 0.05
			}
			for name, w := range want {
				if precision == numeric.F16 && slices.ContainsFunc(w.Floats(), func(v float32) bool { return math.Abs(float64(v)) > 1000 }) {
					continue // intermediate results may have overflowed
				}
				if err := suite.Near(got[name], w, numeric.Range{}, tol); err != nil {
					return fmt.Errorf("built in %s: output %s: %w", precision, name, err)
				}
			}
		}
	}
	return nil
}

// TestContradictingSymbols builds random networks for extents that often break what inference took for granted.
func TestContradictingSymbols(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	for seed := range uint64(400) {
		n := drawOpenNetwork(seed)
		if err := checkOpen(t.Context(), n.Network, n.env, n.inputs(), b); err != nil {
			t.Errorf("seed %d, symbols %v: %v\n%s", seed, n.env, err, n)
		}
	}
}

// TestContradictionsThatWentWrong has the small forms of networks that panicked, or gave wrong results, when they were built
// for extents that contradict them; those whose extents fit were refused, or panicked too.
func TestContradictionsThatWentWrong(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	sym, one := symbolic.Symbol, symbolic.Const(1)
	for _, c := range []struct {
		name   string
		define func(n *openNetwork, x func(dims ...symbolic.Dim) *graph.Tensor) bool
		env    map[string]int
		want   string // of the error; "" where the extents fit
	}{
		{"sum", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("Add", graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, x(sym("a")), x(sym("b")))
		}, map[string]int{"a": 2, "b": 3}, "shapes do not broadcast: 2 meets 3"},
		{"product of activations", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("MatMul", nil, x(sym("a"), sym("b")), x(sym("c"), sym("a")))
		}, map[string]int{"a": 2, "b": 3, "c": 5}, "the common axis is 3 in one and 5 in the other"},
		{"product with weights", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("MatMul", nil, x(sym("a"), sym("b")), n.weights(3, 4))
		}, map[string]int{"a": 2, "b": 5}, "the common axis is 5 in one and 3 in the other"},
		{"enlarged from nothing", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("Resize", graph.ResizeAttrs{Mode: "nearest", Coordinates: "asymmetric", Nearest: "floor", Sizes: []int{3, 3}}, x(sym("a"), sym("b")))
		}, map[string]int{"a": 2, "b": 0}, "axis 1 of x0 f32[2,0] is empty"},
		{"joined with nothing", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("Concat", graph.ConcatAttrs{}, x(sym("a"), sym("b")), x(sym("a"), sym("c")))
		}, map[string]int{"a": 2, "b": 3, "c": 0}, "3 is not 0"},
		{"updates of another shape", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("ScatterND", graph.ScatterAttrs{Reduction: "none"}, x(sym("a"), sym("b")), n.constant(numeric.Values(numeric.I64, []int64{0}, 1, 1)), x(sym("c"), sym("d")))
		}, map[string]int{"a": 3, "b": 4, "c": 1, "d": 2}, "do not have the shape [1,4]"},
		{"a reshape that passes remove", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("Reshape", graph.ReshapeAttrs{}, x(sym("a"), sym("b")), n.ints(-1, 3)) && n.add("Reshape", graph.ReshapeAttrs{}, n.tensors[len(n.tensors)-1], n.ints(-1))
		}, map[string]int{"a": 2, "b": 2}, "does not divide the elements"},
		{"normalised channels", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("BatchNormalization", graph.BatchNormAttrs{Epsilon: 1}, x(one, sym("a")), n.weights(2), n.weights(2), n.weights(2), n.constant(numeric.Values(numeric.F32, []float32{1, 2}, 2)))
		}, map[string]int{"a": 2}, ""},
		{"no products at all", func(n *openNetwork, x func(...symbolic.Dim) *graph.Tensor) bool {
			return n.add("MatMul", nil, x(symbolic.Const(3), one), x(sym("a"), symbolic.Const(2), one, symbolic.Const(3)))
		}, map[string]int{"a": 0}, ""},
	} {
		n := &openNetwork{Network: graph.NewNetwork(c.name), rnd: rand.New(rand.NewPCG(1, 2)), env: c.env}
		input := func(dims ...symbolic.Dim) *graph.Tensor {
			return n.AddInput(fmt.Sprint("x", len(n.Inputs)), numeric.F32, dims...)
		}
		if !c.define(n, input) {
			t.Fatalf("%s: not defined", c.name)
		}
		n.MarkOutput(n.Layers[len(n.Layers)-1].Outputs[0])
		in := n.inputs()
		if err := checkOpen(t.Context(), n.Network, c.env, in, b); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		_, err := buildAndRun(t.Context(), n.Network, c.env, in, b, nil, numeric.F32)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if _, err := run.NewPlan(t.Context(), n.Network, nil, b, run.BestGuess); err == nil || !strings.Contains(err.Error(), "has no value") {
			t.Errorf("%s: planned without values: %v", c.name, err)
		}
	}
}
