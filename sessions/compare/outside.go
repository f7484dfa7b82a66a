package compare

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Span says which items a batch has: Count from item First on, of Of that are compared.
type Span struct{ First, Count, Of int }

// Outside gives what something else than an engine of this program makes of a batch, such as another program, or a file of what one
// made of it: tensors of the model by name. They have all outputs; others are compared with those of layers.
type Outside func(ctx context.Context, s Span, in map[string]numeric.Value) (map[string]numeric.Value, error)

// ask takes a batch's tensors from outside.
func (c *Contestant) ask(ctx context.Context, in map[string]numeric.Value, perLayer bool) error {
	all, err := c.Outside(ctx, Span{c.batch.first, c.batch.Count, c.batch.items}, in)
	if err != nil {
		return err
	}
	c.outputs = map[string]numeric.Value{}
	for _, t := range c.results {
		v, ok := all[t.Name]
		if !ok {
			return fmt.Errorf("it has no output %s", t.Name)
		}
		c.outputs[t.Name] = v
	}
	if !perLayer {
		return nil
	}
	for name, v := range all {
		c.tensors[name] = observed{value: v, stored: v.Type}
	}
	return nil
}

// like returns what something outside has for a tensor of a run here, whose range tells what integers stand for; ok is false where
// it is another tensor of that name.
func (o observed) like(a observed) (observed, bool) {
	quantised := a.tensor.Range.IsSet() && o.stored.IsInteger()
	if quantised && o.stored != a.stored || !slices.Equal(o.value.Dims, a.value.Dims) {
		return o, false
	}
	o.value = numeric.ToReal(o.value, a.tensor.Range)
	return o, true
}

// withinRounding reports whether FP32 explains by how much two runs of what was lowered may differ: what comes from outside was not.
func withinRounding(a, b *Contestant) bool { return a.Outside == nil && b.Outside == nil }

// NeedsRounding reports whether any of the pairs that are compared is explained by what rounding does.
func NeedsRounding(runs []*Contestant) bool {
	for _, other := range runs[1:] {
		if withinRounding(runs[0], other) {
			return true
		}
	}
	return false
}
