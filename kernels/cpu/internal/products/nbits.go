package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// nBitsTactic is the product with weights of few bits for one instruction set.
func nBitsTactic(isa asm.Features, workers int) kernels.Tactic {
	return kernels.Tactic{
		Name: "nbits_f32_" + work.ISAName(isa), Op: graph.MatMulNBits, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			_, err := newNBitsKernel(b, 0, workers)
			return err
		},
		Workspace: func(b kernels.Binding) int {
			k, err := newNBitsKernel(b, isa, workers)
			if err != nil {
				return 0
			}
			return 4 * k.room()
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := newNBitsKernel(b, isa, workers)
			if err != nil {
				return nil, err
			}
			return k, k.pack(b, isa)
		},
	}
}

// nBitsKernel is a product with weights of few bits, bound to a layer.
type nBitsKernel struct {
	m, k, n int
	workers int
	weights *PackedWeights
	bias    []float32
	after   *programs.Program // the epilogue
}

func newNBitsKernel(b kernels.Binding, isa asm.Features, workers int) (*nBitsKernel, error) {
	a := b.Layer.Attrs.(graph.NBitsAttrs)
	g := &nBitsKernel{k: a.K, n: b.In[1].Dims[0], workers: workers}
	if b.In[0].Type != numeric.F32 || b.Out[0].Type != numeric.F32 {
		return nil, fmt.Errorf("input %v is not %s", b.In[0], numeric.F32)
	}
	for i := range b.Layer.OpInputs() {
		if i > 0 && b.Layer.Inputs[i] != nil && b.Consts[i] == nil {
			return nil, fmt.Errorf("input %d is no constant", i)
		}
	}
	if z := b.Layer.Input(graph.NBitsZeros); z != nil && z.Type != numeric.U8 {
		return nil, fmt.Errorf("zero points are %s, not %s", z.Type, numeric.U8)
	}
	if a.Block%8 != 0 && a.Block < a.K {
		return nil, fmt.Errorf("blocks of %d are not of octets", a.Block)
	}
	if g.m = numeric.Count(b.Out[0].Dims) / max(1, g.n); g.m*g.n == 0 {
		return nil, fmt.Errorf("a matrix is empty")
	}
	var err error
	g.after, err = programs.Trailing(b, isa)
	return g, err
}

// room returns the floats of the workspace.
func (g *nBitsKernel) room() int { return RoomWeights(g.m, g.n, g.k, g.k, g.workers) }

func (g *nBitsKernel) pack(b kernels.Binding, isa asm.Features) (err error) {
	a := b.Layer.Attrs.(graph.NBitsAttrs)
	value := func(i int) numeric.Value {
		if b.Layer.Input(i) == nil {
			return numeric.Value{}
		}
		return numeric.Value{Type: b.In[i].Type, Dims: b.In[i].Dims, Data: b.Consts[i]}
	}
	g.weights, err = kernels.Packed(b, nil, func() (*PackedWeights, error) {
		w := graph.NewNBitsWeights(a, value(1), value(graph.NBitsScales), value(graph.NBitsZeros))
		return NewPackedWeights(Integers{
			K: g.k, N: g.n, Bits: a.Bits, Group: a.Block,
			Q:     w.Q,
			Scale: w.Scale,
			Zero:  func(block, n int) int32 { return int32(w.Zero(block, n)) },
		}, isa)
	})
	if b.Layer.Input(graph.NBitsBias) != nil {
		g.bias = work.RealConst(b, graph.NBitsBias)
	}
	return err
}

// Launch computes the product, then what follows.
func (g *nBitsKernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	MultiplyWeights(work.Loop(st), &WeightsCall{
		M: g.m, A: numeric.View[float32](in[0].Host), AStride: g.k, B: g.weights, Bias: g.bias,
		Out: numeric.View[float32](out[0].Host), OutStride: g.n, Workers: g.workers, Room: numeric.View[float32](ws.Host)[:g.room()],
	})
	if g.after != nil {
		g.after.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}
