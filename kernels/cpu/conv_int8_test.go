package cpu

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/quantised"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// naiveSums computes the exact sums of an NCHW convolution of bytes; padding holds the zero point.
func naiveSums(s ConvShape, x []byte, zero int32, w []int16) []int32 {
	oh, ow := s.OutHeight(), s.OutWidth()
	inGroup, outGroup := s.Channels/s.Groups, s.Filters/s.Groups
	var y []int32
	for n := range s.Batch {
		for f := range s.Filters {
			for i := range oh * ow {
				sum := int32(0)
				for c := range inGroup {
					plane := x[(n*s.Channels+f/outGroup*inGroup+c)*s.Height*s.Width:]
					for kh := range s.KernelH {
						for kw := range s.KernelW {
							iy := i/ow*s.StrideH + kh*s.DilationH - s.PadTop
							ix := i%ow*s.StrideW + kw*s.DilationW - s.PadLeft
							if iy < 0 || iy >= s.Height || ix < 0 || ix >= s.Width {
								continue
							}
							sum += (int32(plane[iy*s.Width+ix]) - zero) * int32(w[((f*inGroup+c)*s.KernelH+kh)*s.KernelW+kw])
						}
					}
				}
				y = append(y, sum)
			}
		}
	}
	return y
}

// blockedBytes converts NCHW to NCHWc16; lanes beyond the channels hold junk.
func blockedBytes(x []byte, n, c, pixels int) []byte {
	out := make([]byte, n*work.BlocksOf(c)*pixels*work.Lanes)
	for i := range out {
		l, p, b := i%work.Lanes, i/work.Lanes%pixels, i/work.Lanes/pixels
		image, channel := b/work.BlocksOf(c), b%work.BlocksOf(c)*work.Lanes+l
		out[i] = byte(77 * i)
		if channel < c {
			out[i] = x[(image*c+channel)*pixels+p]
		}
	}
	return out
}

func randomBytes(r *rand.Rand, n int) []byte {
	v := make([]byte, n)
	for i := range v {
		v[i] = byte(r.IntN(256))
	}
	return v
}

// int8Case is a quantised convolution on random data with every part of the epilogue.
type int8Case struct {
	shape       ConvShape
	x, residual []byte // NCHW
	weights     []int16
	zero        int32
	scale, bias []float32
	epilogue    quantised.Epilogue
}

func newInt8Case(r *rand.Rand, s ConvShape, limit int) *int8Case {
	c := &int8Case{shape: s, zero: int32(r.IntN(256)), x: randomBytes(r, s.Batch*s.Channels*s.Height*s.Width)}
	for range s.Filters * s.Channels / s.Groups * s.KernelH * s.KernelW {
		c.weights = append(c.weights, int16(r.IntN(2*limit+1)-limit))
	}
	for range s.Filters {
		c.scale = append(c.scale, r.Float32()*0.001)
		c.bias = append(c.bias, float32(r.NormFloat64()))
	}
	c.residual = randomBytes(r, s.Batch*s.Filters*s.OutHeight()*s.OutWidth())
	c.epilogue = quantised.Epilogue{Outer: [2]float32{-10, 12}, OutScale: 0.11, OutZero: 120,
		ClampInner: true, Inner: [2]float32{-9, 9}, ResidualScale: 0.02, ResidualZero: 100}
	return c
}

// value computes the real value of element i (NCHW) of the output from its sum.
func (c *int8Case) value(i int, sum int32) float32 {
	e := &c.epilogue
	f := i / (c.shape.OutHeight() * c.shape.OutWidth()) % c.shape.Filters
	v := float32(float32(sum)*c.scale[f]) + c.bias[f]
	v = min(max(v, e.Inner[0]), e.Inner[1])
	v += float32((float32(c.residual[i]) - float32(e.ResidualZero)) * e.ResidualScale)
	return min(max(v, e.Outer[0]), e.Outer[1])
}

// want quantises it.
func (c *int8Case) want(i int, sum int32) byte {
	q := math.RoundToEven(float64(c.value(i, sum)/c.epilogue.OutScale)) + float64(c.epilogue.OutZero)
	return byte(min(max(q, 0), 255))
}

// runsInt8 is what the convolutions of bytes have in common.
type runsInt8 interface {
	Workspace() int
	Run(work.Parallel, *quantised.Call)
}

// check runs the convolution and compares every element.
func (c *int8Case) check(t *testing.T, conv runsInt8, stem bool) {
	t.Helper()
	s := c.shape
	oh, ow := s.OutHeight(), s.OutWidth()
	call := quantised.Call{Epilogue: c.epilogue, Workspace: make([]byte, conv.Workspace())}
	call.In = work.BlockedBytes(blockedBytes(c.x, s.Batch, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
	if stem {
		call.In = work.Bytes4{Data: c.x, Image: s.Channels * s.Height * s.Width, Plane: s.Height * s.Width}
	}
	call.Epilogue.Residual = work.BlockedBytes(blockedBytes(c.residual, s.Batch, s.Filters, oh*ow), s.Filters, oh, ow)
	out := make([]byte, s.Batch*work.BlocksOf(s.Filters)*oh*ow*work.Lanes)
	call.Epilogue.Out = work.BlockedBytes(out, s.Filters, oh, ow)
	conv.Run(serial, &call)
	for i, sum := range naiveSums(s, c.x, c.zero, c.weights) {
		p, plane := i%(oh*ow), i/(oh*ow)
		n, f := plane/s.Filters, plane%s.Filters
		got := out[((n*work.BlocksOf(s.Filters)+f/work.Lanes)*oh*ow+p)*work.Lanes+f%work.Lanes]
		if want := c.want(i, sum); got != want {
			t.Fatalf("image %d filter %d pixel %d: %d, want %d (sum %d)", n, f, p, got, want, sum)
		}
	}
}

// int8Shapes are the odd corners of a convolution.
var int8Shapes = []ConvShape{
	conv(16, 5, 5, 16, 1, 1, 0),
	conv(3, 9, 7, 17, 3, 1, 1),
	conv(1, 12, 12, 8, 5, 2, 2),
	conv(4, 11, 13, 33, 7, 2, 3),
	conv(35, 7, 7, 49, 3, 1, 1),
	conv(17, 8, 6, 40, 1, 2, 0),
	conv(64, 14, 14, 96, 3, 2, 1),
	{Batch: 2, Channels: 5, Height: 9, Width: 10, Filters: 6, Groups: 1, KernelH: 2, KernelW: 3, StrideH: 2, StrideW: 1,
		DilationH: 2, DilationW: 3, PadTop: 1, PadLeft: 0, PadBottom: 3, PadRight: 2},
	{Batch: 2, Channels: 24, Height: 6, Width: 6, Filters: 36, Groups: 3, KernelH: 3, KernelW: 3, StrideH: 1, StrideW: 1,
		DilationH: 1, DilationW: 1, PadTop: 1, PadLeft: 1, PadBottom: 1, PadRight: 1},
	{Batch: 1, Channels: 40, Height: 4, Width: 4, Filters: 40, Groups: 40, KernelH: 3, KernelW: 3, StrideH: 1, StrideW: 1,
		DilationH: 1, DilationW: 1, PadTop: 0, PadLeft: 2, PadBottom: 1, PadRight: 0},
}

func TestConvInt8(t *testing.T) {
	for _, s := range int8Shapes {
		for _, features := range featureSets() {
			for _, limit := range []int{127, 255} {
				for _, stem := range []bool{false, true} {
					if stem && (s.Channels > 4 || s.DilationW > 1) {
						continue
					}
					name := fmt.Sprintf("%dx%dx%d_%d_g%d/%v/limit%d/stem%v", s.Channels, s.Height, s.Width, s.Filters, s.Groups, features, limit, stem)
					t.Run(name, func(t *testing.T) {
						c := newInt8Case(rand.New(rand.NewPCG(3, 4)), s, limit)
						conv, err := NewConvInt8(s, c.weights, c.scale, c.bias,
							ConvInt8Config{InZero: c.zero, Stem: stem, Features: features, Workers: 2})
						if err != nil {
							t.Fatal(err)
						}
						c.check(t, conv, stem)
					})
				}
			}
		}
	}
}

// TestConvInt8Concurrent runs one convolution several times at once, each on two goroutines.
func TestConvInt8Concurrent(t *testing.T) {
	s := conv(33, 30, 30, 70, 3, 1, 1)
	c := newInt8Case(rand.New(rand.NewPCG(3, 4)), s, 127)
	conv, err := NewConvInt8(s, c.weights, c.scale, c.bias, ConvInt8Config{InZero: c.zero, Features: asm.HostFeatures(), Workers: 2})
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
	in := work.BlockedBytes(blockedBytes(c.x, 1, s.Channels, s.Height*s.Width), s.Channels, s.Height, s.Width)
	outs := make([][]byte, 4)
	both(len(outs), func(i int) {
		call := quantised.Call{In: in, Epilogue: c.epilogue, Workspace: make([]byte, conv.Workspace())}
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
