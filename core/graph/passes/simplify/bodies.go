package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
)

// TrimBodies gives bodies what they need and no more: constants are in the body that reads them, where they can be folded and
// packed; what a body does not read is no input of its layer; what nothing reads is no output; and what is the same at each
// iteration is computed once, before the loop.
//
//	y, s = Loop(m, -, x, w)               t = Exp(w)
//	  body  v' = Mul(v, Exp(w))     ->    y = Loop(m, -, x, t)
//	        s' = Neg(v)                     body  v' = Mul(v, t)
var TrimBodies = pass.Pass{
	Name:  "trim-bodies",
	Doc:   "move constants into bodies and what does not change out of loops",
	Rules: []string{"constant-capture", "unread-capture", "unread-result", "loop-invariant"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if len(l.Bodies()) == 0 {
				return false
			}
			changed := dropResults(r, l)
			changed = hoist(r, l) || changed
			return trimCaptures(r, l) || changed
		})
	},
}

// captureFrom returns the first input of a layer that its bodies only capture.
func captureFrom(l *graph.Layer) int {
	switch a := l.Attrs.(type) {
	case graph.LoopAttrs:
		return 2 + a.Carried
	case graph.ScanAttrs:
		return a.States + a.Scanned
	}
	return 1
}

// cloneBodies returns copies of the networks inside a layer, which may be changed.
func cloneBodies(l *graph.Layer) (list []*graph.Network) {
	for _, b := range l.Bodies() {
		list = append(list, b.Network.Clone())
	}
	return list
}

// trimCaptures moves constants into the bodies, and drops what no body reads.
func trimCaptures(r *pass.Rewrite, l *graph.Layer) (changed bool) {
	first := captureFrom(l)
	for i := len(l.Inputs) - 1; i >= first; i-- {
		x := l.Inputs[i]
		read := slices.ContainsFunc(l.Bodies(), func(b graph.Body) bool { return len(b.Network.Inputs[slices.Index(b.Inputs, i)].Users) > 0 })
		rule := "unread-capture"
		switch {
		case !read:
		case x.IsConst() && !x.Quantized():
			rule = "constant-capture"
		default:
			continue
		}
		c := r.Candidate(rule, l)
		if !c.Enabled() {
			continue
		}
		at := slices.Index(l.Bodies()[0].Inputs, i)
		list := cloneBodies(l)
		for _, b := range list {
			t := b.Inputs[at]
			b.Inputs = slices.Delete(b.Inputs, at, at+1)
			t.Weights, t.Dims, t.Value, t.Range = x.Weights, x.Dims, x.Value, x.Range
			b.Prune()
		}
		l.SetInputs(slices.Delete(slices.Clone(l.Inputs), i, i+1))
		l.SetBodies(list)
		changed = c.Fire(l)
	}
	return changed
}

// dropResults drops outputs of an If, and what a loop gathers, that nothing reads.
func dropResults(r *pass.Rewrite, l *graph.Layer) (changed bool) {
	for i := len(l.Outputs) - 1; i >= carriedOf(l) && len(l.Outputs) > 1; i-- {
		t := l.Outputs[i]
		if len(t.Users) > 0 || r.Network().IsOutput(t) || i > carriedOf(l) && slices.ContainsFunc(l.Counted(), func(c graph.Counting) bool { return c.Output == i }) {
			continue
		}
		c := r.Candidate("unread-result", l)
		if !c.Enabled() {
			continue
		}
		list := cloneBodies(l)
		for _, b := range list {
			at := len(b.Outputs) - len(l.Outputs) + i
			b.Outputs = slices.Delete(b.Outputs, at, at+1)
		}
		if a, ok := l.Attrs.(graph.ScanAttrs); ok {
			k := i - a.States
			if len(a.OutAxes) > 0 {
				a.OutAxes = slices.Delete(slices.Clone(a.OutAxes), k, k+1)
			}
			if len(a.OutBackwards) > 0 {
				a.OutBackwards = slices.Delete(slices.Clone(a.OutBackwards), k, k+1)
			}
			l.Attrs = a
		}
		l.SetBodies(list)
		r.Network().DropOutput(l, i)
		changed = c.Fire(l)
	}
	return changed
}

// hoist moves layers of a loop's body that read captures and constants alone in front of the loop.
func hoist(r *pass.Rewrite, l *graph.Layer) (changed bool) {
	if l.Op == graph.If {
		return false
	}
	first := captureFrom(l)
	body := l.Bodies()[0].Network
	for _, x := range slices.Clone(body.Layers) {
		if body.Layer(x.Name) == nil || !invariant(body, body.Layer(x.Name), first) {
			continue
		}
		c := r.Candidate("loop-invariant", body.Layer(x.Name))
		if !c.Enabled() {
			continue
		}
		b := body.Clone()
		moveOut(r, l, b, b.Layer(x.Name))
		body = b
		changed = c.Fire()
		c.Instead = l
	}
	return changed
}

// invariant reports whether a layer of a body computes the same at each iteration, and may be computed where there is none.
func invariant(body *graph.Network, x *graph.Layer, first int) bool {
	captured := false
	for _, t := range x.Inputs {
		if t == nil || t.IsConst() {
			continue
		}
		if slices.Index(body.Inputs, t) < first {
			return false
		}
		captured = true
	}
	output := slices.ContainsFunc(x.Outputs, body.IsOutput)
	return captured && !output && len(x.Bodies()) == 0 && x.Op.Class != graph.ClassLookup && x.Op.Class != graph.ClassSource && x.Unsupported() == nil
}

// moveOut moves a layer of a body, which is l's from now on, in front of l; its results are captured.
func moveOut(r *pass.Rewrite, l *graph.Layer, body *graph.Network, x *graph.Layer) {
	moved := &graph.Layer{Name: x.Name, Op: x.Op, Attrs: x.Attrs, Epilogue: x.Epilogue, From: x.From}
	for _, t := range x.Inputs {
		switch i := slices.Index(body.Inputs, t); {
		case t == nil:
			moved.Inputs = append(moved.Inputs, nil)
		case i >= 0:
			moved.Inputs = append(moved.Inputs, l.Inputs[i])
		default:
			k := r.Network().NewTensor(t.Name, t.Type, t.Dims)
			k.Weights, k.Value, k.Range = t.Weights, t.Value, t.Range
			moved.Inputs = append(moved.Inputs, k)
		}
	}
	outputs := slices.Clone(x.Outputs)
	for _, t := range outputs {
		y := r.Network().NewTensor(t.Name, t.Type, t.Dims)
		y.Value, y.Range = t.Value, t.Range
		moved.Outputs = append(moved.Outputs, y)
	}
	r.Network().Insert(moved)
	body.Inputs = append(body.Inputs, body.Release(x)...)
	body.Prune()
	l.SetBodies([]*graph.Network{body})
	l.SetInputs(append(slices.Clone(l.Inputs), moved.Outputs...))
}
