package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
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

// splitKernel copies, for every index of the axes before the split one, each output's elements from behind the last's.
type splitKernel struct {
	x     kernels.Desc
	outs  []kernels.Desc
	axis  int
	inner int // copies of one batch index
	job   *work.Job[splitLaunch]
}

// splitLaunch is the state of one launch.
type splitLaunch struct {
	kernel *splitKernel
	in     []byte
	out    []kernels.Mem
}

func bindSplit(b kernels.Binding) (kernels.Kernel, error) {
	k := &splitKernel{x: b.In[0], outs: b.Out, axis: splitAxis(b)}
	k.inner = numeric.Count(k.x.Dims[min(1, k.axis):k.axis])
	k.job = work.NewJob((*splitLaunch).do)
	return k, nil
}

// Launch copies all parts.
func (k *splitKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	n := k.inner
	if k.axis > 0 {
		n *= k.x.Dims[0]
	}
	k.job.Each(work.LoopOver(st, k.x.Bytes()), n, splitLaunch{k, in[0].Host, out})
	return nil
}

func (l *splitLaunch) do(u, _ int) {
	k := l.kernel
	if k.axis == 0 {
		from := l.in
		for j, d := range k.outs {
			copyItems(l.out[j].Host, d, from, k.x)
			from = from[min(len(from), d.Dims[0]*k.x.BatchStride()*k.x.Type.Size()):]
		}
		return
	}
	n, i, size := u/k.inner, u%k.inner, k.x.Type.Size()
	from := l.in[n*k.x.BatchStride()*size+i*rowBytes(k.x, k.axis):]
	for j, d := range k.outs {
		r := rowBytes(d, k.axis)
		copy(l.out[j].Host[n*d.BatchStride()*size+i*r:][:r], from)
		from = from[r:]
	}
}
