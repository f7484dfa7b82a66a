package products

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// Tiled are the convolutions and matrix products with constant weights: a kernel for every tile.
func Tiled() []emit.Tactic {
	var list []emit.Tactic
	for _, u := range []emit.Unit{emit.TensorI8, emit.TensorF16, emit.SimtF32} {
		for _, t := range Tiles(u) {
			list = append(list, OnTile("conv_", graph.Conv, kernels.NHWC, t))
			list = append(list, OnTile("conv_transposed_", graph.ConvTranspose, kernels.NHWC, t))
			for _, op := range []*graph.Op{graph.Gemm, graph.MatMul} {
				for _, f := range []kernels.Format{kernels.Linear, kernels.NHWC} {
					list = append(list, OnTile("gemm_"+f.String()+"_", op, f, t))
				}
			}
		}
	}
	return slices.Clip(list)
}

// OnTile returns the tactic of an op in a format on one tile; its name begins with the prefix.
func OnTile(prefix string, op *graph.Op, f kernels.Format, t Tile) emit.Tactic {
	productOf := productOf
	if op == graph.ConvTranspose {
		productOf = subpixelOf
	}
	return emit.Tactic{
		Name: prefix + t.String(), Op: op, Variant: t.Variant(prefix), In: f, Out: f, Strided: f == kernels.NHWC,
		Match: func(b kernels.Binding) error {
			p, err := productOf(b)
			if err != nil {
				return err
			}
			if err := t.fits(p); err != nil {
				return err
			}
			return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
		},
		Workspace: func(b kernels.Binding) int {
			p, err := productOf(b)
			if err != nil {
				return 0
			}
			return t.workspace(p)
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			p, err := productOf(b)
			if err != nil {
				return nil, err
			}
			return emitProduct(b, p, t)
		},
		Cost: func(b kernels.Binding) []emit.Job {
			p, err := productOf(b)
			if err != nil {
				return nil
			}
			return t.jobs(p, b)
		},
	}
}
