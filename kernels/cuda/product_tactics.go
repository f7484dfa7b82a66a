package cuda

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// productTactics are the convolutions and matrix products with constant weights: a kernel for every tile.
func productTactics() []tactic {
	var list []tactic
	for _, u := range []unit{tensorI8, tensorF16, simtF32} {
		for _, t := range tiles(u) {
			list = append(list, productTactic("conv_", graph.Conv, kernels.NHWC, t))
			list = append(list, productTactic("conv_transposed_", graph.ConvTranspose, kernels.NHWC, t))
			for _, op := range []*graph.Op{graph.Gemm, graph.MatMul} {
				for _, f := range []kernels.Format{kernels.Linear, kernels.NHWC} {
					list = append(list, productTactic("gemm_"+f.String()+"_", op, f, t))
				}
			}
		}
	}
	return slices.Clip(list)
}

func productTactic(prefix string, op *graph.Op, f kernels.Format, t tile) tactic {
	productOf := productOf
	if op == graph.ConvTranspose {
		productOf = subpixelOf
	}
	return tactic{
		name: prefix + t.String(), op: op, in: f, out: f, strided: f == kernels.NHWC,
		match: func(b kernels.Binding) error {
			p, err := productOf(b)
			if err != nil {
				return err
			}
			if err := t.fits(p); err != nil {
				return err
			}
			return checkArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
		},
		workspace: func(b kernels.Binding) int {
			p, err := productOf(b)
			if err != nil {
				return 0
			}
			return t.workspace(p)
		},
		emit: func(b kernels.Binding) (*work, error) {
			p, err := productOf(b)
			if err != nil {
				return nil, err
			}
			return emitProduct(b, p, t)
		},
		cost: func(b kernels.Binding) []job {
			p, err := productOf(b)
			if err != nil {
				return nil
			}
			return t.jobs(p, b)
		},
	}
}
