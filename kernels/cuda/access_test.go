package cuda

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// kernelCase is a kernel on a layer whose rows are as wide as a warp's accesses.
type kernelCase struct {
	name      string
	op        *graph.Op
	attrs     any
	typ       numeric.DataType
	dims      []int
	constants []*graph.Tensor
}

func kernelCases() []kernelCase {
	var list []kernelCase
	pool := graph.PoolAttrs{Kernel: []int{3, 3}, Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}}
	conv := graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 128}
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		list = append(list,
			kernelCase{"pool_nhwc", graph.MaxPool, pool, t, []int{1, 256, 9, 9}, nil},
			kernelCase{"reduce_pixels_nhwc", graph.MaxPool, graph.PoolAttrs{Global: true}, t, []int{2, 128, 7, 7}, nil},
			kernelCase{"reduce_linear", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}}, t, []int{8, 256}, nil},
			kernelCase{"softmax_linear", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, t, []int{8, 256}, nil},
			kernelCase{"softmax_linear", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, t, []int{2, 2048}, nil},
			kernelCase{"transpose_tiled_linear", graph.Transpose, graph.TransposeAttrs{Perm: []int{2, 1, 0}}, t, []int{64, 3, 96}, nil},
			kernelCase{"transpose_linear", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, t, []int{2, 8, 4, 64}, nil},
			kernelCase{"conv_depthwise_nhwc_2x4", graph.Conv, conv, t, []int{1, 128, 6, 8}, []*graph.Tensor{emittest.Weight(t, 128, 1, 3, 3)}},
			kernelCase{"conv_direct_linear_4x4", graph.Conv, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1}, t, []int{1, 3, 8, 8}, []*graph.Tensor{emittest.Weight(t, 128, 3, 3, 3)}},
			kernelCase{"gemm_linear_plain_64x64", graph.MatMul, nil, t, []int{64, 64}, []*graph.Tensor{emittest.Weight(t, 64, 64)}},
		)
	}
	index, update := &graph.Tensor{Name: "i", Type: numeric.I64, Dims: symbolic.Shape(9, 1)}, func(dims ...int) *graph.Tensor {
		return &graph.Tensor{Name: "u", Type: numeric.F32, Dims: symbolic.Shape(dims...)}
	}
	add := graph.ScatterAttrs{Reduction: "add"}
	return append(list,
		kernelCase{"reduce_linear", graph.ReduceLogSumExp, graph.ReduceAttrs{Axes: []int{1}}, numeric.F32, []int{8, 256}, nil},
		kernelCase{"reduce_linear", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{0, 2}}, numeric.F32, []int{4, 3, 5, 128}, nil},
		kernelCase{"reduce_integers", graph.ReduceSum, graph.ReduceAttrs{Axes: []int{1}}, numeric.I32, []int{8, 256}, nil},
		kernelCase{"reduce_integers", graph.ReduceMax, graph.ReduceAttrs{Axes: []int{0}}, numeric.I64, []int{8, 256}, nil},
		kernelCase{"lrn_nhwc", graph.LRN, graph.LRNAttrs{Size: 1, Alpha: 0.1, Beta: 0.75, Bias: 1}, numeric.F32, []int{1, 256, 3, 3}, nil},
		kernelCase{"lrn_linear", graph.LRN, graph.LRNAttrs{Size: 5, Alpha: 0.1, Beta: 0.75, Bias: 1}, numeric.F32, []int{2, 16, 8, 8}, nil},
		kernelCase{"normalize_rows_linear", graph.MeanVarianceNorm, graph.MeanVarianceNormAttrs{Axes: []int{0, 2}}, numeric.F32, []int{2, 3, 256}, nil},
		kernelCase{"scatter_rows_linear", graph.ScatterND, add, numeric.F32, []int{7, 256}, []*graph.Tensor{index, update(9, 256)}},
		kernelCase{"onehot_linear", graph.OneHot, graph.OneHotAttrs{Axis: 0, Depth: 9}, numeric.I64, []int{256}, []*graph.Tensor{update(2)}},
		kernelCase{"hardmax_linear", graph.Hardmax, graph.HardmaxAttrs{Axis: -1}, numeric.F32, []int{8, 256}, nil},
		kernelCase{"trilu_linear", graph.Trilu, graph.TriluAttrs{Upper: true}, numeric.F32, []int{64, 64}, nil},
		kernelCase{"gather_tuples_linear", graph.GatherND, graph.GatherNDAttrs{}, numeric.F32, []int{7, 256}, []*graph.Tensor{index}},
		kernelCase{"pool_linear", graph.MaxPool, graph.PoolAttrs{Kernel: []int{2, 2, 1}}, numeric.F32, []int{1, 3, 4, 4, 64}, nil},
		kernelCase{"conv_plain_linear", graph.Conv, graph.ConvAttrs{Group: 1}, numeric.F32, []int{1, 3, 4, 4, 64}, []*graph.Tensor{emittest.Weight(numeric.F32, 5, 3, 2, 2, 1)}},
		kernelCase{"quantize_axis_linear", graph.Quantize, graph.QuantAttrs{Range: numeric.PerTensor(0.1, 3), Type: numeric.U16}, numeric.F32, []int{4, 256}, nil},
	)
}

// TestAccess: what the kernels read and write is coalesced, and shared memory is free of bank conflicts.
func TestAccess(t *testing.T) {
	for _, c := range kernelCases() {
		t.Run(c.name+"_"+c.op.Name+"_"+c.typ.String(), func(t *testing.T) {
			tr := emittest.LayerTrial(t, Tactics(), c.name, c.op, c.attrs, c.typ, c.dims, c.constants...)
			stats, right, err := tr.Run(t, tr.Work.Module, ptxsim.Options{Lints: ptxsim.LintAll, Races: true})
			if err != nil || !right {
				t.Fatal(right, err)
			}
			for _, launch := range stats {
				for _, op := range []string{"ld.global", "st.global", "ld.shared", "st.shared"} {
					w := launch.Worst(op)
					if w == nil {
						continue
					}
					if w.Conflicts > 1 {
						t.Errorf("%s meets in %d banks", w.Text, w.Conflicts)
					}
					if w.Efficiency() < 1 && !(c.op == graph.MatMul && op == "ld.global") { // whose rows' pieces are 8 elements
						t.Errorf("%s uses %.2f of what it moves", w.Text, w.Efficiency())
					}
				}
			}
		})
	}
}

// TestOrderings leaves each barrier out of the kernels that have some: each time the simulator must find it.
func TestOrderings(t *testing.T) {
	for _, c := range kernelCases() {
		if c.typ != numeric.F32 {
			continue
		}
		tr := emittest.LayerTrial(t, Tactics(), c.name, c.op, c.attrs, c.typ, c.dims, c.constants...)
		k := tr.Work.Module.Kernels[0]
		for _, i := range ptxsim.Orderings(k) {
			broken, err := ptxsim.Without(tr.Work.Module, k.Name, i)
			if err != nil {
				t.Fatal(err)
			}
			if tr.Survives(t, broken) {
				t.Errorf("%s: nothing tells that %q is missing at %d", c.name, k.Text(&k.Body[i]), i)
			}
		}
	}
}
