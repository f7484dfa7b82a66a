package cpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/attention"
	"github.com/trtui/trtui/kernels/cpu/internal/convolutions"
	"github.com/trtui/trtui/kernels/cpu/internal/moves"
	"github.com/trtui/trtui/kernels/cpu/internal/pointwise"
	"github.com/trtui/trtui/kernels/cpu/internal/poolings"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/recurrent"
	"github.com/trtui/trtui/kernels/cpu/internal/reductions"
)

// table returns the tactics for a processor with the features, on a pool of so many workers: for each op the best guess
// first, the reference last. To add a kernel is to add a line in one of the families.
//
// Every family is there for each instruction set. Where a processor has several, the best one supersedes the others:
// timing them would cost a build time and never win.
func table(features asm.Features, workers int) []kernels.Tactic {
	var list []kernels.Tactic
	for _, f := range families(workers) {
		for _, isa := range f.sets {
			if features.Has(isa) {
				list = append(list, activated(f.tactics(isa))...)
				break
			}
		}
	}
	return append(list, reference)
}

// everyTactic returns all tactics that a processor can run, superseded ones too: what tests range over.
func everyTactic(features asm.Features, workers int) []kernels.Tactic {
	var list []kernels.Tactic
	for _, f := range families(workers) {
		for _, isa := range f.sets {
			if features.Has(isa) {
				list = append(list, activated(f.tactics(isa))...)
			}
		}
	}
	return append(list, reference)
}

// activated makes tactics refuse layers whose first input is a constant, which constant folding was told to leave, but
// for those that take a constant for any input.
func activated(list []kernels.Tactic) []kernels.Tactic {
	for i := range list {
		t := &list[i]
		match := t.Match
		if takesConstants(t) {
			continue
		}
		t.Match = func(b kernels.Binding) error {
			if len(b.In) == 0 || b.Layer.Inputs[0] == nil || b.Consts[0] != nil {
				return fmt.Errorf("input 0 is missing or a constant, not an activation")
			}
			return match(b)
		}
	}
	return list
}

// takesConstants reports whether a tactic takes a constant for any input: one that moves or computes elements, the product of two
// activations, of which either may be constant matrices, and an attention, whose queries may be what a model has learnt.
func takesConstants(t *kernels.Tactic) bool {
	switch t.Op {
	case graph.Pointwise, graph.Concat, graph.Gather, graph.Slice, graph.Expand, graph.Trilu, graph.ConstantOfShape,
		graph.BitwiseAnd, graph.BitwiseOr, graph.BitwiseXor, graph.BitShift, graph.Attention:
		return true
	}
	return t.Op == graph.MatMul && strings.HasSuffix(t.Name, "_dynamic")
}

// family is a group of tactics that exists for several instruction sets, the best first; 0 is pure Go.
type family struct {
	sets    []asm.Features
	tactics func(isa asm.Features) []kernels.Tactic
}

// f32Tactics are the kernels in float32 for one instruction set, which half precision is computed by too.
func f32Tactics(isa asm.Features, workers int) []kernels.Tactic {
	return slices.Concat(products.TacticsF32(isa, workers), convolutions.TacticsF32(isa, workers), poolings.TacticsF32(isa, workers), reductions.Tactics(isa), attention.Tactics(isa, workers),
		recurrent.Tactics(isa, workers), moves.Samples(isa, workers))
}

// byTiles are the kernels of bytes that multiply whole tiles of a matrix. They do not supersede others: where a tile would be mostly
// empty, timing decides.
func byTiles(isa asm.Features, workers int) []kernels.Tactic {
	list := append(slices.Concat(convolutions.TacticsInt8(isa, workers), products.TacticsInt8(isa, workers)), products.Dynamic(isa, workers))
	for i := range list {
		t := &list[i]
		match := t.Match
		t.Match = func(b kernels.Binding) error {
			if rows := rowsOf(b); rows < fewRows {
				return fmt.Errorf("%d rows are less than half of a tile", rows)
			}
			return match(b)
		}
	}
	return list
}

// fewRows are those of half a register of 16.
const fewRows = 8

// rowsOf returns the rows of a product, or the pixels of a convolution's image.
func rowsOf(b kernels.Binding) int {
	dims := b.Out[0].Dims
	if b.Layer.Op.Class == graph.ClassConvolution {
		return numeric.Count(dims[min(2, len(dims)):])
	}
	return numeric.Count(dims[:max(0, len(dims)-1)])
}

func families(workers int) []family {
	vnni := []asm.Features{asm.AVX512 | asm.AVX512VNNI, asm.AVX2 | asm.AVXVNNI, asm.AVX2, 0}
	float := []asm.Features{asm.AVX512, asm.AVX2, 0}
	tiles := []asm.Features{asm.AVX512 | asm.AVX512VNNI | asm.AMXInt8}
	return []family{
		{tiles, func(isa asm.Features) []kernels.Tactic { return byTiles(isa, workers) }},
		{vnni, func(isa asm.Features) []kernels.Tactic {
			dynamic := products.Dynamic(isa, workers)
			return append(slices.Concat(convolutions.TacticsInt8(isa, workers), poolings.TacticsInt8(isa, workers), products.TacticsInt8(isa, workers), attention.TacticsInt8(isa, workers)),
				dynamic, half(dynamic, isa))
		}},
		{float, func(isa asm.Features) []kernels.Tactic { return f32Tactics(isa, workers) }},
		{float, func(isa asm.Features) []kernels.Tactic { return halfTactics(isa, workers) }},
		{float, pointwise.Tactics},
		{float, moves.Reformats},
		{float, moves.ConcatBlocks},
		{float, moves.Regions},
		{[]asm.Features{0}, func(asm.Features) []kernels.Tactic {
			return slices.Concat(moves.Tactics(), pointwise.Casts(), pointwise.Integers(), moves.Nearest(workers), reductions.Integers(), reductions.Spectra())
		}},
		{float, func(isa asm.Features) []kernels.Tactic { return moves.Resizes(isa, workers) }},
	}
}
