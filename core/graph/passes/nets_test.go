package passes

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// net builds a small network with seeded random weights.
type net struct {
	*graph.Network
	t   testing.TB
	rng *rand.Rand
	ops graph.OpSet
}

func newNet(t testing.TB, name string) *net {
	return &net{graph.NewNetwork(name), t, rand.New(rand.NewPCG(1, 2)), graph.Ops()}
}

func (n *net) add(name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
	l, err := n.Add(name, op, attrs, in, strings.ToLower(name))
	if err != nil {
		n.t.Fatal(err)
	}
	return l.Outputs[0]
}

func (n *net) input(name string, dims ...int) *graph.Tensor {
	return n.AddInput(name, numeric.F32, symbolic.Shape(dims...)...)
}

// weights adds a constant of random values in [lo, hi).
func (n *net) weights(name string, lo, hi float64, dims ...int) *graph.Tensor {
	v := numeric.NewValue(numeric.F32, dims...)
	for i := range v.F32() {
		v.F32()[i] = float32(lo + (hi-lo)*n.rng.Float64())
	}
	return n.AddConst(name, v)
}

func (n *net) scalar(v float32) *graph.Tensor {
	return n.AddConst("c", numeric.Values(numeric.F32, []float32{v}))
}

func (n *net) ints(v ...int64) *graph.Tensor {
	return n.AddConst("i", numeric.Values(numeric.I64, v, len(v)))
}

// conv adds a 2-D convolution with m output channels and a k x k kernel.
func (n *net) conv(name string, x *graph.Tensor, m, k, pad, group int, bias bool) *graph.Tensor {
	c, _ := x.Dims[1].IsConst()
	in := []*graph.Tensor{x, n.weights(name+"_w", -1, 1, m, c/group, k, k)}
	if bias {
		in = append(in, n.weights(name+"_b", -1, 1, m))
	}
	a := graph.ConvAttrs{Group: group}
	if pad > 0 {
		a.Pads = []int{pad, pad, pad, pad}
	}
	return n.add(name, graph.Conv, a, in...)
}

func (n *net) batchNorm(name string, x *graph.Tensor) *graph.Tensor {
	c, _ := x.Dims[1].IsConst()
	return n.add(name, graph.BatchNorm, graph.BatchNormAttrs{Epsilon: 1e-5}, x, n.weights(name+"_scale", .5, 1.5, c),
		n.weights(name+"_bias", -1, 1, c), n.weights(name+"_mean", -1, 1, c), n.weights(name+"_var", .5, 2, c))
}

// elt adds an element-wise layer of one operation, as the importer makes them.
func (n *net) elt(name string, op elementwise.Op, imm []float32, in ...*graph.Tensor) *graph.Tensor {
	i := elementwise.Instr{Op: op, Arg: [3]int{0, 1, 2}}
	copy(i.Imm[:], imm)
	def := graph.Pointwise
	for _, o := range n.ops.All() {
		if strings.EqualFold(o.Name, strings.ReplaceAll(op.String(), "_", "")) {
			def = o
		}
	}
	return n.add(name, def, graph.Elementwise{Program: elementwise.Program{Args: op.Info().Arity, Code: []elementwise.Instr{i}}}, in...)
}

func (n *net) relu(name string, x *graph.Tensor) *graph.Tensor {
	return n.elt(name, elementwise.Relu, nil, x)
}

func (n *net) binary(name string, op elementwise.Op, a, b *graph.Tensor) *graph.Tensor {
	return n.elt(name, op, nil, a, b)
}

// output marks t and returns the network.
func (n *net) output(ts ...*graph.Tensor) *graph.Network {
	for _, t := range ts {
		n.MarkOutput(t)
	}
	if err := n.Verify(); err != nil {
		n.t.Fatal(err)
	}
	return n.Network
}

// randomInputs returns inputs for n at batch 2, in [-3, 3) for real ones.
func randomInputs(n *graph.Network, seed uint64) map[string]numeric.Value {
	rng := rand.New(rand.NewPCG(seed, 7))
	in := map[string]numeric.Value{}
	for _, t := range n.Inputs {
		v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, map[string]int{"batch": 2, "sequence": 5, "past": 3, "fresh": 2})...)
		switch t.Type {
		case numeric.F32:
			for i := range v.F32() {
				v.F32()[i] = rng.Float32()*6 - 3
			}
		case numeric.I64: // few enough to choose rows by
			for i := range v.I64() {
				v.I64()[i] = rng.Int64N(16)
			}
		case numeric.I32:
			list := numeric.View[int32](v.Data)
			for i := range list {
				list[i] = rng.Int32N(16)
			}
		case numeric.F16, numeric.BF16, numeric.F64:
			reals := numeric.NewValue(numeric.F32, v.Dims...)
			for i := range reals.F32() {
				reals.F32()[i] = rng.Float32()*6 - 3
			}
			numeric.Cast(v, reals)
		default:
			for i := range v.Data {
				v.Data[i] = byte(rng.IntN(256))
			}
		}
		in[t.Name] = v
	}
	return in
}

// evalAll returns the values of all tensors of n that layers compute, as real numbers, by name.
func evalAll(t testing.TB, n *graph.Network, in map[string]numeric.Value) map[string][]float32 {
	t.Helper()
	values := map[string][]float32{}
	_, err := n.Eval(context.Background(), in, func(l *graph.Layer, out []numeric.Value) error {
		for i, v := range out {
			values[l.Outputs[i].Name] = numeric.ToReal(v, l.Outputs[i].Range).Floats()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// difference returns the largest difference of two tensors relative to the largest magnitude in want, at least 1.
func difference(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	scale, diff := 1.0, 0.0
	for i, v := range want {
		scale = max(scale, math.Abs(float64(v)))
		if d := math.Abs(float64(got[i]) - float64(v)); !(d <= diff) && got[i] != v {
			diff = d
		}
	}
	return diff / scale
}

// sameMeaning checks that every tensor that both networks compute has the same value in both: outputs, and what passes
// left of the tensors of the source.
func sameMeaning(t testing.TB, want, got *graph.Network, tolerance float64) {
	t.Helper()
	in := randomInputs(want, 3)
	before, after := evalAll(t, want, in), evalAll(t, got, in)
	for _, l := range got.Layers {
		for _, x := range l.Outputs {
			if w, ok := before[x.Name]; ok && l.Op.Name != "DequantizeLinear" {
				if d := difference(after[x.Name], w); !(d <= tolerance) {
					t.Errorf("%s differs by %g in\n%s\nfrom\n%s", x.Name, d, got, want)
				}
			}
		}
	}
}

// runPass runs a table, checks that the meaning stays and that the ledger accounts for all layers.
func runPass(t testing.TB, n *graph.Network, table []pass.Pass, cfg pass.Config) (*graph.Network, []pass.Step) {
	t.Helper()
	text := n.String()
	out, steps, err := Run(context.Background(), n, table, cfg)
	if err != nil {
		t.Fatalf("%v\n%s", err, n)
	}
	if n.String() != text {
		t.Fatalf("the source changed:\n%s", n)
	}
	sources := map[string]bool{}
	for _, l := range n.AllLayers() {
		for _, name := range l.From {
			sources[name] = true
		}
	}
	for _, s := range steps {
		if cfg.Ledger == nil && (s.Ledger.Counts().Total() != len(sources) || len(s.Ledger) != len(sources)) {
			t.Errorf("pass %s: ledger of %d entries for %d layers", s.Pass, len(s.Ledger), len(sources))
		}
	}
	return out, steps
}

// report prints what a pass did, for golden files.
func report(before, after *graph.Network, steps []pass.Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "before: %safter: %s", before, after)
	for _, s := range steps {
		for _, f := range s.Fired {
			fmt.Fprintf(&b, "fired  %s -> %q, %d kernels, %d bytes saved\n", f.Site, f.Into, f.KernelsSaved, f.BytesSaved)
		}
		for _, m := range s.Missed {
			fmt.Fprintf(&b, "missed %s: %s: %s\n", m.Site, m.Reason, m.Detail)
		}
	}
	for _, e := range steps[len(steps)-1].Ledger {
		if e.Fate != pass.Kept {
			fmt.Fprintf(&b, "ledger %s %s %s %q by %s\n", e.Layer, e.Op, e.Fate, e.Into, e.Pass)
		}
	}
	return b.String()
}

// passCase is a network that a pass rewrites, or does not.
type passCase struct {
	name  string
	build func(n *net) *graph.Network
}

// testPass runs one pass on each case, checks meaning and ledger, and compares the report with the golden file.
func testPass(t *testing.T, p pass.Pass, cases []passCase) { testPasses(t, []pass.Pass{p}, cases) }

// testPasses is testPass for several, one after the other.
func testPasses(t *testing.T, table []pass.Pass, cases []passCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := c.build(newNet(t, c.name))
			got, steps := runPass(t, n, table, pass.Config{})
			sameMeaning(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps)))
		})
	}
}
