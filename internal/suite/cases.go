package suite

import (
	"fmt"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Case is one layer of actual shapes, constants with random elements.
type Case struct {
	Name      string
	Layer     *graph.Layer
	Tolerance Tolerance
}

// maker builds the layers of the table.
type maker struct {
	cases  []Case
	rnd    *rand.Rand
	shared map[numeric.DataType][]byte // of constants that are nothing but random
}

// Layers returns the table of layers: for each op the shapes at which kernels go wrong (one, just under and over a
// vector's or block's width, odd, strided, padded unevenly), plain and with epilogues, in FP32, FP16 and INT8.
func Layers() []Case {
	m := &maker{rnd: rand.New(rand.NewPCG(5, 5))}
	m.convolutions()
	m.quantizedConvolutions()
	m.products()
	m.pooling()
	m.quantizedProducts()
	m.means()
	m.pointwise()
	m.mixedPointwise()
	m.normalization()
	m.moves()
	m.oddConvolutions()
	m.moreMoves()
	m.resizes()
	m.reductions()
	m.constants()
	m.integerPointwise()
	m.casts()
	m.orders()
	m.rowNormalizations()
	m.trigonometry()
	m.known()
	m.cumulations()
	m.batchedProducts()
	m.transposedConvolutions()
	m.volumes()
	m.givenWeights()
	m.channelZeros()
	m.rest()
	m.empty()
	m.scatters()
	m.marks()
	m.moreReductions()
	m.moreNormalizations()
	m.morePools()
	m.plainConvolutions()
	m.vectorProducts()
	m.scalings()
	m.casts8()
	m.powers()
	m.attentions()
	m.givenAxes()
	m.rotations()
	m.tensorScatters()
	m.linearAttentions()
	m.splits()
	m.castPrograms()
	m.gated()
	m.turnedAttentions()
	m.fewBits()
	m.quantizedConstants()
	m.dynamicProducts()
	m.controls()
	m.recurrences()
	m.signals()
	m.samples()
	m.narrow()
	m.doubles()
	m.biasedProducts()
	m.signedShifts()
	m.attentionsOfBytes()
	m.normalizationsToBytes()
	m.tuples()
	m.strings()
	m.images()
	m.sunkAttentions()
	m.rowProducts()
	return m.cases
}

func (m *maker) tensor(t numeric.DataType, r numeric.Range, dims ...int) *graph.Tensor {
	return &graph.Tensor{Name: "x", Type: t, Dims: symbolic.Shape(dims...), Range: r}
}

// constant returns a constant with random elements: reals of variance 1/fan, so that sums stay near 1, or integers.
func (m *maker) constant(t numeric.DataType, r numeric.Range, fan int, dims ...int) *graph.Tensor {
	v := numeric.NewValue(t, dims...)
	switch t {
	case numeric.F32:
		for i := range v.F32() {
			v.F32()[i] = float32(m.rnd.NormFloat64()) / float32(fan)
		}
	case numeric.F16:
		for i, d := 0, numeric.View[uint16](v.Data); i < len(d); i++ {
			d[i] = numeric.F32ToF16(float32(m.rnd.NormFloat64()) / float32(fan))
		}
	default:
		for i := range v.Data {
			v.Data[i] = byte(m.rnd.Uint32())
		}
	}
	return &graph.Tensor{Name: "w", Type: t, Dims: symbolic.Shape(dims...), Range: r, Weights: v.Data}
}

// layer returns a layer outside any network.
func (m *maker) layer(op *graph.Op, attrs any, inputs ...*graph.Tensor) *graph.Layer {
	l := &graph.Layer{Name: op.Name, Op: op, Attrs: attrs, From: []string{op.Name}}
	for _, t := range inputs {
		l.AddInput(t)
	}
	y := &graph.Tensor{Name: "y"}
	l.Outputs = []*graph.Tensor{y}
	y.Producer = l
	if err := l.Infer(); err != nil {
		panic(fmt.Sprintf("suite: %v", err))
	}
	return l
}

func (m *maker) add(name string, l *graph.Layer, tol Tolerance) {
	m.cases = append(m.cases, Case{name, l, tol})
}

// epilogue is something that may follow a layer; residual adds an input of the output's shape.
type epilogue struct {
	name     string
	residual bool
	program  elementwise.Program
}

var (
	addThen   = func(p elementwise.Program) elementwise.Program { return elementwise.Binary(elementwise.Add).Then(p, 0) }
	epilogues = []epilogue{
		{"plain", false, elementwise.Program{}},
		{"relu", false, elementwise.Unary(elementwise.Relu)},
		{"relu6", false, elementwise.Unary(elementwise.Clamp, 0, 6)},
		{"add", true, elementwise.Binary(elementwise.Add)},
		{"add_relu", true, addThen(elementwise.Unary(elementwise.Relu))},
		{"silu", false, elementwise.Unary(elementwise.Silu)},
		{"gelu_add", true, elementwise.Unary(elementwise.Gelu).Then(elementwise.Binary(elementwise.Add), 0)},
	}
)

// fuse puts the epilogue on l; a residual has the type and range given.
func (m *maker) fuse(l *graph.Layer, e epilogue, t numeric.DataType, r numeric.Range) {
	switch {
	case len(e.program.Code) == 0:
	case e.residual:
		l.Fuse(e.program, 0, m.tensor(t, r, symbolic.Eval(l.Outputs[0].Dims, nil)...))
	default:
		l.Fuse(e.program, 0)
	}
}

// convShape is one geometry.
type convShape struct {
	n, c, h, w, m, k, stride, dilation, pad, group int
}

var convShapes = []convShape{
	{1, 1, 1, 1, 1, 1, 1, 1, 0, 1},
	{1, 16, 7, 7, 16, 1, 1, 1, 0, 1},
	{2, 17, 5, 9, 33, 1, 1, 1, 0, 1},
	{1, 64, 14, 14, 128, 1, 2, 1, 0, 1},
	{1, 3, 17, 19, 32, 3, 2, 1, 1, 1},
	{1, 1, 32, 32, 16, 3, 1, 1, 1, 1},
	{2, 16, 8, 8, 16, 3, 1, 1, 1, 1},
	{1, 32, 15, 13, 48, 3, 2, 1, 1, 1},
	{1, 20, 9, 9, 24, 3, 1, 2, 2, 1},
	{1, 3, 23, 23, 64, 7, 2, 1, 3, 1},
	{1, 48, 4, 4, 64, 5, 1, 1, 2, 1},
	{1, 512, 7, 7, 32, 3, 1, 1, 1, 1},
	{1, 32, 7, 7, 64, 3, 1, 1, 1, 2},
	{1, 16, 9, 9, 16, 3, 1, 1, 1, 16},
	{2, 40, 8, 11, 40, 3, 2, 1, 1, 40},
	{1, 24, 6, 6, 24, 5, 1, 1, 2, 24},
	{1, 32, 10, 10, 64, 3, 1, 1, 1, 32},
	{1, 64, 3, 3, 256, 1, 1, 1, 0, 1},
}

func (s convShape) attrs() graph.ConvAttrs {
	return graph.ConvAttrs{
		Strides: []int{s.stride, s.stride}, Dilations: []int{s.dilation, s.dilation},
		Pads: []int{s.pad, s.pad, s.pad, s.pad}, Group: s.group,
	}
}

func (s convShape) String() string {
	return fmt.Sprintf("%dx%dx%dx%d_m%d_k%d_s%d_d%d_p%d_g%d", s.n, s.c, s.h, s.w, s.m, s.k, s.stride, s.dilation, s.pad, s.group)
}

func (m *maker) convolutions() {
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
		for i, s := range convShapes {
			e := epilogues[i%len(epilogues)]
			for range 2 { // a second epilogue for every shape
				l := m.layer(graph.Conv, s.attrs(), m.tensor(t, numeric.Range{}, s.n, s.c, s.h, s.w),
					m.constant(t, numeric.Range{}, s.k*s.k, s.m, s.c/s.group, s.k, s.k), m.constant(numeric.F32, numeric.Range{}, 1, s.m))
				m.fuse(l, e, t, numeric.Range{})
				m.add(fmt.Sprintf("conv_%s_%s_%s", t, s, e.name), l, Tolerance{Real: 1e-4})
				e = epilogues[(i+3)%len(epilogues)]
			}
		}
	}
	// Uneven padding, as TensorFlow's SAME makes it.
	a := graph.ConvAttrs{Strides: []int{2, 2}, Pads: []int{0, 1, 1, 2}, Group: 1}
	l := m.layer(graph.Conv, a, m.tensor(numeric.F32, numeric.Range{}, 1, 16, 11, 10), m.constant(numeric.F32, numeric.Range{}, 9, 16, 16, 3, 4))
	m.add("conv_f32_uneven", l, Tolerance{Real: 1e-4})
}

// scales returns one scale for each of n channels.
func scales(n int) numeric.Range {
	r := numeric.Range{Scale: make([]float32, n)}
	for i := range r.Scale {
		r.Scale[i] = 0.002 * float32(1+i%5)
	}
	return r
}

func (m *maker) quantizedConvolutions() {
	for i, s := range convShapes {
		for j, q := range []struct {
			name    string
			in, out numeric.DataType
			zi, zo  int32
			wt      numeric.DataType
			zw      int32
		}{
			{"s8s8", numeric.I8, numeric.I8, 0, 0, numeric.I8, 0},
			{"s8f32", numeric.I8, numeric.F32, 0, 0, numeric.I8, 0},
			{"u8u8", numeric.U8, numeric.U8, 119, 7, numeric.I8, 0},
			{"s8zero", numeric.I8, numeric.I8, -128, -5, numeric.I8, 0},
			{"u8w8", numeric.U8, numeric.U8, 128, 3, numeric.U8, 131},
		} {
			e, tol := epilogues[(i+j)%len(epilogues)], Tolerance{Real: 1e-6}
			if e.name == "gelu_add" || e.name == "silu" {
				tol.Step = 1 // transcendental: near a boundary the last bit decides
			}
			wr := scales(s.m)
			if q.zw != 0 {
				wr = numeric.PerTensor(0.004, q.zw)
			}
			l := m.layer(graph.Conv, s.attrs(), m.tensor(q.in, numeric.PerTensor(0.03, q.zi), s.n, s.c, s.h, s.w),
				m.constant(q.wt, wr, 1, s.m, s.c/s.group, s.k, s.k), m.constant(numeric.F32, numeric.Range{}, 1, s.m))
			y := l.Outputs[0]
			if y.Type = q.out; q.out != numeric.F32 {
				y.Range = numeric.PerTensor(0.11*float32(s.k), q.zo)
			}
			m.fuse(l, e, q.in, numeric.PerTensor(0.05, q.zi))
			m.add(fmt.Sprintf("conv_%s_%s_%s", q.name, s, e.name), l, tol)
		}
	}
}

func (m *maker) products() {
	for i, s := range [][3]int{{1, 1, 1}, {1, 64, 10}, {3, 17, 33}, {16, 128, 64}, {2, 1000, 31}, {1, 512, 1000}, {5, 4224, 24}} {
		e := epilogues[i%len(epilogues)]
		for _, trans := range []bool{false, true} {
			w := []int{s[1], s[2]}
			if trans {
				w = []int{s[2], s[1]}
			}
			a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: trans}
			for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
				l := m.layer(graph.Gemm, a, m.tensor(t, numeric.Range{}, s[0], s[1]), m.constant(t, numeric.Range{}, 8, w...), m.constant(t, numeric.Range{}, 1, s[2]))
				m.fuse(l, e, t, numeric.Range{})
				m.add(fmt.Sprintf("gemm_%s_%v_trans%v_%s", t, s, trans, e.name), l, Tolerance{Real: 1e-4})
			}

			axis := 1
			if trans {
				axis = 0
			}
			wr := scales(s[2])
			wr.Axis = axis
			l := m.layer(graph.Gemm, a, m.tensor(numeric.I8, numeric.PerTensor(0.02, 0), s[0], s[1]), m.constant(numeric.I8, wr, 1, w...), m.constant(numeric.F32, numeric.Range{}, 1, s[2]))
			m.fuse(l, epilogues[i%3], numeric.I8, numeric.Range{})
			m.add(fmt.Sprintf("gemm_i8f32_%v_trans%v", s, trans), l, Tolerance{Real: 1e-6})
		}
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			l := m.layer(graph.MatMul, nil, m.tensor(t, numeric.Range{}, 2, s[0], s[1]), m.constant(t, numeric.Range{}, 8, s[1], s[2]))
			m.add(fmt.Sprintf("matmul_%s_%v", t, s), l, Tolerance{Real: 1e-4})
		}
		l := m.layer(graph.MatMul, nil, m.tensor(numeric.F32, numeric.Range{}, 2, s[0], s[1]), m.tensor(numeric.F32, numeric.Range{}, 2, s[1], s[2]))
		m.fuse(l, e, numeric.F32, numeric.Range{})
		m.add(fmt.Sprintf("matmul_f32_dynamic_%v_%s", s, e.name), l, Tolerance{Real: 1e-4})
		l = m.layer(graph.MatMul, nil, m.tensor(numeric.F16, numeric.Range{}, 3, 1, s[0], s[1]), m.tensor(numeric.F16, numeric.Range{}, s[1], s[2]))
		m.add(fmt.Sprintf("matmul_f16_dynamic_%v", s), l, Tolerance{Real: 1e-4})
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} { // constants that are no single matrix on the right
			l = m.layer(graph.MatMul, nil, m.constant(t, numeric.Range{}, 8, 2, s[0], s[1]), m.tensor(t, numeric.Range{}, 3, 1, s[1], s[2]))
			m.add(fmt.Sprintf("matmul_%s_constant_left_%v", t, s), l, Tolerance{Real: 1e-4})
			l = m.layer(graph.MatMul, nil, m.tensor(t, numeric.Range{}, 3, 1, s[0], s[1]), m.constant(t, numeric.Range{}, 8, 2, s[1], s[2]))
			m.add(fmt.Sprintf("matmul_%s_constant_right_%v", t, s), l, Tolerance{Real: 1e-4})
		}
	}
}

func (m *maker) pointwise() {
	programs := []elementwise.Program{
		elementwise.Unary(elementwise.Relu), elementwise.Unary(elementwise.Sigmoid), elementwise.Unary(elementwise.Gelu), elementwise.Unary(elementwise.Tanh),
		elementwise.Unary(elementwise.HardSwish), elementwise.Unary(elementwise.Exp), elementwise.Unary(elementwise.Erf),
		elementwise.Binary(elementwise.Add), elementwise.Binary(elementwise.Mul), elementwise.Binary(elementwise.Div), elementwise.Binary(elementwise.PRelu),
		elementwise.Unary(elementwise.Sigmoid).Then(elementwise.Binary(elementwise.Mul), 0),
		elementwise.Binary(elementwise.Sub).Then(elementwise.Unary(elementwise.Clamp, -1, 1), 0),
		elementwise.Unary(elementwise.GeluTanh), elementwise.Unary(elementwise.Elu, 0.7), elementwise.Unary(elementwise.Selu, 1.6732632, 1.050701), elementwise.Unary(elementwise.LeakyRelu, 0.1),
		elementwise.Unary(elementwise.HardSigmoid, 0.2, 0.5), elementwise.Unary(elementwise.Softplus), elementwise.Binary(elementwise.Greater), elementwise.Binary(elementwise.LessEqual),
		elementwise.Unary(elementwise.Abs).Then(elementwise.Unary(elementwise.Log), 0), elementwise.Unary(elementwise.Abs).Then(elementwise.Unary(elementwise.Sqrt), 0),
		elementwise.Unary(elementwise.Abs).Then(elementwise.Binary(elementwise.Pow), 0), {Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}},
	}
	for i, p := range programs {
		for _, dims := range [][]int{{1, 1, 1, 1}, {2, 17, 3, 5}, {1, 64, 8, 8}, {3, 100}} {
			for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
				in := []*graph.Tensor{m.tensor(t, numeric.Range{}, dims...)}
				for range p.Args - 1 {
					other := dims
					if i%2 == 0 && len(dims) == 4 { // by channel
						other = []int{dims[0], dims[1], 1, 1}
					}
					in = append(in, m.tensor(t, numeric.Range{}, other...))
				}
				m.add(fmt.Sprintf("pointwise_%s_%d_%v", t, i, dims), m.layer(graph.Pointwise, graph.Elementwise{Program: p}, in...), Tolerance{Real: 1e-5})
			}
		}
	}
}

// trigonometry is all of it, of numbers up to 1 and, where that is defined, others. What comes before a function that is
// steep somewhere is exact, or as steep the other way: the last bit of a sine near 1 would be the 12th of its arc sine.
func (m *maker) trigonometry() {
	up, one := elementwise.Unary(elementwise.Cosh), elementwise.Unary(elementwise.Clamp, -1, 1)
	for _, p := range []elementwise.Program{
		elementwise.Unary(elementwise.Sin).Then(elementwise.Unary(elementwise.Tan), 0), elementwise.Unary(elementwise.Cos), one.Then(elementwise.Unary(elementwise.Asin), 0), one.Then(elementwise.Unary(elementwise.Acos), 0),
		elementwise.Unary(elementwise.Atan), elementwise.Unary(elementwise.Sinh), elementwise.Unary(elementwise.Cosh), elementwise.Unary(elementwise.Asinh),
		up.Then(elementwise.Unary(elementwise.Acosh), 0), elementwise.Unary(elementwise.Softsign).Then(elementwise.Unary(elementwise.Atanh), 0),
	} {
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			l := m.layer(graph.Pointwise, graph.Elementwise{Program: p}, m.tensor(t, numeric.Range{}, 2, 300))
			m.add(fmt.Sprintf("pointwise_%s_%s", t, p), l, Tolerance{Real: 2e-5})
		}
	}
}

func (m *maker) rest() {
	for _, dims := range [][]int{{1, 10}, {3, 1000}, {2, 17, 5}, {1, 1, 1, 1}, {2, 4, 33, 3}} {
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			for _, a := range []graph.SoftmaxAttrs{{Axis: -1}, {Axis: 1}, {Axis: 1, Flatten: true}, {Axis: -1, Log: true}} {
				l := m.layer(graph.Softmax, a, m.tensor(t, numeric.Range{}, dims...))
				m.add(fmt.Sprintf("softmax_%s_%v_%v", t, dims, a), l, Tolerance{Real: 1e-5})
			}
		}
	}
	for _, t := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		for _, dims := range [][]int{{1, 16, 2, 2}, {2, 17, 3, 5}, {1, 3, 33, 31}} {
			m.add(fmt.Sprintf("reformat_%s_%v", t, dims), m.layer(graph.Reformat, nil, m.tensor(t, numeric.Range{}, dims...)), Tolerance{})
			if t == numeric.I8 {
				continue
			}
			for _, to := range []numeric.DataType{numeric.F32, numeric.F16} { // F16 storage begins and ends with a change of type
				l := m.layer(graph.Reformat, nil, m.tensor(t, numeric.Range{}, dims...))
				l.Outputs[0].Type = to
				m.add(fmt.Sprintf("reformat_%s_%s_%v", t, to, dims), l, Tolerance{})
			}
		}
	}
	for _, t := range []numeric.DataType{numeric.I8, numeric.U8} {
		for _, dims := range [][]int{{1, 1, 4, 4}, {2, 17, 3, 5}, {1, 3, 32, 33}, {1, 64, 7, 7}} {
			r := numeric.PerTensor(0.03, int32(dims[1]%7))
			m.add(fmt.Sprintf("quantize_%s_%v", t, dims), m.layer(graph.Quantize, graph.QuantAttrs{Range: r, Type: t}, m.tensor(numeric.F32, numeric.Range{}, dims...)), Tolerance{})
			m.add(fmt.Sprintf("dequantize_%s_%v", t, dims), m.layer(graph.Dequantize, graph.QuantAttrs{Range: r, Type: numeric.F32}, m.tensor(t, r, dims...)), Tolerance{Real: 1e-7})
		}
	}
	for _, c := range [][]int{{16, 32}, {3, 5, 8}, {16, 20}, {24, 40, 32}, {1, 15, 33, 7}} {
		for _, t := range []numeric.DataType{numeric.I8, numeric.U8} {
			var in []*graph.Tensor
			r := numeric.PerTensor(0.1, 3)
			for _, n := range c {
				in = append(in, m.tensor(t, r, 2, n, 3, 3))
			}
			l := m.layer(graph.Concat, graph.ConcatAttrs{Axis: 1}, in...)
			l.Outputs[0].Range = r
			m.add(fmt.Sprintf("concat_%s_%v", t, c), l, Tolerance{})
		}
		for _, t := range []numeric.DataType{numeric.F32, numeric.F16} {
			var in []*graph.Tensor
			for _, n := range c {
				in = append(in, m.tensor(t, numeric.Range{}, 2, n, 3, 3))
			}
			m.add(fmt.Sprintf("concat_%s_%v", t, c), m.layer(graph.Concat, graph.ConcatAttrs{Axis: 1}, in...), Tolerance{})
		}
	}
}
