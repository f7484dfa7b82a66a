package pass

import "github.com/trtui/trtui/core/graph"

// fuseCasts makes the element-wise layer behind a Cast of integers to real numbers its epilogue, where the target has a kernel
// for that.
//
//	t = Cast(mask i64)
//	y = Mul(Sub(1, t), -1e9)   ->   y = Cast(mask i64) | mul(sub(1, $0), -1e9)
var fuseCasts = Pass{
	Name:  "fuse-casts",
	Doc:   "fuse what is computed of integers into the cast that makes real numbers of them",
	Rules: []string{"fuse-cast"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			e, ok := pointwiseOf(l)
			if !ok {
				return false
			}
			full := e.fullSize(l)
			return len(full) == 1 && isConversion(e.inputs[full[0]].Producer) && r.fuse("fuse-cast", l, e, full[0])
		})
	},
}
