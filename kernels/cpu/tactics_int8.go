package cpu

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/quantised"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// int8Tactics are the tactics on 8-bit activations for one instruction set.
func int8Tactics(isa asm.Features, workers int) []kernels.Tactic {
	cfg := ConvInt8Config{Features: isa, Workers: workers}
	stem := cfg
	stem.Stem = true
	blocked := func(family, shape string, op *graph.Op, in kernels.Format, plan quantised.Planner) kernels.Tactic {
		return kernels.Tactic{
			Name: family + "_int8_" + work.ISAName(isa) + shape, Op: op, Needs: kernels.Feature(isa), In: in, Out: kernels.C16, Strided: true,
			Match:     plan.Match,
			Workspace: plan.Workspace,
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return plan.Bind(b, isa) },
		}
	}
	linear := func(family string, op *graph.Op) kernels.Tactic {
		return kernels.Tactic{
			Name: family + "_int8_" + work.ISAName(isa), Op: op, Needs: kernels.Feature(isa),
			Match:     matchGemmInt8,
			Workspace: func(b kernels.Binding) int { return workspaceGemmInt8(b, cfg) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindGemmInt8(b, cfg) },
		}
	}
	rows := cfg
	rows.Planar = true
	planar := blocked("conv_transposed", "_subpixel_planar", graph.ConvTranspose, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) {
		return transposedInt8(b, rows, full)
	})
	planar.Out = kernels.Linear
	return []kernels.Tactic{
		planar,
		blocked("conv", "_depthwise", graph.Conv, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) { return depthwiseInt8(b, cfg, full) }),
		blocked("conv", "_direct", graph.Conv, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) { return directInt8(b, cfg, full) }),
		blocked("conv", "_stem", graph.Conv, kernels.Linear, func(b kernels.Binding, full bool) (quantised.Computation, error) { return directInt8(b, stem, full) }),
		blocked("conv_transposed", "_subpixel", graph.ConvTranspose, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) { return transposedInt8(b, cfg, full) }),
		blocked("maxpool", "", graph.MaxPool, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) { return poolInt8(b, cfg) }),
		blocked("avgpool", "", graph.AveragePool, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) { return poolInt8(b, cfg) }),
		blocked("reduce_mean", "", graph.ReduceMean, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) { return meanInt8(b, cfg) }),
		blocked("gemm", "_pointwise", graph.Gemm, kernels.C16, func(b kernels.Binding, full bool) (quantised.Computation, error) { return productInt8(b, cfg, full) }),
		linear("gemm", graph.Gemm),
		linear("matmul", graph.MatMul),
	}
}
