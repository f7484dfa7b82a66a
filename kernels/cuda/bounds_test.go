package cuda

import (
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// large is a binding of extents that nothing is allocated for: the constants are there, and empty.
func large(op *graph.Op, attrs any, f kernels.Format, typ numeric.DataType, x, w, y []int) kernels.Binding {
	l := &graph.Layer{Name: "l", Op: op, Attrs: attrs}
	l.Inputs = []*graph.Tensor{{Name: "x", Type: typ}}
	l.Outputs = []*graph.Tensor{{Name: "y", Type: typ}}
	b := kernels.Binding{
		Layer: l, In: []kernels.Desc{{Type: typ, Dims: x, Format: f}}, Out: []kernels.Desc{{Type: typ, Dims: y, Format: f}},
		Consts: [][]byte{nil},
	}
	if w != nil {
		l.Inputs = append(l.Inputs, &graph.Tensor{Name: "w", Type: typ, Weights: []byte{}})
		b.In = append(b.In, kernels.Desc{Type: typ, Dims: w})
		b.Consts = append(b.Consts, []byte{})
	}
	return b
}

func convolution(f kernels.Format, a graph.ConvAttrs, x, w, y []int) kernels.Binding {
	a.Group = max(1, a.Group)
	return large(graph.Conv, a, f, numeric.F16, x, w, y)
}

// TestBounds: the largest layers that kernels take, and those that are a little larger, for which an error says what is too
// many. None of what is bounded is a tensor's own extent.
func TestBounds(t *testing.T) {
	const nhwc, linear = kernels.NHWC, kernels.Linear
	rows := func(op *graph.Op, attrs any, outer, length int, out ...int) kernels.Binding {
		return large(op, attrs, linear, numeric.F16, []int{outer, length}, nil, append([]int{outer}, out...))
	}
	reduce := graph.ReduceAttrs{Axes: []int{1}}
	// 1 x n outputs: by blocks of 64 x 64, so many tiles share sums
	shared := func(pixels, channels int) kernels.Binding {
		return convolution(nhwc, graph.ConvAttrs{}, []int{pixels, 4096, 1, 1}, []int{channels, 4096, 1, 1}, []int{pixels, channels, 1, 1})
	}
	padded := func(stride, pad int) kernels.Binding {
		return convolution(nhwc, graph.ConvAttrs{Strides: []int{stride, 1}, Pads: []int{pad, 0, 0, 0}},
			[]int{1, 8, 64, 64}, []int{8, 8, 1, 1}, []int{1, 8, 64, 64})
	}
	narrow := func(channels, depth int) kernels.Binding {
		return convolution(nhwc, graph.ConvAttrs{}, []int{1, depth, 1, 1}, []int{channels, depth, 1, 1}, []int{1, channels, 1, 1})
	}
	for _, c := range []struct {
		name, tactic string
		most, more   kernels.Binding
		reason       string
	}{
		{"tiles that share sums", "conv_f16_mma_64x64x64_s3_k8", shared(32*64, 32*64), shared(32*64+1, 32*64), "tiles are too many to share sums"},
		{"images times their places", "conv_f16_mma_64x64x64_s3", shared(1<<17, 64), shared(1<<18, 64), "bytes"},
		{"rows of packed weights", "conv_f16_mma_64x64x64_s3", narrow(1<<25-64, 8), narrow(1<<25, 8), "packed weights"},
		{"distant windows", "conv_f16_mma_64x64x64_s3", padded(1<<25, 0), padded(1<<26, 0), "reach over"},
		{"padding", "conv_f16_mma_64x64x64_s3", padded(1, math.MaxInt32-64), padded(1, math.MaxInt32-63), "reach over"},
		{"far taps of single windows", "conv_direct_nhwc_1x4",
			convolution(nhwc, graph.ConvAttrs{Dilations: []int{1 << 30, 1}}, []int{1, 8, 64, 64}, []int{8, 8, 1, 1}, []int{1, 8, 64, 64}),
			convolution(nhwc, graph.ConvAttrs{Dilations: []int{1 << 31, 1}}, []int{1, 8, 64, 64}, []int{8, 8, 1, 1}, []int{1, 8, 64, 64}), "reach over"},
		{"weights of one channel padded to 16", "conv_direct_nhwc_1x4", narrow(1, 1<<27-1), narrow(1, 1<<27), "packed weights"},
		{"weights of the stem", "conv_stem_nhwc_f16_mma_8x16", stemLike(1 << 25), stemLike(1 << 26), "packed weights"},
		{"warps of a reduction", "reduce_linear", rows(graph.ReduceSum, reduce, 1<<26-1, 8), rows(graph.ReduceSum, reduce, 1<<26, 8), "threads"},
		{"lanes of a softmax", "softmax_linear", rows(graph.Softmax, graph.SoftmaxAttrs{Axis: 1}, 1<<28-1, 5, 5),
			rows(graph.Softmax, graph.SoftmaxAttrs{Axis: 1}, 1<<28, 5, 5), "threads"},
		{"lanes of a normalisation", "normalize_rows_linear", rows(graph.LpNorm, graph.LpNormAttrs{Axis: 1, P: 2}, 1<<28-1, 5, 5),
			rows(graph.LpNorm, graph.LpNormAttrs{Axis: 1, P: 2}, 1<<28, 5, 5), "threads"},
		{"warps of a largest", "arg_linear", rows(graph.ArgMax, graph.ArgAttrs{Axis: 1}, 1<<26-1, 8), rows(graph.ArgMax, graph.ArgAttrs{Axis: 1}, 1<<26, 8), "threads"},
		{"windows of a pooling", "pool_nhwc", pooled(1 << 30), pooled(1 << 31), "reach over"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := emitterNamed(t, c.tactic, c.most.Layer.Op)
			if err := e.Matches(c.most); err != nil {
				t.Errorf("the largest is refused: %v", err)
			}
			if err := e.Matches(c.more); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%v, want one that tells of %q", err, c.reason)
			}
		})
	}
}

func stemLike(channels int) kernels.Binding {
	return convolution(kernels.NHWC, graph.ConvAttrs{Strides: []int{1, 2}}, []int{1, 4, 1, 8}, []int{channels, 4, 1, 1}, []int{1, channels, 1, 4})
}

func pooled(stride int) kernels.Binding {
	return large(graph.MaxPool, graph.PoolAttrs{Kernel: []int{1, 1}, Strides: []int{stride, 1}}, kernels.NHWC, numeric.F16,
		[]int{1, 8, 8, 8}, nil, []int{1, 8, 1, 8})
}

func emitterNamed(t *testing.T, name string, op *graph.Op) emit.Tactic {
	t.Helper()
	for _, e := range Tactics() {
		if e.Name == name && e.Op == op {
			return e
		}
	}
	t.Fatalf("there is no %s for %s", name, op.Name)
	return emit.Tactic{}
}

// TestFarAddresses: offsets and scales beyond 32 bits are added in 64.
func TestFarAddresses(t *testing.T) {
	m := ptx.New(ptx.SM80)
	k := m.Kernel("far", 32)
	x := k.Pointer("x")
	p := k.Offset(x, k.Thread(), 1<<33)
	k.Store(p.At(1<<31), k.Load(p.At(math.MaxInt32-3), 1)[0])
	k.End()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	text := m.String()
	for _, want := range []string{"8589934592", "+2147483644]", ", 2147483648;"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
