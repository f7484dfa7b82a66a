package recurrent

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Tactics are the recurrent layers in float32 for one instruction set.
func Tactics(isa asm.Features, workers int) []kernels.Tactic {
	var list []kernels.Tactic
	for _, t := range []struct {
		name string
		op   *graph.Op
	}{{"lstm", graph.LSTM}, {"gru", graph.GRU}, {"rnn", graph.RNN}} {
		list = append(list, kernels.Tactic{
			Name: t.name + "_f32_" + work.ISAName(isa), Op: t.op, Needs: kernels.Feature(isa), Match: match,
			Workspace: func(b kernels.Binding) int { return 4 * newKernel(b, isa, workers).plan().all },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bind(b, isa, workers) },
		})
	}
	return list
}

func match(b kernels.Binding) error {
	for i, t := range b.Layer.OpInputs() {
		if t == nil {
			continue
		}
		have, constant := b.In[i].Type, b.Consts[i] != nil
		switch i {
		case graph.RecurrentLengths:
		case graph.RecurrentX, graph.RecurrentState, graph.RecurrentCell:
			if have != numeric.F32 && !(constant && have == numeric.F16) {
				return fmt.Errorf("input %s is %s, the kernel takes %s", t.Name, have, numeric.F32)
			}
		default:
			if !constant || have != numeric.F32 && have != numeric.F16 {
				return fmt.Errorf("input %s is %s and constant: %t; the kernel takes constant weights, %s or %s", t.Name, have, constant, numeric.F32, numeric.F16)
			}
		}
	}
	for i, d := range b.Out {
		if d.Type != numeric.F32 {
			return fmt.Errorf("output %s is %s, the kernel writes %s", b.Layer.Outputs[i].Name, d.Type, numeric.F32)
		}
	}
	if numeric.Count(b.In[graph.RecurrentX].Dims) == 0 {
		return fmt.Errorf("there are no sequences, or none of their places")
	}
	_, err := programs.Trailing(b, 0)
	return err
}

// weights are the constants of a layer as the kernel reads them.
type weights struct {
	input *products.PackedB       // of all directions and gates, one behind the other: [I][D*G*H]
	bias  []float32               // [D*G*H]: those of both products, as far as they are added together
	state [2][4]*products.PackedB // by direction and gate: [H][H]
	reset []float32               // [D*H], of a GRU whose reset gate acts on the product with the state: the bias of that
	peep  []float32               // [D][3*H], of an LSTM; nil for none
}

func pack(b kernels.Binding, k *kernel, isa asm.Features) (w weights, err error) {
	d, g, h := k.Directions, k.Gates, k.Hidden
	if w.input, err = products.NewPackedB(k.Input, d*g*h, isa); err != nil {
		return w, err
	}
	w.input.Pack(work.RealConst(b, graph.RecurrentW), k.Input, true)
	r := work.RealConst(b, graph.RecurrentR)
	for i := range d * g {
		p, err := products.NewPackedB(h, h, isa)
		if err != nil {
			return w, err
		}
		p.Pack(r[i*h*h:], h, true)
		w.state[i/g][i%g] = p
	}
	w.peep = work.RealConst(b, graph.RecurrentPeep)
	w.bias = make([]float32, d*g*h)
	if k.attrs.ResetAfter {
		w.reset = make([]float32, d*h)
	}
	both := work.RealConst(b, graph.RecurrentBias)
	for i := range both {
		way, at := i/(2*g*h), i%(2*g*h)
		if j := at - (2*g-1)*h; k.attrs.ResetAfter && j >= 0 {
			w.reset[way*h+j] = both[i]
		} else {
			w.bias[way*g*h+at%(g*h)] += both[i]
		}
	}
	return w, nil
}

func bind(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	k := newKernel(b, isa, workers)
	var err error
	if k.weights, err = kernels.Packed(b, nil, func() (weights, error) { return pack(b, k, isa) }); err != nil {
		return nil, err
	}
	for i, into := range map[int]*[]float32{graph.RecurrentState: &k.first, graph.RecurrentCell: &k.firstCell} {
		if i < len(b.Layer.OpInputs()) {
			*into = work.RealConst(b, i)
		}
	}
	if v, ok := b.Const(graph.RecurrentLengths); ok && b.Layer.Input(graph.RecurrentLengths) != nil {
		k.lengths = v.Data
	}
	k.program, err = programs.Trailing(b, isa)
	return k, err
}
