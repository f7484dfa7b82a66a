package convolutions

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// int8Shapes are the odd corners of a convolution.
var int8Shapes = []windows.Shape{
	cputest.Square(16, 5, 5, 16, 1, 1, 0),
	cputest.Square(3, 9, 7, 17, 3, 1, 1),
	cputest.Square(1, 12, 12, 8, 5, 2, 2),
	cputest.Square(4, 11, 13, 33, 7, 2, 3),
	cputest.Square(35, 7, 7, 49, 3, 1, 1),
	cputest.Square(17, 8, 6, 40, 1, 2, 0),
	cputest.Square(64, 14, 14, 96, 3, 2, 1),
	cputest.Square(256, 14, 14, 32, 3, 1, 1), // more inputs than are laid out at a time, and these not whole tiles
	{Batch: 2, Channels: 5, Height: 9, Width: 10, Filters: 6, Groups: 1, KernelH: 2, KernelW: 3, StrideH: 2, StrideW: 1,
		DilationH: 2, DilationW: 3, PadTop: 1, PadLeft: 0, PadBottom: 3, PadRight: 2},
	{Batch: 2, Channels: 24, Height: 6, Width: 6, Filters: 36, Groups: 3, KernelH: 3, KernelW: 3, StrideH: 1, StrideW: 1,
		DilationH: 1, DilationW: 1, PadTop: 1, PadLeft: 1, PadBottom: 1, PadRight: 1},
	{Batch: 1, Channels: 40, Height: 4, Width: 4, Filters: 40, Groups: 40, KernelH: 3, KernelW: 3, StrideH: 1, StrideW: 1,
		DilationH: 1, DilationW: 1, PadTop: 0, PadLeft: 2, PadBottom: 1, PadRight: 0},
}

func TestConvInt8(t *testing.T) {
	for _, s := range int8Shapes {
		for _, features := range cputest.FeatureSets() {
			for _, limit := range []int{127, 255} {
				for _, stem := range []bool{false, true} {
					if stem && (s.Channels > 4 || s.DilationW > 1) {
						continue
					}
					name := fmt.Sprintf("%dx%dx%d_%d_g%d/%v/limit%d/stem%v", s.Channels, s.Height, s.Width, s.Filters, s.Groups, features, limit, stem)
					t.Run(name, func(t *testing.T) {
						c := cputest.NewInt8Case(rand.New(rand.NewPCG(3, 4)), s, limit)
						conv, err := NewDirectInt8(s, c.Weights, c.Scale, c.Bias,
							ConfigInt8{InZero: c.Zero, Stem: stem, Features: features, Workers: 2})
						if err != nil {
							t.Fatal(err)
						}
						c.Check(t, conv, stem)
					})
				}
			}
		}
	}
}

// TestConvInt8Concurrent runs one convolution several times at once, each on two goroutines.
func TestConvInt8Concurrent(t *testing.T) {
	s := cputest.Square(33, 30, 30, 70, 3, 1, 1)
	c := cputest.NewInt8Case(rand.New(rand.NewPCG(3, 4)), s, 127)
	conv, err := NewDirectInt8(s, c.Weights, c.Scale, c.Bias, ConfigInt8{InZero: c.Zero, Features: asm.HostFeatures(), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	both := func(n int, f func(int)) {
		var wait sync.WaitGroup
		for i := range n {
			wait.Go(func() { f(i) })
		}
		wait.Wait()
	}
	in := work.BlockedBytes(cputest.BlockedBytes(c.X, 1, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
	outs := make([][]byte, 4)
	both(len(outs), func(i int) {
		call := quantised.Call{In: in, Epilogue: c.Epilogue, Workspace: make([]byte, conv.Workspace())}
		outs[i] = make([]byte, work.BlocksOf(s.Filters)*s.OutHeight()*s.OutWidth()*work.Lanes)
		call.Epilogue.Out = work.BlockedBytes(outs[i], s.Filters, s.OutHeight(), s.OutWidth())
		conv.Run(both, &call)
	})
	for i := range outs {
		if !bytes.Equal(outs[i], outs[0]) {
			t.Fatalf("run %d differs from run 0", i)
		}
	}
}

// TestUnits: workers have as many units each, or four and more to share, as far as there are panels to cut by.
func TestUnits(t *testing.T) {
	for _, features := range cputest.FeatureSets() {
		for _, size := range []int{7, 14, 28, 56} {
			for workers := 1; workers <= 8; workers++ {
				c, err := planDirectInt8(cputest.Square(128, size, size, 512, 3, 1, 1), ConfigInt8{Features: features, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				if n := c.rowBlocks() * c.groups; n < 4*workers && n%workers != 0 && c.groups < len(c.panels) {
					t.Errorf("%v: %d units of %dx%d for %d workers", features, n, size, size, workers)
				}
			}
		}
	}
}
