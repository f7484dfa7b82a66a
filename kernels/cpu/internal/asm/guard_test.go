//go:build unix

package asm

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced copies v to memory between two pages that must not be touched: right before the second, or after the first.
func fenced[T any](t *testing.T, v []T, last bool) []T {
	t.Helper()
	if len(v) == 0 {
		return v
	}
	page := unix.Getpagesize()
	bytes := len(v) * int(unsafe.Sizeof(v[0]))
	room := (bytes + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, room+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	for _, fence := range [][]byte{m[:page], m[page+room:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if last {
		at += room - bytes
	}
	c := unsafe.Slice((*T)(unsafe.Pointer(&m[at])), len(v))
	copy(c, v)
	return c
}

// bothEnds runs f with operands fenced at their ends, then at their beginnings.
func bothEnds(t *testing.T, name string, need Features, f func(t *testing.T, r *rand.Rand, last bool)) {
	t.Run(name, func(t *testing.T) {
		runnable(t, need)
		for _, last := range []bool{true, false} {
			f(t, rand.New(rand.NewPCG(1, 2)), last)
		}
	})
}

// TestFencedProducts holds convolutions and products in float32 to the memory that their calls describe.
func TestFencedProducts(t *testing.T) {
	for _, k := range ConvKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for p := 1; p <= k.Pixels; p++ {
				c := convCase(r, k, p, 2, 7, true, p%2 == 0)
				reach, pixel := 0, 16
				if k.Planar {
					pixel = 1
				}
				for _, tap := range c.Taps {
					channels := 4 * int(tap.Quads)
					if k.Planar {
						channels = 1
					}
					reach = max(reach, int(tap.Offset)+pixel*(2*p-1)+channels)
				}
				size := c.OutPixel*(2*p-1) + 16
				c.In, c.Out = fenced(t, c.In[:reach], last), fenced(t, c.Out[:(k.Blocks-1)*c.OutBlock+size], last)
				c.Residual = fenced(t, c.Residual[:(k.Blocks-1)*c.ResidualBlock+size], last)
				c.Taps, c.Weights, c.Bias = fenced(t, c.Taps, last), fenced(t, c.Weights, last), fenced(t, c.Bias, last)
				k.Run(p, *c)
			}
		})
	}
	for _, k := range GemmKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for rows := 1; rows <= k.Rows; rows++ {
				columns := 1 + 5*rows%(16*k.Blocks)
				c := gemmCase(r, k, rows, 2, 9, columns, true, rows%2 == 0)
				m := 2*rows - 1
				c.A, c.B, c.Bias = fenced(t, c.A[:m*c.AStride+c.K], last), fenced(t, c.B, last), fenced(t, c.Bias, last)
				c.Out = fenced(t, c.Out[:m*c.OutStride+columns], last)
				c.Residual = fenced(t, c.Residual[:m*c.ResidualStride+columns], last)
				k.Run(rows, *c)
			}
		})
	}
}

// TestFencedWindows does so for depthwise convolutions and pooling.
func TestFencedWindows(t *testing.T) {
	const rows = 2
	reach := func(p int) int { return 16 * (2*p - 1 + 9 + 1) } // of windowTaps(9), the last of which is at 16*9
	for _, k := range DepthwiseKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for p := 1; p <= k.Pixels; p++ {
				c := DepthwiseCall{Taps: windowTaps(9), Tiles: 2, Rows: rows, InRow: 16 * (2*p + 20), OutRow: 96 * p, OutPixel: 32, ResidualRow: 96*p + 32}
				c.In = fenced(t, normals(r, c.InRow+reach(p)), last)
				c.Weights, c.Bias = fenced(t, normals(r, 16*9), last), fenced(t, normals(r, 16), last)
				field := 32*(2*p-1) + 16
				c.Out, c.Residual = fenced(t, normals(r, c.OutRow+field), last), fenced(t, normals(r, c.ResidualRow+field), last)
				k.Run(p, c)
			}
		})
	}
	for _, k := range PoolKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for p := 1; p <= k.Pixels; p++ {
				c := PoolCall{Taps: windowTaps(9), Tiles: 2, Rows: rows, InRow: 16 * (2*p + 20), OutRow: 32*p + 16, FactorRow: 2*p + 1}
				c.In, c.Out = fenced(t, normals(r, c.InRow+reach(p)), last), fenced(t, normals(r, c.OutRow+32*p), last)
				c.Factors = fenced(t, normals(r, c.FactorRow+2*p), last)
				k.Max(p, c)
				k.Average(p, c)
			}
			for _, n := range []int{1, 7, 13} {
				k.Sum(new([16]float32), fenced(t, normals(r, 16*n), last), 2)
			}
		})
	}
}

// TestFencedBytes does so for what computes with bytes.
func TestFencedBytes(t *testing.T) {
	fence := func(t *testing.T, c *QConvCall, read int, last bool) *QConvCall {
		reach := 0
		for _, p := range c.Pixels {
			for _, s := range c.Steps {
				reach = max(reach, int(p+s)+read)
			}
		}
		c.In, c.Weights, c.Start = fenced(t, c.In[:reach], last), fenced(t, c.Weights, last), fenced(t, c.Start, last)
		c.Pixels, c.Steps = fenced(t, c.Pixels, last), fenced(t, c.Steps, last)
		q := c.Requant
		q.Scale, q.Bias, q.Out, q.Float = fenced(t, q.Scale, last), fenced(t, q.Bias, last), fenced(t, q.Out, last), fenced(t, q.Float, last)
		q.Rows, q.Sums = fenced(t, q.Rows, last), fenced(t, q.Sums, last)
		n, blocks := len(c.Pixels), len(q.Scale)/16
		if q.Residual != nil {
			q.Residual = fenced(t, q.Residual[:(n-1)*q.ResidualPixel+(blocks-1)*q.ResidualBlock+16], last)
		}
		return c
	}
	strips := func(f func(pixels, variant int)) {
		for pixels := 1; pixels <= 13; pixels++ {
			for _, variant := range []int{1, 9, 25, 137} { // with a residual; rows of a matrix; in float32; rows with ranges of their own
				f(pixels, variant)
			}
		}
	}
	for _, k := range QConvKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			strips(func(pixels, variant int) {
				c := qconvCaseOf(k, r, pixels, 3, variant)
				for s := range c.Steps { // ascending, as drivers have them
					c.Steps[s] = int32(16 * s)
				}
				for i := range c.Pairs.Rest { // the last of the last step
					c.Pairs.Rest[i] = int32(16*len(c.Steps) - 4)
				}
				k.Run(fence(t, c, 16, last))
			})
		})
	}
	window := func(r *rand.Rand, pixels, variant int) *QConvCall {
		c := windowCase(r, pixels, 3, variant)
		c.Steps = []int32{0, 16, 32}
		return c
	}
	for _, k := range QDepthwiseKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			strips(func(pixels, variant int) { k.Run(fence(t, window(r, pixels, variant), 64, last)) })
		})
	}
	for _, k := range QPoolKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			strips(func(pixels, variant int) {
				k.Average(fence(t, window(r, pixels, variant), 16, last))
				k.Max(fence(t, window(r, pixels, variant&^16), 16, last))
			})
		})
	}
}

// TestFencedColumns does so for columns of depthwise convolutions.
func TestFencedColumns(t *testing.T) {
	for _, k := range QColumnKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			const columns = 3
			for rows := 1; rows <= k.Rows; rows++ {
				for _, variant := range []int{1, 17} { // with a residual; in float32
					q := requantCase(r, rows*columns, 1, variant)
					q.OutPixel, q.ResidualPixel = 16*columns, 16*columns
					q.Scale, q.Bias, q.Residual = fenced(t, q.Scale, last), fenced(t, q.Bias, last), fenced(t, q.Residual[:16*rows*columns], last)
					q.Out, q.Float = fenced(t, q.Out, last), fenced(t, q.Float, last)
					c := QColumnCall{InRow: 16 * (2*columns + 8), InColumn: 32, Rows: rows, Columns: columns, Requant: q,
						Weights: fenced(t, qweights(r, 64*k.KernelRows*k.Chunks), last), Start: fenced(t, make([]int32, 16), last)}
					reach := ((rows-1)*k.StrideRows+k.KernelRows-1)*c.InRow + (columns-1)*c.InColumn + 64*k.Chunks
					c.In = fenced(t, qbytes(r, reach), last)
					k.Run(&c)
				}
			}
		})
	}
}

// TestFencedVectors does so for element-wise functions and conversions.
func TestFencedVectors(t *testing.T) {
	lengths := []int{1, 7, 8, 9, 15, 16, 17, 31, 70}
	for _, k := range VecKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for _, n := range lengths {
				x, y, dst := fenced(t, normals(r, n), last), fenced(t, normals(r, n), last), fenced(t, normals(r, n), last)
				one, pattern := fenced(t, normals(r, 1), last), fenced(t, normals(r, 16), last)
				for op := range numUnary {
					k.Unary(op, dst, x, 1, 2)
				}
				for _, other := range [][]float32{y, one, pattern} {
					k.Binary(Add, dst, x, other)
					k.Select(dst, x, y, other)
				}
				k.Sum(x)
				k.SumSquares(x, 1)
				k.NormalizeRows(dst, x, n, y, y, 1, true)
				k.NormalizeRows(dst, x, n, nil, nil, 1, false)
				k.Range(x)
				k.ExpSum(dst, x, 1)
				k.Histogram(fenced(t, make([]uint64, 5), last), x, -1, 2, false)
				k.Errors(x, y)
			}
		})
	}
	for _, k := range HalfKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for _, n := range lengths {
				x, h := fenced(t, normals(r, n), last), fenced(t, make([]uint16, n), last)
				k.Narrow(h, x)
				k.Widen(x, h)
			}
		})
	}
	for _, k := range QuantKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			q := Quantization{Scale: 0.1, Zero: 3}
			for _, n := range append(lengths, 64) {
				x, a, b := fenced(t, normals(r, n), last), fenced(t, qbytes(r, n), last), fenced(t, qbytes(r, n), last)
				k.Quantize(a, x, q)
				k.Dequantize(x, a, q)
				k.Requantize(b, a, q, unlimitedRange, q)
				k.Add(b, a, b, q, q, unlimitedRange, q)
				k.Map(b, a, new([256]byte))
				planes := fenced(t, normals(r, 3*(n+2)+n), last)
				pixels, block := fenced(t, make([]byte, 4*n), last), fenced(t, make([]byte, 16*n), last)
				k.QuantizePixels(pixels, planes, n+2, 4, q)
				k.Pixels(pixels, fenced(t, qbytes(r, 3*(n+2)+n), last), n+2, 4, 0x80)
				k.QuantizeBlock(block, planes, n+2, 4, q)
				k.DequantizeBlock(planes, block, n+2, 4, q)
			}
		})
	}
}

var unlimitedRange = [2]float32{negInf, posInf}

// TestFencedLayout does so for what moves elements.
func TestFencedLayout(t *testing.T) {
	for _, k := range LayoutKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for _, n := range []int{1, 7, 8, 17, 49} {
				for rows := 1; rows <= 16; rows++ {
					planes, vectors := fenced(t, normals(r, (rows-1)*(n+3)+n), last), fenced(t, normals(r, 16*n), last)
					k.Interleave(vectors, 16, planes, n+3, rows, n)
					k.Deinterleave(planes, n+3, vectors, 16, rows, n)
				}
				k.Zip(fenced(t, normals(r, 2*n-1), last), fenced(t, normals(r, n), last), fenced(t, normals(r, n-1), last))
				k.Evens(fenced(t, normals(r, n), last), fenced(t, normals(r, 2*n-1), last))
				k.Gather(GatherCall{Dst: fenced(t, normals(r, 16*(n+2)), last), Src: fenced(t, normals(r, 32*(n-1)+16), last),
					Rows: 1, Left: 1, N: n, Right: 1, Step: 32})
				for _, size := range []int{1, 2, 4} {
					for _, lanes := range [][3]int{{0, 5, 11}, {5, 0, 11}, {3, 4, 2}} {
						k.Lanes(LanesCall{Dst: fenced(t, make([]byte, 16*size*n), last), Src: fenced(t, make([]byte, 16*size*n), last),
							Size: size, From: lanes[0], To: lanes[1], N: lanes[2], Clear: n%2 == 0})
					}
				}
			}
		})
	}
}

// TestFencedAttention does so for the softmax over blocks of keys and the products of few rows.
func TestFencedAttention(t *testing.T) {
	for _, k := range AttendKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for _, n := range []int{1, 7, 16, 21, 70} {
				c := softmaxCase(r, 3, n, n-1, 1, true)
				c.Scores, c.Mask = fenced(t, c.Scores[:2*c.Stride+n], last), fenced(t, c.Mask[:2*c.MaskStride+n], last)
				c.High, c.Sum, c.Factor = fenced(t, c.High, last), fenced(t, c.Sum, last), fenced(t, c.Factor, last)
				k.Softmax(*c)
				k.Scale(c.Scores, c.Stride, n, c.Factor)
				k.Mask(fenced(t, normals(r, n), last), fenced(t, make([]byte, n), last))
				for rows := 1; rows <= k.Rows; rows++ {
					for _, mix := range []bool{false, true} {
						c := rowsCase(r, rows, 6, n, mix)
						c.Out, c.In, c.Keys = fenced(t, c.Out, last), fenced(t, c.In, last), fenced(t, c.Keys, last)
						if mix {
							k.Mix(*c)
						} else {
							k.Dot(*c)
						}
					}
				}
			}
		})
	}
}

// TestFencedRotary holds rotary embeddings to their operands.
func TestFencedRotary(t *testing.T) {
	for _, k := range RotaryKernels() {
		bothEnds(t, k.Name, k.Needs, func(t *testing.T, r *rand.Rand, last bool) {
			for _, c := range rotaryCases {
				dst, src := fenced(t, make([]float32, c.heads*c.size), last), fenced(t, normals(r, c.heads*c.size), last)
				k.Turn(dst, src, fenced(t, normals(r, c.half), last), fenced(t, normals(r, c.half), last), c.size, c.heads)
			}
		})
	}
}

// What measures memory reads all of it but an end shorter than its steps, and nothing beyond.
func TestReadAllStaysInside(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 1024, 4096 + 300} {
		for _, last := range []bool{false, true} {
			for _, have := range []Features{HostFeatures(), HostFeatures() & AVX2, 0} {
				ReadAll(have, fenced(t, make([]byte, n), last))
			}
		}
	}
}
