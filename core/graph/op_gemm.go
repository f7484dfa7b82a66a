package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// GemmAttrs are the attributes of a general matrix product.
type GemmAttrs struct {
	Alpha  float32 // scales the product
	Beta   float32 // scales C
	TransA bool    // A is given as [K,M]
	TransB bool    // B is given as [N,K]
}

// Gemm is y = alpha*A*B + beta*C for A [M,K] and B [K,N], either of which may be given transposed, and an optional C
// that broadcasts to [M,N].
//
// With quantised A and B the product is over integers as in [Conv], B having one scale or one for each column n:
// (float32(sum) * (sa*sb[n])) * alpha + beta*C, each operation rounded to float32. A quantised C counts by its real value.
// Plain integers multiply as such and wrap around.
var Gemm = &Op{
	Name:  "Gemm",
	Attrs: GemmAttrs{},
	Reals: AsIntegers,
	Onnx:  []string{"Gemm"},
	Class: ClassMatrix, Inputs: []Role{Data, Weights, Bias}, Memory: Written,
	Moves:   computed,
	FLOPs:   matrixFLOPs,
	Product: &Product{Axes: gemmAxes, Groups: oneGroup},
	Infer:   inferGemm,
	Eval:    evalGemm,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(GemmAttrs)
		return e.Node("Gemm", Attributes{"alpha": a.Alpha, "beta": a.Beta, "transA": a.TransA, "transB": a.TransB})
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		return GemmAttrs{
			Alpha: n.Float("alpha", 1), Beta: n.Float("beta", 1),
			TransA: n.Flag("transA", false), TransB: n.Flag("transB", false),
		}, n.Inputs, nil
	},
}

// MatMul is numpy's matmul: the matrix product over the last two axes, the others broadcasting; a vector on the left
// is a row, one on the right a column, and the axis added for it is dropped from the result. Quantised operands
// multiply as in [Gemm].
var MatMul = &Op{
	Name:  "MatMul",
	Reals: AsIntegers,
	Onnx:  []string{"MatMul"},
	Class: ClassMatrix, Inputs: []Role{Data, Weights}, Memory: Written,
	Moves:   computed,
	FLOPs:   matrixFLOPs,
	Product: &Product{Axes: matmulAxes, Groups: oneGroup},
	Infer:   inferMatMul,
	Eval:    evalMatMul,
}

// gemmAxes returns the axes of B [K,N] or [N,K].
func gemmAxes(l *Layer) (out, in int) {
	if l.Attrs.(GemmAttrs).TransB {
		return 0, 1
	}
	return 1, 0
}

// matmulAxes returns the last two axes of the right side; a vector has but the common one.
func matmulAxes(l *Layer) (out, in int) {
	rank := len(l.Inputs[l.Op.Input(Weights)].Dims)
	if rank == 1 {
		return -1, 0
	}
	return rank - 1, rank - 2
}

func oneGroup(*Layer) int { return 1 }

func inferGemm(l *Layer) error {
	attrs := l.Attrs.(GemmAttrs)
	a, b, err := l.factors()
	if err != nil {
		return err
	}
	if len(a.Dims) != 2 || len(b.Dims) != 2 {
		return fmt.Errorf("inputs %s and %s: want two matrices", a.TypeString(), b.TypeString())
	}
	m, k := a.Dims[0], a.Dims[1]
	if attrs.TransA {
		m, k = k, m
	}
	k2, n := b.Dims[0], b.Dims[1]
	if attrs.TransB {
		k2, n = n, k2
	}
	if conflict(k, k2) {
		return fmt.Errorf("inputs %s and %s: the common axis is %s in one and %s in the other", a.TypeString(), b.TypeString(), k, k2)
	}
	dims := []symbolic.Dim{m, n}
	if c := l.Input(2); c != nil {
		if c.RealType() != a.RealType() {
			return fmt.Errorf("input C is %s, want %s", c.TypeString(), a.RealType())
		}
		if both, err := BroadcastDims(dims, c.Dims); err != nil || len(both) != 2 || conflict(both[0], m) || conflict(both[1], n) {
			return fmt.Errorf("input C %s does not broadcast to %s", c.TypeString(), symbolic.Format(dims))
		}
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = a.RealType(), dims
	return nil
}

// factors returns the layer's first two inputs, checked to have one type that can be multiplied.
func (l *Layer) factors() (a, b *Tensor, err error) {
	if a, err = l.need(0); err != nil {
		return nil, nil, err
	}
	if b, err = l.need(1); err != nil {
		return nil, nil, err
	}
	t := a.RealType()
	if t != b.RealType() || t == numeric.Bool {
		return nil, nil, fmt.Errorf("inputs %s and %s: want one type of numbers", a.TypeString(), b.TypeString())
	}
	return a, b, nil
}

// conflict reports whether two dims are known to differ.
func conflict(a, b symbolic.Dim) bool {
	m, ok := a.IsConst()
	n, ok2 := b.IsConst()
	return ok && ok2 && m != n
}

func inferMatMul(l *Layer) error {
	a, b, err := l.factors()
	if err != nil {
		return err
	}
	dims, err := matmulDims(a, b)
	if err != nil {
		return err
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = a.RealType(), dims
	return nil
}

// matmulDims returns the shape of the product of two tensors.
func matmulDims(a, b *Tensor) ([]symbolic.Dim, error) {
	if len(a.Dims) == 0 || len(b.Dims) == 0 {
		return nil, fmt.Errorf("inputs %s and %s: a scalar cannot be multiplied as a matrix", a.TypeString(), b.TypeString())
	}
	ad, bd := a.Dims, b.Dims
	if len(ad) == 1 {
		ad = []symbolic.Dim{symbolic.Const(1), ad[0]}
	}
	if len(bd) == 1 {
		bd = []symbolic.Dim{bd[0], symbolic.Const(1)}
	}
	m, k := ad[len(ad)-2], ad[len(ad)-1]
	k2, n := bd[len(bd)-2], bd[len(bd)-1]
	if conflict(k, k2) {
		return nil, fmt.Errorf("inputs %s and %s: the common axis is %s in one and %s in the other", a.TypeString(), b.TypeString(), k, k2)
	}
	batch, err := BroadcastDims(ad[:len(ad)-2], bd[:len(bd)-2])
	if err != nil {
		return nil, fmt.Errorf("inputs %s and %s: %w", a.TypeString(), b.TypeString(), err)
	}
	dims := append([]symbolic.Dim{}, batch...)
	if len(a.Dims) > 1 {
		dims = append(dims, m)
	}
	if len(b.Dims) > 1 {
		dims = append(dims, n)
	}
	return dims, nil
}

func evalGemm(l *Layer, in, out []numeric.Value) error {
	attrs := l.Attrs.(GemmAttrs)
	a, b, y := in[0], in[1], out[0]
	p := product{m: a.Dims[0], k: a.Dims[1], ai: a.Dims[1], ak: 1, n: b.Dims[1], bk: b.Dims[1], bj: 1}
	if attrs.TransA {
		p.m, p.k, p.ai, p.ak = a.Dims[1], a.Dims[0], 1, a.Dims[1]
	}
	k := b.Dims[0]
	if attrs.TransB {
		k, p.n, p.bk, p.bj = b.Dims[1], b.Dims[0], 1, b.Dims[1]
	}
	if k != p.k {
		return fmt.Errorf("matrices %v and %v do not fit", a.Dims, b.Dims)
	}
	d := newDot(l, a, b)
	p.run(d, 0, 0, func(i, j int) { d.store(y, i*p.n+j, j) })
	switch y.Type {
	case numeric.F32:
		return finishReals(attrs, in, l.Inputs, y.F32(), y.Dims, numeric.Value.F32)
	case numeric.F64:
		return finishReals(attrs, in, l.Inputs, numeric.View[float64](y.Data), y.Dims, numeric.Value.Float64s)
	}
	return attrs.finishInts(in, y)
}

// finishReals applies alpha and beta to a product dst of real numbers.
func finishReals[T float32 | float64](g GemmAttrs, in []numeric.Value, inputs []*Tensor, dst []T, dims []int, view func(numeric.Value) []T) error {
	if g.Alpha != 1 {
		for i := range dst {
			dst[i] *= T(g.Alpha)
		}
	}
	if len(in) < 3 || in[2].Data == nil {
		return nil
	}
	c := numeric.ToReal(in[2], inputs[2].Range)
	at, err := numeric.NewBroadcast(c.Dims, dims)
	if err != nil {
		return fmt.Errorf("input C: %w", err)
	}
	summands := view(c)
	for i := range dst {
		dst[i] += T(g.Beta) * summands[at.At(i)]
	}
	return nil
}

// finishInts applies alpha and beta to a product y of plain integers.
func (g GemmAttrs) finishInts(in []numeric.Value, y numeric.Value) error {
	sums := y.Ints()
	var c []int64
	var at numeric.Broadcast
	if len(in) > 2 && in[2].Data != nil {
		var err error
		if at, err = numeric.NewBroadcast(in[2].Dims, y.Dims); err != nil {
			return fmt.Errorf("input C: %w", err)
		}
		c = in[2].Ints()
	}
	for i, s := range sums {
		if g.Alpha != 1 {
			s = int64(float64(g.Alpha) * float64(s))
		}
		if c != nil {
			v := c[at.At(i)]
			if g.Beta != 1 {
				v = int64(float64(g.Beta) * float64(v))
			}
			s += v
		}
		storeInt(y, i, s)
	}
	return nil
}

func evalMatMul(l *Layer, in, out []numeric.Value) error {
	d := newDot(l, in[0], in[1])
	return matmul(d, in[0].Dims, in[1].Dims, out[0].Dims, func(at, _, column int) { d.store(out[0], at, column) })
}

// matmul multiplies d's operands of shapes a and b into shape y as numpy does, and calls store with the place, the row
// and the column of each element when d holds its sum.
func matmul(d *dot, a, b, y []int, store func(at, row, column int)) error {
	batch := y[:len(y)-min(1, len(a)-1)-min(1, len(b)-1)]
	if len(a) == 1 {
		a = []int{1, a[0]}
	}
	if len(b) == 1 {
		b = []int{b[0], 1}
	}
	am, bm := len(a)-2, len(b)-2
	p := product{m: a[am], k: a[am+1], ai: a[am+1], ak: 1, n: b[bm+1], bk: b[bm+1], bj: 1}
	if b[bm] != p.k || numeric.Count(y) != numeric.Count(batch)*p.m*p.n {
		return fmt.Errorf("matrices %v and %v do not fit", a, b)
	}
	aAt, err := numeric.NewBroadcast(a[:am], batch)
	if err != nil {
		return err
	}
	bAt, err := numeric.NewBroadcast(b[:bm], batch)
	if err != nil {
		return err
	}
	for i := range numeric.Count(batch) {
		p.run(d, aAt.At(i)*p.m*p.k, bAt.At(i)*p.k*p.n, func(r, c int) { store((i*p.m+r)*p.n+c, r, c) })
	}
	return nil
}

// product is one matrix product [m,k] x [k,n] with the distance between neighbours on each axis of its operands.
type product struct{ m, k, n, ai, ak, bk, bj int }

// run computes the product of the matrices at places a and b of d's operands and calls store for each element when d
// holds its sum.
func (p product) run(d *dot, a, b int, store func(row, column int)) {
	as, bs := make([]int, p.k), make([]int, p.k)
	for k := range p.k {
		as[k], bs[k] = k*p.ak, k*p.bk
	}
	for i := range p.m {
		d.each(a+i*p.ai, as, weightsAt{begin: b, step: p.bj, channels: p.n}, bs, func(j int) { store(i, j) })
	}
}

// storeInt stores v, wrapped around, as element i of an integer value.
func storeInt(v numeric.Value, i int, x int64) {
	switch v.Type.Size() {
	case 1:
		v.Data[i] = byte(x)
	case 2:
		numeric.View[int16](v.Data)[i] = int16(x)
	case 4:
		numeric.View[int32](v.Data)[i] = int32(x)
	case 8:
		numeric.View[int64](v.Data)[i] = x
	}
}
