package asm

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// softmaxCase draws a block of scores and the state of its rows, some of which have seen nothing.
func softmaxCase(r *rand.Rand, rows, width, visible, grow int, masked bool) *AttendCall {
	c := &AttendCall{Stride: width + 3, Rows: rows, Width: width, Visible: visible, Grow: grow, Scale: 0.25, Gain: 0.25}
	c.Scores, c.High, c.Sum, c.Factor = normals(r, rows*c.Stride), normals(r, rows), make([]float32, rows), normals(r, rows)
	for i := range c.Scores {
		c.Scores[i] *= 20
	}
	for i := range rows {
		c.Sum[i] = 1 + r.Float32()
		if r.IntN(3) == 0 {
			c.High[i], c.Sum[i] = -inf32, 0
		}
	}
	if masked {
		c.Gain = 1
		if grow > 0 {
			c.MaskStride = width + 1
		}
		c.Mask = normals(r, rows*c.MaskStride+width)
		for i := range c.Mask {
			if r.IntN(4) == 0 {
				c.Mask[i] = -inf32
			}
		}
	}
	return c
}

func TestAttendSoftmax(t *testing.T) {
	for _, k := range AttendKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, width := range []int{1, 3, 15, 16, 17, 31, 64, 100, 257} {
				for i, visible := range []int{width, 0, -2, width / 2, width + 5, width - 3} {
					for _, rows := range []int{1, 2, 7} {
						checkSoftmax(t, k, softmaxCase(r, rows, width, visible, i%2, (i+rows)%2 == 0))
					}
				}
			}
		})
	}
}

func checkSoftmax(t *testing.T, k AttendKernel, c *AttendCall) {
	t.Helper()
	was := *c
	for _, s := range []*[]float32{&was.Scores, &was.High, &was.Sum} {
		*s = append([]float32(nil), *s...)
	}
	k.Softmax(*c)
	for r := range c.Rows {
		what := fmt.Sprintf("%d keys, row %d", c.Width, r)
		n := max(0, min(c.Width, c.Visible+r*c.Grow))
		x, high := make([]float64, n), float64(was.High[r])
		for j := range n {
			x[j] = float64(was.Scores[r*c.Stride+j])
			if c.Mask != nil {
				x[j] = float64(float32(was.Scores[r*c.Stride+j]*c.Scale) + c.Mask[r*c.MaskStride+j])
			}
			high = max(high, x[j])
		}
		if math.Abs(high-float64(c.High[r])) > 1e-5 && !math.IsInf(high, -1) {
			t.Fatalf("%s: maximum %g, want %g", what, c.High[r], high)
		}
		less := float64(c.High[r])
		if math.IsInf(less, -1) {
			less = 0
		}
		gain := float64(c.Gain)
		factor := math.Exp((float64(was.High[r]) - less) * gain)
		closeTo(t, what+": factor", c.Factor[r], factor, 10)
		sum := float64(was.Sum[r]) * factor
		for j, got := range c.Scores[r*c.Stride:][:c.Stride] {
			switch {
			case j < n:
				e := math.Exp((x[j] - less) * gain)
				sum += e
				closeTo(t, fmt.Sprintf("%s, key %d", what, j), got, e, 10)
			case j < c.Width && got != 0:
				t.Fatalf("%s: key %d is not seen and has %g", what, j, got)
			case j >= c.Width && got != was.Scores[r*c.Stride+j]:
				t.Fatalf("%s: wrote past the width", what)
			}
		}
		closeTo(t, what+": sum", c.Sum[r], sum, 10+float64(n))
	}
}

// TestAttendSpecials: a NaN or an infinite score makes its row NaN and no other.
func TestAttendSpecials(t *testing.T) {
	for _, k := range AttendKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			for _, special := range []float32{nan32, inf32} {
				c := softmaxCase(rand.New(rand.NewPCG(1, 2)), 3, 40, 40, 0, false)
				c.Scores[c.Stride+35] = special
				k.Softmax(*c)
				for r, want := range []bool{false, true, false} {
					if got := c.Sum[r] != c.Sum[r]; got != want {
						t.Errorf("%g: sum of row %d is %g", special, r, c.Sum[r])
					}
				}
			}
		})
	}
}

func TestAttendScaleAndMask(t *testing.T) {
	for _, k := range AttendKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{1, 8, 15, 16, 33, 64, 100} {
				x, f := normals(r, 5*(n+2)), normals(r, 5)
				want := append([]float32(nil), x...)
				k.Scale(x, n+2, n, f)
				attendScaleGeneric(want, n+2, n, f)
				src, dst := make([]byte, n), normals(r, n)
				for i := range src {
					src[i] = byte(r.IntN(3))
				}
				k.Mask(dst, src)
				for i := range x {
					if x[i] != want[i] {
						t.Fatalf("%d columns: element %d = %g, want %g", n, i, x[i], want[i])
					}
				}
				for i, b := range src {
					if seen := dst[i] == 0; seen != (b != 0) || !seen && dst[i] != -inf32 {
						t.Fatalf("mask %d of %d: %g of %d", i, n, dst[i], b)
					}
				}
			}
		})
	}
}

// rowsCase draws operands of Dot or, with mix, Mix.
func rowsCase(r *rand.Rand, rows, n, columns int, mix bool) *RowsCall {
	in, out := columns, n
	if mix {
		in, out = n, columns
	}
	c := &RowsCall{Rows: rows, OutStride: out + 2, InStride: in + 1, KeyStride: columns + 3, N: n, Columns: columns}
	c.Out, c.In = normals(r, (rows-1)*c.OutStride+out), normals(r, (rows-1)*c.InStride+in)
	c.Keys = normals(r, (n-1)*c.KeyStride+columns)
	return c
}

func TestAttendRows(t *testing.T) {
	for _, k := range AttendKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for rows := 1; rows <= k.Rows; rows++ {
				for _, n := range []int{1, 2, 3, 4, 5, 30} {
					for _, columns := range []int{1, 7, 8, 15, 16, 17, 40, 64, 80, 100, 131} {
						checkRows(t, "dot", k.Dot, rowsCase(r, rows, n, columns, false), false)
						checkRows(t, "mix", k.Mix, rowsCase(r, rows, n, columns, true), true)
					}
				}
			}
		})
	}
}

func checkRows(t *testing.T, name string, run func(RowsCall), c *RowsCall, mix bool) {
	t.Helper()
	before := append([]float32(nil), c.Out...)
	run(*c)
	width := c.N
	if mix {
		width = c.Columns
	}
	for at, got := range c.Out {
		r, i := at/c.OutStride, at%c.OutStride
		if i >= width {
			if got != before[at] {
				t.Fatalf("%s of %d keys, %d columns: wrote past row %d", name, c.N, c.Columns, r)
			}
			continue
		}
		want, scale := 0.0, 0.0
		if mix {
			for j := range c.N {
				term := float64(c.In[r*c.InStride+j]) * float64(c.Keys[j*c.KeyStride+i])
				want, scale = want+term, scale+math.Abs(term)
			}
		} else {
			for l := range c.Columns {
				term := float64(c.In[r*c.InStride+l]) * float64(c.Keys[i*c.KeyStride+l])
				want, scale = want+term, scale+math.Abs(term)
			}
		}
		closeTo(t, fmt.Sprintf("%s of %d rows, %d keys, %d columns: row %d, %d", name, c.Rows, c.N, c.Columns, r, i), got, want, scale)
	}
}

// TestAttendBytes: the shares are those of Softmax, in steps of 1/255, and so is their sum; what is not seen is 0.
func TestAttendBytes(t *testing.T) {
	for _, k := range AttendKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, width := range []int{1, 15, 16, 17, 31, 64, 100, 256} {
				for i, visible := range []int{width, 0, -2, width / 2, width - 3} {
					c := softmaxCase(r, 3, width, visible, i%2, i%2 == 0)
					real := *c
					for _, s := range []*[]float32{&real.Scores, &real.High, &real.Sum, &real.Factor} {
						*s = append([]float32(nil), *s...)
					}
					k.Softmax(real)
					padded := (width + 15) &^ 15
					c.Bytes, c.BytesStride = bytes.Repeat([]byte{0xaa}, 3*(padded+5)), padded+5
					was := append([]float32(nil), c.Sum...)
					k.Softmax(*c)
					for row := range c.Rows {
						sum := float64(was[row] * c.Factor[row])
						for j, got := range c.Bytes[row*c.BytesStride:][:c.BytesStride] {
							switch {
							case j >= padded && got != 0xaa:
								t.Fatalf("%d keys, row %d: wrote past the width", width, row)
							case j >= padded:
							case j >= width && got != 0:
								t.Fatalf("%d keys, row %d: byte %d behind them is %d", width, row, j, got)
							case j < width:
								sum += float64(got)
								if e := 255 * real.Scores[row*c.Stride+j]; math.Abs(float64(got)-float64(e)) > 0.501 {
									t.Fatalf("%d keys, row %d: share %d is %d, want %g", width, row, j, got, e)
								}
							}
						}
						closeTo(t, "sum", c.Sum[row], sum, sum)
						if c.High[row] != real.High[row] || c.Factor[row] != real.Factor[row] {
							t.Fatalf("%d keys, row %d: maximum or factor differ", width, row)
						}
					}
				}
			}
		})
	}
}

func TestAttendFinish(t *testing.T) {
	for _, k := range AttendKernels() {
		t.Run(k.Name, func(t *testing.T) {
			runnable(t, k.Needs)
			r := rand.New(rand.NewPCG(1, 2))
			for _, columns := range []int{1, 15, 16, 17, 64, 100} {
				for i, limits := range [][2]float32{{0, 255}, {-128, 127}} {
					c := FinishCall{X: normals(r, 4*(columns+3)), Stride: columns + 3, Rows: 4, Columns: columns, Factors: normals(r, 4),
						Bias: 3, Low: limits[0], High: limits[1], OutStride: columns + 2}
					c.Out = make([]float32, 3*c.OutStride+columns)
					k.Finish(c)
					quantised := c
					quantised.Bytes, quantised.Factors = make([]byte, len(c.Out)), make([]float32, 4)
					for j, f := range c.Factors {
						quantised.Factors[j] = 60 * f
					}
					k.Finish(quantised)
					for row := range c.Rows {
						for j := range columns {
							x, at := float64(c.X[row*c.Stride+j]), row*c.OutStride+j
							closeTo(t, "result", c.Out[at], x*float64(c.Factors[row])+3, 10)
							got := float64(quantised.Bytes[at])
							if i == 1 {
								got = float64(int8(quantised.Bytes[at]))
							}
							if want := max(float64(c.Low), min(float64(c.High), x*float64(quantised.Factors[row])+3)); math.Abs(got-want) > 0.501 {
								t.Fatalf("%d columns: byte %d of row %d is %g, want %g", columns, j, row, got, want)
							}
						}
					}
				}
			}
		})
	}
}
