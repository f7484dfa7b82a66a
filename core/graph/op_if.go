package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// IfAttrs are the attributes of If. Both bodies have one input for each of the layer's behind the condition, and one output for
// each of the layer's.
type IfAttrs struct {
	Then *Network `json:"-"`
	Else *Network `json:"-"`
}

// Bodies returns the two branches.
func (a IfAttrs) Bodies() []Body {
	inputs := 0
	if a.Then != nil {
		inputs = len(a.Then.Inputs)
	}
	return namedBodies(a, captures(nil, 1, inputs), a.Then, a.Else)
}

// WithBodies returns the attributes of two other branches.
func (a IfAttrs) WithBodies(b []*Network) any { return IfAttrs{b[0], b[1]} }

func (IfAttrs) parts() []string { return []string{"then", "else"} }

func (a IfAttrs) fits(l *Layer) error {
	if a.Then == nil || a.Else == nil {
		return fmt.Errorf("a branch is missing")
	}
	for _, b := range a.Bodies() {
		if len(b.Network.Inputs) != len(l.Inputs)-1 || len(b.Network.Outputs) != len(l.Outputs) {
			return fmt.Errorf("%s has %d inputs and %d outputs, the layer %d and %d", b.Name, len(b.Network.Inputs), len(b.Network.Outputs), len(l.Inputs)-1, len(l.Outputs))
		}
	}
	return nil
}

// If gives what one of two networks computes: Then where the condition, input 0 of one Bool, holds, else Else. The further
// inputs are those of both networks. The results have the types of both, and their shapes, unless the condition is known.
var If = &Op{
	Name:  "If",
	Attrs: IfAttrs{},
	Reals: AsStored,
	Onnx:  []string{"If"},
	Class: ClassControl, Inputs: []Role{Parameter, Data}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 {
		a := l.Attrs.(IfAttrs)
		return max(bodyFLOPs(a.Then, env), bodyFLOPs(a.Else, env))
	},
	Infer:  inferIf,
	Eval:   evalIf,
	Import: importIf,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(IfAttrs)
		return e.Node("If", Attributes{"then_branch": e.subgraph(a.Then, 0, 1), "else_branch": e.subgraph(a.Else, 0, 1)}, e.Input(0))
	},
}

func inferIf(l *Layer) error {
	a := l.Attrs.(IfAttrs)
	cond, err := l.need(0)
	if err != nil {
		return err
	}
	if err := a.fits(l); err != nil {
		return err
	}
	if err := cond.isOne("the condition", numeric.Bool); err != nil {
		return err
	}
	var in []*Tensor
	for i, t := range l.OpInputs()[1:] {
		if t == nil {
			return fmt.Errorf("input %d is missing", i+1)
		}
		in = append(in, t.seen(a.Then.Inputs[i].Name))
	}
	taken, known := cond.Truth()
	if !known || taken {
		if a.Then, err = inferBody(a.Then, in); err != nil {
			return fmt.Errorf("then: %w", err)
		}
	}
	if !known || !taken {
		if a.Else, err = inferBody(a.Else, in); err != nil {
			return fmt.Errorf("else: %w", err)
		}
	}
	l.Attrs = a
	for i, y := range l.Outputs {
		t, f := a.Then.Outputs[i], a.Else.Outputs[i]
		if known && !taken {
			t, f = f, t
		}
		if !known && (t.Type != f.Type || !symbolic.Equal(t.Dims, f.Dims) || !t.Range.Equal(f.Range)) {
			return &UnknownConditionError{Output: i, Then: t.TypeString(), Else: f.TypeString()}
		}
		y.Type, y.Dims, y.Range, y.Value = t.Type, t.Dims, t.Range, nil
		if known || t.Value != nil && f.Value != nil && symbolic.Equal(t.Value, f.Value) {
			y.Value = t.Value
		}
	}
	return nil
}

func evalIf(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(IfAttrs)
	body := a.Else
	if in[0].Data[0] != 0 {
		body = a.Then
	}
	results, err := (&bodyRun{body: body, until: l.until}).run(in[1:])
	if err != nil {
		return err
	}
	for i, v := range results {
		if err := give(&out[i], v); err != nil {
			return err
		}
	}
	return nil
}

func importIf(n *Node) (any, []*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, nil, err
	}
	if err := n.Inputs[0].isOne("the condition", numeric.Bool); err != nil {
		return nil, nil, err
	}
	graphs, captured, err := n.Graphs("then_branch", "else_branch")
	if err != nil {
		return nil, nil, err
	}
	return IfAttrs{graphs[0], graphs[1]}, append([]*Tensor{n.Inputs[0]}, captured...), nil
}

// UnknownConditionError is the error of an If of which one branch makes another output than the other does: what it is can be told where
// the condition is known before the network runs.
type UnknownConditionError struct {
	Output     int
	Then, Else string // its types and shapes
}

func (e *UnknownConditionError) Error() string {
	return fmt.Sprintf("output %d is %s of one branch and %s of the other, and the condition is not known beforehand", e.Output, e.Then, e.Else)
}
