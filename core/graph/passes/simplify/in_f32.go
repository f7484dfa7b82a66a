package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
)

// InF32 computes in F32 what a model computes in another type of real numbers: in BF16, where the target does not compute in it; in
// any type of products, where the result is to be quantised, since quantisation is placed on F32. (What has no products computes
// extents, as in F64, and is exact.) Inputs and outputs of the network keep their types.
//
//	y = Conv(x bf16, w bf16)       x_f32 = Cast(x bf16) to=f32
//	z = Relu(y bf16)          ->   y = Conv(x_f32, w_f32)
//	output z                       z_f32 = Relu(y f32)
//	                               z = Cast(z_f32) to=bf16
//	                               output z
//
// Casts to such a type become casts to F32, so that what they would round is not rounded. Layers that only move constants, such as
// the rows of a table, stay as they are, and so do those with networks inside.
var InF32 = pass.Pass{
	Name:  "in-f32",
	Doc:   "compute in f32 what the target, or a quantised network, does not compute in the model's type",
	Rules: []string{"bf16-in-f32", "f16-in-f32", "f64-in-f32"},
	Run: func(r *pass.Rewrite) {
		f := &inF32{Rewrite: r, rules: map[numeric.DataType]string{}, was: map[*graph.Tensor]numeric.DataType{}, casts: map[*graph.Tensor]*graph.Tensor{}}
		for typ, rule := range map[numeric.DataType]string{numeric.BF16: "bf16-in-f32", numeric.F16: "f16-in-f32", numeric.F64: "f64-in-f32"} {
			if slices.ContainsFunc(r.Network().Layers, func(l *graph.Layer) bool { return hasType(l, typ) && f.wants(l, typ) }) {
				f.rules[typ] = rule
			}
		}
		if len(f.rules) == 0 {
			return
		}
		if err := r.Network().Sort(); err != nil {
			r.Fail(err)
			return
		}
		for _, l := range slices.Clone(r.Network().Layers) {
			f.layer(l)
		}
		for _, t := range slices.Clone(r.Network().Outputs) {
			f.output(t)
		}
	},
}

// inF32 is the state of the pass.
type inF32 struct {
	*pass.Rewrite
	rules map[numeric.DataType]string        // by the types that are computed in F32
	was   map[*graph.Tensor]numeric.DataType // the types of tensors that are F32 now
	casts map[*graph.Tensor]*graph.Tensor    // by tensor: the same in F32, or in the type that it had
}

// wants reports whether a layer of a type is a reason to compute in F32.
func (f *inF32) wants(l *graph.Layer, typ numeric.DataType) bool {
	if f.Quantises() {
		return l.Op.Class == graph.ClassConvolution || l.Op.Class == graph.ClassMatrix
	}
	return typ == numeric.BF16 && f.Target(l) != nil
}

func hasType(l *graph.Layer, want numeric.DataType) bool {
	return slices.ContainsFunc(slices.Concat(l.Inputs, l.Outputs), func(t *graph.Tensor) bool { return t != nil && t.Type == want })
}

// layer makes l compute in F32, or lets it go on as it was.
func (f *inF32) layer(l *graph.Layer) {
	if rule := f.rule(l); rule != "" && f.can(l) {
		if c := f.Candidate(rule, l); c.Enabled() {
			l.Attrs = f.attrs(l)
			for i, t := range l.Inputs {
				if t != nil && f.rules[t.Type] != "" {
					l.SetInput(i, f.as(t, numeric.F32, l))
				}
			}
			for _, t := range l.Outputs {
				if f.rules[t.Type] != "" {
					f.was[t], t.Type = t.Type, numeric.F32
				}
			}
			c.Fire(l)
			return
		}
	}
	for i, t := range l.Inputs {
		if was, ok := f.was[t]; ok {
			l.SetInput(i, f.as(t, was, l))
		}
	}
}

// rule returns the rule that speaks of l; "" if none does.
func (f *inF32) rule(l *graph.Layer) string {
	for _, t := range slices.Concat(l.Inputs, l.Outputs) {
		if t == nil {
			continue
		}
		was, ok := f.was[t]
		if !ok {
			was = t.Type
		}
		if rule := f.rules[was]; rule != "" {
			return rule
		}
	}
	return ""
}

// attrs returns the attributes that l has in F32.
func (f *inF32) attrs(l *graph.Layer) any {
	if a, ok := l.Attrs.(graph.CastAttrs); ok && f.rules[a.To] != "" {
		a.To = numeric.F32
		return a
	}
	return l.Attrs
}

// can reports whether l makes real numbers of F32 of such.
func (f *inF32) can(l *graph.Layer) bool {
	computed := func(t *graph.Tensor) bool { return t != nil && t.Type.IsFloat() && !t.IsConst() }
	if l.Op.Class == graph.ClassControl || l.Unsupported() != nil || l.Movement() >= graph.Moved && !slices.ContainsFunc(l.Inputs, computed) {
		return false
	}
	proposal := &graph.Layer{Name: l.Name, Op: l.Op, Attrs: f.attrs(l), Epilogue: l.Epilogue, From: l.From}
	for _, t := range l.Inputs {
		if t != nil && f.rules[t.Type] != "" {
			if t.IsConst() {
				t = f.as(t, numeric.F32, l)
			} else {
				t = &graph.Tensor{Name: t.Name, Type: numeric.F32, Dims: t.Dims}
			}
		}
		proposal.Inputs = append(proposal.Inputs, t)
	}
	for _, t := range l.Outputs {
		proposal.Outputs = append(proposal.Outputs, &graph.Tensor{Name: t.Name})
	}
	return proposal.Infer() == nil && !slices.ContainsFunc(proposal.Outputs, func(t *graph.Tensor) bool { return f.rules[t.Type] != "" })
}

// as returns t in another type, which l needs it in.
func (f *inF32) as(t *graph.Tensor, to numeric.DataType, l *graph.Layer) *graph.Tensor {
	if f.casts[t] != nil {
		return f.casts[t]
	}
	n, name := f.Network(), t.Name+"_"+to.String()
	var cast *graph.Tensor
	if v, ok := t.Const(); ok {
		cast = n.AddConst(name, numeric.Values(to, v.Floats(), v.Dims...))
	} else {
		cast = n.NewTensor(name, to, t.Dims)
		f.cast(t, cast, l)
	}
	f.casts[t] = cast
	return cast
}

// cast adds the layer that makes y of x, as a part of l.
func (f *inF32) cast(x, y *graph.Tensor, l *graph.Layer) {
	f.Network().Insert(&graph.Layer{Name: y.Name, Op: graph.Cast, Attrs: graph.CastAttrs{To: y.Type}, Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{y}, From: l.From})
}

// output gives an output of the network its type back.
func (f *inF32) output(y *graph.Tensor) {
	was, ok := f.was[y]
	if !ok {
		return
	}
	delete(f.was, y)
	n, l := f.Network(), y.Producer
	x := n.NewTensor(y.Name+"_f32", numeric.F32, y.Dims)
	l.SetOutput(slices.Index(l.Outputs, y), x)
	n.Redirect(y, x)
	y.Type = was
	f.cast(x, y, l)
}
