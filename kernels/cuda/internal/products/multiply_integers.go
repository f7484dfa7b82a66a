package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// integerProductTactics are the matrix products of plain integers, whose zero points and scales are inputs.
func integerProductTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.MatMulInteger, graph.QLinearMatMul} {
		for _, side := range []int{64, 32} {
			list = append(list, emit.Tactic{
				Name: fmt.Sprintf("gemm_integers_%dx%d", side, side), Op: op, Variant: shape("gemm_integers", side, side), In: kernels.Linear, Out: kernels.Linear,
				Match: func(b kernels.Binding) error {
					_, err := integerProductOf(b, side)
					return err
				},
				Workspace: func(b kernels.Binding) int {
					if m, err := integerProductOf(b, side); err == nil {
						return 4 * m.exact.factors(b)
					}
					return 0
				},
				Emit: func(b kernels.Binding) (*emit.Work, error) {
					m, err := integerProductOf(b, side)
					if err != nil {
						return nil, err
					}
					return m.emitIntegers(b), nil
				},
				Cost: func(b kernels.Binding) []emit.Job {
					m, err := integerProductOf(b, side)
					if err != nil {
						return nil
					}
					return m.jobs(b)
				},
			})
		}
	}
	return list
}

func integerProductOf(b kernels.Binding, side int) (*multiplication, error) {
	s := integerSumsOf(b)
	b = asMatrices(b, s.second)
	x, out := b.In[0].Dims, b.Out[0].Dims
	m := &multiplication{binding: b, side: side, alpha: 1, exact: s}
	m.m, m.n, m.k, m.batch = out[len(out)-2], out[len(out)-1], x[len(x)-1], numeric.Count(out[:len(out)-2])
	m.left.read(b, 0, false)
	m.right.read(b, s.second, true)
	if g := m.grid(); g[0]*g[1]*g[2] > emit.MaxElements {
		return nil, fmt.Errorf("%d products of %d rows are too many blocks", m.batch, m.m)
	}
	return m, s.check(b, m.n, m.k)
}

// emitIntegers emits the kernel, which stores the sums, or what they are at another scale.
func (m *multiplication) emitIntegers(b kernels.Binding) *emit.Work {
	w := emit.NewWork()
	m.exact.emitFactors(w, b)
	c, l := m.block(w)
	m.exact.parameters(c.K, l, w, b)
	y := l.Output(c.K, 0)
	c.place(l)
	c.run()
	for i, sums := range c.sums {
		row, column := c.rowOf(i)
		line := c.Mul(c.Mad(c.matrix, ptx.U(m.m), row), ptx.U(m.n))
		for j, sum := range sums {
			at := c.Add(column, ptx.U(j))
			c.If(c.Both(c.Lt(row, ptx.U(m.m)), c.Lt(at, ptx.U(m.n))), func() {
				m.exact.store(c.K, y, c.Add(line, at), sum.Int(), at)
			})
		}
	}
	w.End(c.K, l)
	return w
}
