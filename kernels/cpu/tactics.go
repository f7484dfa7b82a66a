package cpu

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
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
		if t.Op == graph.Pointwise || t.Op == graph.Concat || t.Op == graph.Gather {
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

// family is a group of tactics that exists for several instruction sets, the best first; 0 is pure Go.
type family struct {
	sets    []asm.Features
	tactics func(isa asm.Features) []kernels.Tactic
}

func families(workers int) []family {
	vnni := []asm.Features{asm.AVX512 | asm.AVX512VNNI, asm.AVX2 | asm.AVXVNNI, asm.AVX2, 0}
	float := []asm.Features{asm.AVX512, asm.AVX2, 0}
	return []family{
		{vnni, func(isa asm.Features) []kernels.Tactic { return int8Tactics(isa, workers) }},
		{float, func(isa asm.Features) []kernels.Tactic { return f32Tactics(isa, workers) }},
		{float, func(isa asm.Features) []kernels.Tactic { return halfTactics(isa, workers) }},
		{float, pointwiseTactics},
		{float, reformatTactics},
		{float, concatTactics},
		{[]asm.Features{0}, func(asm.Features) []kernels.Tactic { return append(moveTactics(), nearestTactics(workers)...) }},
		{float, func(isa asm.Features) []kernels.Tactic { return resizeTactics(isa, workers) }},
	}
}

// isaName is the part of a tactic's name that says what it needs.
func isaName(f asm.Features) string {
	switch {
	case f.Has(asm.AVX512VNNI):
		return "vnni"
	case f.Has(asm.AVX512):
		return "avx512"
	case f.Has(asm.AVXVNNI):
		return "avxvnni"
	case f.Has(asm.AVX2):
		return "avx2"
	}
	return "go"
}

// planes returns the extents of an activation [N,C,H,W] as kernels of two spatial axes see it: rank 2 has one pixel,
// rank 3 one row.
func planes(d kernels.Desc) (n, c, h, w int, err error) {
	switch len(d.Dims) {
	case 2:
		return d.Dims[0], d.Dims[1], 1, 1, nil
	case 3:
		return d.Dims[0], d.Dims[1], 1, d.Dims[2], nil
	case 4:
		return d.Dims[0], d.Dims[1], d.Dims[2], d.Dims[3], nil
	}
	return 0, 0, 0, 0, fmt.Errorf("%d axes, the kernel takes 2 to 4", len(d.Dims))
}

// tensor4 views memory as a tensor of float32.
func tensor4(d kernels.Desc, m kernels.Mem) Tensor4 {
	t := Tensor4{Data: graph.View[float32](m.Host), Image: d.BatchStride()}
	t.Plane = graph.Count(d.Dims[2:]) * d.Block()
	return t
}

// bytes4 views memory as a tensor of bytes.
func bytes4(d kernels.Desc, m kernels.Mem) Bytes4 {
	return Bytes4{Data: m.Host, Image: d.BatchStride(), Plane: graph.Count(d.Dims[2:]) * d.Block()}
}

// launcher is a Kernel that is a function.
type launcher func(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error

func (f launcher) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	return f(s, in, out, workspace)
}
