package cpu

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// fused is an epilogue as the kernels of convolutions and matrix products have it in registers: an optional residual of
// the output's shape, then a clamp.
type fused struct {
	residual int // index among the layer's inputs; -1 for none
	limits   [2]float32
}

// fuse reads the layer's epilogue as such; the error says which operation does not fit.
func fuse(b kernels.Binding) (fused, error) {
	l := b.Layer
	f := fused{residual: -1, limits: NoLimits()}
	p := l.Epilogue
	first := len(l.OpInputs()) - 1 // argument a of the program is input first+a
	clamped := false
	for i, in := range p.Code {
		last := 0
		if i > 0 {
			last = p.Args + i - 1
		}
		switch {
		case in.Op == graph.EltAdd && (in.Arg[0] == last || in.Arg[1] == last):
			arg := in.Arg[0] + in.Arg[1] - last
			switch {
			case clamped:
				return f, fmt.Errorf("the residual is added after the activation")
			case f.residual >= 0 || arg == 0 || arg >= p.Args:
				return f, fmt.Errorf("epilogue %s adds more than one residual", p)
			}
			f.residual = first + arg
			if d := b.In[f.residual]; b.Consts[f.residual] != nil || graph.Count(d.Dims) != graph.Count(b.Out[0].Dims) {
				return f, fmt.Errorf("residual %v is not an activation of the output's shape", d)
			}
		case in.Op == graph.EltRelu && in.Arg[0] == last:
			f.limits, clamped = intersect(f.limits, 0, float32(math.Inf(1))), true
		case in.Op == graph.EltClamp && in.Arg[0] == last:
			f.limits, clamped = intersect(f.limits, in.Imm[0], in.Imm[1]), true
		default:
			return f, fmt.Errorf("the kernel has no %s in its epilogue", in.Op)
		}
	}
	return f, nil
}

// intersect returns the clamp to limits followed by the clamp to lo and hi.
func intersect(limits [2]float32, lo, hi float32) [2]float32 {
	return [2]float32{max(lo, min(hi, limits[0])), max(lo, min(hi, limits[1]))}
}
