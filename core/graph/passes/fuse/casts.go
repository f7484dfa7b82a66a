package fuse

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// Casts makes the element-wise layer behind a Cast of integers to real numbers its epilogue, where the target has a kernel
// for that.
//
//	t = Cast(mask i64)
//	y = Mul(Sub(1, t), -1e9)   ->   y = Cast(mask i64) | mul(sub(1, $0), -1e9)
var Casts = pass.Pass{
	Name:  "fuse-casts",
	Doc:   "fuse what is computed of integers into the cast that makes real numbers of them",
	Rules: []string{"fuse-cast"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			e, ok := match.PointwiseOf(l)
			if !ok {
				return false
			}
			full := e.FullSize(l)
			return len(full) == 1 && match.IsConversion(e.Inputs[full[0]].Producer) && fuse(r, "fuse-cast", l, e, full[0], "")
		})
	},
}
