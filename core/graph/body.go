package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Bodied is implemented by the attributes of ops that compute with networks of their own, such as [If] and [Loop]. What such a
// body reads of the network around it are inputs of the layer, and of the body: a body sees nothing else. Bodies are as little
// changed in place as attributes are. Each output of a body is that of a layer in it, and no two are one.
type Bodied interface {
	// Bodies returns the bodies in an order of the op.
	Bodies() []Body
	// WithBodies returns the same attributes with other bodies, as many.
	WithBodies([]*Network) any
	// parts returns the names of the bodies.
	parts() []string
	// fits returns an error where the bodies' inputs and outputs are not as many as the layer's.
	fits(l *Layer) error
}

// Body is a network inside a layer.
type Body struct {
	Name    string // of its part, as "then"
	Network *Network
	Inputs  []int // of the layer, for each of the body's: -1 for what is of no input
}

// Bodies returns the networks inside the layer; none for most.
func (l *Layer) Bodies() []Body {
	if b, ok := l.Attrs.(Bodied); ok {
		return b.Bodies()
	}
	return nil
}

// SetBodies gives the layer other bodies, as many as it has.
func (l *Layer) SetBodies(bodies []*Network) { l.Attrs = l.Attrs.(Bodied).WithBodies(bodies) }

// AllLayers returns the layers of the network, each followed by those inside it.
func (n *Network) AllLayers() []*Layer {
	if !slices.ContainsFunc(n.Layers, func(l *Layer) bool { return len(l.Bodies()) > 0 }) {
		return n.Layers
	}
	var list []*Layer
	for _, l := range n.Layers {
		list = append(list, l)
		for _, b := range l.Bodies() {
			list = append(list, b.Network.AllLayers()...)
		}
	}
	return list
}

// AllFrom returns the source layers that the layer and those inside it stand for.
func (l *Layer) AllFrom() []string {
	list := l.From
	for _, b := range l.Bodies() {
		for _, inner := range b.Network.Layers {
			list = append(slices.Clip(list), inner.AllFrom()...)
		}
	}
	return list
}

// maxBodyDepth bounds how deep bodies lie in each other.
const maxBodyDepth = 16

// captures returns a run of numbers: the inputs of a layer from first on.
func captures(before []int, first, n int) []int {
	for i := range n {
		before = append(before, first+i)
	}
	return before
}

// namedBodies are bodies that may be missing in the zero value of attributes.
func namedBodies(b Bodied, inputs []int, networks ...*Network) []Body {
	var list []Body
	for i, n := range networks {
		if n != nil {
			list = append(list, Body{b.parts()[i], n, inputs})
		}
	}
	return list
}

// inferBody returns the body as it is with inputs of the given types, shapes and known elements: itself where it has these.
func inferBody(b *Network, in []*Tensor) (*Network, error) {
	if len(in) != len(b.Inputs) {
		return nil, fmt.Errorf("it has %d inputs, want %d", len(b.Inputs), len(in))
	}
	same := true
	for i, t := range b.Inputs {
		same = same && t.Type == in[i].Type && symbolic.Equal(t.Dims, in[i].Dims) && t.Range.Equal(in[i].Range) &&
			(t.Value == nil) == (in[i].Value == nil) && symbolic.Equal(t.Value, in[i].Value)
	}
	if same {
		return b, nil
	}
	c := b.Clone()
	for i, t := range c.Inputs {
		t.Type, t.Dims, t.Range, t.Value = in[i].Type, in[i].Dims, in[i].Range, in[i].Value
	}
	for _, l := range c.Layers {
		kept := make([]Tensor, len(l.Outputs))
		for i, t := range l.Outputs {
			kept[i] = *t
		}
		if err := l.Infer(); err != nil {
			return nil, err
		}
		for i, t := range l.Outputs {
			if b.Lowered {
				t.Type, t.Range = kept[i].Type, kept[i].Range
			}
		}
	}
	return c, nil
}

// seen returns what a body sees of a tensor: its elements, where they are known, but not that it is a constant.
func (t *Tensor) seen(name string) *Tensor {
	return &Tensor{Name: name, Type: t.Type, Dims: t.Dims, Range: t.Range, Value: t.Value}
}

// Truth returns a condition of one element that follows from constants and shapes.
func (t *Tensor) Truth() (value, known bool) {
	left := followed
	v, ok := t.computed(&left, maxKnownValue)
	if !ok || v.Len() != 1 || v.Type != numeric.Bool {
		return false, false
	}
	return v.Data[0] != 0, true
}

// isOne returns an error for a tensor that is not one element of a type.
func (t *Tensor) isOne(what string, typ numeric.DataType) error {
	if n, ok := countDims(t.Dims); t.Type != typ || !ok || n != 1 {
		return fmt.Errorf("%s is %s, want one %s", what, t, typ)
	}
	return nil
}

// verifyBodies checks the networks inside a layer.
func (l *Layer) verifyBodies() error {
	b, ok := l.Attrs.(Bodied)
	if !ok {
		return nil
	}
	if err := b.fits(l); err != nil {
		return err
	}
	for _, body := range b.Bodies() {
		if err := body.Network.Verify(); err != nil {
			return fmt.Errorf("%s: %w", body.Name, err)
		}
		for i, t := range body.Network.Outputs {
			if t.Producer == nil || slices.Contains(body.Network.Outputs[:i], t) {
				return fmt.Errorf("%s: output %d, %s, has no layer of its own", body.Name, i, t.Name)
			}
		}
		for i, t := range body.Network.Inputs {
			if at := body.Inputs[i]; at >= 0 && l.Inputs[at] != nil && l.Inputs[at].Type != t.Type {
				return fmt.Errorf("%s: input %s is given %s", body.Name, t, l.Inputs[at])
			}
		}
	}
	return nil
}

// MaxIterations bounds how often a loop runs its body, so that one that never ends is an error.
const MaxIterations = 1 << 18

// EndlessError is the error of a loop that is stopped after [MaxIterations].
type EndlessError struct{}

func (EndlessError) Error() string {
	return fmt.Sprintf("it does not end within %d iterations", MaxIterations)
}

// bodyRun evaluates a body again and again.
type bodyRun struct {
	body  *Network
	until context.Context // that ends it; nil for none
	at    *Network        // the body at the shapes of the last run
}

// run computes the body's outputs from its inputs, in their order. The results may be those of a constant or an input.
func (r *bodyRun) run(in []numeric.Value) ([]numeric.Value, error) {
	if err := r.shape(in); err != nil {
		return nil, err
	}
	e := &evaluation{network: r.at, until: r.until, env: r.at.Counts(nil), values: map[*Tensor]numeric.Value{}, uses: map[*Tensor]int{}}
	for i, t := range r.at.Inputs {
		e.values[t] = in[i]
	}
	for _, l := range r.at.Layers {
		if r.until != nil && r.until.Err() != nil {
			return nil, r.until.Err()
		}
		if _, err := e.layer(l); err != nil {
			return nil, err
		}
		for _, t := range e.spent(l) {
			delete(e.values, t)
		}
	}
	out := make([]numeric.Value, len(r.at.Outputs))
	for i, t := range r.at.Outputs {
		out[i] = e.value(t)
	}
	return out, nil
}

// shape brings the body to the shapes of its inputs, and to the elements of those whose elements it goes by.
func (r *bodyRun) shape(in []numeric.Value) error {
	now := make([]*Tensor, len(in))
	for i, t := range r.body.Inputs {
		now[i] = &Tensor{Name: t.Name, Type: t.Type, Range: t.Range, Dims: symbolic.Shape(in[i].Dims...)}
		if t.Value != nil {
			now[i].Value = []symbolic.Dim{}
			for _, n := range in[i].Ints() {
				now[i].Value = append(now[i].Value, symbolic.Const(int(n)))
			}
		}
	}
	if r.at == nil {
		r.at = r.body
	}
	at, err := inferBody(r.at, now)
	if err == nil {
		r.at = at
	}
	return err
}

// give copies a body's result to an output of the layer.
func give(dst *numeric.Value, src numeric.Value) error {
	if dst.Type != src.Type || !slices.Equal(dst.Dims, src.Dims) {
		return fmt.Errorf("a result is %s%v, not %s%v", src.Type, src.Dims, dst.Type, dst.Dims)
	}
	if dst.Type == numeric.Str {
		dst.Data = src.Data
	}
	copy(dst.Data, src.Data)
	return nil
}

// bodyMemory returns what an evaluation of the layer's bodies takes.
func (l *Layer) bodyMemory(env map[string]int) (most int64) {
	for _, b := range l.Bodies() {
		most = max(most, b.Network.evalMemory(env).Need)
	}
	return most
}

// bodyFLOPs returns the operations of one run of a body.
func bodyFLOPs(n *Network, env map[string]int) (sum int64) {
	for _, l := range n.Layers {
		sum += Operations(l, env)
	}
	return sum
}
