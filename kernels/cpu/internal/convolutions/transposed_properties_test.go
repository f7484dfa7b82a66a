package convolutions

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TestTransposedAllocatesNothing covers what an inference repeats.
func TestTransposedAllocatesNothing(t *testing.T) {
	if cputest.RaceEnabled {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := rand.New(rand.NewPCG(2, 2))
	s := deconv(16, 9, 9, 16, 4, 2, 1, 0)
	depthwise := s
	depthwise.Groups = 16
	w := cputest.Normals(r, 16*16*16)
	subpixel, err := NewTransposedF32(s, windows.Depth{}, w, nil, asm.HostFeatures(), 2)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := NewTransposedColumnsF32(s, w, nil, false, asm.HostFeatures(), 2)
	if err != nil {
		t.Fatal(err)
	}
	lone, err := NewTransposedDepthwiseF32(depthwise, w[:16*16], nil, asm.HostFeatures(), 2)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := NewTransposedInt8(s, make([]int16, len(w)), make([]float32, 16), nil, ConfigInt8{Features: asm.HostFeatures(), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float32, 16*81), make([]float32, 16*18*18)
	call := &CallF32{In: work.Blocked(x, 16, 9, 9), Out: work.Blocked(y, 16, 18, 18), Limits: programs.NoLimits(),
		Workspace: make([]float32, max(subpixel.Workspace(), columns.Workspace(), lone.Workspace()))}
	rows := *call
	rows.Out = work.Planar(y, 16, 18, 18)
	call8 := &quantised.Call{In: work.BlockedBytes(make([]byte, 16*81), 16, 9, 9), Workspace: make([]byte, bytes.Workspace()),
		Epilogue: quantised.Epilogue{Inner: programs.NoLimits(), Outer: programs.NoLimits(), Float: call.Out}}
	if n := testing.AllocsPerRun(20, func() {
		subpixel.Run(cputest.Serial, call)
		columns.Run(cputest.Serial, &rows)
		lone.Run(cputest.Serial, call)
		bytes.Run(cputest.Serial, call8)
	}); n > 0 {
		t.Errorf("%g allocations a run", n)
	}
}

func TestTransposedConcurrent(t *testing.T) {
	s := deconv(48, 23, 21, 80, 3, 2, 1, 1)
	r := rand.New(rand.NewPCG(2, 2))
	w, x := cputest.Normals(r, s.Filters*s.Channels*9), cputest.Normals(r, 48*23*21)
	out := func(y []float32) work.Tensor4 { return work.Blocked(y, 80, s.OutHeight, s.OutWidth) }
	concurrent(t, work.Blocked(x, 48, 23, 21), out, 80*s.OutHeight*s.OutWidth, func(workers int) (transposedComputation, error) {
		return NewTransposedF32(s, windows.Depth{}, w, nil, asm.HostFeatures(), workers)
	})
}

func TestTransposedErrors(t *testing.T) {
	good := deconv(4, 5, 5, 8, 3, 2, 1, 0)
	for _, c := range []struct {
		want    string
		spoil   func(s *TransposedShape)
		weights int
		bias    int
	}{
		{"is empty", func(s *TransposedShape) { s.OutHeight = 0 }, 288, 0},
		{"must be positive", func(s *TransposedShape) { s.StrideW = 0 }, 288, 0},
		{"negative pads", func(s *TransposedShape) { s.PadLeft = -1 }, 288, 0},
		{"do not split into 3 groups", func(s *TransposedShape) { s.Groups = 3 }, 288, 0},
		{"more than 1024 phases", func(s *TransposedShape) { s.StrideH, s.StrideW, s.OutHeight, s.OutWidth = 40, 40, 200, 200 }, 288, 0},
		{"more than 16384 taps", func(s *TransposedShape) { s.KernelH, s.KernelW, s.StrideH, s.StrideW = 130, 130, 1, 1 }, 288, 0},
		{"287 weights, want 288", func(*TransposedShape) {}, 287, 0},
		{"3 bias values, want 8", func(*TransposedShape) {}, 288, 3},
	} {
		s := good
		c.spoil(&s)
		var bias []float32
		if c.bias > 0 {
			bias = make([]float32, c.bias)
		}
		if _, err := NewTransposedF32(s, windows.Depth{}, make([]float32, c.weights), bias, 0, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
