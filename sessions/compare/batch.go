package compare

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Items are what is compared on, one inference's inputs each.
type Items interface {
	Len() int
	// Inputs returns the inputs of item i by name, with a batch of one.
	Inputs(i int) (map[string]numeric.Value, error)
	// Labels returns the classes of item i by the rows of the output, -1 for those that are not known.
	Labels(i int) []int
}

// Batches cuts data into batches of a network's inputs. Where the number of items is no multiple of the batch, the last
// batch is filled up with items from the front, which are computed with the others and counted nowhere.
type Batches struct {
	data     Items
	network  *graph.Network
	items    int // of data that count: the first ones
	size     int // Items that are computed at once
	one, all map[string]int
}

// NewBatches cuts the first items of data; one and all are the values of the network's symbols for a single item and for a
// whole batch.
func NewBatches(d Items, n *graph.Network, count, size int, one, all map[string]int) Batches {
	return Batches{data: d, network: n, items: count, size: size, one: one, all: all}
}

// Count returns how many batches there are.
func (b Batches) Count() int { return (b.items + b.size - 1) / b.size }

// At returns batch i.
func (b Batches) At(i int) Batch {
	return Batch{Batches: b, first: i * b.size, Count: min(b.size, b.items-i*b.size)}
}

// Batch is one of the batches: count items from the first on, and others up to its size.
type Batch struct {
	Batches
	first, Count int
	state        run.State
	before       map[string]numeric.Value // outputs of the batch before
}

// Inputs returns the batch's inputs.
func (f Batch) Inputs() (map[string]numeric.Value, error) {
	in, err := Stack(f.data, f.network, f.first, f.size)
	if err == nil {
		err = f.state.Carry(in, f.before)
	}
	return in, err
}

// ItemError is an error about some of the items: count of them from the first on.
type ItemError struct {
	First, Count int
	Err          error
}

func (e *ItemError) Error() string {
	if e.Count > 1 {
		return fmt.Sprintf("items %d to %d: %v", e.First, e.First+e.Count-1, e.Err)
	}
	return fmt.Sprintf("item %d: %v", e.First, e.Err)
}

func (e *ItemError) Unwrap() error { return e.Err }

// Unlike is the error that items of one batch have different shapes.
type Unlike struct {
	Input       string
	First, Item int // those that differ
	FirstDims   []int
	Dims        []int
}

func (e *Unlike) Error() string {
	return fmt.Sprintf("input %s: items %d and %d, which would be computed at once, differ in shape: %v and %v", e.Input, e.First, e.Item, e.FirstDims, e.Dims)
}

// Feed makes a batch of so many items from the first on the inputs of a context, which is brought to their shapes.
func Feed(c *run.ExecutionContext, in map[string]numeric.Value, first, count int) error {
	if err := c.Feed(in); err != nil {
		return &ItemError{first, count, err}
	}
	return nil
}

// Axis is the axis along which items lie in a tensor of a batch, and how much of it each has. An axis of -1 stands
// for a tensor of a single item, and for one that does not belong to items: its shape is the same whatever the batch, or
// does not grow by as much with each.
type Axis struct{ axis, each int }

// Axis finds the axis of items in a tensor of the given dims.
func (b Batches) Axis(dims []symbolic.Dim) Axis {
	at := Axis{axis: -1}
	if b.size == 1 {
		return at
	}
	for i, d := range dims {
		one, all := d.Eval(b.one), d.Eval(b.all)
		switch {
		case one == all:
		case at.axis >= 0 || all != one*b.size:
			return Axis{axis: -1}
		default:
			at = Axis{i, one}
		}
	}
	return at
}

// Counted returns what a tensor of the batch, with items along the axis, has of those that count.
func (f Batch) Counted(v numeric.Value, at Axis) numeric.Value {
	if at.axis < 0 || f.Count == f.size || v.Dims[at.axis] != at.each*f.size {
		return v
	}
	return v.Part(at.axis, 0, at.each*f.Count)
}

// Outputs returns what the network's outputs of the batch have of the items that count.
func (f Batch) Outputs(all map[string]numeric.Value) map[string]numeric.Value {
	return f.of(f.network.Outputs, all)
}

// of returns what tensors of the batch have of the items that count.
func (f Batch) of(list []*graph.Tensor, all map[string]numeric.Value) map[string]numeric.Value {
	some := make(map[string]numeric.Value, len(all))
	for _, t := range list {
		some[t.Name] = f.Counted(all[t.Name], f.Axis(t.Dims))
	}
	return some
}

// position returns the place of element i of a tensor whose first item is number first: the item that has it, and the
// index in that item's part of the tensor.
func (at Axis) position(first, i int, dims []int) report.Position {
	p := report.Position{Item: first, Index: index(i, dims)}
	if at.axis >= 0 && at.each > 0 {
		p.Item += p.Index[at.axis] / at.each
		p.Index[at.axis] %= at.each
	}
	return p
}

// Stack returns the inputs of n items from item first on, stacked along the first axis. Behind the last item it goes on
// with the first. Inputs whose first axis counts no items are those of the first item.
func Stack(d Items, n *graph.Network, first, size int) (map[string]numeric.Value, error) {
	in, err := d.Inputs(first % d.Len())
	if err != nil || size == 1 {
		return in, err
	}
	out, batched := map[string]numeric.Value{}, graph.Batched(n.Inputs)
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
			if !slices.Contains(batched, t) {
				out[t.Name] = v
				continue
			}
			all := out[t.Name]
			if k == 0 {
				all = numeric.Value{Type: v.Type, Dims: slices.Clone(v.Dims), Data: make([]byte, 0, len(v.Data)*size)}
				all.Dims[0] *= size
			}
			if len(v.Dims) != len(all.Dims) || v.Dims[0]*size != all.Dims[0] || !slices.Equal(v.Dims[1:], all.Dims[1:]) {
				return nil, &Unlike{t.Name, first % d.Len(), (first + k) % d.Len(), in[t.Name].Dims, v.Dims}
			}
			all.Data = append(all.Data, v.Data...)
			out[t.Name] = all
		}
	}
	return out, nil
}

// index returns the coordinates of element i.
func index(i int, dims []int) []int {
	at := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k], i = i%dims[k], i/dims[k]
	}
	return at
}
