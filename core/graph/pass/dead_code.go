package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// deadCode removes layers that no output depends on.
//
//	y = Relu(x)              y = Relu(x)
//	z = Exp(x)        ->
//	output y                 output y
var deadCode = Pass{
	Name:  "dead-code",
	Doc:   "remove layers that no output depends on",
	Rules: []string{"dead-layer"},
	run:   removeDead,
}

// deadShapes removes what computed shapes that are constants by now: as a user of a tensor it would stand in the way of what fuses
// that tensor away.
var deadShapes = Pass{
	Name:  "dead-shapes",
	Doc:   "remove what computed shapes that are known by now",
	Rules: []string{"dead-layer"},
	run:   removeDead,
}

// lateDeadCode removes what the passes before it have left without use.
var lateDeadCode = Pass{
	Name:  "late-dead-code",
	Doc:   "remove layers that earlier passes have left without use",
	Rules: []string{"dead-layer"},
	run:   removeDead,
}

func removeDead(r *rewrite) {
	layers := slices.Clone(r.net.Layers)
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		if r.used(l) {
			continue
		}
		c := r.candidate("dead-layer", l)
		if !c.enabled() {
			continue
		}
		r.drop(l, Eliminated, nil)
		r.net.Remove(l)
		c.fire()
	}
}

// used reports whether anything needs an output of l.
func (r *rewrite) used(l *graph.Layer) bool {
	for _, t := range l.Outputs {
		if len(t.Users) > 0 || r.net.IsOutput(t) {
			return true
		}
	}
	return false
}
