package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// CheckShapes infers the network anew for the extents that its symbols have, and returns an error where those break
// what was taken for granted of symbols: that two are equal, or that an extent is a multiple. So it does with the network
// that this one was made from, some of whose layers may be gone. A network that passes can be evaluated, and so can
// everything made from it, without a shape out of place. Every symbol of the inputs must have a value.
func (n *Network) CheckShapes(env map[string]int) error { return n.CheckShapesBut(env, nil) }

// CheckShapesBut is [Network.CheckShapes] that leaves out the layers which depend on counted extents that are not known yet, those of
// the symbols given: as large as they can be, they need not fit what has been counted. Given nil, nothing has been counted.
func (n *Network) CheckShapesBut(env map[string]int, uncounted map[string]bool) error {
	if err := n.checkSymbols(env); err != nil {
		return err
	}
	if err := n.checkCounts(); err != nil {
		return err
	}
	env = n.Counts(env)
	if n.Source != nil {
		if err := n.Source.CheckShapesBut(env, n.Source.uncounted(env, uncounted)); err != nil {
			return err
		}
	}
	for _, l := range n.Layers {
		if !slices.ContainsFunc(slices.Concat(l.Inputs, l.Outputs), (*Tensor).dynamic) || l.dependsOn(uncounted) {
			continue
		}
		if err := l.CheckShapes(env); err != nil {
			return err
		}
	}
	return nil
}

// checkSymbols returns an error for a symbol of the inputs that has no value, and for an extent that is none.
func (n *Network) checkSymbols(env map[string]int) error {
	if open := n.Unbound(env); len(open) > 0 {
		return fmt.Errorf("network %s: %s has no value; give every symbol of the inputs' shapes one", n.Name, strings.Join(open, ", "))
	}
	for _, t := range n.Inputs {
		for i, d := range t.Extents() {
			if n := d.Eval(env); n < 0 || n > maxExtent {
				return fmt.Errorf("input %s: %s would be %d", t, t.extentName(i), n)
			}
		}
	}
	return nil
}

// Unbound returns the symbols of the inputs' shapes that env has no value for, sorted.
func (n *Network) Unbound(env map[string]int) []string {
	symbols := map[string]bool{}
	for _, t := range n.Inputs {
		for _, d := range t.Extents() {
			d.Symbols(symbols)
		}
	}
	maps.DeleteFunc(symbols, func(name string, _ bool) bool { _, ok := env[name]; return ok })
	return slices.Sorted(maps.Keys(symbols))
}

// CheckShapes infers the layer for the extents that its symbols have and returns an error where that gives other shapes
// than its tensors have, or an argument of the epilogue does not broadcast to its result. Types are not looked at, so
// the layer may be lowered.
func (l *Layer) CheckShapes(env map[string]int) (err error) {
	if l.Unsupported() != nil { // its shapes are what the model says
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, NewFault(v))
		}
	}()
	c := &Layer{Name: l.Name, Op: l.Op, Attrs: l.Attrs, Epilogue: l.Epilogue}
	for i, t := range l.Inputs {
		at := t.at(env)
		if at != nil && l.Role(i) == Parameter {
			at.Weights = t.realsAt(env)
		}
		c.Inputs = append(c.Inputs, at)
	}
	for _, t := range l.Outputs {
		c.Outputs = append(c.Outputs, &Tensor{Name: t.Name})
	}
	if err := c.Infer(); err != nil {
		return err
	}
	for i, t := range l.Outputs {
		if actual := t.at(env); !symbolic.Equal(symbolic.Shape(symbolic.Eval(c.Outputs[i].Dims, env)...), actual.Dims) {
			return fmt.Errorf("layer %s (%s): output %s has shape %s, which is not %s as its symbols say", l.Name, l.Op.Name, t.Name, symbolic.Format(c.Outputs[i].Dims), symbolic.Format(actual.Dims))
		}
	}
	for _, t := range c.EpilogueInputs() {
		if t == nil {
			return fmt.Errorf("layer %s (%s): an argument of the epilogue is left out", l.Name, l.Op.Name)
		}
		if _, err := numeric.NewBroadcast(symbolic.Eval(t.Dims, nil), symbolic.Eval(c.Outputs[0].Dims, nil)); err != nil {
			return fmt.Errorf("layer %s (%s): %s: %w", l.Name, l.Op.Name, t.Name, err)
		}
	}
	return nil
}

// dynamic reports whether t's shape or known elements have symbols.
func (t *Tensor) dynamic() bool {
	open := func(d symbolic.Dim) bool { _, ok := d.IsConst(); return !ok }
	return t != nil && (slices.ContainsFunc(t.Dims, open) || slices.ContainsFunc(t.Value, open))
}

// at returns t with the shape and the known elements that it has for given symbols.
func (t *Tensor) at(env map[string]int) *Tensor {
	if t == nil {
		return nil
	}
	c := &Tensor{Name: t.Name, Type: t.Type, Range: t.Range, Weights: t.Weights, Dims: symbolic.Shape(symbolic.Eval(t.Dims, env)...)}
	if t.Value != nil {
		c.Value = symbolic.Shape(symbolic.Eval(t.Value, env)...)
	}
	return c
}

// realsAt returns the elements of t that it has for given symbols where they are real numbers that follow from extents; those of a
// constant, and nil where they do not.
func (t *Tensor) realsAt(env map[string]int) []byte {
	if t.IsConst() || !t.Type.IsFloat() {
		return t.Weights
	}
	left := followed
	list, ok := t.reals(&left)
	if !ok {
		return nil
	}
	x := make([]float64, len(list))
	for i, r := range list {
		x[i] = r.Eval(env)
	}
	v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, env)...)
	v.SetFloats(x)
	return v.Data
}
