package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

var microsoftNorms = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"com.microsoft:SkipLayerNormalization":           skipLayerNorm(true),
	"com.microsoft:SkipSimplifiedLayerNormalization": skipLayerNorm(false),
	"com.microsoft:EmbedLayerNormalization":          embedLayerNorm,
	"com.microsoft:GatedRMSNorm":                     gatedRMSNorm,
	"com.microsoft:QEmbedLayerNormalization":         quantisedEmbedLayerNorm,
}

// simplifiedLayerNorm is the normalisation by the root of the mean square. It has no outputs of training.
func simplifiedLayerNorm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	n.Int("stash_type", 1) // Eval computes in float64, whatever the type asked for
	return result(d.RMSNorm(n.Input(0), n.Input(1), n.Int("axis", -1), n.Float("epsilon", 1e-5)))
}

// skipLayerNorm is the normalisation of a sum, which is the output 3: of the input, what skipped the layers before, and a bias. It
// has no outputs of training.
func skipLayerNorm(centred bool) func(*Definition, *Node) ([]*Tensor, error) {
	return func(d *Definition, n *Node) ([]*Tensor, error) {
		if err := n.needs(0, 1, 2); err != nil {
			return nil, err
		}
		sum := d.Add(n.Input(0), n.Input(1))
		if !centred {
			sum = d.plus(sum, n.Input(3))
			return []*Tensor{d.RMSNorm(sum, n.Input(2), -1, n.Float("epsilon", 1e-6)), nil, nil, sum}, nil
		}
		sum = d.plus(sum, n.Input(4))
		return []*Tensor{d.LayerNorm(sum, n.Input(2), n.Input(3), -1, n.Float("epsilon", 1e-5)), nil, nil, sum}, nil
	}
}

// gatedRMSNorm is the normalisation of groups of elements along the last axis by the root of their mean square, times an activation
// of a gate.
func gatedRMSNorm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	x, gate := n.Input(0), n.Input(2)
	size, err := n.extent(1, 0)
	if err != nil {
		return nil, err
	}
	dims := make([]int, max(0, len(x.Dims)-1)) // zeros: the extents of x
	y := d.Reshape(x, append(dims[:len(dims):len(dims)], -1, size)...)
	y = d.Reshape(d.RMSNorm(y, n.Input(1), -1, n.Float("epsilon", 1e-6)), append(dims, -1)...)
	switch a := n.String("activation", "silu"); a {
	case "silu", "swish":
		gate = d.Swish(gate, 1)
	case "sigmoid":
		gate = d.Sigmoid(gate)
	default:
		return nil, fmt.Errorf("activation %q is unknown; it is silu, swish or sigmoid", a)
	}
	return result(d.Mul(y, gate))
}

// embeddings are what is summed and normalised of words, places and, optionally, segments.
type embeddings struct {
	words, places, segments *Tensor // tables
	ids, segmentIDs         *Tensor
	placeIDs                *Tensor // nil: 0, 1, ...
	gamma, beta, mask       *Tensor
	real                    func(rows *Tensor, table int) *Tensor // makes rows of the table that is input i real
}

// embedLayerNorm is the normalisation of the sum of the embeddings of words, places and, optionally, segments. Output 1 is how many
// elements the mask keeps of each item, and output 2 the sum.
func embedLayerNorm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 2, 3, 5, 6); err != nil {
		return nil, err
	}
	n.Int("mask_index_type", 1) // output 1 says by itself whether there is one
	return d.embedded(n, embeddings{
		words: n.Input(2), places: n.Input(3), segments: n.Input(4), ids: n.Input(0), segmentIDs: n.Input(1), placeIDs: n.Input(8),
		gamma: n.Input(5), beta: n.Input(6), mask: n.Input(7), real: func(rows *Tensor, _ int) *Tensor { return rows },
	})
}

// quantisedEmbedLayerNorm has its tables, and gamma and beta, in 8 bits.
func quantisedEmbedLayerNorm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 2, 3, 5, 6, 8, 9, 11, 12); err != nil {
		return nil, err
	}
	scale := map[int]int{2: 8, 3: 9, 4: 10, 5: 11, 6: 12}
	real := func(rows *Tensor, i int) *Tensor { return d.dequantised(rows, n.Input(scale[i]), n.Input(scale[i]+5)) }
	out, err := d.embedded(n, embeddings{
		words: n.Input(2), places: n.Input(3), segments: n.Input(4), ids: n.Input(0), segmentIDs: n.Input(1),
		gamma: real(n.Input(5), 5), beta: real(n.Input(6), 6), mask: n.Input(7), real: real,
	})
	if err != nil {
		return nil, err
	}
	return out[:2], nil
}

func (d *Definition) embedded(n *Node, e embeddings) ([]*Tensor, error) {
	if err := n.ranked(axes{0, []int{2}}); err != nil {
		return nil, err
	}
	if (e.segments == nil) != (e.segmentIDs == nil) {
		return nil, fmt.Errorf("segment_ids and segment_embedding come together, and one is missing")
	}
	if e.placeIDs == nil {
		e.placeIDs = d.counting(e.ids, 1)
	}
	sum := d.Add(e.real(d.Gather(e.words, e.ids, 0), 2), e.real(d.Gather(e.places, e.placeIDs, 0), 3))
	if e.segments != nil {
		sum = d.Add(sum, e.real(d.Gather(e.segments, e.segmentIDs, 0), 4))
	}
	results := []*Tensor{d.LayerNorm(sum, e.gamma, e.beta, -1, n.Float("epsilon", 1e-12)), nil, sum}
	if n.Outputs > 1 {
		mask := e.mask
		if mask == nil {
			mask = d.Sub(e.ids, e.ids)
		}
		results[1] = d.Reduce(ReduceSum, d.as(mask, numeric.I32), false, 1)
	}
	return results, nil
}
