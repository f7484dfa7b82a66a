package suite

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// doubles are layers of F64, which no kernel may take for narrower numbers.
func (m *maker) doubles() {
	x := func(dims ...int) *graph.Tensor { return m.tensor(numeric.F64, numeric.Range{}, dims...) }
	add := func(name string, op *graph.Op, attrs any, in ...*graph.Tensor) {
		m.add("f64_"+name, m.layer(op, attrs, in...), Tolerance{Real: 1e-12})
	}
	add("conv", graph.Conv, graph.ConvAttrs{Group: 1, Pads: []int{1, 1, 1, 1}}, x(1, 3, 5, 5), x(4, 3, 3, 3), x(4))
	add("conv_transpose", graph.ConvTranspose, graph.ConvTransposeAttrs{Group: 1, Strides: []int{2, 2}}, x(1, 3, 4, 4), x(3, 2, 2, 2), x(2))
	add("matmul", graph.MatMul, nil, x(2, 3, 17), x(17, 5))
	add("gemm", graph.Gemm, graph.GemmAttrs{Alpha: 0.5, Beta: 2, TransB: true}, x(3, 17), x(5, 17), x(5))
	add("average_pool", graph.AveragePool, graph.PoolAttrs{Kernel: []int{2, 2}}, x(1, 3, 6, 5))
	add("max_pool", graph.MaxPool, graph.PoolAttrs{Kernel: []int{2, 2}}, x(1, 3, 6, 5))
	add("softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, x(3, 17))
	add("hardmax", graph.Hardmax, graph.HardmaxAttrs{Axis: 0}, x(3, 17))
	add("layer_norm", graph.LayerNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, x(3, 17), x(17), x(17))
	add("rms_norm", graph.RMSNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, x(3, 17), x(17))
	add("instance_norm", graph.InstanceNorm, graph.InstanceNormAttrs{Epsilon: 1e-5}, x(2, 3, 7), x(3), x(3))
	add("group_norm", graph.GroupNorm, graph.GroupNormAttrs{Epsilon: 1e-5, Groups: 2}, x(2, 4, 7), x(4), x(4))
	add("lrn", graph.LRN, graph.LRNAttrs{Size: 3, Alpha: 1e-4, Beta: 0.75, Bias: 1}, x(2, 5, 7))
	add("lp_norm", graph.LpNorm, graph.LpNormAttrs{Axis: 1, P: 2}, x(2, 5, 7))
	add("mean_variance", graph.MeanVarianceNorm, graph.MeanVarianceNormAttrs{Axes: []int{0, 2}}, x(2, 5, 7))
	add("add", graph.Pointwise, graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, x(3, 17), x(17))
	add("reduce", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}}, x(3, 17))
	add("transpose", graph.Transpose, graph.TransposeAttrs{Perm: []int{1, 0}}, x(3, 17))
}
