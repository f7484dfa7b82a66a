package poolings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/windows"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func TestPoolF32(t *testing.T) {
	for _, s := range cputest.WindowShapes() {
		for _, features := range cputest.FeatureSets() {
			for _, mode := range []PoolMode{MaxPool, AveragePool, AveragePoolIncludingPad} {
				for _, extra := range []int{0, 1} {
					t.Run(fmt.Sprintf("%s/%d/extra=%d", cputest.WindowName(s, features), mode, extra), func(t *testing.T) {
						testPool(t, s, features, mode, extra)
					})
				}
			}
		}
	}
}

// FuzzPoolF32 compares poolings with the naive loops on geometries that a fuzzer chooses.
func FuzzPoolF32(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := cputest.RandomShape(r)
		if s.Filters, s.Groups = s.Channels, s.Channels; s.Check() != nil {
			return
		}
		testPool(t, s, asm.HostFeatures(), PoolMode(r.IntN(3)), 0)
	})
}

func testPool(t *testing.T, s windows.Shape, features asm.Features, mode PoolMode, extra int) {
	p := PoolShape{Batch: s.Batch, Channels: s.Channels, Height: s.Height, Width: s.Width, KernelH: s.KernelH, KernelW: s.KernelW,
		StrideH: s.StrideH, StrideW: s.StrideW, DilationH: s.DilationH, DilationW: s.DilationW, PadTop: s.PadTop, PadLeft: s.PadLeft,
		PadBottom: s.PadBottom, PadRight: s.PadRight, ExtraBottom: extra, ExtraRight: extra}
	l, err := NewPoolF32(p, mode, features, 1+2*extra)
	if err != nil {
		t.Fatal(err)
	}
	x := cputest.Normals(rand.New(rand.NewPCG(3, 3)), s.Batch*s.Channels*s.Height*s.Width)
	bottom, right := s.PadBottom, s.PadRight // of the padding that an average may count
	s.PadBottom, s.PadRight = s.PadBottom+extra, s.PadRight+extra
	oh, ow := s.OutHeight(), s.OutWidth()
	var want []float64
	for i := range s.Batch * s.Channels * oh * ow {
		plane := x[i/(oh*ow)*s.Height*s.Width:]
		most, sum, n := math.Inf(-1), 0.0, 0
		for k := range s.KernelH * s.KernelW {
			y := i%(oh*ow)/ow*s.StrideH + k/s.KernelW*s.DilationH - s.PadTop
			z := i%ow*s.StrideW + k%s.KernelW*s.DilationW - s.PadLeft
			if y >= 0 && y < s.Height && z >= 0 && z < s.Width {
				v := float64(plane[y*s.Width+z])
				most, sum, n = max(most, v), sum+v, n+1
			} else if mode == AveragePoolIncludingPad && y < s.Height+bottom && z < s.Width+right {
				n++
			}
		}
		if mode != MaxPool {
			most = sum / float64(max(1, n))
		}
		want = append(want, most)
	}
	call := PoolF32Call{Workspace: make([]float32, l.Workspace())}
	call.In = work.Blocked(cputest.ToBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	call.Out = work.Blocked(make([]float32, s.Batch*work.BlocksOf(s.Channels)*oh*ow*work.Lanes), s.Channels, oh, ow)
	l.Run(cputest.Serial, &call)
	cputest.CheckBlocked(t, s, call.Out, want, func(i int) (float64, float64) { return want[i], 1 })
}

func TestGlobalAverageF32(t *testing.T) {
	const batch, channels, pixels = 2, 37, 49
	x := cputest.Normals(rand.New(rand.NewPCG(3, 3)), batch*channels*pixels)
	for _, features := range cputest.FeatureSets() {
		g := NewGlobalAverageF32(batch, channels, pixels, features)
		out := work.Blocked(make([]float32, batch*work.BlocksOf(channels)*work.Lanes), channels, 1, 1)
		for u := range g.Units() {
			g.Run(out, work.Blocked(cputest.ToBlocked(x, batch, channels, pixels, 7), channels, 1, pixels), u)
		}
		for i := range batch * channels {
			want := 0.0
			for _, v := range x[i*pixels : (i+1)*pixels] {
				want += float64(v) / pixels
			}
			got := float64(out.Data[i/channels*out.Image+i%channels/work.Lanes*work.Lanes+i%channels%work.Lanes])
			if math.Abs(got-want) > 1e-6 {
				t.Fatalf("%v: image %d channel %d = %g, want %g", features, i/channels, i%channels, got, want)
			}
		}
	}
}
