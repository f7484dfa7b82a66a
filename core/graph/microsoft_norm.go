package graph

import "fmt"

var microsoftNorms = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"com.microsoft:SkipLayerNormalization":           skipLayerNorm(true),
	"com.microsoft:SkipSimplifiedLayerNormalization": skipLayerNorm(false),
	"com.microsoft:EmbedLayerNormalization":          embedLayerNorm,
	"SimplifiedLayerNormalization":                   simplifiedLayerNorm, // of the domain of ONNX, which does not have it
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

// embedLayerNorm is the normalisation of the sum of the embeddings of words, places and, optionally, segments. Output 1 is how many
// elements the mask keeps of each item, and output 2 the sum.
func embedLayerNorm(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 2, 3, 5, 6); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{2}}); err != nil {
		return nil, err
	}
	ids, segments := n.Input(0), n.Input(1)
	if (segments == nil) != (n.Input(4) == nil) {
		return nil, fmt.Errorf("segment_ids and segment_embedding come together, and one is missing")
	}
	n.Int("mask_index_type", 1) // output 1 says by itself whether there is one
	places := n.Input(8)
	if places == nil {
		places = d.counting(ids, 1)
	}
	sum := d.Add(d.Gather(n.Input(2), ids, 0), d.Gather(n.Input(3), places, 0))
	if segments != nil {
		sum = d.Add(sum, d.Gather(n.Input(4), segments, 0))
	}
	results := []*Tensor{d.LayerNorm(sum, n.Input(5), n.Input(6), -1, n.Float("epsilon", 1e-12)), nil, sum}
	if n.Outputs > 1 {
		mask := n.Input(7)
		if mask == nil {
			mask = d.Sub(ids, ids)
		}
		results[1] = d.as(d.Reduce(ReduceSum, d.as(mask, I32), false, 1), I32)
	}
	return results, nil
}
