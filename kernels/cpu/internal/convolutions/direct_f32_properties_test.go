package convolutions

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/poolings"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// concurrent runs a convolution of x from several goroutines at once, each with several workers: all results, of so many
// elements, are those of a single worker, bit for bit.
func concurrent(t *testing.T, x work.Tensor4, out func([]float32) work.Tensor4, elements int, build func(workers int) (transposedComputation, error)) {
	t.Helper()
	run := func(c transposedComputation, parallel work.Parallel) []float32 {
		y := make([]float32, elements)
		c.Run(parallel, &CallF32{In: x, Out: out(y), Limits: programs.NoLimits(), Workspace: make([]float32, c.Workspace())})
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
	want := run(alone, cputest.Serial)
	cputest.Spawn(3, func(int) {
		for i, got := range run(c, cputest.Spawn) {
			if got != want[i] {
				t.Errorf("element %d = %g, want %g", i, got, want[i])
				return
			}
		}
	})
}

func TestConvF32Concurrent(t *testing.T) {
	s := cputest.Square(48, 23, 21, 80, 3, 1, 1)
	r := rand.New(rand.NewPCG(2, 2))
	w, x := cputest.Normals(r, s.Filters*s.Channels*9), cputest.Normals(r, 48*23*21)
	out := func(y []float32) work.Tensor4 { return work.Blocked(y, 80, 23, 21) }
	concurrent(t, work.Blocked(x, 48, 23, 21), out, 80*23*21, func(workers int) (transposedComputation, error) {
		return NewDirectF32(s, w, nil, ConfigF32{Features: asm.HostFeatures(), Workers: workers})
	})
}

// TestRunAllocatesNothing covers what an inference repeats.
func TestRunAllocatesNothing(t *testing.T) {
	if cputest.RaceEnabled {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	r := rand.New(rand.NewPCG(2, 2))
	s := cputest.Square(16, 9, 9, 32, 3, 2, 1)
	c, err := NewDirectF32(s, cputest.Normals(r, 32*16*9), nil, ConfigF32{Features: asm.HostFeatures(), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDepthwiseF32(cputest.Depthwise(32, 5, 5, 3, 1, 1), windows.Depth{}, cputest.Normals(r, 32*9), nil, asm.HostFeatures(), 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := poolings.NewPoolF32(poolings.PoolShape{Batch: 1, Channels: 32, Height: 5, Width: 5, KernelH: 2, KernelW: 2, StrideH: 1, StrideW: 1,
		DilationH: 1, DilationW: 1}, poolings.AveragePool, asm.HostFeatures(), 2)
	if err != nil {
		t.Fatal(err)
	}
	b, err := products.NewPackedB(25, 7, asm.HostFeatures())
	if err != nil {
		t.Fatal(err)
	}
	workspace := make([]float32, max(c.Workspace(), d.Workspace(), p.Workspace()))
	x, y, z := make([]float32, 16*81), make([]float32, 32*25), make([]float32, 32*25)
	first := &CallF32{In: work.Blocked(x, 16, 9, 9), Out: work.Blocked(y, 32, 5, 5), Limits: programs.NoLimits(), Workspace: workspace}
	second := &CallF32{In: first.Out, Out: work.Blocked(z, 32, 5, 5), Limits: programs.NoLimits(), Workspace: workspace}
	third := &poolings.PoolF32Call{In: second.Out, Out: first.Out, Workspace: workspace}
	fourth := &products.GemmF32Call{M: 32, A: z, AStride: 25, B: b, Out: y, OutStride: 25, Limits: programs.NoLimits(), Workers: 2}
	if n := testing.AllocsPerRun(20, func() {
		c.Run(cputest.Serial, first)
		d.Run(cputest.Serial, second)
		p.Run(cputest.Serial, third)
		products.Gemm(cputest.Serial, fourth)
	}); n > 0 {
		t.Errorf("%g allocations a run", n)
	}
}

func TestConvF32Errors(t *testing.T) {
	good := cputest.Square(4, 5, 5, 8, 3, 1, 1)
	for _, c := range []struct {
		want    string
		spoil   func(s *windows.Shape)
		weights int
		bias    int
	}{
		{"is empty", func(s *windows.Shape) { s.Height = 0 }, 288, 0},
		{"must be positive", func(s *windows.Shape) { s.StrideW = 0 }, 288, 0},
		{"negative pads", func(s *windows.Shape) { s.PadLeft = -1 }, 288, 0},
		{"do not split into 3 groups", func(s *windows.Shape) { s.Groups = 3 }, 288, 0},
		{"more than 512 taps", func(s *windows.Shape) { s.KernelH, s.KernelW = 32, 32 }, 288, 0},
		{"larger than the padded input", func(s *windows.Shape) { s.DilationH = 4 }, 288, 0},
		{"287 weights, want 288", func(*windows.Shape) {}, 287, 0},
		{"3 bias values, want 8", func(*windows.Shape) {}, 288, 3},
	} {
		s := good
		c.spoil(&s)
		var bias []float32
		if c.bias > 0 {
			bias = make([]float32, c.bias)
		}
		if _, err := NewDirectF32(s, make([]float32, c.weights), bias, ConfigF32{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// FuzzConvF32 compares every kernel with the naive loops on geometries that a fuzzer chooses.
func FuzzConvF32(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := cputest.RandomShape(r)
		if s.Check() != nil {
			return
		}
		testConvF32(t, s, asm.HostFeatures(), seed%2 == 0, 1+r.IntN(3))
		testConvF32(t, s, 0, seed%2 == 1, 1)
		s.Filters, s.Groups = s.Channels, s.Channels
		testDepthwise(t, s, asm.HostFeatures(), 1+r.IntN(3))
	})
}
