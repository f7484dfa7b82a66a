package pointwise

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// normalizeTactics are the batch normalisations that were not folded: element-wise programs with a factor and a summand
// for each channel.
func normalizeTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		list = append(list, emit.Tactic{
			Name: "batchnorm_" + f.String(), Op: graph.BatchNorm, In: f, Out: f, Strided: f == kernels.NHWC,
			Match: func(b kernels.Binding) error {
				p, program, err := normalization(b)
				if err != nil {
					return err
				}
				return emit.CheckArguments(p, program, 0)
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				p, program, err := normalization(b)
				if err != nil {
					return nil, err
				}
				w, err := emitPointwise(p, program)
				if err != nil {
					return nil, err
				}
				for i, a := range w.Launches[0].Args { // the epilogue's inputs lie further on in the layer
					if a.Kind == emit.InputArg && a.Index > 0 {
						w.Launches[0].Args[i].Index += len(b.In) - len(p.In)
					}
				}
				return w, nil
			},
		})
	}
	return list
}

// normalization returns a batch normalisation as x*factor + summand, then the epilogue, and the binding of x, these and the
// epilogue's inputs.
func normalization(b kernels.Binding) (kernels.Binding, elementwise.Program, error) {
	channels := b.In[0].Dims[1]
	var p [5][]float32 // scale, bias, mean and variance at 1 to 4
	for i := 1; i < len(p); i++ {
		v, ok := b.Const(i)
		if !ok || v.Len() != channels {
			return b, elementwise.Program{}, fmt.Errorf("input %d is not a constant of %d channels", i, channels)
		}
		p[i] = numeric.ToReal(v, b.Layer.Inputs[i].Range).Floats()
	}
	epsilon := float64(b.Layer.Attrs.(graph.BatchNormAttrs).Epsilon)
	factor, summand := make([]float32, channels), make([]float32, channels)
	for c := range channels {
		f := float64(p[1][c]) / math.Sqrt(float64(p[4][c])+epsilon)
		factor[c], summand[c] = float32(f), float32(float64(p[2][c])-float64(p[3][c])*f)
	}
	dims := make([]int, len(b.In[0].Dims)-1) // of [C, 1, ...], which broadcasts
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = channels
	l := *b.Layer
	l.Inputs = []*graph.Tensor{b.Layer.Inputs[0]}
	n := kernels.Binding{Layer: &l, In: b.In[:1:1], Out: b.Out, Consts: b.Consts[:1:1]}
	for i, list := range [][]float32{factor, summand} {
		t := &graph.Tensor{Name: fmt.Sprintf("%s.%d", l.Name, i), Type: numeric.F32, Dims: symbolic.Shape(dims...), Weights: numeric.Bytes(list)}
		l.Inputs = append(l.Inputs, t)
		n.In = append(n.In, kernels.Desc{Type: numeric.F32, Dims: dims})
		n.Consts = append(n.Consts, t.Weights)
	}
	own := len(b.Layer.OpInputs())
	l.Inputs = append(l.Inputs, b.Layer.Inputs[own:]...)
	n.In, n.Consts = slices.Concat(n.In, b.In[own:]), slices.Concat(n.Consts, b.Consts[own:])
	program := elementwise.Program{Args: 3, Code: []elementwise.Instr{
		{Op: elementwise.Mul, Arg: [3]int{0, 1}}, {Op: elementwise.Add, Arg: [3]int{3, 2}},
	}}
	if b.Layer.Epilogue.Args > 0 {
		program = program.Then(b.Layer.Epilogue, 0)
	}
	return n, program, nil
}
