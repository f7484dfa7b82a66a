package reduce

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Search looks for a smaller model on which the same thing is wrong.
type Search struct {
	// Fails reports whether a model has what is looked for. It must not change the model.
	Fails func(ctx context.Context, m *Model) bool
	// Also are steps of the caller's own: each makes something plainer beside the model, and reports whether it did. What was
	// tried before is tried again behind it, if it calls Forget.
	Also []func() bool
	// Told, if it is there, is told after each try.
	Told func(Progress)

	ctx    context.Context
	until  time.Time
	best   *Model
	tries  int
	tried  map[[sha256.Size]byte]bool
	values map[string]numeric.Value // of the best one's tensors; nil: not known any more
}

// Progress is how far a search is.
type Progress struct {
	Tries int
	Best  *Model
}

// Run returns the smallest model found. It tries, as long as there is time and something helps, to leave out one half behind or
// before, then single outputs and nodes, to make axes short, attributes default and values plain.
func (s *Search) Run(ctx context.Context, m *Model, within time.Duration) *Model {
	s.ctx, s.best, s.until = ctx, m.Clone(), time.Now().Add(within)
	declared := s.best.Types
	s.best.Types, s.best.Shapes = nil, nil // what is declared need not be so any more behind a change
	s.Forget()
	s.halves()
	steps := slices.Concat([]func() bool{s.outputs, s.cut, s.bypass}, s.Also, []func() bool{s.axes, s.attributes, s.inputs, s.plain})
	for again := true; again; {
		again = false
		for _, step := range steps {
			for step() {
				again = true
			}
		}
	}
	s.best.declare(declared)
	return s.best
}

// Declared returns a copy that declares what its outputs are, as far as that is known: programs refuse files that do not.
func (m *Model) Declared() *Model {
	c := m.Clone()
	c.declare(m.Types)
	return c
}

// declare notes the types and shapes of outputs: those that they have, or else types that were declared.
func (m *Model) declare(types map[string]numeric.DataType) {
	net := m.network()
	if net == nil && types == nil {
		return
	}
	m.Types, m.Shapes = map[string]numeric.DataType{}, map[string][]int{}
	for i, name := range m.Outputs {
		if t := types[name]; t != numeric.Invalid {
			m.Types[name] = t
		}
		if net != nil && i < len(net.Outputs) && net.Outputs[i].Type != numeric.Invalid {
			m.Types[name], m.Shapes[name] = net.Outputs[i].Type, extents(net.Outputs[i])
		}
	}
}

// extents returns the extents of a tensor, -1 for those that are open.
func extents(t *graph.Tensor) []int {
	dims := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		n, ok := d.IsConst()
		if !ok {
			n = -1
		}
		dims[i] = n
	}
	return dims
}

// Best returns the smallest model so far.
func (s *Search) Best() *Model { return s.best }

// Over reports whether there is no time left.
func (s *Search) Over() bool { return time.Now().After(s.until) || s.ctx.Err() != nil }

// Forget makes the search try again what it has tried.
func (s *Search) Forget() { s.tried = map[[sha256.Size]byte]bool{} }

// try keeps a smaller model if it fails, too.
func (s *Search) try(m *Model) bool {
	if s.Over() {
		return false
	}
	m.sweep()
	if len(m.Nodes) == 0 || len(m.Outputs) == 0 {
		return false
	}
	key := m.sum()
	if s.tried[key] {
		return false
	}
	s.tried[key] = true
	s.tries++
	fails := s.Fails(s.ctx, m) && s.ctx.Err() == nil
	if fails {
		s.best, s.values = m, nil
	}
	if s.Told != nil {
		s.Told(Progress{s.tries, s.best})
	}
	return fails
}

// sum tells models apart, with what they are tried on.
func (m *Model) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write(m.Encode())
	for _, in := range m.Inputs {
		h.Write(in.Feed.Data)
	}
	h.Sum(sum[:0])
	return sum
}

// sweep drops the nodes that no output needs, and what nothing reads.
func (m *Model) sweep() {
	need := map[string]bool{}
	for _, name := range m.Outputs {
		need[name] = true
	}
	for i := len(m.Nodes) - 1; i >= 0; i-- {
		n := m.Nodes[i]
		if !slices.ContainsFunc(n.Out, func(name string) bool { return need[name] }) {
			m.Nodes = slices.Delete(m.Nodes, i, i+1)
			continue
		}
		for _, name := range n.Reads() {
			need[name] = true
		}
	}
	m.Prune()
}
