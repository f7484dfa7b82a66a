package graph

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// tally counts operations: each result of one goes through it.
type tally struct{ n int64 }

func (c *tally) op(v float64) float64 { c.n++; return v }

func (c *tally) sum(list []float64) float64 {
	s := list[0]
	for _, v := range list[1:] {
		s = c.op(s + v)
	}
	return s
}

func (c *tally) max(list []float64) float64 {
	m := list[0]
	for _, v := range list[1:] {
		m = c.op(math.Max(m, v))
	}
	return m
}

func (c *tally) each(list []float64, f func(v float64) float64) []float64 {
	r := make([]float64, len(list))
	for i, v := range list {
		r[i] = c.op(f(v))
	}
	return r
}

// standardise returns (x-mean)/sqrt(variance+epsilon).
func (c *tally) standardise(x []float64, epsilon float64) []float64 {
	n := float64(len(x))
	mean := c.op(c.sum(x) / n)
	d := c.each(x, func(v float64) float64 { return v - mean })
	variance := c.op(c.sum(c.each(d, func(v float64) float64 { return v * v })) / n)
	root := c.op(math.Sqrt(c.op(variance + epsilon)))
	return c.each(d, func(v float64) float64 { return v / root })
}

// affine returns x*scale[i] + bias[i].
func (c *tally) affine(x, scale, bias []float64) []float64 {
	r := make([]float64, len(x))
	for i, v := range x {
		r[i] = c.op(v * scale[i])
		if bias != nil {
			r[i] = c.op(r[i] + bias[i])
		}
	}
	return r
}

// The convolutions and products below are the textbook's loops; each multiply-add is two operations, from a sum of nothing.

// conv is of x [C,H,W] and w [M,C/groups,K,K].
func (c *tally) conv(x, w []float64, channels, h, width, m, k, groups, stride, pad int) (y []float64) {
	cin := channels / groups
	for o := range m {
		for i := -pad; i+k <= h+pad; i += stride {
			for j := -pad; j+k <= width+pad; j += stride {
				acc := 0.0
				for ci := range cin {
					for a := range k {
						for b := range k {
							v := 0.0
							if p, q := i+a, j+b; p >= 0 && p < h && q >= 0 && q < width {
								v = x[((o/(m/groups)*cin+ci)*h+p)*width+q]
							}
							acc = c.op(acc + c.op(v*w[((o*cin+ci)*k+a)*k+b]))
						}
					}
				}
				y = append(y, acc)
			}
		}
	}
	return y
}

// transposed is of x [C,L] and w [C,M/groups,K]: each element is scattered over the output.
func (c *tally) transposed(x, w []float64, channels, length, perGroup, k, groups, stride int) []float64 {
	out := (length-1)*stride + k
	y := make([]float64, groups*perGroup*out)
	for ci := range channels {
		for i := range length {
			for m := range perGroup {
				for a := range k {
					at := (ci/(channels/groups)*perGroup+m)*out + i*stride + a
					y[at] = c.op(y[at] + c.op(x[ci*length+i]*w[(ci*perGroup+m)*k+a]))
				}
			}
		}
	}
	return y
}

// product is of a [batch,M,K] and b [batch,K,N].
func (c *tally) product(a, b []float64, batch, m, k, n int) (y []float64) {
	for t := range batch {
		for i := range m {
			for j := range n {
				acc := 0.0
				for p := range k {
					acc = c.op(acc + c.op(a[(t*m+i)*k+p]*b[(t*k+p)*n+j]))
				}
				y = append(y, acc)
			}
		}
	}
	return y
}

// pool is of x [C,H,W] with windows KxK that do not overlap.
func pool(x []float64, channels, h, width, k int, f func(window []float64) float64) (y []float64) {
	for ci := range channels {
		for i := 0; i+k <= h; i += k {
			for j := 0; j+k <= width; j += k {
				var window []float64
				for a := range k {
					window = append(window, x[(ci*h+i+a)*width+j:][:k]...)
				}
				y = append(y, f(window))
			}
		}
	}
	return y
}

// lines applies f to each n neighbours.
func lines(x []float64, n int, f func(i int, line []float64) []float64) (y []float64) {
	for i := 0; i < len(x); i += n {
		y = append(y, f(i/n, x[i:i+n])...)
	}
	return y
}

func one(f func(line []float64) float64) func(int, []float64) []float64 {
	return func(_ int, line []float64) []float64 { return []float64{f(line)} }
}

type flopsCase struct {
	op    *Op
	attrs any
	in    []numeric.Value
	by    func(c *tally, in [][]float64) []float64 // computes the op, and counts
	want  int64                                    // counted by hand
}

func checkFLOPs(t *testing.T, c flopsCase) {
	t.Helper()
	_, l, inputs := single(t, c.op, c.attrs, c.in...)
	var in [][]float64
	for _, v := range c.in {
		in = append(in, v.Float64s())
	}
	count := &tally{}
	want := c.by(count, in)
	got := runLayer(t, l, inputs).Float64s()
	for i, v := range got {
		if len(want) != len(got) || math.Abs(v-want[i]) > 1e-5*math.Max(1, math.Abs(v)) {
			t.Fatalf("%s: what is counted is not the op: %v, want %v", l, want, got)
		}
	}
	if n := l.Op.FLOPs(l, nil); n != count.n || n != c.want {
		t.Errorf("%s: %d operations, want %d (by hand %d)", l, n, count.n, c.want)
	}
	if products := FLOPs(l, nil); c.op.Products == nil && (products != 0 && products != count.n || (products != 0) != (c.op.Product != nil)) {
		t.Errorf("%s: reports say %d", l, products)
	}
	if n := Operations(l, nil); n != count.n {
		t.Errorf("%s: %d operations in all", l, n)
	}
}

// values returns small numbers of both signs and no order.
func values(dims ...int) numeric.Value {
	v := numeric.NewValue(numeric.F32, dims...)
	for i := range v.F32() {
		v.F32()[i] = float32((i*7+3)%11) - 4.5
	}
	return v
}

// TestProductFLOPs counts the multiply-adds of loops that compute the same as the op.
func TestProductFLOPs(t *testing.T) {
	for _, c := range []flopsCase{
		{Conv, ConvAttrs{Group: 1, Pads: []int{1, 1, 1, 1}}, []numeric.Value{values(1, 3, 4, 5), values(2, 3, 3, 3)},
			func(c *tally, in [][]float64) []float64 { return c.conv(in[0], in[1], 3, 4, 5, 2, 3, 1, 1, 1) }, 2 * 2 * 4 * 5 * 27},
		{Conv, ConvAttrs{Group: 2, Strides: []int{2, 2}}, []numeric.Value{values(1, 4, 5, 5), values(6, 2, 2, 2)},
			func(c *tally, in [][]float64) []float64 { return c.conv(in[0], in[1], 4, 5, 5, 6, 2, 2, 2, 0) }, 2 * 6 * 2 * 2 * 8},
		{ConvTranspose, ConvTransposeAttrs{Group: 1, Strides: []int{2}}, []numeric.Value{values(1, 3, 5), values(3, 4, 3)},
			func(c *tally, in [][]float64) []float64 { return c.transposed(in[0], in[1], 3, 5, 4, 3, 1, 2) }, 2 * 3 * 5 * 4 * 3},
		{ConvTranspose, ConvTransposeAttrs{Group: 2}, []numeric.Value{values(1, 4, 3), values(4, 2, 2)},
			func(c *tally, in [][]float64) []float64 { return c.transposed(in[0], in[1], 4, 3, 2, 2, 2, 1) }, 2 * 4 * 3 * 2 * 2},
		{Gemm, GemmAttrs{Alpha: 1}, []numeric.Value{values(2, 3), values(3, 5)},
			func(c *tally, in [][]float64) []float64 { return c.product(in[0], in[1], 1, 2, 3, 5) }, 2 * 2 * 3 * 5},
		{MatMul, nil, []numeric.Value{values(4, 2, 3), values(4, 3, 5)},
			func(c *tally, in [][]float64) []float64 { return c.product(in[0], in[1], 4, 2, 3, 5) }, 4 * 2 * 2 * 3 * 5},
		{MatMul, nil, []numeric.Value{values(2, 3), values(3)},
			func(c *tally, in [][]float64) []float64 { return c.product(in[0], in[1], 1, 2, 3, 1) }, 2 * 2 * 3},
	} {
		checkFLOPs(t, c)
	}
	transposed := &Layer{Op: Gemm, Attrs: GemmAttrs{TransA: true, TransB: true}, Inputs: []*Tensor{{Dims: symbolic.Shape(3, 2)}, {Dims: symbolic.Shape(5, 3)}}, Outputs: []*Tensor{{Dims: symbolic.Shape(2, 5)}}}
	if n := FLOPs(transposed, nil); n != 60 {
		t.Errorf("a Gemm of transposed matrices: %d, want 60", n)
	}
}

// TestFLOPs does the same for poolings, reductions and normalisations.
func TestFLOPs(t *testing.T) {
	x := values(2, 3, 4)
	norm := func(n int, epsilon float64, scale, bias bool) func(c *tally, in [][]float64) []float64 {
		return func(c *tally, in [][]float64) []float64 {
			return lines(in[0], n, func(_ int, line []float64) []float64 {
				y := c.standardise(line, epsilon)
				switch {
				case bias:
					return c.affine(y, in[1], in[2])
				case scale:
					return c.affine(y, in[1], nil)
				}
				return y
			})
		}
	}
	perChannel := func(n, channels, groups int) func(c *tally, in [][]float64) []float64 {
		return func(c *tally, in [][]float64) []float64 {
			return lines(in[0], n*channels/groups, func(g int, line []float64) []float64 {
				y := c.standardise(line, 0.5)
				scale, bias := make([]float64, len(y)), make([]float64, len(y))
				for i := range y {
					at := (g*channels/groups + i/n) % channels
					scale[i], bias[i] = in[1][at], in[2][at]
				}
				return c.affine(y, scale, bias)
			})
		}
	}
	softmax := func(log bool) func(c *tally, in [][]float64) []float64 {
		return func(c *tally, in [][]float64) []float64 {
			return lines(in[0], 4, func(_ int, line []float64) []float64 {
				top := c.max(line)
				d := c.each(line, func(v float64) float64 { return v - top })
				e := c.each(d, math.Exp)
				sum := c.sum(e)
				if log {
					sum = c.op(math.Log(sum))
					return c.each(d, func(v float64) float64 { return v - sum })
				}
				return c.each(e, func(v float64) float64 { return v / sum })
			})
		}
	}
	reduce := func(f func(c *tally, line []float64) float64) func(c *tally, in [][]float64) []float64 {
		return func(c *tally, in [][]float64) []float64 {
			return lines(in[0], 4, one(func(line []float64) float64 { return f(c, line) }))
		}
	}
	square := func(v float64) float64 { return v * v }
	last := ReduceAttrs{Axes: []int{2}}
	for _, c := range []flopsCase{
		{MaxPool, PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}, []numeric.Value{values(1, 3, 4, 6)},
			func(c *tally, in [][]float64) []float64 { return pool(in[0], 3, 4, 6, 2, c.max) }, 3 * 2 * 3 * 3},
		{AveragePool, PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}, []numeric.Value{values(1, 3, 4, 6)},
			func(c *tally, in [][]float64) []float64 {
				return pool(in[0], 3, 4, 6, 2, func(w []float64) float64 { return c.op(c.sum(w) / 4) })
			}, 3 * 2 * 3 * 4},
		{AveragePool, PoolAttrs{Global: true}, []numeric.Value{values(1, 3, 4, 4)},
			func(c *tally, in [][]float64) []float64 {
				return pool(in[0], 3, 4, 4, 4, func(w []float64) float64 { return c.op(c.sum(w) / 16) })
			}, 3 * 16},
		{Softmax, SoftmaxAttrs{Axis: -1}, []numeric.Value{x}, softmax(false), 6 * 18},
		{Softmax, SoftmaxAttrs{Axis: 2, Log: true}, []numeric.Value{x}, softmax(true), 6 * 19},
		{LayerNorm, LayerNormAttrs{Axis: -1, Epsilon: 0.5}, []numeric.Value{x, values(4), values(4)}, norm(4, 0.5, true, true), 6 * 30},
		{LayerNorm, LayerNormAttrs{Axis: 1, Epsilon: 0.5}, []numeric.Value{x, values(3, 4)}, norm(12, 0.5, true, false), 2 * 74},
		{MeanVarianceNorm, MeanVarianceNormAttrs{Axes: []int{1, 2}}, []numeric.Value{x}, norm(12, 0, false, false), 2 * 62},
		{RMSNorm, LayerNormAttrs{Axis: -1, Epsilon: 0.5}, []numeric.Value{x, values(4)}, func(c *tally, in [][]float64) []float64 {
			return lines(in[0], 4, func(_ int, line []float64) []float64 {
				root := c.op(math.Sqrt(c.op(c.op(c.sum(c.each(line, square))/4) + 0.5)))
				return c.affine(c.each(line, func(v float64) float64 { return v / root }), in[1], nil)
			})
		}, 6 * 18},
		{InstanceNorm, InstanceNormAttrs{Epsilon: 0.5}, []numeric.Value{x, values(3), values(3)}, perChannel(4, 3, 3), 6 * 30},
		{GroupNorm, GroupNormAttrs{Epsilon: 0.5, Groups: 2}, []numeric.Value{values(2, 4, 3), values(4), values(4)}, perChannel(3, 4, 2), 4 * 44},
		{BatchNorm, BatchNormAttrs{Epsilon: 9}, []numeric.Value{x, values(3), values(3), values(3), values(3)}, func(c *tally, in [][]float64) []float64 {
			roots := c.each(c.each(in[4], func(v float64) float64 { return v + 9 }), math.Sqrt)
			return lines(in[0], 4, func(i int, line []float64) []float64 {
				i %= 3
				d := c.each(line, func(v float64) float64 { return v - in[3][i] })
				d = c.each(d, func(v float64) float64 { return v / roots[i] })
				d = c.each(d, func(v float64) float64 { return v * in[1][i] })
				return c.each(d, func(v float64) float64 { return v + in[2][i] })
			})
		}, 24*4 + 6},
		{LpNorm, LpNormAttrs{Axis: -1, P: 1}, []numeric.Value{x}, func(c *tally, in [][]float64) []float64 {
			return lines(in[0], 4, func(_ int, line []float64) []float64 {
				norm := c.sum(c.each(line, math.Abs))
				return c.each(line, func(v float64) float64 { return v / norm })
			})
		}, 6 * 11},
		{LpNorm, LpNormAttrs{Axis: -1, P: 2}, []numeric.Value{x}, func(c *tally, in [][]float64) []float64 {
			return lines(in[0], 4, func(_ int, line []float64) []float64 {
				norm := c.op(math.Sqrt(c.sum(c.each(line, square))))
				return c.each(line, func(v float64) float64 { return v / norm })
			})
		}, 6 * 12},
		{LRN, LRNAttrs{Size: 1, Alpha: 2, Beta: 0.5, Bias: 3}, []numeric.Value{x}, func(c *tally, in [][]float64) []float64 {
			return c.each(in[0], func(v float64) float64 {
				return v / c.op(math.Pow(c.op(3+c.op(2*c.op(v*v))), 0.5))
			})
		}, 24 * 5},
		{Hardmax, HardmaxAttrs{Axis: -1}, []numeric.Value{x}, func(c *tally, in [][]float64) []float64 {
			return lines(in[0], 4, func(_ int, line []float64) []float64 {
				top, y := c.max(line), make([]float64, 4)
				for i, v := range line {
					if v == top {
						y[i] = 1
						break
					}
				}
				return y
			})
		}, 6 * 3},
		{ReduceSum, last, []numeric.Value{x}, reduce((*tally).sum), 6 * 3},
		{ReduceMean, last, []numeric.Value{x}, reduce(func(c *tally, l []float64) float64 { return c.op(c.sum(l) / 4) }), 6 * 4},
		{ReduceMax, last, []numeric.Value{x}, reduce((*tally).max), 6 * 3},
		{ReduceMin, last, []numeric.Value{x}, reduce(func(c *tally, l []float64) float64 {
			m := l[0]
			for _, v := range l[1:] {
				m = c.op(math.Min(m, v))
			}
			return m
		}), 6 * 3},
		{ReduceProd, last, []numeric.Value{x}, reduce(func(c *tally, l []float64) float64 {
			m := l[0]
			for _, v := range l[1:] {
				m = c.op(m * v)
			}
			return m
		}), 6 * 3},
		{ReduceL1, last, []numeric.Value{x}, reduce(func(c *tally, l []float64) float64 { return c.sum(c.each(l, math.Abs)) }), 6 * 7},
		{ReduceL2, last, []numeric.Value{x}, reduce(func(c *tally, l []float64) float64 { return c.op(math.Sqrt(c.sum(c.each(l, square)))) }), 6 * 8},
		{ReduceSumSquare, last, []numeric.Value{x}, reduce(func(c *tally, l []float64) float64 { return c.sum(c.each(l, square)) }), 6 * 7},
		{ReduceLogSum, last, []numeric.Value{numeric.Values(numeric.F32, []float32{1, 2, 3, 4}, 1, 1, 4)}, reduce(func(c *tally, l []float64) float64 { return c.op(math.Log(c.sum(l))) }), 4},
		{ReduceLogSumExp, last, []numeric.Value{x}, reduce(func(c *tally, l []float64) float64 {
			top := c.max(l)
			d := c.each(l, func(v float64) float64 { return v - top })
			return c.op(top + c.op(math.Log(c.sum(c.each(d, math.Exp)))))
		}), 6 * 16},
		{CumSum, CumAttrs{Axis: 2}, []numeric.Value{x}, func(c *tally, in [][]float64) []float64 {
			return lines(in[0], 4, func(_ int, line []float64) []float64 {
				s := 0.0
				return c.each(line, func(v float64) float64 { s += v; return s })
			})
		}, 24},
	} {
		checkFLOPs(t, c)
	}
}

// TestOperations has what is neither: programs, epilogues, and what moves elements.
func TestOperations(t *testing.T) {
	_, conv, _ := single(t, Conv, ConvAttrs{Group: 1}, values(1, 2, 3, 3), values(4, 2, 1, 1))
	conv.Fuse(elementwise.Binary(elementwise.Add).Then(elementwise.Unary(elementwise.Relu), 0), 0, conv.Inputs[0])
	_, add, _ := single(t, Pointwise, Elementwise{Program: elementwise.Binary(elementwise.Add).Then(elementwise.Unary(elementwise.Relu), 0)}, values(2, 3), values(1, 3))
	_, resize, _ := single(t, Resize, ResizeAttrs{Mode: "linear", Sizes: []int{2, 5}, Coordinates: "half_pixel"}, values(2, 10))
	_, nearest, _ := single(t, Resize, ResizeAttrs{Mode: "nearest", Sizes: []int{2, 5}, Coordinates: "half_pixel", Nearest: "floor"}, values(2, 10))
	_, transpose, _ := single(t, Transpose, TransposeAttrs{}, values(2, 10))
	for _, c := range []struct {
		l               *Layer
		operations, own int64
	}{
		{conv, 36*4 + 36*2, 36 * 4},
		{add, 6 * 2, 0},
		{resize, 2 * 5 * 2 * 2, 0}, // two taps, a multiply-add each
		{nearest, 0, 0},
		{transpose, 0, 0},
	} {
		if n, own := Operations(c.l, nil), FLOPs(c.l, nil); n != c.operations || own != c.own {
			t.Errorf("%s: %d operations, %d FLOPs, want %d and %d", c.l, n, own, c.operations, c.own)
		}
	}
}
