package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
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
	Backend run.Backend    // that runs real numbers
	Env     map[string]int // values of the network's symbols for one item: those that no item exceeds, where items have shapes of their own
	Batches Batches        // the items; may be gone through several times
	Items   int            // how many there are; 0: unknown
	most    int            // of which a staged run holds; 0: as many as there is memory for
	// Progress, if not nil, is told what is being done and how much of it is, of how much; item is what is at hand, or "".
	Progress func(phase, item string, done, of int)
}

// tell tells how far something is.
func (r *Replay) tell(phase, item string, done, of int) {
	if r.Progress != nil {
		r.Progress(phase, item, done, of)
	}
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
// Between stages it holds the real numbers of each item that later layers read, and what is counted, so that layers run once, but for
// those that make integers and what these need.
type staged struct {
	*Replay
	ctx  context.Context
	done map[string]bool // layers that have run, by name
	held []map[string]numeric.Value
	envs []map[string]int // the extents of each
	last []string         // tensors that are held to the end, by name
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

// stage begins a run of n on items from all over the data: so many at most. Runs that are compared have the same number.
func (r *Replay) stage(ctx context.Context, n *graph.Network, most int) (*staged, error) {
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
			env, err := n.Bind(in)
			if err != nil {
				return nil, err
			}
			s.held, s.envs = append(s.held, maps.Clone(in)), append(s.envs, env)
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

// reach runs all that the tensors need which layers read at input 0. The layers have not run then.
func (s *staged) reach(n *graph.Network, layers []*graph.Layer) error {
	var want []*graph.Tensor
	for _, l := range layers {
		want = append(want, l.Inputs[0])
	}
	return s.run(s.part(n, want))
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

// holdable reports whether a tensor may be kept between stages: it holds real numbers of an item, or what a layer counts, whose extent
// others have that are kept.
func holdable(t *graph.Tensor) bool {
	l := t.Producer
	if l == nil || len(l.Inputs) == 0 {
		return false
	}
	if !isCounted(t) && !t.RealType().IsFloat() {
		return false
	}
	return slices.ContainsFunc(l.Inputs, func(in *graph.Tensor) bool { return in != nil && !in.IsConst() })
}

// isCounted reports whether a layer counts the extent of a tensor. Such are held to the end: whatever is computed of them once more is then
// as large as what was.
func isCounted(t *graph.Tensor) bool {
	return t.Producer != nil && t.Producer.Counts()
}

// holds reports whether a tensor is held.
func (s *staged) holds(t *graph.Tensor) bool {
	_, ok := s.held[0][t.Name]
	return ok && holdable(t)
}

// part returns the network of the layers that have not run and that some tensors wait for. Its outputs are what other layers read
// of it, and those of n.
func (s *staged) part(n *graph.Network, tensors []*graph.Tensor) *graph.Network {
	wanted := map[*graph.Layer]bool{}
	var want func(t *graph.Tensor)
	want = func(t *graph.Tensor) {
		if t == nil || t.Producer == nil || wanted[t.Producer] || s.done[t.Producer.Name] && s.holds(t) {
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
			if wanted[l] && holdable(t) && (s.needed(t) || isCounted(t) || n.IsOutput(t) || slices.Contains(s.last, t.Name)) {
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

// storedReals returns the real numbers that a Dequantize of a constant gives, by its attributes or by scales that are constants, too.
func storedReals(l *graph.Layer) (numeric.Value, bool) {
	if l.Op != graph.Dequantize {
		return numeric.Value{}, false
	}
	var in []numeric.Value
	for _, t := range l.Inputs {
		v, ok := t.Const()
		if !ok {
			return v, false
		}
		in = append(in, v)
	}
	if len(in) == 1 && !in[0].Type.IsNarrow() {
		return numeric.ToReal(in[0], l.Attrs.(graph.QuantAttrs).Range), true
	}
	out := numeric.NewValue(numeric.F32, in[0].Dims...)
	return out, l.Op.Eval(l, in, []numeric.Value{out}) == nil
}

// needed reports whether a layer that has not run reads the tensor.
func (s *staged) needed(t *graph.Tensor) bool {
	return slices.ContainsFunc(t.Users, func(l *graph.Layer) bool { return !s.done[l.Name] })
}

// run runs a part on each item, and holds its outputs. Items that have extents of their own, or of which data decide those that the part
// begins with, have a plan of their own: what is cut off in between is as large as it came.
func (s *staged) run(part *graph.Network) error {
	if len(part.Outputs) == 0 {
		return nil
	}
	groups, err := s.alike(part)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := s.runAlike(part, g); err != nil {
			return err
		}
	}
	return nil
}

// alike is items whose tensors have the same extents where a part begins.
type alike struct {
	env   map[string]int
	items []map[string]numeric.Value
}

// alike returns the items in groups for a part, in the order of the first of each.
func (s *staged) alike(part *graph.Network) (groups []alike, err error) {
	at := map[string]int{}
	for k, held := range s.held {
		shapes := map[string][]int{}
		same := true
		for _, t := range part.Inputs {
			shapes[t.Name] = held[t.Name].Dims
			same = same && slices.Equal(shapes[t.Name], symbolic.Eval(t.Dims, s.envs[k]))
		}
		key := fmt.Sprint(s.envs[k], shapes) // in the order of names
		i, known := at[key]
		if !known {
			env := s.envs[k]
			if !same {
				if env, err = bindPart(part, env, shapes); err != nil {
					return nil, err
				}
			}
			i = len(groups)
			at[key], groups = i, append(groups, alike{env: env})
		}
		groups[i].items = append(groups[i].items, held)
	}
	return groups, nil
}

// bindPart returns the values of all symbols where the inputs of a part of a network, which is at most, have these shapes. An extent may be
// computed of a count, such as the samples of a signal of the frames of it: counts are as many as make it, which only grows with them.
func bindPart(part *graph.Network, most map[string]int, shapes map[string][]int) (map[string]int, error) {
	for _, t := range part.Inputs {
		if len(shapes[t.Name]) != len(t.Dims) {
			return nil, fmt.Errorf("%s: an item has the shape %v", t, shapes[t.Name])
		}
	}
	env, known := maps.Clone(most), map[string]bool{}
	each := func(f func(d symbolic.Dim, n int)) {
		for _, t := range part.Inputs {
			for i, d := range t.Dims {
				f(d, shapes[t.Name][i])
			}
		}
	}
	each(func(d symbolic.Dim, n int) {
		if name, ok := d.SymbolName(); ok {
			env[name], known[name] = n, true
		}
	})
	each(func(d symbolic.Dim, n int) {
		symbols := map[string]bool{}
		d.Symbols(symbols)
		maps.DeleteFunc(symbols, func(name string, _ bool) bool { return known[name] })
		if len(symbols) != 1 || d.Eval(env) == n {
			return
		}
		for name := range symbols {
			known[name] = true
			env[name] = sort.Search(most[name], func(v int) bool {
				env[name] = v
				return d.Eval(env) >= n
			})
		}
	})
	for _, t := range part.Inputs {
		if got := symbolic.Eval(t.Dims, env); !slices.Equal(got, shapes[t.Name]) {
			return nil, fmt.Errorf("%s has the shape %v, and no counts make it so", t, shapes[t.Name])
		}
	}
	return part.Counts(env), nil
}

// runAlike runs a part on items that are alike.
func (s *staged) runAlike(part *graph.Network, g alike) error {
	c, l, err := unfused(s.ctx, part, g.env, s.Backend)
	if err != nil {
		return err
	}
	defer l.Close()
	contexts := append(s.apart(l, len(g.items)), c)
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
				if at >= len(g.items) {
					return
				}
				errs[i] = s.item(c, part, g.items[at])
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// apart returns contexts for so many items with threads of their own, where the backend has several: items do not wait for each other,
// as threads do behind every layer of one item. Without memory for them there are none.
func (s *staged) apart(l *run.Loaded, items int) (list []*run.ExecutionContext) {
	_, ok := s.Backend.(run.Threaded)
	threads := s.Backend.Info().Threads
	n := min(threads, items)
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
			if t := n.Tensor(name); t == nil || !n.IsInput(t) && !n.IsOutput(t) && !isCounted(t) && !s.needed(t) && !slices.Contains(s.last, t.Name) {
				delete(held, name)
			}
		}
	}
}
