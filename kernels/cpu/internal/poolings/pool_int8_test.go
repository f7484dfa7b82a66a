package poolings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func TestPoolInt8(t *testing.T) {
	for _, s := range cputest.WindowShapes() {
		for _, features := range cputest.FeatureSets() {
			for _, mode := range []PoolMode{MaxPool, AveragePool, AveragePoolIncludingPad} {
				for extra := range 2 {
					t.Run(fmt.Sprintf("%s/mode%d/extra%d", cputest.WindowName(s, features), mode, extra), func(t *testing.T) {
						testPoolInt8(t, s, features, mode, extra)
					})
				}
			}
		}
	}
}

func testPoolInt8(t *testing.T, s windows.Shape, features asm.Features, mode PoolMode, extra int) {
	p := PoolShape{Batch: s.Batch, Channels: s.Channels, Height: s.Height, Width: s.Width, KernelH: s.KernelH, KernelW: s.KernelW,
		StrideH: s.StrideH, StrideW: s.StrideW, DilationH: s.DilationH, DilationW: s.DilationW,
		PadTop: s.PadTop, PadLeft: s.PadLeft, PadBottom: s.PadBottom, PadRight: s.PadRight, ExtraBottom: extra, ExtraRight: extra}
	const scale, zero = 0.05, 77
	l, err := NewPoolInt8(p, mode, scale, zero, features, 2)
	if err != nil {
		t.Fatal(err)
	}
	s.PadBottom, s.PadRight = s.PadBottom+extra, s.PadRight+extra
	c := cputest.NewInt8Case(rand.New(rand.NewPCG(7, 8)), s, 1)
	oh, ow := s.OutHeight(), s.OutWidth()
	call := quantised.Call{Epilogue: c.Epilogue, Workspace: make([]byte, l.Workspace())}
	call.In = work.BlockedBytes(cputest.BlockedBytes(c.X, s.Batch, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
	call.Epilogue.ClampInner = false
	out := make([]byte, s.Batch*work.BlocksOf(s.Filters)*oh*ow*work.Lanes)
	call.Epilogue.Out = work.BlockedBytes(out, s.Filters, oh, ow)
	l.Run(cputest.Serial, &call)
	for i := range s.Batch * s.Channels * oh * ow {
		pixel, plane := i%(oh*ow), i/(oh*ow)
		sum, count, largest := windowNaive(&s, &p, mode, c.X[plane*s.Height*s.Width:], zero, pixel/ow, pixel%ow)
		want := largest
		if mode != MaxPool {
			v := float32(sum) * (float32(scale) / float32(count))
			v = min(max(v, call.Epilogue.Outer[0]), call.Epilogue.Outer[1])
			want = byte(min(max(math.RoundToEven(float64(v/call.Epilogue.OutScale))+float64(call.Epilogue.OutZero), 0), 255))
		}
		n, f := plane/s.Channels, plane%s.Channels
		if got := out[((n*work.BlocksOf(s.Filters)+f/work.Lanes)*oh*ow+pixel)*work.Lanes+f%work.Lanes]; got != want {
			t.Fatalf("image %d channel %d pixel %d: %d, want %d (sum %d of %d)", n, f, pixel, got, want, sum, count)
		}
	}
}

// windowNaive looks at every element of the window of output pixel (y, x).
func windowNaive(s *windows.Shape, p *PoolShape, mode PoolMode, plane []byte, zero int32, y, x int) (sum, count int32, largest byte) {
	for kh := range s.KernelH {
		for kw := range s.KernelW {
			iy, ix := y*s.StrideH+kh*s.DilationH-s.PadTop, x*s.StrideW+kw*s.DilationW-s.PadLeft
			if iy >= 0 && iy < s.Height && ix >= 0 && ix < s.Width {
				v := plane[iy*s.Width+ix]
				sum, count, largest = sum+int32(v)-zero, count+1, max(largest, v)
			} else if mode == AveragePoolIncludingPad && iy < s.Height+p.PadBottom && ix < s.Width+p.PadRight {
				count++
			}
		}
	}
	return sum, max(count, 1), largest
}

func TestGlobalInt8(t *testing.T) {
	for _, features := range cputest.FeatureSets() {
		const batch, channels, h, w, scale, zero = 2, 21, 33, 40, 0.05, 99
		g, err := NewGlobalInt8(AveragePool, batch, channels, h, w, scale, zero, features, 2)
		if err != nil {
			t.Fatal(err)
		}
		x := cputest.RandomBytes(rand.New(rand.NewPCG(1, 2)), batch*channels*h*w)
		out := make([]float32, batch*work.BlocksOf(channels)*work.Lanes)
		call := quantised.Call{In: work.BlockedBytes(cputest.BlockedBytes(x, batch, channels, h*w), channels, h, w)}
		call.Epilogue = quantised.Epilogue{Outer: programs.NoLimits(), Float: work.Blocked(out, channels, 1, 1)}
		g.Run(cputest.Serial, &call)
		for i := range batch * channels {
			sum := int32(0)
			for _, v := range x[i*h*w:][:h*w] {
				sum += int32(v) - zero
			}
			want := float32(sum) * (float32(scale) / float32(h*w))
			if got := out[i/channels*work.BlocksOf(channels)*work.Lanes+i%channels]; got != want {
				t.Fatalf("%v: channel %d: %g, want %g", features, i, got, want)
			}
		}
	}
}
