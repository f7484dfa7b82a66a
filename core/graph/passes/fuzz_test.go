package passes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// randomNet builds a network from a stream of random choices: convolutions, normalisations, activations spelled out or
// not, additions, pooling, concatenations, moves and paddings, over tensors of rank 4 with few channels.
type randomNet struct {
	*net
	pool []*graph.Tensor // tensors to go on from
	next int
}

func buildRandom(t testing.TB, seed uint64, quantized bool) *graph.Network {
	b := &randomNet{net: newNet(t, "random")}
	b.rng = rand.New(rand.NewPCG(seed, 5))
	shape := []int{1 + b.rng.IntN(2), 1 + b.rng.IntN(4), 3 + b.rng.IntN(3), 3 + b.rng.IntN(3)}
	b.pool = append(b.pool, b.input("x", shape...))
	if b.rng.IntN(2) == 0 {
		b.pool = append(b.pool, b.input("z", shape...))
	}
	for range 4 + b.rng.IntN(14) {
		if y := b.layer(); y != nil {
			if quantized && b.rng.IntN(2) == 0 {
				y = b.qdq(b.name("Pair"), y, []float32{1. / 4, 1. / 8, 1. / 8, 1. / 32}[b.rng.IntN(4)])
			}
			b.pool = append(b.pool, y)
		}
	}
	var outs []*graph.Tensor
	for _, x := range b.pool {
		if x.Producer != nil && (len(x.Users) == 0 && b.rng.IntN(6) > 0 || b.rng.IntN(8) == 0) {
			outs = append(outs, x)
		}
	}
	if last := b.pool[len(b.pool)-1]; len(outs) == 0 && last.Producer != nil {
		outs = append(outs, last)
	}
	return b.output(outs...)
}

func (b *randomNet) name(op string) string {
	b.next++
	return fmt.Sprintf("%s_%d", op, b.next)
}

// pick returns a tensor: the last one half of the time, so that there are chains, or else a recent one more often.
func (b *randomNet) pick() *graph.Tensor {
	if b.rng.IntN(2) == 0 {
		return b.pool[len(b.pool)-1]
	}
	return b.pool[len(b.pool)-1-min(b.rng.IntN(len(b.pool)), b.rng.IntN(len(b.pool)))]
}

// like returns a tensor of x's shape, x itself if there is no other.
func (b *randomNet) like(x *graph.Tensor) *graph.Tensor {
	for range 4 {
		if y := b.pick(); y != x && symbolic.Equal(x.Dims, y.Dims) {
			return y
		}
	}
	return x
}

// operand returns a constant or tensor that broadcasts to x.
func (b *randomNet) operand(x *graph.Tensor) *graph.Tensor {
	c := symbolic.Eval(x.Dims, nil)
	switch b.rng.IntN(5) {
	case 0:
		return b.scalar([]float32{0, 1, 2, .5, 6}[b.rng.IntN(5)])
	case 1:
		return b.weights(b.name("k"), .5, 1.5, c[1], 1, 1)
	case 2:
		return b.weights(b.name("k"), .5, 1.5, 1, 1, 1, c[3])
	case 3:
		return b.weights(b.name("k"), .5, 1.5, c...)
	}
	return b.like(x)
}

func (b *randomNet) layer() *graph.Tensor {
	x := b.pick()
	d := symbolic.Eval(x.Dims, nil)
	switch b.rng.IntN(15) {
	case 0, 1:
		return b.randomConv(x, d)
	case 2:
		return b.batchNorm(b.name("Bn"), x)
	case 3, 4:
		return b.activation(x)
	case 5:
		op := []elementwise.Op{elementwise.Add, elementwise.Add, elementwise.Mul, elementwise.Sub, elementwise.Div, elementwise.Max}[b.rng.IntN(6)]
		y := b.operand(x)
		if op == elementwise.Div && !y.IsConst() {
			op = elementwise.Add
		}
		if op != elementwise.Div && b.rng.IntN(2) == 0 {
			return b.binary(b.name("Bin"), op, y, x)
		}
		if op == elementwise.Div && slices.Contains(numeric.Value.Floats(mustConst(y)), 0) {
			op = elementwise.Sub
		}
		return b.binary(b.name("Bin"), op, x, y)
	case 6:
		return b.binary(b.name("Add"), elementwise.Add, x, b.like(x))
	case 7:
		return b.add(b.name("Concat"), graph.Concat, graph.ConcatAttrs{Axis: 1 + b.rng.IntN(3)}, x, b.like(x))
	case 8:
		if min(d[2], d[3]) < 2 {
			return nil
		}
		op := []*graph.Op{graph.MaxPool, graph.AveragePool}[b.rng.IntN(2)]
		a := graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{1 + b.rng.IntN(2), 1}, CountIncludePad: op == graph.AveragePool && b.rng.IntN(2) == 0}
		if b.rng.IntN(2) == 0 {
			a.Pads = []int{0, 1, 1, 0}
		}
		return b.add(b.name("Pool"), op, a, x)
	case 9:
		perms := [][]int{{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}, {0, 1, 2, 3}, {1, 0, 2, 3}}
		return b.transpose(b.name("Transpose"), x, perms[b.rng.IntN(len(perms))]...)
	case 10:
		if b.rng.IntN(2) == 0 {
			return b.add(b.name("Identity"), graph.Identity, nil, x)
		}
		y := b.reshape(b.name("Reshape"), x, 0, -1)
		return b.reshape(b.name("Reshape"), y, 0, int64(d[1]), int64(d[2]*d[3]), 1)
	case 11:
		return b.pad(b.name("Pad"), x, 0, 1)
	case 12:
		return b.upsampled(x, d)
	case 13:
		return b.control(x)
	}
	if d[2]*d[3] > 64 {
		return nil
	}
	return b.add(b.name("MatMul"), graph.MatMul, nil, x, b.weights(b.name("m"), -.5, .5, d[3], 1+b.rng.IntN(4)))
}

// control returns what an If or a loop makes of x, whose bodies capture it, another tensor and a constant.
func (b *randomNet) control(x *graph.Tensor) *graph.Tensor {
	y, name := b.like(x), b.name("Control")
	d := graph.Define("control")
	in, other, flag := d.Input("a", numeric.F32, x.Dims...), d.Input("b", numeric.F32, x.Dims...), d.Input("c", numeric.Bool)
	trips := d.Constant("d", numeric.Values(numeric.I64, []int64{int64(b.rng.IntN(4))}))
	half := d.Weights("e", []float32{0.5}, 1)
	kind := b.rng.IntN(3)
	var out []*graph.Tensor
	if kind == 0 {
		out = d.Named(name).If(flag, func(c *graph.Definition) []*graph.Tensor { return []*graph.Tensor{c.Relu(c.Add(in, other))} },
			func(c *graph.Definition) []*graph.Tensor { return []*graph.Tensor{c.Mul(c.Neg(half), other)} })
	} else {
		var goes *graph.Tensor
		if kind == 1 {
			goes = flag
		}
		out = d.Named(name).Loop(trips, goes, []*graph.Tensor{in}, func(c *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
			return nil, []*graph.Tensor{c.Add(c.Mul(v[0], half), c.Abs(other))}
		})
	}
	d.Output("y", out[0])
	n, err := d.Network()
	if err != nil {
		b.t.Fatal(err)
	}
	c := b.Tensor("flag")
	if c == nil {
		c = b.AddInput("flag", numeric.Bool)
	}
	stands := map[*graph.Tensor]*graph.Tensor{in: x, other: y, flag: c}
	l := n.Layer(name)
	var inputs []*graph.Tensor
	for _, t := range l.Inputs {
		if v, ok := t.Const(); ok {
			inputs = append(inputs, b.AddConst(t.Name, v))
		} else {
			inputs = append(inputs, stands[t])
		}
	}
	return b.add(name, l.Op, l.Attrs, inputs...)
}

// upsampled returns x twice as large, by a resize or a transposed convolution.
func (b *randomNet) upsampled(x *graph.Tensor, d []int) *graph.Tensor {
	if d[2]*d[3] > 64 {
		return nil
	}
	if b.rng.IntN(2) == 0 {
		a := graph.ResizeAttrs{Scales: []float32{1, 1, 2, 2}, Mode: []string{"nearest", "linear"}[b.rng.IntN(2)], Coordinates: "asymmetric", Nearest: "floor"}
		return b.add(b.name("Resize"), graph.Resize, a, x)
	}
	w := b.weights(b.name("w"), -.5, .5, d[1], 2, 2, 2)
	if quantise.IsDequantize(x.Producer) {
		w = b.qweights(b.name("w"), 1, d[1], 2, 2, 2)
	}
	return b.add(b.name("Up"), graph.ConvTranspose, graph.ConvTransposeAttrs{Strides: []int{2, 2}, Group: 1}, x, w)
}

func mustConst(t *graph.Tensor) numeric.Value {
	v, _ := t.Const()
	return v
}

func (b *randomNet) randomConv(x *graph.Tensor, d []int) *graph.Tensor {
	k := []int{1, 1, 3}[b.rng.IntN(3)]
	pad := 0
	if k == 3 {
		pad = b.rng.IntN(2)
		if min(d[2], d[3])+2*pad < 3 {
			return nil
		}
	}
	group := 1
	if b.rng.IntN(3) == 0 {
		group = d[1]
	}
	m := group * (1 + b.rng.IntN(3))
	if m > 12 {
		return nil
	}
	if quantise.IsDequantize(x.Producer) && group == 1 && b.rng.IntN(4) > 0 {
		return b.qconv(b.name("Conv"), x, m, k, pad)
	}
	return b.conv(b.name("Conv"), x, m, k, pad, group, b.rng.IntN(2) == 0)
}

func (b *randomNet) activation(x *graph.Tensor) *graph.Tensor {
	u := func(op elementwise.Op, x *graph.Tensor, imm ...float32) *graph.Tensor {
		return b.elt(b.name("Act"), op, imm, x)
	}
	bin := func(op elementwise.Op, x, y *graph.Tensor) *graph.Tensor { return b.binary(b.name("Bin"), op, x, y) }
	switch b.rng.IntN(8) {
	case 0:
		return u(elementwise.Relu, x)
	case 1:
		return u(elementwise.Clamp, x, 0, 6)
	case 2:
		return bin(elementwise.Mul, x, u(elementwise.Sigmoid, x))
	case 3:
		e := bin(elementwise.Add, u(elementwise.Erf, bin(elementwise.Div, x, b.scalar(1.4142135))), b.scalar(1))
		return bin(elementwise.Mul, bin(elementwise.Mul, x, e), b.scalar(.5))
	case 4:
		return bin(elementwise.Div, bin(elementwise.Mul, x, u(elementwise.Clamp, bin(elementwise.Add, x, b.scalar(3)), 0, 6)), b.scalar(6))
	case 5:
		return u(elementwise.Sigmoid, x)
	case 6:
		return u(elementwise.HardSwish, x)
	}
	return u(elementwise.Tanh, x)
}

// checkOptimized optimises a random network in full and with each of its rules switched off, and compares meaning,
// text of two runs, and ledger.
func checkOptimized(t testing.TB, seed uint64) {
	n := buildRandom(t, seed, false)
	got, steps := runPass(t, n, Standard(), pass.Config{})
	sameMeaning(t, n, got, 1e-4)
	again, _ := runPass(t, n, Standard(), pass.Config{})
	if again.String() != got.String() {
		t.Errorf("two runs differ:\n%s\n%s", got, again)
	}
	// Another order of the same layers may fuse other ones, but means the same.
	shuffled := n.Clone()
	rand.New(rand.NewPCG(seed, 9)).Shuffle(len(shuffled.Layers), func(i, j int) {
		shuffled.Layers[i], shuffled.Layers[j] = shuffled.Layers[j], shuffled.Layers[i]
	})
	if err := shuffled.Sort(); err != nil {
		t.Fatal(err)
	}
	mixed, _ := runPass(t, shuffled, Standard(), pass.Config{})
	sameMeaning(t, n, mixed, 1e-4)
	for _, s := range steps {
		var rules []string
		for _, f := range s.Fired {
			if !slices.Contains(rules, f.Site.Rule) {
				rules = append(rules, f.Site.Rule)
				less, _ := runPass(t, n, Standard(), pass.Config{DisableRules: []string{f.Site.Rule}})
				sameMeaning(t, n, less, 1e-4)
				less, _ = runPass(t, n, Standard(), pass.Config{DisableSites: []pass.Site{f.Site}})
				sameMeaning(t, n, less, 1e-4)
			}
		}
	}
}

// checkLowered lowers a random network with pairs of Quantize and Dequantize in it, fused before or not. Real sums are
// exact but for their order of rounding where weights are not quantised, which may tip a rounding to integers: outputs
// may differ by a step then, so only networks whose products are all quantised must agree exactly.
func checkLowered(t testing.TB, seed uint64) {
	n := buildRandom(t, seed, true)
	fused, steps := runPass(t, n, Standard(), pass.Config{})
	got, more := runPass(t, fused, Lowering(), pass.Config{Ledger: steps[len(steps)-1].Ledger})
	if want := len(steps[0].Ledger); len(more[len(more)-1].Ledger) != want {
		t.Errorf("ledger of %d entries, want %d", len(more[len(more)-1].Ledger), want)
	}
	sameOutputs(t, fused, got, 0.05)
	direct, _ := runPass(t, n, Lowering(), pass.Config{})
	sameOutputs(t, n, direct, 0.05)
}

func TestRandomNetworks(t *testing.T) {
	for seed := range uint64(100) {
		checkOptimized(t, seed)
		checkLowered(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzOptimize(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		checkOptimized(t, seed)
		checkLowered(t, seed)
	})
}
