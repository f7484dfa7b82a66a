package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Casts convert between integers, truth values and float32, by the element.
func Casts() []kernels.Tactic {
	return []kernels.Tactic{{
		Name: "cast_copy", Op: graph.Cast,
		Match: func(b kernels.Binding) error {
			_, err := newCastKernel(b)
			return err
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newCastKernel(b) },
	}}
}

// castPrograms convert to float32 and compute an element-wise program of the result.
func castPrograms(isa asm.Features) kernels.Tactic {
	return kernels.Tactic{
		Name: "cast_program_" + work.ISAName(isa), Op: graph.Cast, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			_, err := newCastProgram(b, 0)
			return err
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newCastProgram(b, isa) },
	}
}

// castProgram is a conversion and what follows it.
type castProgram struct {
	cast    *castKernel
	program *programs.Program
}

func newCastProgram(b kernels.Binding, isa asm.Features) (*castProgram, error) {
	x, y := b.In[0], b.Out[0]
	if b.Layer.Epilogue.Args == 0 || y.Type != numeric.F32 || b.Layer.Attrs.(graph.CastAttrs).To != numeric.F32 {
		return nil, fmt.Errorf("from %s to %s with epilogue %s", x.Type, y.Type, b.Layer.Epilogue)
	}
	c, err := newConversion(b)
	if err != nil {
		return nil, err
	}
	p, err := programs.Trailing(b, isa)
	return &castProgram{c, p}, err
}

// Launch converts all elements, then computes the program.
func (k *castProgram) Launch(st kernels.Stream, in, out []kernels.Mem, scratch kernels.Mem) error {
	if err := k.cast.Launch(st, in, out, scratch); err != nil {
		return err
	}
	k.program.Launch(work.Loop(st), out[0], in, out[0])
	return nil
}

// castKernel is a conversion bound to a layer.
type castKernel struct {
	n        int
	from, to int // bytes of an element
	convert  func(dst, src []byte)
	job      *work.Job[castLaunch]
}

// castPiece is how many elements are a unit of work.
const castPiece = 8192

func newCastKernel(b kernels.Binding) (*castKernel, error) {
	if b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("there is an epilogue, %s", b.Layer.Epilogue)
	}
	return newConversion(b)
}

// newConversion leaves the layer's epilogue alone.
func newConversion(b kernels.Binding) (*castKernel, error) {
	x, y := b.In[0], b.Out[0]
	k := &castKernel{n: numeric.Count(y.Dims), from: x.Type.Size(), to: y.Type.Size(), convert: conversion(x.Type, y.Type)}
	if k.convert == nil {
		return nil, fmt.Errorf("from %s to %s", x.Type, y.Type)
	}
	k.job = work.NewJob((*castLaunch).do)
	return k, nil
}

// castLaunch is the state of one launch.
type castLaunch struct {
	kernel   *castKernel
	dst, src []byte
}

// Launch converts all elements.
func (k *castKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.job.Each(work.LoopOver(st, k.n*(k.from+k.to)), (k.n+castPiece-1)/castPiece, castLaunch{k, out[0].Host, in[0].Host})
	return nil
}

func (l *castLaunch) do(u, _ int) {
	k := l.kernel
	first, last := u*castPiece, min(k.n, (u+1)*castPiece)
	k.convert(l.dst[first*k.to:last*k.to], l.src[first*k.from:last*k.from])
}

// conversion returns the conversion of whole slices between two types; nil if the kernel has none.
func conversion(from, to numeric.DataType) func(dst, src []byte) {
	switch from {
	case numeric.F32:
		return fromReal(to)
	case numeric.I8:
		return fromInteger[int8](to)
	case numeric.U8, numeric.Bool:
		return fromInteger[uint8](to)
	case numeric.I16:
		return fromInteger[int16](to)
	case numeric.U16:
		return fromInteger[uint16](to)
	case numeric.I32:
		return fromInteger[int32](to)
	case numeric.U32:
		return fromInteger[uint32](to)
	case numeric.I64:
		return fromInteger[int64](to)
	case numeric.U64:
		return fromInteger[uint64](to)
	}
	return nil
}

// integer are the elements that fromInteger and truncation know.
type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// fromInteger wraps around; float32 is rounded by way of float64, as the definition says.
func fromInteger[S integer](to numeric.DataType) func(dst, src []byte) {
	switch to {
	case numeric.F32:
		return func(dst, src []byte) {
			y := numeric.View[float32](dst)
			for i, v := range numeric.View[S](src) {
				y[i] = float32(float64(v))
			}
		}
	case numeric.Bool:
		return func(dst, src []byte) {
			for i, v := range numeric.View[S](src) {
				dst[i] = truthOf(v != 0)
			}
		}
	case numeric.I8, numeric.U8:
		return wrapped[uint8, S]
	case numeric.I16, numeric.U16:
		return wrapped[uint16, S]
	case numeric.I32, numeric.U32:
		return wrapped[uint32, S]
	case numeric.I64, numeric.U64:
		return wrapped[uint64, S]
	}
	return nil
}

func wrapped[D, S integer](dst, src []byte) {
	y, x := numeric.View[D](dst), numeric.View[S](src)
	x = x[:len(y)]
	for i, v := range x {
		y[i] = D(v)
	}
}

func truthOf(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// fromReal truncates toward 0 and saturates; NaN gives 0.
func fromReal(to numeric.DataType) func(dst, src []byte) {
	switch to {
	case numeric.Bool:
		return func(dst, src []byte) {
			for i, v := range numeric.View[float32](src) {
				dst[i] = truthOf(v != 0)
			}
		}
	case numeric.I8:
		return truncated[int8](-1<<7, 1<<7)
	case numeric.U8:
		return truncated[uint8](0, 1<<8)
	case numeric.I16:
		return truncated[int16](-1<<15, 1<<15)
	case numeric.U16:
		return truncated[uint16](0, 1<<16)
	case numeric.I32:
		return truncated[int32](-1<<31, 1<<31)
	case numeric.U32:
		return truncated[uint32](0, 1<<32)
	case numeric.I64:
		return truncated[int64](-1<<63, 1<<63)
	case numeric.U64:
		return truncated[uint64](0, 1<<64)
	}
	return nil
}

// truncated returns the conversion to an integer type of values from low to end-1.
func truncated[D integer](low, end float32) func(dst, src []byte) {
	lowest := D(low)
	largest := lowest - 1 // wraps around
	return func(dst, src []byte) {
		y := numeric.View[D](dst)
		for i, v := range numeric.View[float32](src) {
			switch {
			case v > low && v < end:
				y[i] = D(v)
			case v <= low:
				y[i] = lowest
			case v >= end:
				y[i] = largest
			default:
				y[i] = 0
			}
		}
	}
}
