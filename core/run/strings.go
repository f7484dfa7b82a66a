package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// Strings lie in a context's memory as numbers, which a table of its stream has given (kernels.Worded). Layers that have any are
// computed by their definition, and those that only arrange memory as of numbers. A run begins with a table of the strings of its
// inputs alone, so that it does not grow from run to run.

// errStrings is why no kernel but the reference takes a layer.
var errStrings = errors.New("strings are computed by the layer's definition, on the CPU alone")

// takesStrings returns an error where a layer has strings and the tactic is not the reference.
func takesStrings(t kernels.Tactic, l *graph.Layer) error {
	if !t.Reference && HasStrings(l) {
		return errStrings
	}
	return nil
}

// HasStrings reports whether a tensor of the layer is of strings.
func HasStrings(l *graph.Layer) bool {
	of := func(t *graph.Tensor) bool { return t != nil && t.Type == numeric.Str }
	return slices.ContainsFunc(l.Inputs, of) || slices.ContainsFunc(l.Outputs, of)
}

// networkHasStrings reports whether a layer or an input of a network, or of one inside it, is of strings.
func networkHasStrings(n *graph.Network) bool {
	return slices.ContainsFunc(n.Inputs, func(t *graph.Tensor) bool { return t.Type == numeric.Str }) || slices.ContainsFunc(n.AllLayers(), HasStrings)
}

// words returns the table of the context's strings; the error says that its device has none.
func (c *ExecutionContext) words() (*numeric.StringTable, error) {
	if w, ok := c.stream.(kernels.Worded); ok {
		return w.Strings(), nil
	}
	return nil, fmt.Errorf("strings are computed on the CPU alone, not on %s", c.base.backend.Info().Name)
}

// stored returns a value as the context's memory has it.
func (c *ExecutionContext) stored(v numeric.Value) (numeric.Value, error) {
	if v.Type != numeric.Str {
		return v, nil
	}
	if err := v.Check(); err != nil {
		return v, err
	}
	w, err := c.words()
	if err != nil {
		return v, err
	}
	return w.Numbers(v)
}

// told returns what the context's memory has of a type as a value.
func (c *ExecutionContext) told(t numeric.DataType, stored numeric.Value) (numeric.Value, error) {
	if t != numeric.Str {
		return stored, nil
	}
	w, err := c.words()
	if err != nil {
		return stored, err
	}
	return w.Strings(stored)
}

// begin makes the context ready for a run from its first step on: at the frame where it begins, and with no strings but those of
// its inputs.
func (c *ExecutionContext) begin() error {
	c.restart()
	if !c.strings {
		return nil
	}
	w, err := c.words()
	if err != nil {
		return err
	}
	var slots []int
	var values []numeric.Value
	for _, t := range c.loaded.Plan.Network.Inputs {
		if slot, ok := c.inputs[t.Name]; ok && t.Type == numeric.Str {
			v, err := c.Read(slot)
			if err != nil {
				return ofTensor(c.loaded.Plan.Slots[slot], err)
			}
			slots, values = append(slots, slot), append(values, v)
		}
	}
	numbers, err := w.Keep(values...)
	for i, v := range numbers {
		c.loaded.Plan.Slots[slots[i]].Desc.FromLinear(c.mem[slots[i]].Host, v.Data)
	}
	return err
}
