package pass

import (
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// Name returns the name of a layer that stands for several source layers: the principal one's, then those of the others as they
// come in the source network. What a person looks for is the convolution, whatever is before it in the same kernel.
func (r *Rewrite) Name(l *graph.Layer) string {
	p := r.principal(l)
	rest := slices.DeleteFunc(slices.Clone(l.From), func(name string) bool { return name == p })
	return strings.Join(append([]string{p}, rest...), " + ")
}

// principal returns the source layer that a layer is named after: the first that has its op; else, of what has become
// another op or an element-wise region, the first product, the first pooling, the first that does more than change types or
// move elements, or the first.
func (r *Rewrite) principal(l *graph.Layer) string {
	is := func(classes ...graph.Class) func(string) bool {
		return func(name string) bool { return slices.Contains(classes, r.classes[name]) }
	}
	plain := is(graph.ClassConversion, graph.ClassMove)
	for _, found := range []func(string) bool{
		func(name string) bool { return r.ops[name] == l.Op.Name },
		is(graph.ClassConvolution, graph.ClassMatrix, graph.ClassIntegers, graph.ClassWeightOnly),
		is(graph.ClassPooling),
		func(name string) bool { return !plain(name) },
	} {
		if i := slices.IndexFunc(l.From, found); i >= 0 {
			return l.From[i]
		}
	}
	return l.From[0]
}
