package report

import "slices"

// Edges are the connections between the layers of a list, by their places in it. What a body reads of the network around it is an
// input of the layer that has the body, so that its layers are connected among themselves.
type Edges struct {
	Reads   [][]int // by layer, those whose outputs it reads, in the order of its inputs, each once
	Readers [][]int // by layer, those that read its outputs, in their order, each once
}

// EdgesOf finds them by the names of tensors.
func EdgesOf(layers []Layer) *Edges {
	e := &Edges{Reads: make([][]int, len(layers)), Readers: make([][]int, len(layers))}
	made := make(map[string]int, len(layers))
	for i := range layers {
		for _, t := range layers[i].Outputs {
			made[t.Name] = i
		}
	}
	for i := range layers {
		for _, name := range layers[i].Inputs {
			from, ok := made[name]
			if !ok || from == i || slices.Contains(e.Reads[i], from) {
				continue
			}
			e.Reads[i], e.Readers[from] = append(e.Reads[i], from), append(e.Readers[from], i)
		}
	}
	return e
}
