package quant

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestPlaceFP16(t *testing.T) {
	n := sampleNet(t)
	h := n.Clone()
	rules, err := ParseRules("body:fp32")
	if err != nil {
		t.Fatal(err)
	}
	d, err := PlaceFP16(h, Policy{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Verify(); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, []byte(decisionText(d)+"\n"+h.String()))
	e, err := Compare(eval(t, n), eval(t, h))
	if err != nil || e.SQNRdB < 60 || e.SQNRdB == MaxDB {
		t.Errorf("%.1f dB, %v", e.SQNRdB, err)
	}
}

// TestFP16Rounding: one layer's result is the F32 result on rounded operands, rounded once.
func TestFP16Rounding(t *testing.T) {
	b := newNet(t, "one")
	x := b.n.AddInput("x", numeric.F32, symbolic.Const(1), symbolic.Const(2), symbolic.Const(5), symbolic.Const(5))
	b.n.MarkOutput(b.conv("c", x, 3, 3, nil))
	half := b.n.Clone()
	if _, err := PlaceFP16(half, Policy{}); err != nil {
		t.Fatal(err)
	}
	round := func(f []float32) {
		for i := range f {
			f[i] = numeric.F16ToF32(numeric.F32ToF16(f[i]))
		}
	}
	want := b.n.Clone()
	for _, c := range want.Consts() {
		v := numeric.Values(numeric.F32, numeric.View[float32](c.Weights), len(c.Weights)/4)
		round(v.F32())
		c.Weights = v.Data
	}
	in := inputOf(want, 2)
	round(in["x"].F32())
	out, err := want.Eval(context.Background(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	y := out[want.Outputs[0].Name].F32()
	round(y)
	for i, g := range eval(t, half) {
		if g != y[i] {
			t.Fatalf("element %d: %v, want %v", i, g, y[i])
		}
	}
}

func TestFP16Decisions(t *testing.T) {
	b := newNet(t, "kinds")
	x := b.n.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(4))
	mul := graph.Ops().Named("Mul")
	program := graph.Elementwise{Program: elementwise.Binary(elementwise.Mul)}
	big := b.add("big", mul, program, x, b.n.AddConst("million", numeric.Values(numeric.F32, []float32{1e6}, 1)))
	inf := b.add("inf", mul, program, x, b.n.AddConst("infinity", numeric.Values(numeric.F32, []float32{float32(math.Inf(1))}, 1)))
	peak := b.add("peak", mul, program, inf, x)
	cast := b.add("cast", graph.Cast, graph.CastAttrs{To: numeric.F32}, peak)
	image := b.n.AddInput("image", numeric.F32, symbolic.Shape(1, 2, 5, 5)...)
	grid := b.n.AddInput("grid", numeric.F32, symbolic.Shape(1, 3, 3, 2)...)
	sampled := b.add("sampled", graph.GridSample, graph.GridSampleAttrs{Mode: "linear", Padding: "zeros"}, image, grid)
	for _, y := range []*graph.Tensor{big, cast, sampled} {
		b.n.MarkOutput(y)
	}
	d, err := PlaceFP16(b.n, Policy{Peaks: map[string]float32{"peak_out": 70000}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.n.Verify(); err != nil {
		t.Fatal(err)
	}
	want := `big        fp32  constant million holds 1e+06, more than F16 does
inf        fp16  F16 storage
peak       fp32  tensor peak_out reaches 70000, more than F16 holds
cast       fp32  Cast has a type of its own
sampled    fp32  parameter grid needs the digits of F32
`
	if got := decisionText(d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFP16Tables: tables that rows are taken of are halves, where their values allow; what names the rows and says
// how large a result is stays as it is.
func TestFP16Tables(t *testing.T) {
	b := newNet(t, "tables")
	integers := func(name string, v ...int64) *graph.Tensor {
		return b.n.AddConst(name, numeric.Values(numeric.I64, v, len(v)))
	}
	ids := b.n.AddInput("ids", numeric.I64, symbolic.Const(3))
	rows := b.add("rows", graph.Gather, graph.GatherAttrs{}, b.random("embedding", 7, 4), ids)
	vast := b.add("vast", graph.Gather, graph.GatherAttrs{}, b.n.AddConst("vast_table", numeric.Values(numeric.F32, []float32{1e6, 2e6, 3e6}, 3)), ids)
	ends := b.add("ends", graph.ShapeOf, graph.ShapeAttrs{End: 1}, b.n.AddInput("x", numeric.I64, symbolic.Symbol("length")))
	part := b.add("part", graph.Slice, graph.SliceAttrs{}, b.random("positions", 8, 4), integers("starts", 1), ends, integers("axes", 0))
	hot := b.add("hot", graph.OneHot, graph.OneHotAttrs{Axis: 1, Depth: 4}, ids, b.random("pair", 2))
	put := b.add("put", graph.ScatterElements, graph.ScatterAttrs{Reduction: "none"}, b.random("base", 3), ids, b.random("updates", 3))
	for _, y := range []*graph.Tensor{rows, vast, part, hot, put} {
		b.n.MarkOutput(y)
	}
	d, err := PlaceFP16(b.n, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.n.Verify(); err != nil {
		t.Fatal(err)
	}
	want := `rows       fp16  F16 storage
vast       fp32  constant vast_table holds 1e+06, more than F16 does
ends       fp32  it does not compute with real numbers
part       fp16  F16 storage
hot        fp16  F16 storage
put        fp16  F16 storage
`
	if got := decisionText(d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, c := range b.n.Consts() {
		half := c.Type == numeric.F16
		if want := c.Type.IsFloat() && c.Name != "vast_table"; half != want {
			t.Errorf("constant %s", c.TypeString())
		}
	}
}

// TestFP16Masks: what attention masks hide stays hidden in F16, also where they hide a whole row; the same constants are
// no masks where anything but Softmax sees the sum.
func TestFP16Masks(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(b *netBuilder, scores *graph.Tensor)
		half bool
	}{
		{"softmax", func(b *netBuilder, s *graph.Tensor) {
			b.n.MarkOutput(b.add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, s))
		}, true},
		{"logarithm", func(b *netBuilder, s *graph.Tensor) {
			b.n.MarkOutput(b.add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1, Log: true}, s))
		}, false},
		{"output", func(b *netBuilder, s *graph.Tensor) {
			b.n.MarkOutput(s)
			b.n.MarkOutput(b.add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, s))
		}, false},
		{"maximum", func(b *netBuilder, s *graph.Tensor) {
			b.n.MarkOutput(b.add("max", graph.ReduceMax, graph.ReduceAttrs{Axes: []int{-1}}, s))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newNet(t, "attention")
			x := b.n.AddInput("x", numeric.F32, symbolic.Const(4), symbolic.Const(4))
			mask := make([]float32, 16)
			for i := range mask {
				if i%4 > i/4 || i/4 == 2 { // the third row sees nothing
					mask[i] = -1e9
				}
			}
			scores := b.add("scores", graph.MatMul, nil, x, b.random("w", 4, 4))
			scores.Producer.Fuse(elementwise.Binary(elementwise.Mul), 0, b.n.AddConst("scale", numeric.Values(numeric.F32, []float32{0.5}, 1)))
			scores.Producer.Fuse(elementwise.Binary(elementwise.Add), 0, b.n.AddConst("mask", numeric.Values(numeric.F32, mask, 4, 4)))
			c.end(b, scores)
			half := b.n.Clone()
			list, err := PlaceFP16(half, Policy{})
			if err != nil {
				t.Fatal(err)
			}
			if got := list[0].Precision == numeric.F16; got != c.half {
				t.Fatalf("%+v", list[0])
			}
			e, err := Compare(eval(t, b.n), eval(t, half))
			if err != nil || c.half && e.SQNRdB < 55 {
				t.Errorf("%.1f dB, %v", e.SQNRdB, err)
			}
		})
	}
}

// TestFP16Choices: a mask may be chosen where a condition says so; the condition and what is computed on are none.
func TestFP16Choices(t *testing.T) {
	b := newNet(t, "choice")
	four := []symbolic.Dim{symbolic.Const(2), symbolic.Const(4)}
	x, seen := b.n.AddInput("x", numeric.F32, four...), b.n.AddInput("seen", numeric.Bool, four...)
	least := b.n.AddConst("least", numeric.Values(numeric.F32, []float32{-math.MaxFloat32}, 1))
	op := graph.Ops().Named("Where")
	hidden := b.add("hidden", op, graph.Elementwise{Program: elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}}, seen, x, least)
	b.n.MarkOutput(b.add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, hidden))
	for i, want := range []bool{false, true, true} {
		if got := masks(b.n, hidden.Producer, i); got != want {
			t.Errorf("input %d: %v", i, got)
		}
	}
	list, err := PlaceFP16(b.n, Policy{})
	if err != nil || list[0].Precision != numeric.F16 {
		t.Fatalf("%+v, %v", list, err)
	}
	if c := hidden.Producer.Inputs[2]; c.Type != numeric.F16 || numeric.F16ToF32(numeric.View[uint16](c.Weights)[0]) != maskedHalf {
		t.Errorf("%s", c.TypeString())
	}
}

// TestMixed: what is not quantised can still be F16, and 8-bit layers are left alone.
func TestMixed(t *testing.T) {
	n := sampleNet(t)
	q, _ := place(t, n, MinMax{}, Policy{KeepFirst: true, KeepLast: true})
	if _, err := PlaceFP16(q, Policy{}); err != nil {
		t.Fatal(err)
	}
	if err := q.Verify(); err != nil {
		t.Fatal(err)
	}
	e, err := Compare(eval(t, n), eval(t, q))
	if err != nil || e.SQNRdB < 25 {
		t.Errorf("%.1f dB, %v", e.SQNRdB, err)
	}
}

// TestFP16Random: random mixtures of F16 and F32 layers stay valid and near the F32 network.
func TestFP16Random(t *testing.T) {
	n := sampleNet(t)
	r := rand.New(rand.NewPCG(8, 8))
	for range 40 {
		h := n.Clone()
		var rules []Rule
		for _, l := range n.Layers {
			if r.IntN(2) == 0 {
				rules = append(rules, Rule{Pattern: l.Name, Precision: []numeric.DataType{numeric.F32, numeric.F16}[r.IntN(2)]})
			}
		}
		if _, err := PlaceFP16(h, Policy{Rules: rules}); err != nil {
			t.Fatal(err)
		}
		if err := h.Verify(); err != nil {
			t.Fatalf("%v\n%s", err, h)
		}
		if e, err := Compare(eval(t, n), eval(t, h)); err != nil || e.SQNRdB < 55 {
			t.Errorf("%.1f dB, %v\n%s", e.SQNRdB, err, h)
		}
	}
}

// TestFP16AttentionMask: the least F32 in the mask of an attention hides all of a row alike, whatever is added to it on the way, and
// stays what it is; one that F16 holds is stored so.
func TestFP16AttentionMask(t *testing.T) {
	for _, c := range []struct {
		name   string
		hidden float32
		biased bool
		kept   numeric.DataType // of the mask
	}{{"least", -math.MaxFloat32, true, numeric.F32}, {"constant", -math.MaxFloat32, false, numeric.F32}, {"held", -8, true, numeric.F16}} {
		t.Run(c.name, func(t *testing.T) {
			b := newNet(t, "attention")
			x := b.n.AddInput("x", numeric.F32, symbolic.Shape(1, 1, 4, 4)...)
			mask := make([]float32, 16)
			for i := range mask {
				if i%4 > i/4 || i/4 == 2 { // the third row sees nothing
					mask[i] = c.hidden
				}
			}
			m := b.n.AddConst("mask", numeric.Values(numeric.F32, mask, 1, 1, 4, 4))
			if c.biased {
				bias := b.add("bias", graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Tanh)}, x)
				m = b.add("sum", graph.Pointwise, graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, bias, m)
				m = b.add("moved", graph.Transpose, graph.TransposeAttrs{Perm: []int{1, 0, 2, 3}}, m)
			}
			attended := b.add("attention", graph.Attention, graph.AttentionAttrs{Scale: 0.5}, x, x, x, m)
			b.n.MarkOutput(b.add("out", graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Tanh)}, attended))
			half := b.n.Clone()
			if _, err := PlaceFP16(half, Policy{}); err != nil {
				t.Fatal(err)
			}
			for _, l := range half.Layers {
				if l.Op == graph.Attention && (l.Outputs[0].Type != numeric.F16 || l.Inputs[graph.AttentionMask].Type != c.kept) {
					t.Errorf("%s reads a mask of %s and gives %s", l.Name, l.Inputs[graph.AttentionMask].Type, l.Outputs[0].Type)
				}
			}
			if e, err := Compare(eval(t, b.n), eval(t, half)); err != nil || e.SQNRdB < 55 {
				t.Errorf("%.1f dB, %v", e.SQNRdB, err)
			}
		})
	}
}
