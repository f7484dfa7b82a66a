package graph

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Network is a directed acyclic graph of layers: TensorRT's INetworkDefinition. Change it through its methods and
// the layers', which keep Producer and Users right.
type Network struct {
	Name    string
	Inputs  []*Tensor
	Outputs []*Tensor
	Layers  []*Layer // in topological order
	Lowered bool     // types are those of one target and precision; they are no longer inferred
	Source  *Network // that passes made it from: what that takes for granted of symbols holds here; nil for none

	tensors map[string]*Tensor // every tensor by name
	layers  map[string]*Layer  // every layer by name
	removed int                // the index of the layer that was removed last
}

// Layer is one step of computation: TensorRT's ILayer.
type Layer struct {
	Name    string // unique in its network and stable from import to engine
	Op      *Op
	Attrs   any       // the op's attribute struct, by value and never changed in place; nil if the op has none
	Inputs  []*Tensor // the op's, then the epilogue's further arguments; nil where an optional input is left out
	Outputs []*Tensor

	// Epilogue is applied to the op's (single) result: argument 0 is that result, the others are the last inputs,
	// broadcast to the result's shape. The zero Program is none.
	Epilogue elementwise.Program
	From     []string // source layers that this layer stands for, its own name included, in graph order

	until context.Context // that ends the evaluation of its bodies, while they are evaluated; else nil
}

// Tensor is a value that flows between layers: TensorRT's ITensor.
type Tensor struct {
	Name     string // unique in its network; a tensor of the source model keeps its name through every pass
	Type     numeric.DataType
	Dims     []symbolic.Dim
	Range    numeric.Range  // what integers stand for, where Type is an integer type and the tensor is quantised
	Weights  []byte         // the elements of a constant, row-major; nil otherwise. May point into a mapped file
	Value    []symbolic.Dim // known elements of a small integer tensor (shape arithmetic), row-major; nil if unknown
	IsShape  bool           // of a network's input: shapes depend on its elements, which Value has
	Producer *Layer         // nil for network inputs and constants
	Users    []*Layer       // one entry for each use as a layer's input
}

// NewNetwork returns an empty network.
func NewNetwork(name string) *Network {
	return &Network{Name: name, tensors: map[string]*Tensor{}, layers: map[string]*Layer{}}
}

// IsConst reports whether t is a constant of the network.
func (t *Tensor) IsConst() bool { return t.Producer == nil && t.Weights != nil }

// Const returns the constant's elements as a value; ok is false if t is no constant.
func (t *Tensor) Const() (v numeric.Value, ok bool) {
	if t == nil || !t.IsConst() {
		return numeric.Value{}, false
	}
	return numeric.Value{Type: t.Type, Dims: symbolic.Eval(t.Dims, nil), Data: t.Weights}, true
}

// Quantized reports whether t holds integers that stand for real numbers.
func (t *Tensor) Quantized() bool { return t.Type.IsInteger() && t.Range.IsSet() }

// RealType returns the type in which a layer computes with t: F32 for a quantised tensor, else t's own.
func (t *Tensor) RealType() numeric.DataType {
	if t.Quantized() {
		return numeric.F32
	}
	return t.Type
}

// Sole returns the only user of t, or nil if t has another number of uses or is an output of n.
func (n *Network) Sole(t *Tensor) *Layer {
	if len(t.Users) != 1 || n.IsOutput(t) {
		return nil
	}
	return t.Users[0]
}

// IsOutput reports whether t is an output of the network.
func (n *Network) IsOutput(t *Tensor) bool { return slices.Contains(n.Outputs, t) }

// IsInput reports whether t is an input of the network.
func (n *Network) IsInput(t *Tensor) bool { return slices.Contains(n.Inputs, t) }

// Tensor returns the named tensor, or nil.
func (n *Network) Tensor(name string) *Tensor { return n.tensors[name] }

// Layer returns the named layer, or nil.
func (n *Network) Layer(name string) *Layer { return n.layers[name] }

// NewTensor adds a tensor whose name is the given one, or that with a suffix if it is taken.
func (n *Network) NewTensor(name string, t numeric.DataType, dims []symbolic.Dim) *Tensor {
	x := &Tensor{Name: unique(n.tensors, name), Type: t, Dims: dims}
	n.tensors[x.Name] = x
	return x
}

// rename gives a tensor a name that is free.
func (n *Network) rename(t *Tensor, name string) {
	delete(n.tensors, t.Name)
	t.Name = name
	n.tensors[name] = t
}

// AddInput adds an input: TensorRT's addInput.
func (n *Network) AddInput(name string, t numeric.DataType, dims ...symbolic.Dim) *Tensor {
	x := n.NewTensor(name, t, dims)
	n.Inputs = append(n.Inputs, x)
	return x
}

// AddConst adds a constant over v's bytes, which are not copied and must not change.
func (n *Network) AddConst(name string, v numeric.Value) *Tensor {
	x := n.NewTensor(name, v.Type, symbolic.Shape(v.Dims...))
	x.Weights = v.Data
	if x.Weights == nil {
		x.Weights = []byte{}
	}
	if v.Type == numeric.I64 || v.Type == numeric.I32 {
		if v.Len() <= maxKnownValue {
			x.Value = []symbolic.Dim{}
			for _, e := range v.Ints() {
				x.Value = append(x.Value, symbolic.Const(int(e)))
			}
		}
	}
	return x
}

// maxKnownValue bounds the elements of a tensor whose values are followed through shape arithmetic.
const maxKnownValue = 64

// MarkOutput makes t an output: TensorRT's markOutput.
func (n *Network) MarkOutput(t *Tensor) { n.Outputs = append(n.Outputs, t) }

// Add appends a layer with outputs of the given names and infers their types and shapes. An empty name is replaced
// by one made from the op's; a taken name gets a suffix.
func (n *Network) Add(name string, op *Op, attrs any, inputs []*Tensor, outputs ...string) (*Layer, error) {
	if name == "" {
		name = op.Name
	}
	l := &Layer{Name: unique(n.layers, name), Op: op, Attrs: attrs}
	l.From = []string{l.Name}
	if len(outputs) == 0 {
		outputs = []string{l.Name}
	}
	for _, in := range inputs {
		l.AddInput(in)
	}
	for _, out := range outputs {
		l.addOutput(n.NewTensor(out, numeric.Invalid, nil))
	}
	n.layers[l.Name] = l
	n.Layers = append(n.Layers, l)
	if err := l.Infer(); err != nil {
		n.Remove(l)
		return nil, err
	}
	return l, nil
}

// Insert puts a layer that no network has, with its outputs already made by NewTensor, at the end of the list;
// Sort brings it to its place. Its name is made unique.
func (n *Network) Insert(l *Layer) *Layer {
	l.Name = unique(n.layers, l.Name)
	n.layers[l.Name] = l
	n.Layers = append(n.Layers, l)
	inputs, outputs := l.Inputs, l.Outputs
	l.Inputs, l.Outputs = nil, nil
	for _, t := range inputs {
		l.AddInput(t)
	}
	for _, t := range outputs {
		l.addOutput(t)
	}
	return l
}

// AddInput appends an input; t may be nil.
func (l *Layer) AddInput(t *Tensor) {
	l.Inputs = append(l.Inputs, t)
	if t != nil {
		t.Users = append(t.Users, l)
	}
}

// SetInput replaces input i; t may be nil.
func (l *Layer) SetInput(i int, t *Tensor) {
	if old := l.Inputs[i]; old != nil {
		old.removeUser(l)
	}
	l.Inputs[i] = t
	if t != nil {
		t.Users = append(t.Users, l)
	}
}

// TruncateInputs drops the inputs from i on.
func (l *Layer) TruncateInputs(i int) {
	for _, t := range l.Inputs[i:] {
		if t != nil {
			t.removeUser(l)
		}
	}
	l.Inputs = l.Inputs[:i:i]
}

// SetOutput makes l the producer of t in place of its output i, which is left without a producer.
func (l *Layer) SetOutput(i int, t *Tensor) {
	if old := l.Outputs[i]; old != nil && old.Producer == l {
		old.Producer = nil
	}
	l.Outputs[i] = t
	t.Producer = l
}

func (l *Layer) addOutput(t *Tensor) {
	l.Outputs = append(l.Outputs, t)
	t.Producer = l
}

// removeUser leaves the list as it was to those who go through it, and takes the first user, which is whom passes that
// go through the network in order come to, out of a long list as out of a short one.
func (t *Tensor) removeUser(l *Layer) {
	switch i := slices.Index(t.Users, l); {
	case i == 0:
		t.Users = t.Users[1:]
	case i > 0:
		t.Users = slices.Delete(slices.Clone(t.Users), i, i+1)
	}
}

// Redirect makes every user of old use new instead. It does not change which tensors are outputs.
func (n *Network) Redirect(old, new *Tensor) {
	if old == new {
		return
	}
	users := old.Users
	old.Users = nil
	for _, l := range users { // a layer that uses it twice is there twice, and done the first time
		for i, in := range l.Inputs {
			if in == old {
				l.Inputs[i] = new
				new.Users = append(new.Users, l)
			}
		}
	}
}

// Remove takes l out of the network together with the tensors it produced; nothing may use them any more.
func (n *Network) Remove(l *Layer) {
	l.TruncateInputs(0)
	for _, t := range l.Outputs {
		if t.Producer == l {
			t.Producer = nil
			n.forget(t)
		}
	}
	if n.layers[l.Name] == l {
		delete(n.layers, l.Name)
	}
	if i := n.place(l); i >= 0 {
		n.Layers = slices.Delete(n.Layers, i, i+1)
		if i < len(n.Layers)-16 {
			n.removed = i
		}
	}
}

// forget drops t's name where nothing refers to t.
func (n *Network) forget(t *Tensor) {
	if n.tensors[t.Name] == t && t.Producer == nil && len(t.Users) == 0 && !n.IsOutput(t) && !n.IsInput(t) {
		delete(n.tensors, t.Name)
	}
}

// Prune forgets constants that nothing uses and returns how many they were.
func (n *Network) Prune() int {
	before := len(n.tensors)
	for _, name := range slices.Sorted(maps.Keys(n.tensors)) {
		n.forget(n.tensors[name])
	}
	return before - len(n.tensors)
}

// Consts returns the constants that layers use or that are outputs, in order of first use.
func (n *Network) Consts() []*Tensor {
	var list []*Tensor
	seen := map[*Tensor]bool{}
	add := func(t *Tensor) {
		if t != nil && t.IsConst() && !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	for _, l := range n.Layers {
		for _, t := range l.Inputs {
			add(t)
		}
	}
	for _, t := range n.Outputs {
		add(t)
	}
	return list
}

// Clone returns a copy of the structure; weights' bytes and attributes are shared, since neither changes in place.
func (n *Network) Clone() *Network {
	c := NewNetwork(n.Name)
	c.Lowered, c.Source = n.Lowered, n.Source
	copies := make(map[*Tensor]*Tensor, len(n.tensors))
	tensor := func(t *Tensor) *Tensor {
		if t == nil {
			return nil
		}
		x, ok := copies[t]
		if !ok {
			x = &Tensor{Name: t.Name, Type: t.Type, Dims: t.Dims, Range: t.Range, Weights: t.Weights, Value: t.Value, IsShape: t.IsShape}
			copies[t] = x
			c.tensors[x.Name] = x
		}
		return x
	}
	for _, t := range n.Inputs {
		c.Inputs = append(c.Inputs, tensor(t))
	}
	for _, l := range n.Layers {
		d := &Layer{Name: l.Name, Op: l.Op, Attrs: l.Attrs, Epilogue: l.Epilogue, From: l.From}
		for _, t := range l.Inputs {
			d.AddInput(tensor(t))
		}
		for _, t := range l.Outputs {
			d.addOutput(tensor(t))
		}
		c.layers[d.Name] = d
		c.Layers = append(c.Layers, d)
	}
	for _, t := range n.Outputs {
		c.Outputs = append(c.Outputs, tensor(t))
	}
	return c
}

// Rename gives l another name, made unique.
func (n *Network) Rename(l *Layer, name string) {
	if l.Name == name {
		return
	}
	delete(n.layers, l.Name)
	l.Name = unique(n.layers, name)
	n.layers[l.Name] = l
}

func unique[T any](taken map[string]T, name string) string {
	if _, ok := taken[name]; !ok {
		return name
	}
	for i := 2; ; i++ {
		s := name + "_" + strconv.Itoa(i)
		if _, ok := taken[s]; !ok {
			return s
		}
	}
}
