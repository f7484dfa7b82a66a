package graph

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Unsupported are the attributes of a layer that stands for a node of a model that cannot be imported, so that the rest
// of the model can be looked at. Such a layer cannot be run: its Eval returns an [*UnsupportedError], no backend has a
// tactic for it, no engine holds it, and passes leave it alone.
type Unsupported struct {
	Domain, Op string     // of the ONNX operator
	Reason     string     // why it is not supported
	Behind     string     // the layer without which nothing would stand in the way; empty: this one
	Summary    string     // the node's attributes, in a line
	Outputs    []Declared // what the model says of the outputs; one that is missing or zero is not known
}

// Declared is the type and shape that a model states for a tensor.
type Declared struct {
	Type numeric.DataType
	Dims []symbolic.Dim
}

// UnsupportedOp returns an op for layers with such attributes. It is called after the ONNX operator, as in
// "unsupported LSTM", or "blocked Conv" for one behind that, and is in no [OpSet].
func UnsupportedOp(u Unsupported) *Op {
	kind := "unsupported "
	if u.Behind != "" {
		kind = "blocked "
	}
	return &Op{
		Name:  kind + u.Operator(),
		Attrs: Unsupported{},
		Reals: AsStored,
		Class: ClassUnknown, Inputs: []Role{Data}, Memory: Written,
		Moves: computed,
		FLOPs: noFLOPs,
		Infer: func(l *Layer) error {
			declared := l.Attrs.(Unsupported).Outputs
			for i, t := range l.Outputs {
				t.Type, t.Dims, t.Range, t.Value = numeric.Invalid, nil, numeric.Range{}, nil
				if i < len(declared) {
					t.Type, t.Dims = declared[i].Type, declared[i].Dims
				}
			}
			return nil
		},
		Eval: func(l *Layer, _, _ []numeric.Value) error { return l.Unsupported().Err() },
	}
}

// Unsupported returns what l stands for where that is a node that is not supported, else nil.
func (l *Layer) Unsupported() *Unsupported {
	if u, ok := l.Attrs.(Unsupported); ok {
		return &u
	}
	return nil
}

// Operator returns the operator's name, with its domain before it unless that is the default one.
func (u *Unsupported) Operator() string {
	if u.Domain == "" {
		return u.Op
	}
	return u.Domain + ":" + u.Op
}

// String is what stands behind the layer in a network's text form.
func (u Unsupported) String() string {
	return strings.TrimSpace(u.Summary + " (" + cmp.Or(u.Reason, "not supported") + ")")
}

// Err returns the error of what would run the layer.
func (u *Unsupported) Err() error { return &UnsupportedError{u.Operator(), u.Reason} }

// UnsupportedError is the error of what would run a layer that is not supported.
type UnsupportedError struct{ Op, Reason string }

func (e *UnsupportedError) Error() string { return fmt.Sprintf("%s: %s", e.Op, e.Reason) }
