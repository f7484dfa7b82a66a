package graph

// FLOPs returns the floating-point operations, two for each multiply-add, of a convolution or matrix product at the
// given values of the symbols; 0 for other layers, whose time is not arithmetic's.
func FLOPs(l *Layer, env map[string]int) int64 {
	switch l.Op {
	case Conv:
		w := EvalDims(l.Inputs[1].Dims, env)
		return 2 * int64(Count(EvalDims(l.Outputs[0].Dims, env))) * int64(Count(w[1:]))
	case Gemm:
		x := EvalDims(l.Inputs[0].Dims, env)
		k := x[1]
		if l.Attrs.(GemmAttrs).TransA {
			k = x[0]
		}
		return 2 * int64(Count(EvalDims(l.Outputs[0].Dims, env))) * int64(k)
	case MatMul:
		x := EvalDims(l.Inputs[0].Dims, env)
		return 2 * int64(Count(EvalDims(l.Outputs[0].Dims, env))) * int64(x[len(x)-1])
	}
	return 0
}
