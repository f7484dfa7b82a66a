package asm

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var inf32 = float32(math.Inf(1))

// qbytes returns n random bytes with the extremes well represented.
func qbytes(r *rand.Rand, n int) []byte {
	v := make([]byte, n)
	for i := range v {
		switch r.IntN(8) {
		case 0:
			v[i] = 0
		case 1:
			v[i] = 255
		default:
			v[i] = byte(r.IntN(256))
		}
	}
	return v
}

// qweights returns n random signed bytes, extremes included.
func qweights(r *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i, b := range qbytes(r, n) {
		v[i] = int8(b)
	}
	return v
}

// requantCase returns an epilogue for n pixels: variant's bits choose residual, clamps, separate strides,
// float output, float residual, rounding between and rows with ranges of their own.
func requantCase(r *rand.Rand, n, blocks, variant int) *Requant {
	q := &Requant{Outer: [2]float32{-inf32, inf32}, OutScale: 0.37 + r.Float32(), OutZero: int32(r.IntN(256)), Flip: byte(0x80 * r.IntN(2)),
		OutPixel: 16, OutBlock: 16 * n, ResidualScale: 0.01 + r.Float32()/7, ResidualZero: float32(r.IntN(256))}
	if r.IntN(8) == 0 {
		q.OutScale = []float32{1e-37, 3e-30, 1e30}[r.IntN(3)]
	}
	for range 16 * blocks {
		q.Scale = append(q.Scale, 0.0001+r.Float32()*0.01)
		q.Bias = append(q.Bias, float32(r.NormFloat64())*20)
	}
	q.Bias[1], q.Bias[3], q.Bias[5], q.Bias[7] = 1e12, -1e12, inf32, -inf32
	if variant&1 != 0 {
		q.ResidualPixel, q.ResidualBlock = 16, 16*n+48
		q.Residual = qbytes(r, q.ResidualBlock*blocks)
	}
	if variant&32 != 0 {
		q.Residual, q.ResidualPixel, q.ResidualBlock = nil, 16*blocks+3, 16
		for range (n-1)*q.ResidualPixel + 16*blocks {
			q.Addend = append(q.Addend, float32(r.NormFloat64())*10)
		}
	}
	if variant&2 != 0 {
		q.ClampInner, q.Inner = true, [2]float32{0, 17}
	}
	if variant&64 != 0 {
		q.Between = Rounding{0.05 + r.Float32(), int32(r.IntN(256))}
	}
	if variant&128 != 0 {
		for range n {
			q.Rows = append(q.Rows, float32(r.IntN(256)-127), r.Float32()*3)
		}
		for range 16 * blocks {
			q.Sums = append(q.Sums, float32(r.NormFloat64()))
		}
	}
	if variant&4 != 0 {
		q.Outer = [2]float32{-5, 30}
	}
	if variant&8 != 0 {
		q.OutPixel, q.OutBlock = 16*blocks+5, 16 // rows of a matrix
	}
	size := (n-1)*q.OutPixel + (blocks-1)*q.OutBlock + 16
	if variant&16 != 0 {
		q.Float = make([]float32, size)
	} else {
		q.Out = make([]byte, size)
	}
	return q
}

// qconvCase builds a call on random data.
func qconvCase(r *rand.Rand, blocks, pixels, steps, variant int) *QConvCall {
	c := &QConvCall{In: qbytes(r, 16*(2*pixels+steps+1)), Weights: qweights(r, steps*256*blocks),
		Requant: requantCase(r, pixels, blocks, variant)}
	for x := range pixels {
		c.Pixels = append(c.Pixels, int32(32*x))
	}
	for s := range steps {
		c.Steps = append(c.Steps, int32(16*(steps-s)-4*(s%2)))
	}
	for range 16 * blocks {
		c.Start = append(c.Start, int32(r.IntN(200000)-100000))
	}
	return c
}

// qconvCaseOf is a case for a kernel: for one that takes pairs, with weights of which the largest are as large as they may be, and a rest.
func qconvCaseOf(k QConvKernel, r *rand.Rand, pixels, steps, variant int) *QConvCall {
	c := qconvCase(r, k.Blocks, pixels, steps*k.Steps, variant)
	if !k.Pairs {
		return c
	}
	for range c.Steps {
		for _, i := range r.Perm(16) {
			c.Pairs.Order = append(c.Pairs.Order, byte(i))
		}
	}
	for half := range 2 {
		for range r.IntN(5) {
			c.Pairs.Rest = append(c.Pairs.Rest, c.Steps[r.IntN(len(c.Steps))]+int32(4*r.IntN(4)))
		}
		if half == 0 {
			c.Pairs.Low = len(c.Pairs.Rest)
		}
	}
	c.Weights = append(c.Weights, qweights(r, len(c.Pairs.Rest)*RestBytes)...)
	for i := 0; i < len(c.Weights); i += 2 {
		a, b := int(c.Weights[i]), int(c.Weights[i+1])
		if a > 0 && b > 0 || a < 0 && b < 0 {
			b = max(-MostPair, min(MostPair, a+b)) - a
		}
		c.Weights[i+1] = int8(b)
	}
	return c
}

// qconvNaive is the definition: sums first, then the epilogue of each.
func qconvNaive(c *QConvCall, blocks int) {
	for x, p := range c.Pixels {
		for b := range blocks {
			var sums [16]int32
			for l := range sums {
				o := 16*b + l
				sum := int64(c.Start[o])
				for t, s := range c.Steps {
					for i := range 16 {
						w := c.Weights[((t*4+i/4)*16*blocks+o)*4+i%4]
						at := i
						if c.Pairs.Order != nil {
							at = int(c.Pairs.Order[16*t+i])
						}
						sum += int64(c.In[int(p+s)+at]) * int64(w)
					}
				}
				for t, s := range c.Pairs.Rest {
					if low := t < c.Pairs.Low; low != (l < 8) {
						continue
					}
					for i := range 4 {
						w := c.Weights[len(c.Steps)*256*blocks+t*RestBytes+l%8*4+i]
						sum += int64(c.In[int(p+s)+i]) * int64(w)
					}
				}
				sums[l] = int32(sum)
			}
			c.Requant.store(sums[:], x, b)
		}
	}
}

// testStrips runs a kernel on strips of many lengths with every epilogue and compares it with the naive one.
func testStrips(t *testing.T, run, naive func(*QConvCall), make func(r *rand.Rand, pixels, steps, variant int) *QConvCall) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for variant := range 256 {
		for _, pixels := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 25, 49, 65} {
			c := make(r, pixels, 1+variant%5, variant)
			run(c)
			got := *c.Requant
			c.Requant.Out, c.Requant.Float = slices.Clone(got.Out), slices.Clone(got.Float)
			clear(c.Requant.Out)
			clear(c.Requant.Float)
			naive(c)
			what := fmt.Sprintf("variant %d, %d pixels", variant, pixels)
			if !bytes.Equal(got.Out, c.Requant.Out) {
				t.Fatalf("%s: bytes differ\n got %v\nwant %v", what, got.Out, c.Requant.Out)
			}
			if !slices.Equal(got.Float, c.Requant.Float) {
				t.Fatalf("%s: values differ", what)
			}
		}
	}
}

func TestQConvKernels(t *testing.T) {
	for _, k := range QConvKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			testStrips(t, k.Run, func(c *QConvCall) { qconvNaive(c, k.Blocks) },
				func(r *rand.Rand, pixels, steps, variant int) *QConvCall {
					return qconvCaseOf(k, r, pixels, steps, variant)
				})
			if k.InPlace() {
				return
			}
			turn := 0
			packed := func(c *QConvCall) {
				turn++
				c.Streamed = turn%2 == 0
				c.Packed = make([]byte, k.PackedSize(len(c.Pixels), len(c.Steps)))
				k.Pack(c.Packed, c)
				in := c.In
				c.In = nil
				k.Run(c)
				c.In = in
			}
			testStrips(t, packed, func(c *QConvCall) { qconvNaive(c, k.Blocks) },
				func(r *rand.Rand, pixels, steps, variant int) *QConvCall {
					return qconvCaseOf(k, r, pixels, steps, variant)
				})
		})
	}
}

// TestQConvActivations compares results with those of the instruction set's functions on vectors, of which none may differ in a bit.
func TestQConvActivations(t *testing.T) {
	functions := map[Activation]UnaryOp{ByGELU: GELU, ByGELUTanh: GELUTanh}
	for _, k := range QConvKernels() {
		if !k.Activates() {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			vec := vecKernelGeneric()
			if k.Needs != 0 {
				vec = VecKernels()[0]
			}
			r := rand.New(rand.NewPCG(3, 4))
			for variant := range 128 {
				activation := Activation(1 + variant%2)
				pixels := 1 + r.IntN(3*k.Pixels)
				c := qconvCase(r, k.Blocks, pixels, (1+variant%3)*k.Steps, 8*(variant/2%2)+16)
				for i := range c.Requant.Scale {
					c.Requant.Scale[i] /= 100 // where GELU bends
				}
				k.Run(c)
				want := slices.Clone(c.Requant.Float)
				vec.Unary(functions[activation], want, want, 0, 0)
				c.Requant.Activation = activation
				k.Run(c)
				for i, got := range c.Requant.Float {
					if math.Float32bits(got) != math.Float32bits(want[i]) && (got == got || want[i] == want[i]) {
						t.Fatalf("activation %d, %d pixels: element %d is %v, want %v", activation, pixels, i, got, want[i])
					}
				}
				q := *c.Requant
				q.Float, q.Out, q.Flip, q.ClampInner, q.Inner = nil, make([]byte, len(want)), 0, true, [2]float32{0.1, 2}
				q.OutScale = 0.01 + r.Float32()/100
				c.Requant = &q
				k.Run(c)
				for x := range pixels {
					for i := range 16 * k.Blocks {
						at := x*q.OutPixel + i/16*q.OutBlock + i%16
						if want := quantise(clamp(want[at], q.Inner), q.OutScale, q.OutZero); q.Out[at] != want {
							t.Fatalf("activation %d, %d pixels: byte %d is %d, want %d", activation, pixels, at, q.Out[at], want)
						}
					}
				}
			}
		})
	}
}
