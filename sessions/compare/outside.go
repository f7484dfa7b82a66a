package compare

import (
	"context"

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
