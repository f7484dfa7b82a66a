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
// which of a product whose rows are flattened for it comes before they are:
//
//	t = Reshape(MatMul(x, w) [B, S, C], [B*S, C])        u = Pointwise(MatMul(x, w), a, b) add(mul($0, $1), $2)
//	y = BatchNormalization(t)                       ->   y = Reshape(u, [B*S, C])
//
// without the Reshape where another restores the rows behind it.
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
	flat, restore := flattened(r, l)
	c := r.Candidate("batchnorm-to-scale", slices.DeleteFunc([]*graph.Layer{flat, l, restore}, func(l *graph.Layer) bool { return l == nil })...)
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
	if dims[0] = len(a); flat != nil {
		x = flat.Inputs[0]
	}
	p := elementwise.Binary(elementwise.Mul).Then(elementwise.Binary(elementwise.Add), 0)
	by := &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: p}, Inputs: []*graph.Tensor{x,
		r.NewConst(l.Name+"_scale", x.Type, a, dims...), r.NewConst(l.Name+"_shift", x.Type, b, dims...)}}
	if flat == nil {
		return c.Fire(r.Replace(l, by))
	}
	by.Name, by.From, by.Outputs = l.Name, l.From, []*graph.Tensor{r.Network().NewTensor(l.Outputs[0].Name+"_rows", x.Type, x.Dims)}
	into := []*graph.Layer{r.Network().Insert(by)}
	if restore != nil {
		r.Bypass(restore, by.Outputs[0])
		r.Network().Remove(l)
	} else {
		restore = r.Replace(l, &graph.Layer{Op: flat.Op, Attrs: flat.Attrs, Inputs: append(slices.Clone(by.Outputs), flat.Inputs[1:]...)})
		restore.From = flat.From
		into = append(into, restore)
	}
	r.Network().Remove(flat)
	return c.Fire(into...)
}

// flattened returns the Reshape that makes rows of a product's result for l alone, which has its channels in the last axis, and the one that
// alone reads them and undoes that; nil for none.
func flattened(r *pass.Rewrite, l *graph.Layer) (flat, restore *graph.Layer) {
	x := l.Inputs[0]
	flat = x.Producer
	if flat == nil || flat.Op != graph.Reshape || flat.Epilogue.Args > 0 || len(x.Dims) != 2 || r.Network().Sole(x) != l {
		return nil, nil
	}
	rows := flat.Inputs[0]
	if n := len(rows.Dims); n < 2 || !rows.Dims[n-1].Equal(x.Dims[1]) || !match.IsAnchor(rows.Producer) || r.Network().Sole(rows) != flat {
		return nil, nil
	}
	restore = r.Network().Sole(l.Outputs[0])
	if restore == nil || restore.Op != graph.Reshape || restore.Epilogue.Args > 0 || !symbolic.Equal(restore.Outputs[0].Dims, rows.Dims) {
		return flat, nil
	}
	return flat, restore
}
