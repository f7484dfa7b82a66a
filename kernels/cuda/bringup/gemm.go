package bringup

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
)

// The large product is square, of this extent.
const productExtent, smallExtent = 4096, 128

// products measures a large matrix product on every tile that does not split the sum, and checks a sample of each.
func (p *probe) products() error {
	n := productExtent
	if p.small {
		n = smallExtent
	}
	for _, u := range []emit.Unit{emit.TensorF16, emit.TensorI8, emit.SimtF32} {
		if err := p.product(u, n); err != nil {
			return fmt.Errorf("%s: %w", u, err)
		}
	}
	return nil
}

// largeProduct is y = x w', both n by n.
type largeProduct struct {
	n       int
	x       []byte
	binding kernels.Binding
}

// newLargeProduct returns the product for a unit: halves and floats, or bytes with a scale that fits the sums into bytes.
func newLargeProduct(u emit.Unit, n int) (*largeProduct, error) {
	t := u.Type()
	var rx, rw, ry numeric.Range
	if t == numeric.I8 {
		rx, rw = numeric.PerTensor(0.01, 0), numeric.PerTensor(0.01, 0)
		ry = numeric.PerTensor(0.01*float32(math.Sqrt(float64(n)))*0.64, 0) // a sum's deviation is 74² steps times √n
	}
	rnd := rand.New(rand.NewPCG(9, uint64(u)))
	x := &graph.Tensor{Name: "x", Type: t, Dims: symbolic.Shape(n, n), Range: rx}
	w := &graph.Tensor{Name: "w", Type: t, Dims: symbolic.Shape(n, n), Range: rw, Weights: randomElements(rnd, t, n*n)}
	y := &graph.Tensor{Name: "y", Type: t, Range: ry}
	l := &graph.Layer{Name: "product", Op: graph.Gemm, Attrs: graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, From: []string{"product"}}
	l.AddInput(x)
	l.AddInput(w)
	l.Outputs, y.Producer = []*graph.Tensor{y}, l
	if err := l.Infer(); err != nil {
		return nil, err
	}
	y.Type, y.Range = t, ry
	d := kernels.Desc{Type: t, Dims: []int{n, n}}
	return &largeProduct{n: n, x: randomElements(rnd, t, n*n), binding: kernels.Binding{
		Layer: l, In: []kernels.Desc{d, d}, Out: []kernels.Desc{d}, Consts: [][]byte{nil, w.Weights},
	}}, nil
}

// randomElements returns n bytes, or reals of about 1.
func randomElements(rnd *rand.Rand, t numeric.DataType, n int) []byte {
	var data []byte
	if t == numeric.I8 {
		for len(data) < n {
			data = binary.LittleEndian.AppendUint64(data, rnd.Uint64())
		}
		return data[:n]
	}
	data = make([]byte, n*t.Size())
	for i := range n {
		if f := 2*rnd.Float32() - 1; t == numeric.F16 {
			binary.LittleEndian.PutUint16(data[2*i:], numeric.F32ToF16(f))
		} else {
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(f))
		}
	}
	return data
}

// product runs the tiles of a unit: bound on all processors, measured one by one.
func (p *probe) product(u emit.Unit, n int) error {
	l, err := newLargeProduct(u, n)
	if err != nil {
		return err
	}
	var tactics []kernels.Tactic
	for _, t := range products.Tiles(u) {
		name := "gemm_linear_" + t.String()
		for _, tac := range p.backend.Tactics(graph.Gemm) {
			if tac.Name == name && t.Split == 1 && (!p.small || t.BM*t.BN <= 64*64) {
				tactics = append(tactics, tac)
			}
		}
	}
	if p.small && len(tactics) > 1 {
		tactics = tactics[:1]
	}
	in, err := p.backend.Alloc(len(l.x))
	if err != nil {
		return err
	}
	defer p.backend.Free(in)
	out, err := p.backend.Alloc(len(l.x))
	if err != nil {
		return err
	}
	defer p.backend.Free(out)
	if err := p.backend.Upload(p.stream, in, l.x); err != nil {
		return err
	}
	// All are bound before any is measured: loading code may hold the device up.
	type result struct {
		kernel kernels.Kernel
		err    error
	}
	var bound []result
	inOrder(len(tactics), func(i int) result {
		k, err := tactics[i].Bind(l.binding)
		return result{k, err}
	}, func(_ int, r result) bool {
		bound = append(bound, r)
		if r.err == nil {
			p.bound = append(p.bound, r.kernel)
		}
		return p.ctx.Err() == nil
	})
	for i, r := range bound {
		f := Finding{Name: fmt.Sprintf("%s, %d", tactics[i].Name, n)}
		if r.err == nil {
			r.err = p.runProduct(l, r.kernel, in, out, &f)
		}
		if p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		if r.err != nil {
			f.Error = r.err.Error()
		}
		p.report(f)
		if lost(r.err) {
			return r.err
		}
	}
	return nil
}

// runProduct measures a kernel and compares elements of its result with their definition.
func (p *probe) runProduct(l *largeProduct, k kernels.Kernel, in, out kernels.Mem, f *Finding) error {
	constants, err := run.Place(p.backend, k)
	if err != nil {
		return err
	}
	defer p.backend.Free(constants)
	d, err := p.measure(func() error {
		return k.Launch(p.stream, []kernels.Mem{in}, []kernels.Mem{out}, kernels.Mem{})
	})
	if err != nil {
		return err
	}
	f.US, f.TFLOPs = microseconds(d), perSecond(2*math.Pow(float64(l.n), 3), d)/1e3
	y := make([]byte, l.binding.Out[0].Bytes())
	if err := p.backend.Download(p.stream, y, out); err != nil {
		return err
	}
	return l.check(y)
}

// check compares elements of the result, some in every part of it.
func (l *largeProduct) check(y []byte) error {
	t := l.binding.Out[0].Type
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 256 {
		row, column := rnd.IntN(l.n), rnd.IntN(l.n)
		sum := 0.0
		for i := range l.n {
			sum += element(t, l.x, row*l.n+i) * element(t, l.binding.Consts[1], column*l.n+i)
		}
		limit := math.Abs(sum)*2e-3 + 1e-2
		if t == numeric.I8 {
			scale := float64(l.binding.Layer.Outputs[0].Range.ScaleAt(0)) / 1e-4
			sum, limit = max(-128, min(127, math.RoundToEven(sum/scale))), 1
		}
		if got := element(t, y, row*l.n+column); !(math.Abs(got-sum) <= limit) {
			return fmt.Errorf("row %d, column %d is %v, want %v within %.3g", row, column, got, sum, limit)
		}
	}
	return nil
}

// element reads element i.
func element(t numeric.DataType, data []byte, i int) float64 {
	switch t {
	case numeric.I8:
		return float64(int8(data[i]))
	case numeric.F16:
		return float64(numeric.F16ToF32(binary.LittleEndian.Uint16(data[2*i:])))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
}
