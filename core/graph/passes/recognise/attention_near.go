package recognise

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// What is between the products and keeps them from being those of an attention, which a person is told.

// movesScores reports whether l moves elements, as those of a window are that is cut into chunks: no attention does.
func movesScores(l *graph.Layer) bool {
	return (l.Op.Class == graph.ClassMove || l.Op == graph.ScatterND) && len(l.Outputs) == 1 && l.Epilogue.Args == 0
}

// moved goes on before what moves scores.
func (a *attention) moved(l *graph.Layer) *graph.Layer {
	for _, x := range slices.Backward(l.OpInputs()) { // what is written, before what it is written to
		if x == nil || !match.IsFloat(x) {
			continue
		}
		if found := a.through(l, x, func() { a.fault = "the scores are moved before the softmax, by " + l.Name }); found != nil {
			return found
		}
	}
	return nil
}

// movedAway returns what moves the weights t, or puts others in the place of some.
func (a *attention) movedAway(t *graph.Tensor) *graph.Layer {
	for _, u := range t.Users {
		op, _ := operation(u.Outputs[0])
		if !movesScores(u) && (op != elementwise.Select || u.Epilogue.Args > 0) {
			continue
		}
		if a.fault == "" {
			a.fault = "the weights are moved or replaced after the softmax, by " + u.Name
		}
		return u
	}
	return nil
}

// multipliedBy goes on before a product of scores with a tensor, which no attention has.
func (a *attention) multipliedBy(l *graph.Layer, args []*graph.Tensor) *graph.Layer {
	for i, x := range args {
		by := args[1-i]
		if !symbolic.Equal(x.Dims, l.Outputs[0].Dims) {
			continue
		}
		if found := a.through(l, x, func() { a.fault = "the scores are multiplied by " + by.String() }); found != nil {
			return found
		}
	}
	return nil
}

// widened goes on before what a mask broadcasts scores to another shape in.
func (a *attention) widened(l *graph.Layer, args []*graph.Tensor) *graph.Layer {
	for _, x := range args {
		if symbolic.Equal(x.Dims, l.Outputs[0].Dims) {
			continue
		}
		found := a.through(l, x, func() {
			a.fault = fmt.Sprintf("a mask makes scores of %s those of %s, by %s", symbolic.Format(x.Dims), symbolic.Format(l.Outputs[0].Dims), l.Name)
		})
		if found != nil {
			return found
		}
	}
	return nil
}
