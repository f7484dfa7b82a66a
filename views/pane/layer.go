package pane

import (
	"slices"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// LayerRef is a layer that a cursor is on, or is to be put on: one of any network, by its name and the source layers that it
// is made of.
type LayerRef struct {
	Name string
	From []string
}

// pointing is a pane whose cursor is on a layer.
type pointing interface {
	// Layer returns the layer under the cursor; ok is false where there is none.
	Layer() (l LayerRef, ok bool)
}

// Following is a pane whose cursor can be put on a layer.
type Following interface {
	// ToLayer puts the cursor on a layer, or on what is made of the most of the same source layers; it reports false, and leaves
	// the cursor where it is, where the pane has none of it or hides it.
	ToLayer(l LayerRef) bool
}

// StepRef is a step of the plan, of which the name alone is known: that of a fused layer has all members.
func StepRef(name string) LayerRef {
	return LayerRef{name, report.Members(name)}
}

// RefOf is a layer of a network: one of the source is made of itself.
func RefOf(l *report.Layer) LayerRef {
	if len(l.From) == 0 {
		return LayerRef{l.Name, []string{l.Name}}
	}
	return LayerRef{l.Name, l.From}
}

// Nearest returns which of some layers is l: the one of that name, or else the one that is made of the most of the same source
// layers, as a layer has another name in another precision; -1: there is none.
func Nearest(l LayerRef, layers int, at func(int) LayerRef) int {
	best, most := -1, 0
	for i := range layers {
		other := at(i)
		if other.Name == l.Name {
			return i
		}
		shared := 0
		for _, source := range other.From {
			if slices.Contains(l.From, source) {
				shared++
			}
		}
		if shared > most {
			best, most = i, shared
		}
	}
	return best
}

// ToRow puts the cursor of a table of layers on l, or the nearest to it; it reports false where there is none.
func ToRow(t *ui.Table, l LayerRef, rows int, at func(row int) LayerRef) bool {
	i := Nearest(l, rows, at)
	return i >= 0 && t.Select(i)
}

// Neighbours are what stands for a layer where a pane lacks it: those that come next to it in the plan, or in the source, the
// nearest first. As a reformat is only of the plan, and a folded layer only of the source.
func Neighbours(s *report.Snapshot, l LayerRef) []LayerRef {
	const most = 16 // to each side
	n, at := 0, -1
	var layer func(i int) LayerRef
	if s.Memory != nil {
		steps := s.Memory.Steps
		n, at = len(steps), slices.Index(steps, l.Name)
		layer = func(i int) LayerRef { return StepRef(steps[i]) }
	}
	if at < 0 && s.Passes != nil {
		source := s.Passes.Source
		n, at = len(source), slices.IndexFunc(source, func(o report.Layer) bool { return o.Name == l.Name })
		layer = func(i int) LayerRef { return RefOf(&source[i]) }
	}
	if at < 0 {
		return nil
	}
	var list []LayerRef
	for by := 1; by <= most; by++ {
		if at+by < n {
			list = append(list, layer(at+by))
		}
		if at-by >= 0 {
			list = append(list, layer(at-by))
		}
	}
	return list
}
