package graph

import (
	"github.com/trtui/trtui/sessions/report"
)

// difference is what a pass changed of the layers.
type difference struct {
	passes *report.Passes
	step   int
	marks  []rune          // of the layers after the pass: '+' new, '~' changed, 0 neither
	gone   []*report.Layer // that are there no longer
	lines  []layerChange
}

// layerChange is a line of a network that a pass removed or wrote.
type layerChange struct {
	removed bool
	text    string
}

// compareLayers finds what differs between two networks, lines in the order of the networks: layers are told apart by name.
func compareLayers(before, now []report.Layer) *difference {
	d := &difference{marks: make([]rune, len(now))}
	was, kept := matchLayers(before, now)
	next := 0 // the first layer of before that has not been looked at
	changed := make([]bool, len(before))
	for i, k := range was {
		if k < 0 {
			d.marks[i] = '+'
		} else if before[k].Text != now[i].Text {
			d.marks[i], changed[k] = '~', true
		}
	}
	drop := func(to int) {
		for ; next < to; next++ {
			l := &before[next]
			if !kept[next] {
				d.gone = append(d.gone, l)
			}
			if !kept[next] || changed[next] {
				d.lines = append(d.lines, layerChange{removed: true, text: l.Text})
			}
		}
	}
	for i, k := range was {
		if k >= 0 {
			drop(k + 1)
		}
		if d.marks[i] != 0 {
			d.lines = append(d.lines, layerChange{text: now[i].Text})
		}
	}
	drop(len(before))
	return d
}

// matchLayers returns for each layer of a network which one of the network before has its name, -1 for none, and which of
// those before are still there. Passes leave most layers in their order, so that the next few are looked at first.
func matchLayers(before, now []report.Layer) (was []int, kept []bool) {
	const few = 16
	was, kept = make([]int, len(now)), make([]bool, len(before))
	next, missing := 0, false
	for i := range now {
		was[i] = -1
		for k := next; k < min(next+few, len(before)); k++ {
			if before[k].Name == now[i].Name {
				was[i], kept[k], next = k, true, k+1
				break
			}
		}
		missing = missing || was[i] < 0
	}
	if !missing {
		return was, kept
	}
	rest := map[string]int{}
	for k := range before {
		if !kept[k] {
			rest[before[k].Name] = k
		}
	}
	for i := range now {
		if k, ok := rest[now[i].Name]; ok && was[i] < 0 {
			was[i], kept[k] = k, true
		}
	}
	return was, kept
}
