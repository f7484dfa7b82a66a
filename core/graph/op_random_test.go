package graph

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// draw returns the numbers of one layer of an op.
func draw(t *testing.T, op *Op, a RandomAttrs, shape ...int64) []float64 {
	t.Helper()
	n := NewNetwork("n")
	l, err := n.Add("l", op, a, []*Tensor{n.AddConst("shape", numeric.Values(numeric.I64, shape, len(shape)))}, "y")
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(l.Outputs[0])
	all, err := n.Eval(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all["y"].Float64s()
}

// TestRandomDistribution: the largest distance between the distribution of many numbers and the one that is meant is what Kolmogorov and
// Smirnov's test lets pass in 999 of 1000 cases, of neighbours too; mean and deviation are as many numbers allow; none is at an end.
func TestRandomDistribution(t *testing.T) {
	const count = 1 << 16
	for _, typ := range []numeric.DataType{numeric.F32, numeric.F64} {
		for seed := range 3 {
			a := RandomAttrs{Type: typ, A: -2, B: 3, Seed: float32(seed)}
			for _, c := range []struct {
				op         *Op
				cumulative func(x float64) float64
			}{
				{RandomUniform, func(x float64) float64 { return (x + 2) / 5 }},
				{RandomNormal, func(x float64) float64 { return (1 + math.Erf((x+2)/3/math.Sqrt2)) / 2 }},
			} {
				x := draw(t, c.op, a, count)
				related := 0.0
				for i := range x {
					x[i] = c.cumulative(x[i])
					if i > 0 {
						related += (x[i] - 0.5) * (x[i-1] - 0.5) * 12 / count
					}
				}
				if math.Abs(related) > 3.3/math.Sqrt(count) {
					t.Errorf("%s, seed %d: neighbours correlate by %v", c.op.Name, seed, related)
				}
				slices.Sort(x)
				if x[0] <= 0 || x[count-1] >= 1 {
					t.Errorf("%s, seed %d: numbers from %v to %v of the distribution", c.op.Name, seed, x[0], x[count-1])
				}
				for i, p := range x {
					if d := math.Abs(p - (float64(i)+0.5)/count); d > 1.95/math.Sqrt(count) {
						t.Errorf("%s, seed %d: the distribution differs by %v at %v", c.op.Name, seed, d, p)
						break
					}
				}
			}
		}
	}
}

// TestRandomSeeds: a seed gives the same numbers each time, whatever the shape; another one others; nodes without a seed differ by name.
func TestRandomSeeds(t *testing.T) {
	a := RandomAttrs{Type: numeric.F32, B: 1, Seed: 1}
	first := draw(t, RandomNormal, a, 6)
	if !slices.Equal(first, draw(t, RandomNormal, a, 2, 3)) {
		t.Error("one seed gives two sequences")
	}
	a.Seed = 2
	if slices.Equal(first, draw(t, RandomNormal, a, 6)) {
		t.Error("two seeds give one sequence")
	}
	imported := func(name string) float32 {
		n, ops := NewNetwork("n"), Ops()
		x := n.AddInput("x", numeric.F32, symbolic.Shape(3)...)
		list, errs := ops.Composite("", "RandomNormalLike").Add(n, ops, &Node{Name: name, OpType: "RandomNormalLike", Inputs: []*Tensor{x}}, []string{"y"}, func(string) bool { return false })
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return list[0].Producer.Attrs.(RandomAttrs).Seed
	}
	if imported("a") != imported("a") || imported("a") == imported("b") {
		t.Error("nodes of two names have one seed, or those of one name two")
	}
}

// TestBernoulliMultinomial: what is drawn is as frequent as it is probable; what is dropped leaves the mean as it is.
func TestBernoulliMultinomial(t *testing.T) {
	const count = 1 << 14
	p := []float64{0.1, 0.5, 0.4}
	ops := Ops()
	n := NewNetwork("n")
	x := n.AddInput("p", numeric.F64, symbolic.Shape(1, 3)...)
	many, err := n.Add("many", Expand, nil, []*Tensor{x, n.AddConst("shape", numeric.Values(numeric.I64, []int64{count, 3}, 2))}, "pp")
	if err != nil {
		t.Fatal(err)
	}
	add := func(op string, in *Tensor, attrs map[string]Attr) {
		list, errs := ops.Composite("", op).Add(n, ops, &Node{Name: op, OpType: op, Version: 22, Outputs: 1, Inputs: []*Tensor{in}, Attrs: attrs}, []string{op}, func(string) bool { return false })
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		n.MarkOutput(list[0])
	}
	add("Multinomial", n.AddConst("logp", numeric.Values(numeric.F64, []float64{math.Log(p[0]), math.Log(p[1]), math.Log(p[2])}, 1, 3)), map[string]Attr{"sample_size": {Kind: AttrInt, Int: count}, "dtype": {Kind: AttrInt, Int: 7}})
	add("Bernoulli", many.Outputs[0], map[string]Attr{"dtype": {Kind: AttrInt, Int: 6}})
	dropped, errs := TrainingDropout.Add(n, ops, &Node{Name: "dropout", OpType: "Dropout", Version: 13, Outputs: 2, Inputs: []*Tensor{
		many.Outputs[0], n.AddConst("ratio", numeric.Values(numeric.F32, []float32{0.25})), n.AddConst("on", numeric.Values(numeric.Bool, []uint8{1})),
	}}, []string{"Dropout", "left"}, func(string) bool { return false })
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	n.MarkOutput(dropped[0])
	n.MarkOutput(dropped[1])
	all, err := n.Eval(context.Background(), map[string]numeric.Value{"p": numeric.Values(numeric.F64, p, 1, 3)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept := all["Dropout"].Float64s(); all["left"].Len() != len(kept) {
		t.Errorf("%d elements, %d of a mask", len(kept), all["left"].Len())
	} else {
		sum := 0.0
		for i, y := range kept {
			sum += y / count / 3
			if before := p[i%3]; all["left"].Data[i] == 0 && y != 0 || all["left"].Data[i] != 0 && math.Abs(y-before/0.75) > 1e-6 {
				t.Fatalf("element %d of %v becomes %v", i, before, y)
			}
		}
		if math.Abs(sum-1.0/3) > 0.01 {
			t.Errorf("the mean of 1/3 becomes %v", sum)
		}
	}
	var drawn, ones [3]float64
	for _, class := range all["Multinomial"].I64() {
		drawn[class] += 1.0 / count
	}
	for i, one := range all["Bernoulli"].I32() {
		ones[i%3] += float64(one) / count
	}
	for i := range p {
		if most := 4 * math.Sqrt(p[i]*(1-p[i])/count); math.Abs(drawn[i]-p[i]) > most || math.Abs(ones[i]-p[i]) > most {
			t.Errorf("of probability %v: drawn %v, ones %v", p[i], drawn[i], ones[i])
		}
	}
}
