package graph

import "github.com/trtui/trtui/sessions/report"

// connected are the edges of a list of layers, which are the same for as long as that is.
type connected struct {
	layers []report.Layer
	edges  *report.Edges
}

func (c *connected) of(layers []report.Layer) *report.Edges {
	if c.edges == nil || len(layers) != len(c.layers) || len(layers) > 0 && &layers[0] != &c.layers[0] {
		c.layers, c.edges = layers, report.EdgesOf(layers)
	}
	return c.edges
}

// outside returns the layers outside of those that a line stands for which they read, or which read them.
func outside(edges *report.Edges, line *graphLine, readers bool) (list []int) {
	of, first, end := edges.Reads, line.layer, line.layer+max(line.layers, 1)
	if readers {
		of = edges.Readers
	}
	there := map[int]bool{}
	for i := first; i < end; i++ {
		for _, other := range of[i] {
			if (other < first || other >= end) && !there[other] {
				there[other] = true
				list = append(list, other)
			}
		}
	}
	return list
}
