package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
)

// Replay is data to run networks on.
type Replay struct {
	Backend  run.Backend    // that runs real numbers
	Env      map[string]int // values of the network's symbols for one item
	Batches  Batches        // the items; may be gone through several times
	Items    int            // how many there are; 0: unknown
	most     int            // of which a staged run holds; 0: as many as there is memory for
	Progress func(phase string, done, of int)
}

// Tee returns batches that give what they are given, and makes r.Batches those of them that a staged run of n holds: for data
// that can be gone through once only.
func (r *Replay) Tee(n *graph.Network, batches Batches) Batches {
	var kept []map[string]numeric.Value
	most := heldItems(n, r.Env)
	r.Batches = func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range kept {
			if !yield(in, nil) {
				return
			}
		}
	}
	return func(yield func(map[string]numeric.Value, error) bool) {
		for in, err := range batches {
			if err == nil && len(kept) < most {
				kept = append(kept, copyOf(in))
				r.Items = len(kept)
			}
			if !yield(in, err) {
				return
			}
		}
	}
}

// heldBytes and mostHeld bound what the items of a staged run hold between its stages.
const (
	heldBytes  = 256 << 20
	fewestHeld = 4
	mostHeld   = 128
)

// staged runs a network on several items at once, as far as it is asked to go: what comes later may be changed in between.
// Between stages it holds the tensors of each item that later layers read, so that no layer runs twice.
type staged struct {
	*Replay
	ctx  context.Context
	done map[string]bool // layers that have run, by name
	held []map[string]numeric.Value
	last []string // tensors that are held to the end, by name
}

// copyOf copies what an inference reads: who gives it may use its memory again.
func copyOf(in map[string]numeric.Value) map[string]numeric.Value {
	copied := map[string]numeric.Value{}
	for name, v := range in {
		v.Data = bytes.Clone(v.Data)
		copied[name] = v
	}
	return copied
}

// stage begins a run on items from all over the data: so many at most. Runs that are compared have the same number.
func (r *Replay) stage(ctx context.Context, most int) (*staged, error) {
	s := &staged{Replay: r, ctx: ctx, done: map[string]bool{}}
	every := max(1, (r.Items+most-1)/most)
	i := 0
	for in, err := range r.Batches {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i%every == 0 && len(s.held) < most {
			s.held = append(s.held, maps.Clone(in))
		}
		i++
	}
	if len(s.held) == 0 {
		return nil, errors.New("no calibration data")
	}
	return s, nil
}

// heldItems returns how many items a staged run of n holds.
func heldItems(n *graph.Network, env map[string]int) int {
	size := func(tensors []*graph.Tensor) (sum int) {
		for _, t := range tensors {
			if t != nil && !t.IsConst() {
				sum += 4 * numeric.Count(symbolic.Eval(t.Dims, env))
			}
		}
		return sum
	}
	most := 1
	for _, l := range n.Layers {
		most = max(most, size(l.Inputs)+size(l.Outputs))
	}
	return max(fewestHeld, min(host.Share(heldBytes)/(most+size(n.Inputs)), mostHeld))
}

// means runs all that the tensors need which layers read at input 0, and returns the means of those by layer. The layers have
// not run then.
func (s *staged) means(n *graph.Network, layers []string) (map[string]*quant.Means, error) {
	var want []*graph.Tensor
	for _, name := range layers {
		want = append(want, n.Layer(name).Inputs[0])
	}
	if err := s.run(s.part(n, want)); err != nil {
		return nil, err
	}
	all := map[string]*quant.Means{}
	for _, name := range layers {
		l := n.Layer(name)
		all[name] = s.meansOf(l)
	}
	s.drop(n)
	return all, nil
}

// meansOf returns the means of what a layer reads at input 0, each thread's those of items of its own. Their sum does not depend on
// how many there are.
func (s *staged) meansOf(l *graph.Layer) *quant.Means {
	parts := make([]*quant.Means, len(s.held))
	var all sync.WaitGroup
	var next atomic.Int64
	for range max(1, min(s.Backend.Info().Threads, len(s.held))) {
		all.Go(func() {
			for i := int(next.Add(1) - 1); i < len(parts); i = int(next.Add(1) - 1) {
				parts[i] = quant.NewMeans(quant.ChannelAxis(l))
				parts[i].AddValue(s.held[i][l.Inputs[0].Name], l.Inputs[0].Range)
			}
		})
	}
	all.Wait()
	m := quant.NewMeans(quant.ChannelAxis(l))
	for _, p := range parts {
		m.Merge(p)
	}
	return m
}

// finish runs what is left before some tensors, which are held then.
func (s *staged) finish(n *graph.Network, tensors []*graph.Tensor) error {
	return s.run(s.part(n, tensors))
}

// holdable reports whether a tensor may be kept between stages: it holds real numbers of an item.
func holdable(t *graph.Tensor) bool {
	l := t.Producer
	if l == nil || !t.RealType().IsFloat() || len(l.Inputs) == 0 {
		return false
	}
	return slices.ContainsFunc(l.Inputs, func(in *graph.Tensor) bool { return in != nil && !in.IsConst() })
}

// part returns the network of the layers that have not run and that some tensors wait for. Its outputs are what other layers read
// of it, and those of n.
func (s *staged) part(n *graph.Network, tensors []*graph.Tensor) *graph.Network {
	wanted := map[*graph.Layer]bool{}
	var want func(t *graph.Tensor)
	want = func(t *graph.Tensor) {
		if t == nil || t.Producer == nil || wanted[t.Producer] || s.done[t.Producer.Name] && holdable(t) {
			return
		}
		wanted[t.Producer] = true
		for _, in := range t.Producer.Inputs {
			want(in)
		}
	}
	for _, t := range tensors {
		want(t)
	}
	for _, l := range n.Layers {
		if wanted[l] {
			s.done[l.Name] = true
		}
	}
	part, copies := cut(n, wanted)
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			if wanted[l] && holdable(t) && (s.needed(t) || n.IsOutput(t) || slices.Contains(s.last, t.Name)) {
				part.MarkOutput(copies[t])
			}
		}
	}
	return part
}

// cut returns a network of some layers of n, and its tensors by those of n. What others make is an input of it; it has no outputs
// yet.
func cut(n *graph.Network, wanted map[*graph.Layer]bool) (part *graph.Network, copies map[*graph.Tensor]*graph.Tensor) {
	part, copies = graph.NewNetwork(n.Name), map[*graph.Tensor]*graph.Tensor{}
	tensor := func(t *graph.Tensor) *graph.Tensor {
		x := copies[t]
		if t == nil || x != nil {
			return x
		}
		if v, ok := t.Const(); ok {
			x = part.AddConst(t.Name, v)
		} else if t.Producer == nil || !wanted[t.Producer] {
			x = part.AddInput(t.Name, t.Type, t.Dims...)
		} else {
			x = part.NewTensor(t.Name, t.Type, t.Dims)
		}
		x.Range, x.Value = t.Range, t.Value
		copies[t] = x
		return x
	}
	for _, l := range n.Layers {
		if !wanted[l] {
			continue
		}
		if v, ok := storedReals(l); ok { // the weights that the quantised ones stand for
			copies[l.Outputs[0]] = part.AddConst(l.Outputs[0].Name, v)
			continue
		}
		d := &graph.Layer{Name: l.Name, Op: l.Op, Attrs: l.Attrs, Epilogue: l.Epilogue, From: l.From}
		for _, t := range l.Inputs {
			d.Inputs = append(d.Inputs, tensor(t))
		}
		for _, t := range l.Outputs {
			d.Outputs = append(d.Outputs, tensor(t))
		}
		part.Insert(d)
	}
	return part, copies
}

// storedReals returns the real numbers that a Dequantize of a constant gives.
func storedReals(l *graph.Layer) (numeric.Value, bool) {
	if l.Op != graph.Dequantize {
		return numeric.Value{}, false
	}
	v, ok := l.Inputs[0].Const()
	if !ok {
		return v, false
	}
	return numeric.ToReal(v, l.Attrs.(graph.QuantAttrs).Range), true
}

// needed reports whether a layer that has not run reads the tensor.
func (s *staged) needed(t *graph.Tensor) bool {
	return slices.ContainsFunc(t.Users, func(l *graph.Layer) bool { return !s.done[l.Name] })
}

// run runs a part on each item, and holds its outputs.
func (s *staged) run(part *graph.Network) error {
	if len(part.Outputs) == 0 {
		return nil
	}
	c, l, err := unfused(s.ctx, part, s.Env, s.Backend)
	if err != nil {
		return err
	}
	defer l.Close()
	contexts := append(s.apart(l), c)
	if len(contexts) > 1 {
		contexts = contexts[:len(contexts)-1]
		defer c.Close()
	}
	var all sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, len(contexts))
	for i, c := range contexts {
		all.Go(func() {
			defer c.Close()
			for errs[i] == nil {
				at := int(next.Add(1) - 1)
				if at >= len(s.held) {
					return
				}
				errs[i] = s.item(c, part, s.held[at])
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// apart returns contexts with threads of their own, where the backend has several: items do not wait for each other, as threads do
// behind every layer of one item. Without memory for them there are none.
func (s *staged) apart(l *run.Loaded) (list []*run.ExecutionContext) {
	_, ok := s.Backend.(run.Threaded)
	threads := s.Backend.Info().Threads
	n := min(threads, len(s.held))
	for ok && n > 1 && len(list) < n {
		c, err := l.NewContextOf(threads / n)
		if err != nil {
			for _, c := range list {
				c.Close()
			}
			return nil
		}
		list = append(list, c)
	}
	return list
}

// item runs a part on one item.
func (s *staged) item(c *run.ExecutionContext, part *graph.Network, held map[string]numeric.Value) (err error) {
	if err := cmp.Or(s.ctx.Err(), c.SetInputs(held)); err != nil {
		return err
	}
	if err := c.Execute(); err != nil {
		return err
	}
	for _, t := range part.Outputs {
		if held[t.Name], err = c.Output(t.Name); err != nil {
			return fmt.Errorf("tensor %s: %w", t.Name, err)
		}
	}
	return nil
}

// drop lets go of what no layer that has not run reads.
func (s *staged) drop(n *graph.Network) {
	for _, held := range s.held {
		for name := range held {
			if t := n.Tensor(name); t == nil || !n.IsInput(t) && !n.IsOutput(t) && !s.needed(t) && !slices.Contains(s.last, t.Name) {
				delete(held, name)
			}
		}
	}
}
