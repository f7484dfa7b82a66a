package build

import (
	"context"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// multiplier multiplies matrices on a backend, by a network of one product for each shape.
type multiplier struct {
	ctx     context.Context
	backend run.Backend
	kept    map[[3]int]multiplication
}

type multiplication struct {
	context *run.ExecutionContext
	loaded  *run.Loaded
}

// mostMultiplications bounds the shapes that are kept.
const mostMultiplications = 4

// multiply is a [quant.Multiply].
func (m *multiplier) multiply(a, b []float32, rows, k, columns int) ([]float32, error) {
	if err := m.ctx.Err(); err != nil {
		return nil, err
	}
	of := [3]int{rows, k, columns}
	p, ok := m.kept[of]
	if !ok {
		if len(m.kept) == mostMultiplications {
			m.close()
		}
		var err error
		if p, err = m.load(of); err != nil {
			return nil, err
		}
		if m.kept == nil {
			m.kept = map[[3]int]multiplication{}
		}
		m.kept[of] = p
	}
	err := p.context.SetInputs(map[string]numeric.Value{"a": numeric.Values(numeric.F32, a, rows, k), "b": numeric.Values(numeric.F32, b, k, columns)})
	if err != nil {
		return nil, err
	}
	if err := p.context.Execute(); err != nil {
		return nil, err
	}
	v, err := p.context.Output("product")
	return v.Floats(), err
}

func (m *multiplier) load(of [3]int) (p multiplication, err error) {
	n := graph.NewNetwork("product")
	a := n.AddInput("a", numeric.F32, symbolic.Shape(of[0], of[1])...)
	b := n.AddInput("b", numeric.F32, symbolic.Shape(of[1], of[2])...)
	l, err := n.Add("product", graph.MatMul, nil, []*graph.Tensor{a, b}, "product")
	if err != nil {
		return p, err
	}
	n.MarkOutput(l.Outputs[0])
	p.context, p.loaded, err = unfused(m.ctx, n, nil, m.backend)
	return p, err
}

// close lets go of all shapes.
func (m *multiplier) close() {
	for _, p := range m.kept {
		p.context.Close()
		p.loaded.Close()
	}
	clear(m.kept)
}
