package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// givenTactics are the convolutions, plain and transposed, whose weights are computed by the network: a kernel packs them, and the bias, in the
// workspace as the direct convolution reads them.
func givenTactics() []emit.Tactic {
	return []emit.Tactic{givenTactic("conv_given_linear", graph.Conv), givenTactic("conv_transposed_given_linear", graph.ConvTranspose)}
}

func givenTactic(name string, op *graph.Op) emit.Tactic {
	return emit.Tactic{
		Name: name, Op: op, In: kernels.Linear, Out: kernels.NHWC,
		Match: func(b kernels.Binding) error {
			if _, err := givenOf(b); err != nil {
				return err
			}
			return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
		},
		Workspace: func(b kernels.Binding) int {
			g, err := givenOf(b)
			if err != nil {
				return 0
			}
			return g.weightBytes() + 4*g.rowWeights()
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			g, err := givenOf(b)
			if err != nil {
				return nil, err
			}
			return g.emit(b)
		},
		Cost: func(b kernels.Binding) []emit.Job {
			g, err := givenOf(b)
			if err != nil {
				return nil
			}
			pack := emit.ThreadJob(g.weightBytes()/4, 30, float64(2*g.weightBytes()))
			if g.transposed {
				return append([]emit.Job{pack}, (&transposed{g.direct}).jobs(b)...)
			}
			return append([]emit.Job{pack}, g.jobs(b)...)
		},
	}
}

// given is such a convolution, of reals.
type given struct {
	*direct
	weights emit.Storage
	bias    *emit.Storage // nil: none
}

func givenOf(b kernels.Binding) (*given, error) {
	if b.Consts[0] != nil || b.Consts[1] != nil {
		return nil, fmt.Errorf("it takes an activation and weights that the network computes")
	}
	inputs := b.Layer.OpInputs()
	for _, t := range inputs {
		if t != nil && t.Type != numeric.F32 && t.Type != numeric.F16 {
			return nil, fmt.Errorf("%s is %s, the kernel takes f32 and f16", t.Name, t.Type)
		}
	}
	p := &product{typ: b.In[0].Type, groups: 1, alpha: 1, stride: [2]int{1, 1}, dilation: [2]int{1, 1}, given: true}
	geometry := p.convolution
	if b.Layer.Op == graph.ConvTranspose {
		geometry = p.transposedConvolution
	}
	if err := geometry(b); err != nil {
		return nil, err
	}
	if err := weightsFit(p.r*p.s*p.c+1, p.rowWeights()); err != nil { // and the bias: each has a thread
		return nil, err
	}
	g := &given{direct: &direct{product: p, planar: true, columns: 1, planes: 1, x: emit.Storage{Type: p.typ}}, weights: emit.Storage{Type: b.In[1].Type}}
	if len(inputs) > 2 && inputs[2] != nil {
		g.bias = &emit.Storage{Type: b.In[2].Type}
	}
	return g, nil
}

// weightBytes is what the packed weights take, [tap][input channel of a group][output channel] words.
func (g *given) weightBytes() int { return 4 * g.r * g.s * g.c * g.rowWeights() }

func (g *given) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	g.pack(b, w)
	var err error
	if g.out, err = emit.NewRowOutput(b, g.joined().sums(), w); err != nil {
		return nil, err
	}
	if g.bias != nil {
		g.out.GivenBias = g.weightBytes()
	}
	thread, sum := g.thread, (*directThread).sum
	if g.transposed {
		thread, sum = (&transposed{g.direct}).thread, func(t *directThread) { (&transposedThread{t}).sum() }
	}
	t, l := thread(w)
	t.begin()
	sum(t)
	t.finish()
	w.End(t.K, l)
	return w, nil
}

// pack emits the kernel whose threads each place one weight, as f32, and the last ones the bias; zeros behind the last
// channel.
func (g *given) pack(b kernels.Binding, w *emit.Work) {
	row, channels, taps := g.rowWeights(), g.k*g.groups, g.r*g.s
	rows := taps * g.c
	total := rows * row
	if g.bias != nil {
		total += row
	}
	k, l := w.Threads("pack", total)
	g.weights.Base = l.Input(k, 1)
	if g.bias != nil && b.Consts[2] != nil {
		g.bias.Base = l.Constant(k, "b", w.Append(b.Consts[2]))
	} else if g.bias != nil {
		g.bias.Base = l.Input(k, 2)
	}
	to := l.Scratch(k, "to", 0)
	index := emit.ThreadIndex(k, total)
	line, channel := k.DivRem(index, row)
	tap, c := k.DivRem(line, g.c)
	v := k.VarF(ptx.F(0))
	weight := func() ptx.Uint { // its place in the input
		if g.transposed { // [input channel][channel of the group][tap]
			group, of := k.DivRem(channel, g.k)
			return k.Mad(k.Mad(k.Mad(group, ptx.U(g.c), c), ptx.U(g.k), of), ptx.U(taps), tap)
		}
		return k.Mad(k.Mad(channel, ptx.U(g.c), c), ptx.U(taps), tap)
	}
	place := func(s emit.Storage, at ptx.Uint) { k.SetF(v, s.LoadOne(k, k.Offset(s.Base, at, s.Type.Size()))) }
	k.If(k.Lt(channel, ptx.U(channels)), func() {
		if g.bias == nil {
			place(g.weights, weight())
			return
		}
		k.IfElse(k.Lt(line, ptx.U(rows)), func() {
			place(g.weights, weight())
		}, func() { place(*g.bias, channel) })
	})
	k.StoreF(k.Offset(to, index, 4), v)
	w.End(k, l)
}
