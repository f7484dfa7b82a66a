package recognise

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// rotaryRows makes an embedding leave places at the ends of the sequence as they are, by an angle of 0, where a Concat puts them there:
//
//	a = Slice(x, the first n places)
//	t = Slice(x, the others)
//	u = RotaryEmbedding(t, cos, sin)   ->   y = RotaryEmbedding(x, Pad(cos, n rows of 1), Pad(sin, n rows of 0))
//	y = Concat(a, u)
func rotaryRows(r *pass.Rewrite, l *graph.Layer) bool {
	whole := r.Network().Sole(l.Outputs[0])
	if l.Input(graph.RotaryPositions) != nil || whole == nil || whole.Op != graph.Concat || whole.Epilogue.Args > 0 || l.Epilogue.Args > 0 {
		return false
	}
	y := whole.Outputs[0]
	axis := len(y.Dims) - 2
	if at := whole.Attrs.(graph.ConcatAttrs).Axis; at != axis && at != axis-len(y.Dims) {
		return false
	}
	x, before, after, cuts := placesBeside(l, whole, axis)
	if x == nil || !symbolic.Equal(x.Dims, y.Dims) || x.Type != y.Type {
		return false
	}
	c := r.Candidate("rotary-rows", append([]*graph.Layer{l, whole}, cuts...)...)
	d := &draft{r: r, from: l.From}
	pads := []int{0, before, 0, 0, after, 0}
	cos := d.layer(l.Inputs[graph.RotaryCos].Name+"_all", graph.Pad, graph.PadAttrs{Mode: "constant", Pads: pads, Value: 1}, l.Inputs[graph.RotaryCos])
	sin := d.layer(l.Inputs[graph.RotarySin].Name+"_all", graph.Pad, graph.PadAttrs{Mode: "constant", Pads: pads}, l.Inputs[graph.RotarySin])
	if cos == nil || sin == nil {
		return c.Miss(pass.WrongShape, "angles %s and %s have no rows", l.Inputs[graph.RotaryCos], l.Inputs[graph.RotarySin])
	}
	by := &graph.Layer{Name: whole.Name, Op: l.Op, Attrs: l.Attrs, Inputs: []*graph.Tensor{x, cos, sin}, Outputs: []*graph.Tensor{{Name: y.Name}}}
	if err := by.Infer(); err != nil || !symbolic.Equal(by.Outputs[0].Dims, y.Dims) {
		return c.Miss(pass.WrongShape, "%s cannot be turned with the places that stay", x)
	}
	if !c.Contained(whole) || !c.Has(by) || !c.Enabled() {
		return false
	}
	stand(c, d, y, by, c.Found)
	return true
}

// placesBeside returns what a Concat puts together again of which the embedding l turns some places, how many are in front of those
// and behind them, and the layers that cut it. All parts are where they were.
func placesBeside(l, whole *graph.Layer, axis int) (x *graph.Tensor, before, after int, cuts []*graph.Layer) {
	at, turned := 0, false
	for _, t := range whole.Inputs {
		own := t
		if t == l.Outputs[0] {
			own = l.Inputs[graph.RotaryX]
		}
		of, first := cutFrom(own, axis)
		n, ok := t.Dims[axis].IsConst()
		if of == nil || x != nil && of != x || first != at || !ok {
			return nil, 0, 0, nil
		}
		switch {
		case t == l.Outputs[0]:
			turned, before = true, at
		case turned:
			after += n
		}
		if x, at = of, at+n; len(cuts) == 0 || cuts[len(cuts)-1] != own.Producer {
			cuts = append(cuts, own.Producer)
		}
	}
	return x, before, after, cuts
}

// cutFrom returns what t is a part of along an axis, and where in that it begins; nil if it is none, or that is not known.
func cutFrom(t *graph.Tensor, axis int) (x *graph.Tensor, first int) {
	l := t.Producer
	if l == nil || l.Epilogue.Args > 0 || len(l.Inputs) == 0 {
		return nil, 0
	}
	x = l.Inputs[0]
	rank := len(x.Dims)
	switch a := l.Attrs.(type) {
	case graph.SplitAttrs:
		if (a.Axis+rank)%rank != axis {
			return nil, 0
		}
		for _, y := range l.Outputs {
			if y == t {
				return x, first
			}
			n, ok := y.Dims[axis].IsConst()
			if !ok {
				return nil, 0
			}
			first += n
		}
	case graph.SliceAttrs:
		starts, steps, ok := sliceStarts(l)
		axes, ok2 := sliceAxes(l)
		all, ok3 := x.Dims[axis].IsConst()
		if !ok || !ok2 || !ok3 || len(starts) != 1 || len(axes) != 1 || (axes[0]+rank)%rank != axis || len(steps) > 0 && steps[0] != 1 {
			return nil, 0
		}
		if first = starts[0]; first < 0 {
			first += all
		}
		return x, max(0, first)
	}
	return nil, 0
}

// sliceStarts returns where a Slice begins on its axes, and by which steps it goes, nil for 1.
func sliceStarts(l *graph.Layer) (starts, steps []int, ok bool) {
	a := l.Attrs.(graph.SliceAttrs)
	if len(l.OpInputs()) == 1 {
		return a.Starts, a.Steps, true
	}
	if starts, ok = l.Inputs[1].Ints(); ok && l.Input(4) != nil {
		steps, ok = l.Input(4).Ints()
	}
	return starts, steps, ok
}
