package graph

import (
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// selection is the layers that the cursor is on: one, or those of blocks.
type selection struct {
	side   int
	first  *report.Layer
	layers int
	names  map[string]bool // the source layers: one on the left side, members on the right
}

// belongs reports whether a layer of a side is, or has as members, any of the source layers.
func belongs(side int, l *report.Layer, names map[string]bool) bool {
	if side == sourceSide {
		return names[l.Name]
	}
	return slices.ContainsFunc(l.From, func(name string) bool { return names[name] })
}

// links are the layers of a side that belong to what the cursor is on in the other.
type links struct {
	to     *selection
	layers []report.Layer
	at     []int
}

// find makes them those among some layers.
func (k *links) find(to *selection, side int, layers []report.Layer) {
	if k.to == to && len(k.layers) == len(layers) && (len(layers) == 0 || &k.layers[0] == &layers[0]) {
		return
	}
	*k = links{to: to, layers: layers}
	for i := range layers {
		if belongs(side, &layers[i], to.names) {
			k.at = append(k.at, i)
		}
	}
}

// has reports whether any of the layers that a line stands for is among them.
func (k *links) has(line *graphLine) bool {
	i, found := slices.BinarySearch(k.at, line.layer)
	return found || i < len(k.at) && k.at[i] < line.layer+line.layers
}
