package emittest

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// Trial is a work with its inputs, to be run on the simulator in many ways.
type Trial struct {
	Binding   kernels.Binding
	Work      *emit.Work
	scratch   int
	inputs    [][]byte // as stored
	want      numeric.Value
	Tolerance suite.Tolerance
}

// NewTrial emits a layer whose inputs are constants but for the first, which gets random elements.
func NewTrial(t *testing.T, e emit.Tactic, l *graph.Layer, rnd *rand.Rand) *Trial {
	t.Helper()
	b, ok := BindingOf(l, e)
	if !ok {
		t.Fatalf("the layer has no such format as %s takes", e.Name)
	}
	if err := e.Matches(b); err != nil {
		t.Fatal(err)
	}
	w, err := e.Work(emit.Device{SM: ptx.SM80.SM}, b)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trial{Binding: b, Work: w, Tolerance: suite.Tolerance{Real: 1e-3}}
	if e.Workspace != nil {
		tr.scratch = e.Workspace(b)
	}
	ins := []numeric.Value{suite.Random(rnd, l.Inputs[0])}
	stored := make([]byte, b.In[0].Bytes())
	b.In[0].FromLinear(stored, ins[0].Data)
	tr.inputs = [][]byte{stored}
	for _, c := range l.Inputs[1:] {
		v, _ := c.Const()
		ins = append(ins, v)
	}
	y := l.Outputs[0]
	tr.want = numeric.NewValue(y.Type, symbolic.Eval(y.Dims, nil)...)
	if err := l.Eval(ins, []numeric.Value{tr.want}); err != nil {
		t.Fatal(err)
	}
	return tr
}

// ConvTrial emits a convolution of the geometry with a tactic.
func ConvTrial(t *testing.T, e emit.Tactic, typ numeric.DataType, x, w [4]int, pad, stride int, zero int32) *Trial {
	t.Helper()
	return ConvTrialWith(t, e, graph.Conv, graph.ConvAttrs{Strides: []int{stride, stride}, Pads: []int{pad, pad, pad, pad}, Group: 1}, typ, x, w, zero)
}

// ConvTrialWith emits a convolution, plain or transposed, with a tactic.
func ConvTrialWith(t *testing.T, e emit.Tactic, op *graph.Op, attrs any, typ numeric.DataType, x, w [4]int, zero int32) *Trial {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	in := &graph.Tensor{Name: "x", Type: typ, Dims: symbolic.Shape(x[:]...)}
	weights := &graph.Tensor{Name: "w", Type: typ, Dims: symbolic.Shape(w[:]...)}
	if typ == numeric.I8 {
		in.Range, weights.Range = numeric.PerTensor(0.03, zero), numeric.PerTensor(0.01, 0)
	}
	weights.Weights = suite.Random(rnd, weights).Data
	l := LayerOf(t, op, attrs, in, weights)
	if typ == numeric.I8 {
		l.Outputs[0].Type, l.Outputs[0].Range = numeric.I8, numeric.PerTensor(0.4, -3)
	}
	return NewTrial(t, e, l, rnd)
}

// LayerTrial emits a kernel, by its tactic's name among several, for a layer with one input that is not a constant. Constants
// without elements get random ones; nil is an input that is left out.
func LayerTrial(t *testing.T, tactics []emit.Tactic, name string, op *graph.Op, attrs any, typ numeric.DataType, dims []int, constants ...*graph.Tensor) *Trial {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	x := &graph.Tensor{Name: "x", Type: typ, Dims: symbolic.Shape(dims...)}
	if typ == numeric.I8 {
		x.Range = numeric.PerTensor(0.05, 3)
	}
	for _, c := range constants {
		if c != nil && c.Weights == nil {
			c.Weights = suite.Random(rnd, c).Data
		}
	}
	l := LayerOf(t, op, attrs, append([]*graph.Tensor{x}, constants...)...)
	if y := l.Outputs[0]; typ == numeric.I8 && !y.Range.IsSet() {
		y.Type, y.Range = numeric.I8, numeric.PerTensor(0.2, -3)
	}
	for _, e := range tactics {
		if e.Name == name && e.Op == op {
			return NewTrial(t, e, l, rnd)
		}
	}
	t.Fatalf("there is no kernel %s of %s", name, op.Name)
	return nil
}

// LayerOf returns a layer of one output, whose shape and type are inferred.
func LayerOf(t *testing.T, op *graph.Op, attrs any, inputs ...*graph.Tensor) *graph.Layer {
	t.Helper()
	l := &graph.Layer{Name: op.Name, Op: op, Attrs: attrs, From: []string{op.Name}}
	for _, x := range inputs {
		l.AddInput(x)
	}
	l.Outputs = []*graph.Tensor{{Name: "y", Producer: l}}
	if err := l.Infer(); err != nil {
		t.Fatal(err)
	}
	return l
}

// Run runs a module in place of the work's own and returns the statistics of each launch, and whether the output was right.
func (tr *Trial) Run(t *testing.T, m *ptx.Module, opt ptxsim.Options) (stats []*ptxsim.Stats, right bool, err error) {
	t.Helper()
	mem := ptxsim.NewMemory(1 << 30)
	alloc := func(data []byte, n int) uint64 {
		p, err := mem.Alloc(int64(max(n, len(data), 1)))
		if err == nil && data != nil {
			err = mem.Write(p, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	constants, scratch := alloc(tr.Work.Constants, 0), alloc(nil, tr.scratch)
	in, out := alloc(tr.inputs[0], 0), alloc(nil, tr.Binding.Out[0].Bytes())
	counters := alloc(make([]byte, 4*emit.MaxCounters), 0)
	program, err := ptxsim.Load(mem, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range tr.Work.Launches {
		params, err := tr.Work.Params(l)
		if err != nil {
			t.Fatal(err)
		}
		packed := params.Pack(func(a emit.Arg) uint64 {
			return map[emit.ArgKind]uint64{emit.InputArg: in, emit.OutputArg: out, emit.ConstantArg: constants, emit.WorkspaceArg: scratch, emit.CounterArg: counters}[a.Kind]
		})
		s, err := program.Launch(context.Background(), l.Kernel, ptxsim.Shape{Grid: l.Grid, Block: l.Block, Shared: l.Shared}, packed, overlapping(opt, l))
		if err != nil {
			return stats, false, err
		}
		stats = append(stats, s)
	}
	left := make([]byte, 4*emit.MaxCounters)
	if err := mem.Read(counters, left); err != nil || slices.Max(left) != 0 {
		return stats, false, err
	}
	stored := make([]byte, tr.Binding.Out[0].Bytes())
	if err := mem.Read(out, stored); err != nil {
		return stats, false, err
	}
	got := numeric.NewValue(tr.want.Type, tr.want.Dims...)
	tr.Binding.Out[0].ToLinear(got.Data, stored)
	return stats, suite.Near(got, tr.want, tr.Binding.Layer.Outputs[0].Range, tr.Tolerance) == nil, nil
}

// overlapping is how a launch is run: with what is before it, where it says so.
func overlapping(opt ptxsim.Options, l emit.Launch) ptxsim.Options {
	opt.Overlap = l.Overlap
	return opt
}

// NeedsOrderings leaves each barrier, wait and commit of the kernel out: each time the simulator must find it, or the result
// be wrong.
func (tr *Trial) NeedsOrderings(t *testing.T) {
	t.Helper()
	k := tr.Work.Module.Kernels[0]
	found := ptxsim.Orderings(k)
	if len(found) < 6 {
		t.Fatalf("%d orderings in the kernel", len(found))
	}
	for _, i := range found {
		broken, err := ptxsim.Without(tr.Work.Module, k.Name, i)
		if err != nil {
			t.Fatal(err)
		}
		if tr.Survives(t, broken) {
			t.Errorf("nothing tells that %q is missing at %d", k.Text(&k.Body[i]), i)
		}
	}
}

// Survives reports whether a module does as well as the whole one in every mode.
func (tr *Trial) Survives(t *testing.T, m *ptx.Module) bool {
	for _, async := range []ptxsim.Async{ptxsim.Late, ptxsim.Early} {
		for seed := range uint64(3) {
			if _, right, err := tr.Run(t, m, ptxsim.Options{Async: async, Seed: seed, Races: true}); err != nil || !right {
				return false
			}
		}
	}
	return true
}

// Weight returns a tensor for constant weights, of one scale where they are bytes.
func Weight(typ numeric.DataType, dims ...int) *graph.Tensor {
	w := &graph.Tensor{Name: "w", Type: typ, Dims: symbolic.Shape(dims...)}
	if typ == numeric.I8 {
		w.Range = numeric.PerTensor(0.01, 0)
	}
	return w
}

// BindingOf returns a layer's binding in a tactic's formats.
func BindingOf(l *graph.Layer, e emit.Tactic) (kernels.Binding, bool) {
	b := kernels.Binding{Layer: l, Consts: make([][]byte, len(l.Inputs))}
	desc := func(x *graph.Tensor, f kernels.Format) kernels.Desc {
		return kernels.Desc{Type: x.Type, Dims: symbolic.Eval(x.Dims, nil), Format: f}
	}
	for i, x := range l.Inputs {
		switch {
		case x == nil:
			b.In = append(b.In, kernels.Desc{})
		case x.IsConst():
			b.In, b.Consts[i] = append(b.In, desc(x, kernels.Linear)), x.Weights
		case i >= len(l.OpInputs()):
			b.In = append(b.In, desc(x, e.Out))
		default:
			b.In = append(b.In, desc(x, e.In))
		}
	}
	for _, y := range l.Outputs {
		b.Out = append(b.Out, desc(y, e.Out))
	}
	for _, d := range append(append([]kernels.Desc{}, b.In...), b.Out...) {
		if d.Format != kernels.Linear && len(d.Dims) < 2 {
			return b, false
		}
	}
	return b, true
}
