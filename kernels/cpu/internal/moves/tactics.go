package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Tactics only move elements, of any type.
func Tactics() []kernels.Tactic {
	var list []kernels.Tactic
	for _, f := range []kernels.Format{kernels.Linear, kernels.C16} {
		list = append(list, kernels.Tactic{
			Name: "concat_copy_" + f.String(), Op: graph.Concat, In: f, Out: f, Strided: true,
			Match: matchConcat, Bind: bindConcat,
		})
	}
	list = append(list, splitTactics()...)
	list = append(list, elementTactics()...)
	list = append(list, tupleTactics()...)
	list = append(list, tensorScatterTactics()...)
	return append(list, extentsTactic, fillTactic, gatherTactic, triluTactic, unpoolTactic)
}

// concatAxis returns the axis from the front.
func concatAxis(b kernels.Binding) int {
	axis := b.Layer.Attrs.(graph.ConcatAttrs).Axis
	if axis < 0 {
		axis += len(b.Out[0].Dims)
	}
	return axis
}

func matchConcat(b kernels.Binding) error {
	axis, out := concatAxis(b), b.Out[0]
	if out.Format != kernels.Linear && axis != 1 {
		return fmt.Errorf("blocks of channels are concatenated along channels only, not along axis %d", axis)
	}
	for i, d := range b.In {
		t := b.Layer.Inputs[i]
		if t.Type != out.Type || !t.Range.Equal(b.Layer.Outputs[0].Range) {
			return fmt.Errorf("input %s has another type or range", t.Name)
		}
		if b.Consts[i] != nil && out.Format != kernels.Linear {
			return fmt.Errorf("input %s is a constant", t.Name)
		}
		if block := out.Block(); i < len(b.In)-1 && d.Dims[1%len(d.Dims)]%block != 0 {
			return fmt.Errorf("input %s has %d channels, not whole blocks of %d", t.Name, d.Dims[1], block)
		}
	}
	return nil
}

// bindConcat copies, for every index of the axes before the concatenated one, each input's elements behind the last's.
func bindConcat(b kernels.Binding) (kernels.Kernel, error) {
	r := newRows(b.Out[0], b.In, b.Consts, concatAxis(b))
	return work.Launcher(func(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
		r.launch(st, rowsLaunch{rows: r, join: true, whole: out[0].Host, parts: in})
		return nil
	}), nil
}

// source returns the bytes of input i, a constant's too.
func source(b kernels.Binding, in []kernels.Mem, i int) []byte {
	if b.Consts[i] != nil {
		return b.Consts[i]
	}
	return in[i].Host
}

// copyItems copies the batch items that both tensors have from the begin of one to the begin of the other, in Linear format.
func copyItems(dst []byte, to kernels.Desc, src []byte, from kernels.Desc) {
	n, size := min(to.Dims[0], from.Dims[0]), to.Type.Size()
	item := numeric.Count(to.Dims[1:]) * size
	over, under := to.BatchStride()*size, from.BatchStride()*size
	if over == item && under == item {
		n, item = min(n, 1), n*item
	}
	for i := range n {
		copy(dst[i*over:][:item], src[i*under:][:item])
	}
}

// rowBytes returns the bytes of all elements from the given axis on.
func rowBytes(d kernels.Desc, axis int) int {
	n := numeric.Count(d.Dims[axis+1:])
	c := d.Dims[axis]
	if block := d.Block(); axis == 1 {
		c = (c + block - 1) / block * block
	}
	return n * c * d.Type.Size()
}
