package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// splitTactics copy the parts of a tensor along an axis, of any type: where they cannot be read where they lie.
func splitTactics() []kernels.Tactic {
	var list []kernels.Tactic
	for _, f := range []kernels.Format{kernels.Linear, kernels.C16} {
		list = append(list, kernels.Tactic{
			Name: "split_copy_" + f.String(), Op: graph.Split, In: f, Out: f, Strided: true,
			Match: matchSplit, Bind: bindSplit,
		})
	}
	return list
}

// splitAxis returns the axis from the front.
func splitAxis(b kernels.Binding) int {
	axis := b.Layer.Attrs.(graph.SplitAttrs).Axis
	if axis < 0 {
		axis += len(b.In[0].Dims)
	}
	return axis
}

func matchSplit(b kernels.Binding) error {
	axis, x := splitAxis(b), b.In[0]
	if len(b.Layer.OpInputs()) != 1 || b.Layer.Epilogue.Args > 0 {
		return fmt.Errorf("the sizes are an input, or there is an epilogue")
	}
	if x.Format != kernels.Linear && axis != 1 {
		return fmt.Errorf("blocks of channels are split along channels only, not along axis %d", axis)
	}
	for i, d := range b.Out {
		t := b.Layer.Outputs[i]
		if d.Type != x.Type || !t.Range.Equal(b.Layer.Inputs[0].Range) {
			return fmt.Errorf("output %s has another type or range", t.Name)
		}
		if block := d.Block(); i < len(b.Out)-1 && d.Dims[1%len(d.Dims)]%block != 0 {
			return fmt.Errorf("output %s has %d channels, not whole blocks of %d", t.Name, d.Dims[1], block)
		}
	}
	return nil
}

// bindSplit copies, for every index of the axes before the split one, each output's elements from behind the last's.
func bindSplit(b kernels.Binding) (kernels.Kernel, error) {
	r := newRows(b.In[0], b.Out, nil, splitAxis(b))
	return work.Launcher(func(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
		r.launch(st, rowsLaunch{rows: r, whole: in[0].Host, parts: out})
		return nil
	}), nil
}
