package quantised

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Offset returns the zero point of a tensor's bytes as the kernels see them, unsigned.
func Offset(t *graph.Tensor) int32 { return OffsetAt(t, 0) }

// OffsetAt returns that of a channel.
func OffsetAt(t *graph.Tensor, channel int) int32 {
	z := t.Range.ZeroAt(channel)
	if t.Type == numeric.I8 {
		z += 128
	}
	return z
}

// OneScale returns an error unless t has 8-bit elements with one scale for all.
func OneScale(t *graph.Tensor) error {
	if t.Type != numeric.I8 && t.Type != numeric.U8 || !t.Quantized() || t.Range.PerChannel() {
		return fmt.Errorf("%s is not 8-bit with one scale", t.Name)
	}
	return nil
}

// Output is what becomes of the sums of a layer on bytes: all of it in registers, or float32 and then a program.
type Output struct {
	Registers Epilogue
	Residual  int // index among the layer's inputs; -1 for none
	Program   *programs.Program
	floats    kernels.Desc // what the program reads: an output of float32 itself, else as many in the workspace
	InPlace   bool         // the former
}

// NewOutput returns what becomes of the sums of a layer whose input is bytes with one scale.
func NewOutput(b kernels.Binding, isa asm.Features, product bool) (Output, error) {
	if err := OneScale(b.Layer.Inputs[0]); err != nil {
		return Output{}, fmt.Errorf("input %w", err)
	}
	return OutputOf(b, isa, product)
}

// OutputOf reads the layer's epilogue; see EpilogueOf.
func OutputOf(b kernels.Binding, isa asm.Features, product bool) (Output, error) {
	l := b.Layer
	to := b.Out[0].Type
	columns := product && evenColumns(l.Outputs[0])
	if to != numeric.F32 && to != numeric.F16 && !columns {
		if err := OneScale(l.Outputs[0]); err != nil {
			return Output{}, fmt.Errorf("output %w", err)
		}
	}
	e, residual, err := EpilogueOf(b, isa, product)
	if columns {
		if err != nil {
			return Output{}, fmt.Errorf("output %s has scales of its own for its columns, and %w", l.Outputs[0].Name, err)
		}
		e.Columns = l.Outputs[0]
	}
	if err == nil && to != numeric.F16 {
		return Output{Registers: e, Residual: residual}, nil
	}
	return programmed(b, isa, product)
}

// programmed returns the output whose epilogue is a program.
func programmed(b kernels.Binding, isa asm.Features, product bool) (Output, error) {
	l, to := b.Layer, b.Out[0].Type
	o := Output{Registers: Epilogue{Inner: programs.NoLimits(), Outer: programs.NoLimits()}, Residual: -1}
	o.floats = kernels.Desc{Type: numeric.F32, Dims: b.Out[0].Dims, Format: b.Out[0].Format}
	if o.InPlace = to == numeric.F32; o.InPlace {
		o.floats = b.Out[0]
	}
	p := l.Epilogue
	if p.Args == 0 {
		p = programs.Identity
	}
	if product {
		p, o.Registers.Row = programs.WithoutRow(b, p)
	}
	var err error
	o.Program, err = programs.New(b, p, len(l.OpInputs()), &programs.Own{Desc: o.floats}, isa)
	return o, err
}

// evenColumns reports whether t has scales along its last axis which the columns of a panel share.
func evenColumns(t *graph.Tensor) bool {
	r := t.Range
	if t.Type != numeric.I8 && t.Type != numeric.U8 || !t.Quantized() || !r.PerChannel() || r.Axis != len(t.Dims)-1 {
		return false
	}
	for c := range r.Scale {
		if first := c &^ (2*work.Lanes - 1); r.ScaleAt(c) != r.ScaleAt(first) || r.ZeroAt(c) != r.ZeroAt(first) {
			return false
		}
	}
	return true
}

// Alone returns the program if it stands alone, so that a product may compute it on parts of its sums; else nil.
func (o *Output) Alone() *programs.Program {
	if o.Program != nil && o.Program.Alone() {
		return o.Program
	}
	return nil
}

// Workspace returns the bytes of the float32 that a program reads there.
func (o *Output) Workspace() int {
	if o.InPlace {
		return 0
	}
	return o.floats.Bytes()
}

// ConstantWeights checks that a product's weights are bytes, with one scale or one for each index of the given axis.
func ConstantWeights(b kernels.Binding, axis int) error {
	w := b.Layer.Inputs[1]
	if w.Range.PerChannel() && w.Range.Axis != axis {
		return fmt.Errorf("scales of %s are along axis %d, not %d", w.Name, w.Range.Axis, axis)
	}
	if b.Consts[1] == nil || w.Type != numeric.I8 && w.Type != numeric.U8 || !w.Quantized() {
		return fmt.Errorf("weights %s are not 8-bit constants", w.Name)
	}
	return nil
}
