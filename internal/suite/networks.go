package suite

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// convOf is a convolution of ResNet-50 on square images: side of the input, channels, kernel, stride.
type convOf struct {
	side, in, out, kernel, stride int
	adds                          bool // the shortcut, before the activation
}

// resnet50 are the different convolutions of ResNet-50 (v1.5: the kernels of 3 x 3 have the strides).
var resnet50 = []convOf{
	{224, 3, 64, 7, 2, false},
	{56, 64, 64, 1, 1, false}, {56, 64, 64, 3, 1, false}, {56, 64, 256, 1, 1, true}, {56, 256, 64, 1, 1, false},
	{56, 256, 128, 1, 1, false}, {56, 128, 128, 3, 2, false}, {28, 128, 512, 1, 1, true}, {56, 256, 512, 1, 2, false},
	{28, 512, 128, 1, 1, false}, {28, 128, 128, 3, 1, false},
	{28, 512, 256, 1, 1, false}, {28, 256, 256, 3, 2, false}, {14, 256, 1024, 1, 1, true}, {28, 512, 1024, 1, 2, false},
	{14, 1024, 256, 1, 1, false}, {14, 256, 256, 3, 1, false},
	{14, 1024, 512, 1, 1, false}, {14, 512, 512, 3, 2, false}, {7, 512, 2048, 1, 1, true}, {14, 1024, 2048, 1, 2, false},
	{7, 2048, 512, 1, 1, false}, {7, 512, 512, 3, 1, false},
}

// productsOf are matrix products by rows, columns and length of the sums: the classifier of ResNet-50, the layers of
// BERT-base and GPT-2 small with 128 and 1024 tokens, and squares.
var productsOf = [][3]int{
	{1, 1000, 2048}, {128, 1000, 2048},
	{128, 2304, 768}, {128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {1024, 3072, 768}, {1024, 768, 3072},
	{2048, 2048, 2048}, {4096, 4096, 4096},
}

// Networks returns the layers that are worth a measurement: the convolutions of ResNet-50 at the batches and in the
// precisions in which it is measured as a whole, and ten matrix products. They are too large for their own Eval.
func Networks() []Case {
	m := &maker{shared: map[numeric.DataType][]byte{}}
	for _, p := range productsOf {
		for _, t := range []numeric.DataType{numeric.F16, numeric.I8} {
			m.product(p, t)
		}
	}
	for _, size := range []struct {
		batch int
		t     numeric.DataType
	}{{1, numeric.F16}, {128, numeric.F16}, {128, numeric.I8}, {1, numeric.F32}} {
		for _, c := range resnet50 {
			m.convolution(c, size.batch, size.t)
		}
	}
	return m.cases
}

// ranges returns what inputs, weights of so many channels and outputs of type t have for ranges.
func ranges(t numeric.DataType, channels, axis int) (in, weights, out numeric.Range) {
	if t != numeric.I8 {
		return
	}
	weights = scales(channels)
	weights.Axis = axis
	return numeric.PerTensor(0.03, 0), weights, numeric.PerTensor(0.1, 0)
}

// weights returns a constant of random elements, which all constants of one type share.
func (m *maker) weights(t numeric.DataType, r numeric.Range, dims ...int) *graph.Tensor {
	n := numeric.Count(dims) * t.Size()
	if len(m.shared[t]) < n {
		m.shared[t] = randomBytes(t, n)
	}
	return &graph.Tensor{Name: "w", Type: t, Dims: symbolic.Shape(dims...), Range: r, Weights: m.shared[t][:n:n]}
}

// distinctElements is how many random elements there are before they repeat.
const distinctElements = 1 << 18

// randomBytes returns n bytes of random elements.
func randomBytes(t numeric.DataType, n int) []byte {
	if n == 0 {
		return nil
	}
	count := min(distinctElements, (n+t.Size()-1)/t.Size())
	some := Random(rand.New(rand.NewPCG(7, 7)), &graph.Tensor{Type: t, Dims: symbolic.Shape(count)}).Data
	return bytes.Repeat(some, (n+len(some)-1)/len(some))[:n]
}

func (m *maker) convolution(c convOf, batch int, t numeric.DataType) {
	in, weights, out := ranges(t, c.out, 0)
	pad := c.kernel / 2
	a := graph.ConvAttrs{Strides: []int{c.stride, c.stride}, Pads: []int{pad, pad, pad, pad}, Group: 1}
	l := m.layer(graph.Conv, a, m.tensor(t, in, batch, c.in, c.side, c.side), m.weights(t, weights, c.out, c.in, c.kernel, c.kernel), m.weights(numeric.F32, numeric.Range{}, c.out))
	m.finish(l, t, out)
	e := epilogues[1] // relu
	if c.adds {
		e = epilogues[4]
	}
	m.fuse(l, e, t, out)
	m.add(fmt.Sprintf("conv_%s_b%d_%dx%d_%d_%d_k%d_s%d", t, batch, c.side, c.side, c.in, c.out, c.kernel, c.stride), l, Tolerance{})
}

func (m *maker) product(p [3]int, t numeric.DataType) {
	in, weights, out := ranges(t, p[1], 1)
	x := m.tensor(t, in, p[0], p[2])
	l := m.layer(graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1}, x, m.weights(t, weights, p[2], p[1]), m.weights(x.RealType(), numeric.Range{}, p[1]))
	m.finish(l, t, out)
	m.add(fmt.Sprintf("gemm_%s_%dx%dx%d", t, p[0], p[1], p[2]), l, Tolerance{})
}

// finish gives a layer of bytes an output of bytes.
func (m *maker) finish(l *graph.Layer, t numeric.DataType, out numeric.Range) {
	if t == numeric.I8 {
		l.Outputs[0].Type, l.Outputs[0].Range = t, out
	}
}
