package convolutions

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
)

// TacticsInt8 are the convolutions of bytes for one instruction set, and products that are pointwise ones.
func TacticsInt8(isa asm.Features, workers int) []kernels.Tactic {
	cfg := ConfigInt8{Features: isa, Workers: workers}
	stem, rows := cfg, cfg
	stem.Stem, rows.Planar = true, true
	tactic := func(name, shape string, op *graph.Op, compute func(kernels.Binding, ConfigInt8, bool) (quantised.Computation, error), cfg ConfigInt8) kernels.Tactic {
		t := quantised.Tactic(name, shape, op, isa, func(b kernels.Binding, full bool) (quantised.Computation, error) { return compute(b, cfg, full) })
		if cfg.Stem {
			t.In = kernels.Linear
		}
		if cfg.Planar {
			t.Out = kernels.Linear
		}
		return t
	}
	columns := tactic("conv", "_columns", graph.Conv, columnsInt8, cfg)
	columns.In = kernels.Linear
	list := []kernels.Tactic{
		tactic("conv_transposed", "_subpixel_planar", graph.ConvTranspose, transposedInt8, rows),
		tactic("conv", "_direct", graph.Conv, directInt8, cfg),
		tactic("conv", "_stem", graph.Conv, directInt8, stem),
		columns,
		tactic("conv_transposed", "_subpixel", graph.ConvTranspose, transposedInt8, cfg),
		integerTactic(isa, workers),
	}
	if isa.Has(asm.AMXInt8) { // a depthwise convolution's sums are no product of matrices, a pointwise product's images have one pixel
		return list
	}
	list = slices.Insert(list, 1, tactic("conv", "_depthwise", graph.Conv, depthwiseInt8, cfg))
	return append(list, tactic("gemm", "_pointwise", graph.Gemm, productInt8, cfg))
}
