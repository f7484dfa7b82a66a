package convolutions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

func TestTransposedInt8(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	shapes := transposedShapes()
	for range 100 {
		if s, ok := randomTransposed(r); ok {
			shapes = append(shapes, s)
		}
	}
	sets := append(cputest.FeatureSets(), asm.AVX2|asm.AVXVNNI)
	for i, s := range shapes {
		features := sets[i%len(sets)]
		if !asm.HostFeatures().Has(features) {
			continue
		}
		t.Run(fmt.Sprintf("%v/%v", s, features), func(t *testing.T) { testTransposedInt8(t, s, features, 1+i%3) })
	}
}

// testTransposedInt8 compares sums, which float32 holds exactly, with the naive loops.
func testTransposedInt8(t *testing.T, s TransposedShape, features asm.Features, workers int) {
	r := rand.New(rand.NewPCG(7, uint64(s.Channels)))
	const zero = 117
	x, w := make([]float32, s.Batch*s.Channels*s.Height*s.Width), make([]float32, s.Filters/s.Groups*s.Channels*s.KernelH*s.KernelW)
	weights := make([]int16, len(w))
	for i := range x {
		x[i] = float32(r.IntN(256) - zero)
	}
	for i := range w {
		weights[i] = int16(r.IntN(511)-255) / int16(1+15*r.IntN(2))
		w[i] = float32(weights[i])
	}
	bias, scale := make([]float32, s.Filters), make([]float32, s.Filters)
	for f := range bias {
		bias[f], scale[f] = float32(r.IntN(1000)), 1
	}
	want, _ := naiveTransposed(s, x, w, bias)
	c, err := NewTransposedInt8(s, weights, scale, bias, ConfigInt8{InZero: zero, Features: features, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	pixels := s.OutHeight * s.OutWidth
	blocked := cputest.ToBlocked(x, s.Batch, s.Channels, s.Height*s.Width, 50)
	in := make([]byte, len(blocked))
	for i, v := range blocked {
		in[i] = byte(v + zero)
	}
	out := make([]float32, s.Batch*work.BlocksOf(s.Filters)*work.Lanes*pixels)
	fill(out)
	c.Run(cputest.Serial, &quantised.Call{In: work.BlockedBytes(in, s.Channels, s.Height, s.Width), Workspace: make([]byte, c.Workspace()),
		Epilogue: quantised.Epilogue{Inner: programs.NoLimits(), Outer: programs.NoLimits(), Float: work.Blocked(out, s.Filters, s.OutHeight, s.OutWidth)}})
	if s.Filters <= work.Lanes {
		testPlanarInt8(t, s, in, want, weights, scale, bias, ConfigInt8{InZero: zero, Features: features, Workers: workers, Planar: true})
	}
	for i, v := range want {
		f, n, p := i/pixels%s.Filters, i/pixels/s.Filters, i%pixels
		if got := out[((n*work.BlocksOf(s.Filters)+f/work.Lanes)*pixels+p)*work.Lanes+f%work.Lanes]; float64(got) != v {
			t.Fatalf("image %d channel %d row %d column %d = %g, want %g", n, f, p/s.OutWidth, p%s.OutWidth, got, v)
		}
	}
}

// testPlanarInt8 does so with the output in rows, more than there are between images.
func testPlanarInt8(t *testing.T, s TransposedShape, in []byte, want []float64, weights []int16, scale, bias []float32, cfg ConfigInt8) {
	c, err := NewTransposedInt8(s, weights, scale, bias, cfg)
	if err != nil {
		t.Fatal(err)
	}
	image := s.Filters * s.OutHeight * s.OutWidth
	out := make([]float32, s.Batch*(image+5))
	fill(out)
	c.Run(cputest.Serial, &quantised.Call{In: work.BlockedBytes(in, s.Channels, s.Height, s.Width), Workspace: make([]byte, c.Workspace()),
		Epilogue: quantised.Epilogue{Inner: programs.NoLimits(), Outer: programs.NoLimits(), Float: work.Tensor4{Data: out, Image: image + 5, Plane: s.OutHeight * s.OutWidth}}})
	for i, v := range want {
		if got := out[i/image*(image+5)+i%image]; float64(got) != v {
			t.Fatalf("planar element %d = %g, want %g", i, got, v)
		}
	}
}
