package pass

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// foldBatchNorm removes batch normalisations, which at inference are y = a[c]*x + b[c] with a = scale/sqrt(var+epsilon)
// and b = bias - a*mean. Into the producer:
//
//	t = Conv(x, w, c)               y = Conv(x, w*a, c*a + b)
//	y = BatchNormalization(t)  ->
//
// into the consumer, where that pads nothing (padding is zero after the normalisation, not before it):
//
//	t = BatchNormalization(x)       y = Conv(x, w*a, c + sum of w*b)
//	y = Conv(t, w, c)          ->
//
// and else into a scale, which other passes may fuse:
//
//	y = BatchNormalization(x)  ->   y = Pointwise(x, a, b) add(mul($0, $1), $2)
//
// The new weights are computed in float64.
var foldBatchNorm = Pass{
	Name:  "fold-batch-norm",
	Doc:   "fold batch normalisation into the weights around it",
	Rules: []string{"batchnorm-into-producer", "batchnorm-into-consumer", "batchnorm-to-scale"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			if l.Op != graph.BatchNorm {
				return false
			}
			x := l.Input(0)
			if isAnchor(x.Producer) && r.batchNormIntoProducer(x.Producer, l) {
				return true
			}
			if users := l.Outputs[0].Users; len(users) == 1 && isAnchor(users[0]) && r.batchNormIntoConsumer(l, users[0]) {
				return true
			}
			return r.batchNormToScale(l)
		})
	},
}

// affineOf returns a and b of a batch normalisation.
func (c *candidate) affineOf(l *graph.Layer) (a, b []float64, ok bool) {
	var in [4][]float64
	for i := range in {
		if in[i], ok = reals(l.Inputs[i+1]); !ok {
			return nil, nil, c.miss(NotConstant, "%s is no constant of a floating type", l.Inputs[i+1].Name)
		}
	}
	scale, bias, mean, variance := in[0], in[1], in[2], in[3]
	epsilon := float64(l.Attrs.(graph.BatchNormAttrs).Epsilon)
	a, b = make([]float64, len(scale)), make([]float64, len(scale))
	for i := range a {
		a[i] = scale[i] / math.Sqrt(variance[i]+epsilon)
		b[i] = bias[i] - a[i]*mean[i]
	}
	if slices.ContainsFunc(a, isNotFinite) || slices.ContainsFunc(b, isNotFinite) {
		return nil, nil, c.miss(WrongAttribute, "its variance makes a factor that is not finite")
	}
	return a, b, true
}

func isNotFinite(v float64) bool { return math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 }

func (r *rewrite) batchNormIntoProducer(p, l *graph.Layer) bool {
	c := r.candidate("batchnorm-into-producer", p, l)
	if !c.sole(p.Outputs[0], l) {
		return false
	}
	x, ok := c.linear(p)
	if !ok {
		return false
	}
	a, b, ok := c.affineOf(l)
	if !ok || !c.enabled() {
		return false
	}
	x.apply(r, a, b)
	y := l.Outputs[0]
	p.SetOutput(0, y)
	r.net.Remove(l)
	return c.fire(p)
}

func (r *rewrite) batchNormIntoConsumer(l, user *graph.Layer) bool {
	c := r.candidate("batchnorm-into-consumer", l, user)
	y := l.Outputs[0]
	if !c.sole(y, user) {
		return false
	}
	if user.Inputs[0] != y {
		return c.miss(NotConstant, "%s normalises the weights of %s", l.Name, user.Name)
	}
	x, ok := c.linear(user)
	if !ok {
		return false
	}
	a, b, ok := c.affineOf(l)
	if !ok {
		return false
	}
	if conv, ok := user.Attrs.(graph.ConvAttrs); ok && !allZero(b) {
		pads := conv.AutoPad != graph.AutoPadNone || slices.ContainsFunc(conv.Pads, func(p int) bool { return p != 0 })
		if pads {
			return c.miss(WrongAttribute, "%s pads with zeros after the normalisation", user.Name)
		}
	}
	if g, ok := user.Attrs.(graph.GemmAttrs); ok && g.TransA {
		return c.miss(WrongAttribute, "%s transposes what is normalised", user.Name)
	}
	if !c.enabled() {
		return false
	}
	x.scaleInputs(r, a, b)
	user.SetInput(0, l.Inputs[0])
	r.net.Remove(l)
	return c.fire(user)
}

// scaleInputs makes the layer compute what it did of a[c]*x[c] + b[c] over its input channels c.
func (x linear) scaleInputs(r *rewrite, a, b []float64) {
	w := x.l.Inputs[1]
	dims, _ := constDims(w.Dims)
	alpha, beta := 1.0, 1.0
	channel := func(i int) int { // Conv: w is [M, C/group, kernel...], and m's group says which C/group channels
		perGroup := x.n / x.l.Attrs.(graph.ConvAttrs).Group
		kernel := graph.Count(dims[2:])
		return i/kernel%dims[1] + x.channel(i)/perGroup*dims[1]
	}
	if g, ok := x.l.Attrs.(graph.GemmAttrs); ok {
		alpha, beta, g.Beta = float64(g.Alpha), float64(g.Beta), 1
		x.l.Attrs = g
		channel = func(i int) int { return i / dims[1] }
		if g.TransB {
			channel = func(i int) int { return i % dims[1] }
		}
	}
	bias := make([]float64, x.n)
	for m := range bias {
		if x.bias != nil {
			bias[m] = beta * x.bias[m]
		}
	}
	for i := range x.w {
		ch := channel(i)
		bias[x.channel(i)] += alpha * x.w[i] * b[ch]
		x.w[i] *= a[ch]
	}
	x.l.SetInput(1, r.newConst(w.Name+"_folded", w.Type, x.w, dims...))
	x.setBias(r, bias)
}

func (r *rewrite) batchNormToScale(l *graph.Layer) bool {
	c := r.candidate("batchnorm-to-scale", l)
	x := l.Inputs[0]
	if !isFloat(x) {
		return c.miss(WrongType, "%s is %s", x.Name, x.Type)
	}
	a, b, ok := c.affineOf(l)
	if !ok || !c.enabled() {
		return false
	}
	dims := slices.Repeat([]int{1}, max(1, len(x.Dims)-1))
	dims[0] = len(a)
	p := graph.Binary(graph.EltMul).Then(graph.Binary(graph.EltAdd), 0)
	by := &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: p}, Inputs: []*graph.Tensor{x,
		r.newConst(l.Name+"_scale", x.Type, a, dims...), r.newConst(l.Name+"_shift", x.Type, b, dims...)}}
	return c.fire(r.replace(l, by))
}
