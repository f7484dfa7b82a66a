package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// Sweep is every tactic of a backend on every layer that it computes, in an order that leaves the least unseen wherever
// it is stopped: each tactic once, then the layers one after the other, mixed.
type Sweep struct {
	// Skip are tactics that are not run, because they lost the device before: their rows say so.
	Skip map[string]bool

	backend run.Backend
	pairs   []pair
	tactics int
}

// ErrSkipped is what the rows of Skip's tactics tell.
var ErrSkipped = errors.New("left out: the tactic lost the device on other layers")

// pair is a tactic on a layer.
type pair struct {
	group   *group
	tactic  kernels.Tactic
	binding kernels.Binding
}

// group are pairs in a row on one layer, which share its references.
type group struct {
	Case
	draw func(*rand.Rand) (Reference, error) // nil: as NewReference does
	left int                                 // pairs to come
	once sync.Once
	refs []Reference
	err  error
}

// Row is what became of a pair.
type Row struct {
	OK       bool    `json:"ok"`
	Tactic   string  `json:"tactic"`
	Layer    string  `json:"layer"`
	Shape    string  `json:"shape"`     // of the inputs that are not constants, and of the outputs
	MaxError float64 `json:"max_error"` // as Result has it; 0 where there is none, or it is not a number
	US       float64 `json:"us"`        // microseconds of a launch on the device
	CostUS   float64 `json:"cost_us"`   // what the tactic's cost model says of it; 0 where it has none
	Error    string  `json:"error,omitempty"`
}

// NewSweep pairs the backend's tactics, but for references, with the layers. Pairs that keep returns false for are left
// out; nil keeps all.
func NewSweep(b run.Backend, layers []Case, keep func(layer, tactic string) bool) *Sweep {
	return newSweep(b, pairsOf(b, layers, keep, 0, sliced))
}

// NewTimeSweep is a sweep without slices of larger tensors, of which times are taken.
func NewTimeSweep(b run.Backend, layers []Case, keep func(layer, tactic string) bool) *Sweep {
	return newSweep(b, pairsOf(b, layers, keep, 0))
}

func newSweep(b run.Backend, found pairs) *Sweep {
	s := &Sweep{backend: b, tactics: len(found.names)}
	first := map[int]bool{}
	for _, name := range found.names { // each on a layer of its own choice
		list := found.of[name]
		first[list[hash(name)%uint64(len(list))]] = true
	}
	var rest []pair
	for i, p := range found.pairs {
		if first[i] {
			s.pairs = append(s.pairs, p)
		} else {
			rest = append(rest, p)
		}
	}
	slices.SortStableFunc(rest, func(a, b pair) int { return cmp.Compare(hash(a.group.Name), hash(b.group.Name)) })
	s.pairs = append(s.pairs, rest...)
	s.regroup()
	return s
}

// NewSmallSweep is a sweep of one pair for each tactic: on the smallest layer that it computes, of those with elements.
func NewSmallSweep(b run.Backend, layers []Case, keep func(layer, tactic string) bool) *Sweep {
	found := pairsOf(b, layers, keep, 0, sliced)
	s := &Sweep{backend: b, tactics: len(found.names)}
	for _, name := range found.names {
		s.pairs = append(s.pairs, found.pairs[slices.MinFunc(found.of[name], func(i, j int) int {
			return cmp.Compare(found.pairs[i].size(), found.pairs[j].size())
		})])
	}
	s.regroup()
	return s
}

// pairs are what there is to do, with the names of the tactics among them and the indices of each one's pairs.
type pairs struct {
	pairs []pair
	names []string
	of    map[string][]int
}

// sliced is how many elements lie between the parts of a tensor that is a slice.
const sliced = 48

// pairsOf pairs tactics and layers: of dense tensors where extras has 0, of slices with so many elements between their parts.
func pairsOf(b run.Backend, layers []Case, keep func(layer, tactic string) bool, extras ...int) pairs {
	found := pairs{of: map[string][]int{}}
	for _, c := range layers {
		g := &group{Case: c}
		for _, tac := range b.Tactics(c.Layer.Op) {
			if tac.Reference || keep != nil && !keep(c.Name, tac.Name) {
				continue
			}
			for _, extra := range extras {
				binding, ok := Bind(c.Layer, tac, extra)
				if !ok || tac.Match(binding) != nil {
					continue
				}
				if found.of[tac.Name] == nil {
					found.names = append(found.names, tac.Name)
				}
				found.of[tac.Name] = append(found.of[tac.Name], len(found.pairs))
				found.pairs = append(found.pairs, pair{g, tac, binding})
			}
		}
	}
	return found
}

// size is how many bytes the tensors have; more than any other where one that is written has none.
func (p pair) size() int {
	n := 0
	for _, d := range p.binding.In {
		n += d.Span()
	}
	for _, d := range p.binding.Out {
		if d.Span() == 0 {
			return math.MaxInt
		}
		n += d.Span()
	}
	return n
}

// regroup gives every run of pairs on one layer a group of its own, so that references live no longer than they must.
func (s *Sweep) regroup() {
	var from, to *group
	for i := range s.pairs {
		p := &s.pairs[i]
		if p.group != from {
			from, to = p.group, &group{Case: p.group.Case, draw: p.group.draw}
		}
		to.left++
		p.group = to
	}
}

func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// Len returns the number of pairs, Tactics how many tactics are among them.
func (s *Sweep) Len() int     { return len(s.pairs) }
func (s *Sweep) Tactics() int { return s.tactics }

// ErrLost is returned by Run where the device's context is beyond use, as after a wild access: another backend may go on.
var ErrLost = errors.New("the device's context is lost")

// Pair names the tactic and the layer of pair i, in a row without results.
func (s *Sweep) Pair(i int) Row { return s.pairs[i].row() }

func (p pair) row() Row {
	r := Row{Tactic: p.tactic.Name, Layer: p.group.Name, Shape: shape(p.binding)}
	if p.tactic.Cost != nil {
		r.CostUS = float64(p.tactic.Cost(p.binding)) / float64(time.Microsecond)
	}
	return r
}

// Run checks the pairs from index from on, each with so many repetitions on inputs of their own, and reports a row for
// each; with none, it takes the time of each on random inputs and compares nothing. begin is told before that a pair is waited for, and then that its code is there and is to be launched. References and code are made ahead on all processors, while one pair at a time has the device. It returns how far
// it came: the index of the next pair. The error is ctx's, or ErrLost, after the row that says how.
func (s *Sweep) Run(ctx context.Context, from, repetitions int, begin func(i int, launch bool), report func(Row)) (next int, err error) {
	stream, err := s.backend.NewStream()
	if err != nil {
		return from, err
	}
	defer stream.Close()
	if w, ok := stream.(kernels.Watchable); ok { // of a simulated device: a launch ends with ctx
		w.Watch(ctx, func(int, int) {})
	}
	ahead, stop := context.WithCancel(ctx)
	ready := s.prepare(ahead, from, repetitions)
	defer func() {
		stop()
		for range ready { // until all preparation has ended
		}
	}()
	for i := from; i < len(s.pairs); i++ {
		one, ok := <-ready
		if !ok || ctx.Err() != nil {
			return i, ctx.Err()
		}
		begin(i, false)
		bound := <-one
		begin(i, true)
		row, err := s.check(stream, s.pairs[i], bound)
		if err != nil && ctx.Err() != nil { // which it may be for no other reason
			return i, ctx.Err()
		}
		report(row)
		var e interface{ Sticky() bool }
		if errors.As(err, &e) && e.Sticky() {
			return i + 1, ErrLost
		}
	}
	return len(s.pairs), nil
}

// bound is a pair's kernel.
type bound struct {
	kernel kernels.Kernel
	err    error
}

// prepare evaluates and binds the pairs from index from on, a few ahead of what is read; in the channel's order.
func (s *Sweep) prepare(ctx context.Context, from, repetitions int) <-chan chan bound {
	workers := runtime.GOMAXPROCS(0)
	ready := make(chan chan bound, 2*workers)
	free := make(chan struct{}, workers)
	go func() {
		var running sync.WaitGroup
		defer close(ready)
		defer running.Wait()
		for _, p := range s.pairs[from:] {
			one := make(chan bound, 1)
			select {
			case ready <- one:
			case <-ctx.Done():
				return
			}
			free <- struct{}{}
			running.Go(func() {
				defer func() { <-free }()
				one <- s.bind(ctx, p, repetitions)
			})
		}
	}()
	return ready
}

func (s *Sweep) bind(ctx context.Context, p pair, repetitions int) bound {
	if err := ctx.Err(); err != nil {
		return bound{err: err}
	}
	if s.Skip[p.tactic.Name] {
		return bound{err: ErrSkipped}
	}
	g := p.group
	g.once.Do(func() {
		draw := g.draw
		if draw == nil {
			draw = func(rnd *rand.Rand) (Reference, error) { return NewReference(g.Layer, rnd) }
		}
		for i := range repetitions {
			r, err := draw(rand.New(rand.NewPCG(hash(g.Name), uint64(i))))
			if err != nil {
				g.err = fmt.Errorf("the layer's own Eval: %w", err)
				return
			}
			g.refs = append(g.refs, r)
		}
	})
	if g.err != nil {
		return bound{err: g.err}
	}
	k, err := p.tactic.Bind(p.binding)
	return bound{k, err}
}

// check runs a pair on the device.
func (s *Sweep) check(stream kernels.Stream, p pair, k bound) (Row, error) {
	g := p.group
	row := p.row()
	err := k.err
	if err == nil {
		var r Result
		r, err = Check(s.backend, stream, p.tactic, p.binding, k.kernel, g.refs, g.Tolerance, true)
		if !math.IsInf(r.MaxError, 0) && !math.IsNaN(r.MaxError) {
			row.MaxError = r.MaxError
		}
		row.US = float64(r.Time) / float64(time.Microsecond)
		err = errors.Join(err, kernels.Close(k.kernel))
	}
	if g.left--; g.left == 0 {
		g.refs = nil
	}
	if row.OK = err == nil; !row.OK {
		row.Error = err.Error()
	}
	return row, err
}

// shape writes the tensors of a binding but for constants: "f32[1 16 7 7] nhwc -> f32[1 16 7 7] nhwc".
func shape(b kernels.Binding) string {
	text := ""
	for i, d := range b.In {
		if b.Layer.Inputs[i] != nil && b.Consts[i] == nil {
			text += describe(d) + " "
		}
	}
	text += "->"
	for _, d := range b.Out {
		text += " " + describe(d)
	}
	return text
}

func describe(d kernels.Desc) string {
	if d.Dense() {
		return d.String()
	}
	return d.String() + " in slices"
}
