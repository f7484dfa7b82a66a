package cpu

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/programs"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// spawn runs each worker on a goroutine of its own.
func spawn(n int, f func(int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { f(i) })
	}
	wait.Wait()
}

// concurrent runs a convolution of x from several goroutines at once, each with several workers: all results, of so many
// elements, are those of a single worker, bit for bit.
func concurrent(t *testing.T, x work.Tensor4, out func([]float32) work.Tensor4, elements int, build func(workers int) (transposedComputation, error)) {
	t.Helper()
	run := func(c transposedComputation, parallel work.Parallel) []float32 {
		y := make([]float32, elements)
		c.Run(parallel, &ConvF32Call{In: x, Out: out(y), Limits: programs.NoLimits(), Workspace: make([]float32, c.Workspace())})
		return y
	}
	alone, err := build(1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := build(4)
	if err != nil {
		t.Fatal(err)
	}
	want := run(alone, serial)
	spawn(3, func(int) {
		for i, got := range run(c, spawn) {
			if got != want[i] {
				t.Errorf("element %d = %g, want %g", i, got, want[i])
				return
			}
		}
	})
}

func TestConvF32Concurrent(t *testing.T) {
	s := conv(48, 23, 21, 80, 3, 1, 1)
	r := rand.New(rand.NewPCG(2, 2))
	w, x := normals(r, s.Filters*s.Channels*9), normals(r, 48*23*21)
	out := func(y []float32) work.Tensor4 { return work.Blocked(y, 80, 23, 21) }
	concurrent(t, work.Blocked(x, 48, 23, 21), out, 80*23*21, func(workers int) (transposedComputation, error) {
		return NewConvF32(s, w, nil, ConvF32Config{Features: asm.HostFeatures(), Workers: workers})
	})
}

// TestRunAllocatesNothing covers what an inference repeats.
func TestRunAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := rand.New(rand.NewPCG(2, 2))
	s := conv(16, 9, 9, 32, 3, 2, 1)
	c, err := NewConvF32(s, normals(r, 32*16*9), nil, ConvF32Config{Features: asm.HostFeatures(), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDepthwiseF32(depthwiseOf(32, 5, 5, 3, 1, 1), ConvDepth{}, normals(r, 32*9), nil, asm.HostFeatures(), 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPoolF32(PoolShape{Batch: 1, Channels: 32, Height: 5, Width: 5, KernelH: 2, KernelW: 2, StrideH: 1, StrideW: 1,
		DilationH: 1, DilationW: 1}, AveragePool, asm.HostFeatures(), 2)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewPackedB(25, 7, asm.HostFeatures())
	if err != nil {
		t.Fatal(err)
	}
	workspace := make([]float32, max(c.Workspace(), d.Workspace(), p.Workspace()))
	x, y, z := make([]float32, 16*81), make([]float32, 32*25), make([]float32, 32*25)
	first := &ConvF32Call{In: work.Blocked(x, 16, 9, 9), Out: work.Blocked(y, 32, 5, 5), Limits: programs.NoLimits(), Workspace: workspace}
	second := &ConvF32Call{In: first.Out, Out: work.Blocked(z, 32, 5, 5), Limits: programs.NoLimits(), Workspace: workspace}
	third := &PoolF32Call{In: second.Out, Out: first.Out, Workspace: workspace}
	fourth := &GemmF32Call{M: 32, A: z, AStride: 25, B: b, Out: y, OutStride: 25, Limits: programs.NoLimits(), Workers: 2}
	if n := testing.AllocsPerRun(20, func() {
		c.Run(serial, first)
		d.Run(serial, second)
		p.Run(serial, third)
		Gemm(serial, fourth)
	}); n > 0 {
		t.Errorf("%g allocations a run", n)
	}
}

func TestConvF32Errors(t *testing.T) {
	good := conv(4, 5, 5, 8, 3, 1, 1)
	for _, c := range []struct {
		want    string
		spoil   func(s *ConvShape)
		weights int
		bias    int
	}{
		{"is empty", func(s *ConvShape) { s.Height = 0 }, 288, 0},
		{"must be positive", func(s *ConvShape) { s.StrideW = 0 }, 288, 0},
		{"negative pads", func(s *ConvShape) { s.PadLeft = -1 }, 288, 0},
		{"do not split into 3 groups", func(s *ConvShape) { s.Groups = 3 }, 288, 0},
		{"more than 512 taps", func(s *ConvShape) { s.KernelH, s.KernelW = 32, 32 }, 288, 0},
		{"larger than the padded input", func(s *ConvShape) { s.DilationH = 4 }, 288, 0},
		{"287 weights, want 288", func(*ConvShape) {}, 287, 0},
		{"3 bias values, want 8", func(*ConvShape) {}, 288, 3},
	} {
		s := good
		c.spoil(&s)
		var bias []float32
		if c.bias > 0 {
			bias = make([]float32, c.bias)
		}
		if _, err := NewConvF32(s, make([]float32, c.weights), bias, ConvF32Config{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// FuzzConvF32 compares every kernel with the naive loops on geometries that a fuzzer chooses.
func FuzzConvF32(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		groups := 1 + r.IntN(3)*r.IntN(2)
		s := ConvShape{Batch: 1 + r.IntN(2), Channels: groups * (1 + r.IntN(24)), Height: 1 + r.IntN(20), Width: 1 + r.IntN(20),
			Filters: groups * (1 + r.IntN(40)), Groups: groups, KernelH: 1 + r.IntN(5), KernelW: 1 + r.IntN(5), StrideH: 1 + r.IntN(3),
			StrideW: 1 + r.IntN(3), DilationH: 1 + r.IntN(3), DilationW: 1 + r.IntN(3), PadTop: r.IntN(4), PadLeft: r.IntN(4),
			PadBottom: r.IntN(4), PadRight: r.IntN(4)}
		if s.check() != nil {
			return
		}
		testConvF32(t, s, asm.HostFeatures(), seed%2 == 0, 1+r.IntN(3))
		testConvF32(t, s, 0, seed%2 == 1, 1)
		s.Filters, s.Groups = s.Channels, s.Channels
		testDepthwise(t, s, asm.HostFeatures(), 1+r.IntN(3))
		testPool(t, s, asm.HostFeatures(), PoolMode(r.IntN(3)), 0)
	})
}
