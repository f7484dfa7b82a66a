package views

import (
	"slices"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// layerRef is a layer that a cursor is on, or is to be put on: one of any network, by its name and the source layers that it
// is made of.
type layerRef struct {
	name string
	from []string
}

// pointing is a pane whose cursor is on a layer.
type pointing interface {
	// Layer returns the layer under the cursor; ok is false where there is none.
	Layer() (l layerRef, ok bool)
}

// following is a pane whose cursor can be put on a layer.
type following interface {
	// ToLayer puts the cursor on a layer, or on what is made of the most of the same source layers; it reports false, and leaves
	// the cursor where it is, where the pane has none of it or hides it.
	ToLayer(l layerRef) bool
}

// stepRef is a step of the plan, of which the name alone is known: that of a fused layer has all members.
func stepRef(name string) layerRef {
	return layerRef{name, report.Members(name)}
}

// refOf is a layer of a network: one of the source is made of itself.
func refOf(l *report.Layer) layerRef {
	if len(l.From) == 0 {
		return layerRef{l.Name, []string{l.Name}}
	}
	return layerRef{l.Name, l.From}
}

// nearest returns which of some layers is l: the one of that name, or else the one that is made of the most of the same source
// layers, as a layer has another name in another precision; -1: there is none.
func nearest(l layerRef, layers int, at func(int) layerRef) int {
	best, most := -1, 0
	for i := range layers {
		other := at(i)
		if other.name == l.name {
			return i
		}
		shared := 0
		for _, source := range other.from {
			if slices.Contains(l.from, source) {
				shared++
			}
		}
		if shared > most {
			best, most = i, shared
		}
	}
	return best
}

// toRow puts the cursor of a table of layers on l, or the nearest to it; it reports false where there is none.
func toRow(t *ui.Table, l layerRef, rows int, at func(row int) layerRef) bool {
	i := nearest(l, rows, at)
	return i >= 0 && t.Select(i)
}

// neighbours are what stands for a layer where a pane lacks it: those that come next to it in the plan, or in the source, the
// nearest first. As a reformat is only of the plan, and a folded layer only of the source.
func neighbours(s *report.Snapshot, l layerRef) []layerRef {
	const most = 16 // to each side
	var all []layerRef
	at := -1
	add := func(o layerRef) {
		if o.name == l.name {
			at = len(all)
		}
		all = append(all, o)
	}
	if s.Memory != nil {
		for _, name := range s.Memory.Steps {
			add(stepRef(name))
		}
	}
	if at < 0 && s.Passes != nil {
		all = nil
		for _, o := range s.Passes.Source {
			add(refOf(&o))
		}
	}
	if at < 0 {
		return nil
	}
	var list []layerRef
	for by := 1; by <= most; by++ {
		if at+by < len(all) {
			list = append(list, all[at+by])
		}
		if at-by >= 0 {
			list = append(list, all[at-by])
		}
	}
	return list
}
