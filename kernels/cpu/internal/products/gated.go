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

// gatedTactic is the gated product for one instruction set: a product in the workspace and one in the output, which are then
// combined.
func gatedTactic(isa asm.Features, workers int) kernels.Tactic {
	return kernels.Tactic{
		Name: "gated_f32_" + work.ISAName(isa), Op: graph.GatedMatMul, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			_, err := newGatedKernel(b, 0, workers)
			return err
		},
		Workspace: func(b kernels.Binding) int {
			k, err := newGatedKernel(b, isa, workers)
			if err != nil {
				return 0
			}
			return 4 * (k.gate() + k.room())
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			k, err := newGatedKernel(b, isa, workers)
			if err != nil {
				return nil, err
			}
			return k, k.pack(b, isa)
		},
	}
}

// gatedKernel is a gated product bound to a layer.
type gatedKernel struct {
	m, k, n int
	workers int
	weights [2]*PackedB
	biases  [2][]float32
	combine *programs.Program
	after   *programs.Program // the epilogue
}

func newGatedKernel(b kernels.Binding, isa asm.Features, workers int) (*gatedKernel, error) {
	if err := b.Only(numeric.F32); err != nil {
		return nil, err
	}
	if b.Consts[0] != nil || b.Consts[graph.GatedGate] == nil || b.Consts[graph.GatedUp] == nil {
		return nil, fmt.Errorf("the right sides are not constant matrices")
	}
	for i := graph.GatedGateBias; i <= graph.GatedUpBias; i++ {
		if b.Layer.Input(i) != nil && b.Consts[i] == nil {
			return nil, fmt.Errorf("bias %s is not constant", b.Layer.Input(i).Name)
		}
	}
	g := &gatedKernel{k: b.In[1].Dims[0], n: b.In[1].Dims[1], workers: workers}
	if g.m = numeric.Count(b.Out[0].Dims) / max(1, g.n); g.m*g.k*g.n == 0 {
		return nil, fmt.Errorf("a matrix is empty")
	}
	args := []programs.Argument{{Input: 0}, {Input: -1}}
	for i := range args {
		var err error
		if args[i].Codec, err = programs.NewCodec(b.Out[0], numeric.Range{}, isa); err != nil {
			return nil, err
		}
		if err := args[i].Place(b.Out[0], b.Out[0]); err != nil {
			return nil, err
		}
	}
	var err error
	if g.combine, err = programs.Over(args, b.Layer.Attrs.(graph.GatedAttrs).Program(), b.Out[0], numeric.Range{}, isa); err != nil {
		return nil, err
	}
	g.after, err = programs.Trailing(b, isa)
	return g, err
}

// gate returns the floats of the product in the workspace, room those of a copy of the rows.
func (g *gatedKernel) gate() int { return work.RoundUp64(g.m * g.n) }
func (g *gatedKernel) room() int { return RoomF32(g.m, g.n, g.k, g.k) }

func (g *gatedKernel) pack(b kernels.Binding, isa asm.Features) (err error) {
	g.weights, err = kernels.Packed(b, nil, func() (weights [2]*PackedB, err error) {
		for i := range weights {
			if weights[i], err = NewPackedB(g.k, g.n, isa); err != nil {
				return weights, err
			}
			weights[i].Pack(work.RealConst(b, graph.GatedGate+i), g.n, false)
		}
		return weights, nil
	})
	for i := range g.biases {
		g.biases[i] = work.RealConst(b, graph.GatedGateBias+i)
	}
	return err
}

// Launch computes the products, then what follows from both. The second one reads the rows as the first has copied them.
func (g *gatedKernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	room := numeric.View[float32](ws.Host)
	gate, room := room[:g.m*g.n], room[g.gate():][:g.room()]
	call := GemmF32Call{
		M: g.m, A: numeric.View[float32](in[0].Host), AStride: g.k, B: g.weights[0], Bias: g.biases[0], Out: gate, OutStride: g.n,
		Limits: programs.NoLimits(), Workers: g.workers, Room: room,
	}
	Gemm(work.Loop(st), &call)
	if len(room) > 0 {
		call.A, call.AStride, call.Room = room, spread(g.k), nil
	}
	call.B, call.Bias, call.Out = g.weights[1], g.biases[1], numeric.View[float32](out[0].Host)
	Gemm(work.Loop(st), &call)
	g.combine.Launch(work.Loop(st), out[0], []kernels.Mem{ws}, out[0])
	if g.after != nil {
		g.after.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}
