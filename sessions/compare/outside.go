package compare

import (
	"context"
	"maps"
	"math/bits"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Span says which items a batch has: Count from item First on, of Of that are compared.
type Span struct{ First, Count, Of int }

// Outside gives what something else than an engine of this program makes of a batch, such as another program, or a file of what one
// made of it: tensors of the model by name. They have all outputs; others are compared with those of layers.
type Outside func(ctx context.Context, s Span, in map[string]numeric.Value) (map[string]numeric.Value, error)

// Variant is another way in which something outside computes the same, which rounds in other places: by how much the two differ shows
// by how much a third may that rounds elsewhere, too.
type Variant struct {
	Name string
	Run  Outside
}

// Move is the share of themselves by which [Outside.Moved] moves elements: far less than two programs may differ by in float32, and
// enough that some elements of a quantised tensor fall to the other side of a step.
const Move = 1e-5

// Moved returns f with its inputs in float32 moved, some up and some down, by [Move] of each element. Of a model that rounds to integers
// it shows how far one that falls to the other side of a step goes.
func (f Outside) Moved() Outside {
	return func(ctx context.Context, s Span, in map[string]numeric.Value) (map[string]numeric.Value, error) {
		in = maps.Clone(in)
		for name, v := range in {
			if v.Type != numeric.F32 {
				continue
			}
			moved := numeric.NewValue(v.Type, v.Dims...)
			for i, x := range v.F32() {
				up := float32(bits.OnesCount(uint(i))%2*2 - 1)
				moved.F32()[i] = x * (1 + Move*up)
			}
			in[name] = moved
		}
		return f(ctx, s, in)
	}
}
