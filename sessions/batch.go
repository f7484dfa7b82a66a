package sessions

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// batches cuts data into batches of a network's inputs. Where the number of items is no multiple of the batch, the last
// batch is filled up with items from the front, which are computed with the others and counted nowhere.
type batches struct {
	data     Data
	network  *graph.Network
	items    int // of data that count: the first ones
	size     int // items that are computed at once
	one, all map[string]int
}

// batches returns the batches of the first items of the data under a configuration; all of them where items is 0.
func (s *stages) batches(cfg config.Config, items int) (batches, error) {
	b := batches{data: s.Data, network: s.model.Network, items: s.Data.Len(), size: max(1, cfg.Batch)}
	if items > 0 {
		b.items = min(items, b.items)
	}
	var err error
	if b.all, err = s.env(s.model.Shaped(cfg)); err != nil {
		return b, err
	}
	cfg.Batch = 1
	b.one, err = s.env(s.model.Shaped(cfg))
	return b, err
}

// count returns how many batches there are.
func (b batches) count() int { return (b.items + b.size - 1) / b.size }

// at returns batch i.
func (b batches) at(i int) itemBatch {
	return itemBatch{batches: b, first: i * b.size, count: min(b.size, b.items-i*b.size)}
}

// itemBatch is one of the batches: count items from the first on, and others up to its size.
type itemBatch struct {
	batches
	first, count int
}

// inputs returns the batch's inputs.
func (f itemBatch) inputs() (map[string]graph.Value, error) {
	return batch(f.data, f.network, f.first, f.size)
}

// itemAxis is the axis along which items lie in a tensor of a batch, and how much of it each has. An axis of -1 stands
// for a tensor of a single item, and for one that does not belong to items: its shape is the same whatever the batch, or
// does not grow by as much with each.
type itemAxis struct{ axis, each int }

// axis finds the axis of items in a tensor of the given dims.
func (b batches) axis(dims []graph.Dim) itemAxis {
	at := itemAxis{axis: -1}
	if b.size == 1 {
		return at
	}
	for i, d := range dims {
		one, all := d.Eval(b.one), d.Eval(b.all)
		switch {
		case one == all:
		case at.axis >= 0 || all != one*b.size:
			return itemAxis{axis: -1}
		default:
			at = itemAxis{i, one}
		}
	}
	return at
}

// counted returns what a tensor of the batch, with items along the axis, has of those that count.
func (f itemBatch) counted(v graph.Value, at itemAxis) graph.Value {
	if at.axis < 0 || f.count == f.size || v.Dims[at.axis] != at.each*f.size {
		return v
	}
	inner := graph.Count(v.Dims[at.axis+1:]) * v.Type.Size()
	dims := slices.Clone(v.Dims)
	dims[at.axis] = at.each * f.count
	all, some := v.Dims[at.axis]*inner, dims[at.axis]*inner
	if at.axis == 0 {
		return graph.Value{Type: v.Type, Dims: dims, Data: v.Data[:some]}
	}
	part := graph.Value{Type: v.Type, Dims: dims, Data: make([]byte, 0, len(v.Data)/f.size*f.count)}
	for from := 0; from+all <= len(v.Data); from += all {
		part.Data = append(part.Data, v.Data[from:from+some]...)
	}
	return part
}

// outputs returns what the network's outputs of the batch have of the items that count.
func (f itemBatch) outputs(all map[string]graph.Value) map[string]graph.Value {
	some := make(map[string]graph.Value, len(all))
	for _, t := range f.network.Outputs {
		some[t.Name] = f.counted(all[t.Name], f.axis(t.Dims))
	}
	return some
}

// position returns the place of element i of a tensor whose first item is number first: the item that has it, and the
// index in that item's part of the tensor.
func (at itemAxis) position(first, i int, dims []int) report.Position {
	p := report.Position{Item: first, Index: index(i, dims)}
	if at.axis >= 0 && at.each > 0 {
		p.Item += p.Index[at.axis] / at.each
		p.Index[at.axis] %= at.each
	}
	return p
}

// batch returns the inputs of n items from item first on, stacked along the first axis. Behind the last item it goes on
// with the first. Inputs whose first axis is not the batch are those of the first item.
func batch(d Data, n *graph.Network, first, size int) (map[string]graph.Value, error) {
	in, err := d.Inputs(first % d.Len())
	if err != nil || size == 1 {
		return in, err
	}
	out := map[string]graph.Value{}
	for k := range size {
		item := in
		if k > 0 {
			if item, err = d.Inputs((first + k) % d.Len()); err != nil {
				return nil, err
			}
		}
		for _, t := range n.Inputs {
			v, ok := item[t.Name]
			if !ok {
				return nil, fmt.Errorf("input %s: the data has none", t.Name)
			}
			if !isBatched(t) {
				out[t.Name] = v
				continue
			}
			if k == 0 {
				dims := slices.Clone(v.Dims)
				dims[0] *= size
				out[t.Name] = graph.NewValue(v.Type, dims...)
			}
			if len(v.Data)*size != len(out[t.Name].Data) {
				return nil, fmt.Errorf("input %s: items differ in shape: %v", t.Name, v.Dims)
			}
			copy(out[t.Name].Data[k*len(v.Data):], v.Data)
		}
	}
	return out, nil
}

// isBatched reports whether the tensor's first axis is a symbol of its own: a batch that can be chosen.
func isBatched(t *graph.Tensor) bool {
	if len(t.Dims) == 0 {
		return false
	}
	_, ok := t.Dims[0].SymbolName()
	return ok
}
