package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph/pass"
)

// DeadCode removes layers that no output depends on.
//
//	y = Relu(x)              y = Relu(x)
//	z = Exp(x)        ->
//	output y                 output y
var DeadCode = pass.Pass{
	Name:  "dead-code",
	Doc:   "remove layers that no output depends on",
	Rules: []string{"dead-layer"},
	Run:   removeDead,
}

// DeadShapes removes what computed shapes that are constants by now: as a user of a tensor it would stand in the way of what fuses
// that tensor away.
var DeadShapes = pass.Pass{
	Name:  "dead-shapes",
	Doc:   "remove what computed shapes that are known by now",
	Rules: []string{"dead-layer"},
	Run:   removeDead,
}

// LateDeadCode removes what the passes before it have left without use.
var LateDeadCode = pass.Pass{
	Name:  "late-dead-code",
	Doc:   "remove layers that earlier passes have left without use",
	Rules: []string{"dead-layer"},
	Run:   removeDead,
}

func removeDead(r *pass.Rewrite) {
	layers := slices.Clone(r.Network().Layers)
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		if r.Used(l) {
			continue
		}
		c := r.Candidate("dead-layer", l)
		if !c.Enabled() {
			continue
		}
		r.Eliminate(l, nil)
		r.Network().Remove(l)
		c.Fire()
	}
}
