package convolutions

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

// convShapes are odd geometries, small enough for a naive reference.
func convShapes() []windows.Shape {
	batch := cputest.Square(17, 5, 6, 33, 3, 1, 1)
	batch.Batch = 3
	grouped := cputest.Square(64, 7, 7, 96, 3, 1, 1)
	grouped.Groups = 2
	narrow := cputest.Square(24, 6, 6, 36, 3, 2, 1)
	narrow.Groups = 6
	depthwise := cputest.Square(19, 9, 8, 19, 3, 1, 1)
	depthwise.Groups = 19
	dilated := cputest.Square(8, 13, 12, 20, 3, 1, 2)
	dilated.DilationH, dilated.DilationW = 2, 3
	both := cputest.Square(5, 17, 16, 7, 3, 3, 2)
	both.DilationH, both.DilationW = 2, 2
	lopsided := cputest.Square(3, 10, 9, 16, 5, 2, 0)
	lopsided.KernelW, lopsided.PadTop, lopsided.PadRight, lopsided.StrideW = 1, 3, 2, 1
	return []windows.Shape{
		cputest.Square(1, 1, 1, 1, 1, 1, 0), cputest.Square(3, 8, 8, 16, 3, 1, 1), cputest.Square(16, 7, 7, 16, 3, 1, 1), cputest.Square(20, 14, 14, 40, 3, 1, 1),
		cputest.Square(3, 32, 30, 64, 7, 2, 3), cputest.Square(32, 9, 9, 48, 1, 1, 0), cputest.Square(33, 9, 7, 31, 1, 2, 0), cputest.Square(40, 1, 17, 80, 1, 1, 0),
		cputest.Square(15, 4, 4, 17, 5, 1, 2), cputest.Square(16, 3, 3, 16, 3, 1, 3), cputest.Square(512, 7, 7, 64, 3, 1, 1), cputest.Square(1100, 3, 3, 40, 1, 1, 0),
		batch, grouped, narrow, depthwise, dilated, both, lopsided,
	}
}

func TestConvF32(t *testing.T) {
	for _, s := range convShapes() {
		for _, features := range cputest.FeatureSets() {
			for _, planar := range []bool{false, true} {
				for _, workers := range cputest.WorkerCounts() {
					name := fmt.Sprintf("%dx%dx%dx%d_%d_k%dx%d_s%d_d%d_g%d/%v/planar=%v/%d", s.Batch, s.Channels, s.Height, s.Width,
						s.Filters, s.KernelH, s.KernelW, s.StrideH, s.DilationH, s.Groups, features, planar, workers)
					t.Run(name, func(t *testing.T) { testConvF32(t, s, features, planar, workers) })
				}
			}
		}
	}
}

func testConvF32(t *testing.T, s windows.Shape, features asm.Features, planar bool, workers int) {
	r := rand.New(rand.NewPCG(7, uint64(s.Channels)))
	x := cputest.Normals(r, s.Batch*s.Channels*s.Height*s.Width)
	w := cputest.Normals(r, s.Filters*s.Channels/s.Groups*s.KernelH*s.KernelW)
	bias := cputest.Normals(r, s.Filters)
	want, scale := cputest.Conv(s, x, w, bias)
	c, err := NewDirectF32(s, w, bias, ConfigF32{Planar: planar, Features: features, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	oh, ow := s.OutHeight(), s.OutWidth()
	residual := cputest.Normals(r, len(want))
	call := CallF32{Limits: [2]float32{-40, 60}, Workspace: make([]float32, c.Workspace())}
	call.In = work.Planar(x, s.Channels, s.Height, s.Width)
	if !planar {
		call.In = work.Blocked(cputest.ToBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 7), s.Channels, s.Height, s.Width)
	}
	call.Residual = work.Blocked(cputest.ToBlocked(residual, s.Batch, s.Filters, oh*ow, 0), s.Filters, oh, ow)
	out := make([]float32, len(call.Residual.Data))
	call.Out = work.Blocked(out, s.Filters, oh, ow)
	var after int
	if workers == 1 {
		call.After = func(_, _, n int) { after += n }
	}
	c.Run(cputest.Serial, &call)
	if workers == 1 && after != len(out) {
		t.Errorf("After saw %d of %d elements", after, len(out))
	}
	for i := range want {
		f, n, p := i/(oh*ow)%s.Filters, i/(oh*ow)/s.Filters, i%(oh*ow)
		got := out[n*call.Out.Image+f/work.Lanes*call.Out.Plane+p*work.Lanes+f%work.Lanes]
		v := min(max(want[i]+float64(residual[i]), -40), 60)
		if d := math.Abs(float64(got) - v); !(d <= 1e-6*(1+scale[i])) {
			t.Fatalf("image %d channel %d pixel %d = %g, want %g", n, f, p, got, v)
		}
	}
}
