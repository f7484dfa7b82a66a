package fuse

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// FoldBatchNorm removes batch normalisations, which at inference are y = a[c]*x + b[c] with a = scale/sqrt(var+epsilon)
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
var FoldBatchNorm = pass.Pass{
	Name:  "fold-batch-norm",
	Doc:   "fold batch normalisation into the weights around it",
	Rules: []string{"batchnorm-into-producer", "batchnorm-into-consumer", "batchnorm-to-scale"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if l.Op != graph.BatchNorm {
				return false
			}
			x := l.Input(0)
			if match.IsAnchor(x.Producer) && batchNormIntoProducer(r, x.Producer, l) {
				return true
			}
			if users := l.Outputs[0].Users; len(users) == 1 && match.IsAnchor(users[0]) && batchNormIntoConsumer(r, l, users[0]) {
				return true
			}
			return batchNormToScale(r, l)
		})
	},
}

// affineOf returns a and b of a batch normalisation.
func affineOf(c *pass.Candidate, l *graph.Layer) (a, b []float64, ok bool) {
	var in [4][]float64
	for i := range in {
		if in[i], ok = match.Reals(l.Inputs[i+1]); !ok {
			return nil, nil, c.Miss(pass.NotConstant, "%s is not a floating-point constant", l.Inputs[i+1].Name)
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
		return nil, nil, c.Miss(pass.WrongAttribute, "its variance gives a factor that is not finite")
	}
	return a, b, true
}

func isNotFinite(v float64) bool { return math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 }

func batchNormIntoProducer(r *pass.Rewrite, p, l *graph.Layer) bool {
	c := r.Candidate("batchnorm-into-producer", p, l)
	if !c.Sole(p.Outputs[0], l) {
		return false
	}
	x, ok := asLinear(c, p)
	if !ok {
		return false
	}
	a, b, ok := affineOf(c, l)
	if !ok {
		return false
	}
	x.scaleOutputs(a, b)
	if !fits(c, x) || !c.Enabled() {
		return false
	}
	x.store(r, true)
	y := l.Outputs[0]
	p.SetOutput(0, y)
	r.Network().Remove(l)
	return c.Fire(p)
}

func batchNormIntoConsumer(r *pass.Rewrite, l, user *graph.Layer) bool {
	c := r.Candidate("batchnorm-into-consumer", l, user)
	y := l.Outputs[0]
	if !c.Sole(y, user) {
		return false
	}
	if user.Inputs[0] != y {
		return c.Miss(pass.NotConstant, "%s normalises the weights of %s", l.Name, user.Name)
	}
	x, ok := asLinear(c, user)
	if !ok {
		return false
	}
	a, b, ok := affineOf(c, l)
	if !ok {
		return false
	}
	switch attrs := user.Attrs.(type) {
	case graph.ConvAttrs:
		pads := attrs.AutoPad != graph.AutoPadNone || slices.ContainsFunc(attrs.Pads, func(p int) bool { return p != 0 })
		if pads && !match.AllZero(b) {
			return c.Miss(pass.WrongAttribute, "%s pads with zeros after the normalisation", user.Name)
		}
	case graph.GemmAttrs:
		if attrs.TransA {
			return c.Miss(pass.WrongAttribute, "%s transposes what is normalised", user.Name)
		}
	default:
		return c.Miss(pass.WrongAttribute, "%s does not see every input with every weight", user.Op.Name)
	}
	x.scaleInputs(a, b)
	if !fits(c, x) || !c.Enabled() {
		return false
	}
	x.store(r, true)
	user.SetInput(0, l.Inputs[0])
	r.Network().Remove(l)
	return c.Fire(user)
}

func batchNormToScale(r *pass.Rewrite, l *graph.Layer) bool {
	c := r.Candidate("batchnorm-to-scale", l)
	x := l.Inputs[0]
	if !match.IsFloat(x) {
		return c.Miss(pass.WrongType, "%s is %s", x.Name, x.Type)
	}
	if !symbolic.Equal(x.Dims, l.Outputs[0].Dims) {
		return c.Miss(pass.WrongShape, "the channels of %s are known by the parameters alone", x.Name)
	}
	a, b, ok := affineOf(c, l)
	if !ok || !c.Enabled() {
		return false
	}
	dims := slices.Repeat([]int{1}, max(1, len(x.Dims)-1))
	dims[0] = len(a)
	p := elementwise.Binary(elementwise.Mul).Then(elementwise.Binary(elementwise.Add), 0)
	by := &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: p}, Inputs: []*graph.Tensor{x,
		r.NewConst(l.Name+"_scale", x.Type, a, dims...), r.NewConst(l.Name+"_shift", x.Type, b, dims...)}}
	return c.Fire(r.Replace(l, by))
}
