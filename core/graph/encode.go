package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// The stored form of a network is JSON, with tensors by index and weights by number in a store of their own.
type (
	storedNetwork struct {
		Name    string
		Lowered bool `json:",omitempty"`
		Tensors []storedTensor
		Inputs  []int
		Outputs []int
		Layers  []storedLayer
	}
	storedTensor struct {
		Name    string
		Type    numeric.DataType
		Dims    []string
		Range   *numeric.Range `json:",omitempty"`
		Weights *int           `json:",omitempty"`
		Value   []string       `json:",omitzero"` // of no elements it is known, too
		IsShape bool           `json:",omitempty"`
	}
	storedLayer struct {
		Name     string
		Op       string
		Attrs    json.RawMessage `json:",omitempty"`
		Inputs   []int           // -1 for one that is left out
		Outputs  []int
		Epilogue *elementwise.Program `json:",omitempty"`
		From     []string
		Bodies   []json.RawMessage `json:",omitempty"` // stored networks
	}
)

// Encode returns the network's stored form; put takes each constant's bytes and returns the number by which
// DecodeNetwork can ask for them again.
func (n *Network) Encode(put func([]byte) int) ([]byte, error) {
	s := storedNetwork{Name: n.Name, Lowered: n.Lowered}
	index := map[*Tensor]int{}
	tensor := func(t *Tensor) int {
		if t == nil {
			return -1
		}
		if i, ok := index[t]; ok {
			return i
		}
		st := storedTensor{Name: t.Name, Type: t.Type, Dims: formatEach(t.Dims), Value: formatEach(t.Value), IsShape: t.IsShape}
		if t.Range.IsSet() {
			st.Range = &t.Range
		}
		if t.IsConst() {
			w := put(t.Weights)
			st.Weights = &w
		}
		index[t] = len(s.Tensors)
		s.Tensors = append(s.Tensors, st)
		return index[t]
	}
	tensors := func(list []*Tensor) []int {
		out := make([]int, len(list))
		for i, t := range list {
			out[i] = tensor(t)
		}
		return out
	}
	s.Inputs = tensors(n.Inputs)
	for _, l := range n.Layers {
		if u := l.Unsupported(); u != nil {
			return nil, fmt.Errorf("layer %s: %w", l.Name, u.Err())
		}
		sl := storedLayer{Name: l.Name, Op: l.Op.Name, Inputs: tensors(l.Inputs), Outputs: tensors(l.Outputs), From: l.From}
		if l.Attrs != nil {
			raw, err := MarshalStored(l.Attrs)
			if err != nil {
				return nil, fmt.Errorf("layer %s: attributes: %w", l.Name, err)
			}
			sl.Attrs = raw
		}
		if l.Epilogue.Args > 0 {
			sl.Epilogue = &l.Epilogue
		}
		for _, b := range l.Bodies() {
			raw, err := b.Network.Encode(put)
			if err != nil {
				return nil, fmt.Errorf("layer %s: %s: %w", l.Name, b.Name, err)
			}
			sl.Bodies = append(sl.Bodies, raw)
		}
		s.Layers = append(s.Layers, sl)
	}
	s.Outputs = tensors(n.Outputs)
	return MarshalStored(s)
}

func formatEach(dims []symbolic.Dim) []string {
	if dims == nil {
		return nil
	}
	s := make([]string, len(dims))
	for i, d := range dims {
		s[i] = d.String()
	}
	return s
}

// DecodeNetwork reads the form that Encode wrote; get returns the bytes of a numbered constant. The result is
// verified: whatever the bytes were, a network that is returned keeps its invariants.
func DecodeNetwork(ops OpSet, data []byte, get func(int) ([]byte, error)) (*Network, error) {
	n, err := decodeNetwork(ops, data, get, 0)
	if err != nil {
		return nil, err
	}
	return n, n.Verify()
}

// decodeNetwork reads a network that lies so deep in others.
func decodeNetwork(ops OpSet, data []byte, get func(int) ([]byte, error), depth int) (*Network, error) {
	if depth > maxBodyDepth {
		return nil, fmt.Errorf("networks lie more than %d deep in each other", maxBodyDepth)
	}
	var s storedNetwork
	if err := UnmarshalStored(data, &s); err != nil {
		return nil, err
	}
	n := NewNetwork(s.Name)
	n.Lowered = s.Lowered
	tensors := make([]*Tensor, len(s.Tensors))
	for i, st := range s.Tensors {
		t, err := st.decode(n, get)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", st.Name, err)
		}
		tensors[i] = t
	}
	pick := func(list []int) ([]*Tensor, error) {
		out := make([]*Tensor, len(list))
		for i, j := range list {
			if j == -1 {
				continue
			}
			if j < 0 || j >= len(tensors) {
				return nil, fmt.Errorf("refers to tensor %d of %d", j, len(tensors))
			}
			out[i] = tensors[j]
		}
		return out, nil
	}
	var err error
	if n.Inputs, err = pick(s.Inputs); err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	for _, sl := range s.Layers {
		l, err := sl.decode(ops, pick)
		if err != nil {
			return nil, fmt.Errorf("layer %q: %w", sl.Name, err)
		}
		if n.layers[l.Name] != nil {
			return nil, fmt.Errorf("layer %q: there are two of that name", l.Name)
		}
		if err := sl.decodeBodies(l, ops, get, depth+1); err != nil {
			return nil, fmt.Errorf("layer %q: %w", sl.Name, err)
		}
		n.Insert(l)
	}
	if n.Outputs, err = pick(s.Outputs); err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	if slices.Contains(n.Outputs, nil) || slices.Contains(n.Inputs, nil) {
		return nil, fmt.Errorf("an input or output of the network is left out")
	}
	return n, nil
}

// decodeBodies reads the networks inside a layer.
func (sl storedLayer) decodeBodies(l *Layer, ops OpSet, get func(int) ([]byte, error), depth int) error {
	b, ok := l.Attrs.(Bodied)
	want := 0
	if ok {
		want = len(b.parts())
	}
	if len(sl.Bodies) != want {
		return fmt.Errorf("%d networks inside it, want %d", len(sl.Bodies), want)
	}
	if !ok {
		return nil
	}
	var list []*Network
	for _, raw := range sl.Bodies {
		n, err := decodeNetwork(ops, raw, get, depth)
		if err != nil {
			return err
		}
		list = append(list, n)
	}
	l.Attrs = b.WithBodies(list)
	return nil
}

func (st storedTensor) decode(n *Network, get func(int) ([]byte, error)) (*Tensor, error) {
	if n.tensors[st.Name] != nil {
		return nil, fmt.Errorf("there are two of that name")
	}
	dims, err := parseEach(st.Dims)
	if err != nil {
		return nil, err
	}
	t := n.NewTensor(st.Name, st.Type, dims)
	if t.Value, err = parseEach(st.Value); err != nil {
		return nil, err
	}
	if st.IsShape {
		if err := t.MakeShape(t.Value...); err != nil {
			return nil, err
		}
	}
	if st.Range != nil {
		t.Range = *st.Range
		if err := t.checkRange(); err != nil {
			return nil, err
		}
	}
	if st.Weights != nil {
		if t.Weights, err = get(*st.Weights); err != nil {
			return nil, err
		}
		if t.Weights == nil {
			t.Weights = []byte{}
		}
	}
	return t, nil
}

// checkRange returns an error where the range of t does not fit it.
func (t *Tensor) checkRange() error {
	r := t.Range
	if len(r.Zero) > 1 && len(r.Zero) != len(r.Scale) {
		return fmt.Errorf("%d zero points for %d scales", len(r.Zero), len(r.Scale))
	}
	if !r.PerChannel() {
		return nil
	}
	if r.Axis < 0 || r.Axis >= len(t.Dims) {
		return fmt.Errorf("quantised along axis %d of %d", r.Axis, len(t.Dims))
	}
	if !t.Dims[r.Axis].Is(len(r.Scale)) {
		return fmt.Errorf("%d scales for extent %s", len(r.Scale), t.Dims[r.Axis])
	}
	return nil
}

func (sl storedLayer) decode(ops OpSet, pick func([]int) ([]*Tensor, error)) (*Layer, error) {
	l := &Layer{Name: sl.Name, Op: ops.Named(sl.Op), From: sl.From}
	if l.Op == nil {
		return nil, sl.unknown()
	}
	var err error
	if l.Attrs, err = l.Op.decodeAttrs(sl.Attrs); err != nil {
		return nil, fmt.Errorf("attributes: %w", err)
	}
	if a, ok := l.Attrs.(PluginAttrs); ok {
		if err := a.FitsOp(l.Op); err != nil {
			return nil, fmt.Errorf("layer %s (%s): %w", sl.Name, sl.Op, err)
		}
	}
	if l.Inputs, err = pick(sl.Inputs); err != nil {
		return nil, err
	}
	if l.Outputs, err = pick(sl.Outputs); err != nil {
		return nil, err
	}
	if slices.Contains(l.Outputs, nil) {
		return nil, fmt.Errorf("an output is left out")
	}
	if sl.Epilogue != nil {
		l.Epilogue = *sl.Epilogue
		if err := l.Epilogue.Check(); err != nil {
			return nil, err
		}
		if l.Epilogue.Args-1 > len(l.Inputs) {
			return nil, fmt.Errorf("epilogue of %d arguments on %d inputs", l.Epilogue.Args, len(l.Inputs))
		}
	}
	return l, nil
}

// PluginAttrs are attributes of layers that code outside the program computes, which is not stored with them. They are stored as an
// object that has Plugin and Hash.
type PluginAttrs interface {
	// FitsOp returns why a layer that was stored cannot be computed by an op.
	FitsOp(op *Op) error
}

// MissingPlugin is the error of a stored layer whose op is of a plugin that is not loaded.
type MissingPlugin struct {
	Op, Layer    string
	Plugin, Hash string // its name, and the SHA-256 of its file
}

func (e *MissingPlugin) Error() string {
	return fmt.Sprintf("layer %s: the op %s is of the plugin %s (SHA-256 %.12s), which is not loaded", e.Layer, e.Op, e.Plugin, e.Hash)
}

// unknown is the error of a layer whose op there is not.
func (sl storedLayer) unknown() error {
	var of struct{ Plugin, Hash string }
	if json.Unmarshal(sl.Attrs, &of) == nil && of.Plugin != "" {
		return &MissingPlugin{Op: sl.Op, Layer: sl.Name, Plugin: of.Plugin, Hash: of.Hash}
	}
	return fmt.Errorf("op %q is unknown", sl.Op)
}

// decodeAttrs reads the op's attribute struct.
func (o *Op) decodeAttrs(raw json.RawMessage) (any, error) {
	if o.Attrs == nil {
		return nil, nil
	}
	v := reflect.New(reflect.TypeOf(o.Attrs))
	if len(raw) > 0 {
		if err := UnmarshalStored(raw, v.Interface()); err != nil {
			return nil, err
		}
	}
	if e, ok := v.Elem().Interface().(Elementwise); ok {
		if err := e.Program.Check(); err != nil {
			return nil, err
		}
	}
	return v.Elem().Interface(), nil
}

func parseEach(list []string) ([]symbolic.Dim, error) {
	if list == nil {
		return nil, nil
	}
	dims := make([]symbolic.Dim, len(list))
	for i, s := range list {
		d, err := symbolic.Parse(s)
		if err != nil {
			return nil, err
		}
		dims[i] = d
	}
	return dims, nil
}

// SymbolNames returns the sorted names of all symbols in the network's shapes.
func (n *Network) SymbolNames() []string {
	set := map[string]bool{}
	for _, t := range n.tensors {
		for _, d := range t.Dims {
			d.Symbols(set)
		}
	}
	return slices.Sorted(maps.Keys(set))
}
