package graph

import (
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// sides are the two networks: the cursor of one takes that of the other along.
type sides struct {
	state *graphState
	lists [2]*networkList
	under [2]*selection // what the cursor of each list is on
}

func newSides(state *graphState) *sides {
	s := &sides{state: state}
	for side := range s.lists {
		s.lists[side] = newNetworkList(state, side)
	}
	return s
}

// list returns the one that the cursor was moved in last.
func (s *sides) list() *networkList { return s.lists[s.state.side] }

// selected returns what the cursor is on, the same for as long as it stays there.
func (s *sides) selected() *selection {
	side, list := s.state.side, s.list()
	line := list.line()
	if line == nil {
		return &selection{}
	}
	layers := list.of(line)
	if u := s.under[side]; u != nil && u.first == &layers[0] && u.layers == len(layers) {
		return u
	}
	names := map[string]bool{}
	for i := range layers {
		if side == sourceSide {
			names[layers[i].Name] = true
			continue
		}
		for _, source := range layers[i].From {
			names[source] = true
		}
	}
	s.under[side] = &selection{side, &layers[0], len(layers), names}
	return s.under[side]
}

// rebuild makes the lines of both anew.
func (s *sides) rebuild() {
	for _, list := range s.lists {
		list.build()
	}
}

// moved makes a side the one that the cursor was moved in, and takes the other side along: its cursor goes to the first
// layer that belongs to the one under this one's.
func (s *sides) moved(side int) {
	s.state.side, s.state.ofPass = side, false
	other, names := s.lists[1-side], s.selected().names
	if s.lists[side].line() != nil && s.lists[side].line().blocks > 1 {
		if i := slices.IndexFunc(other.lines, func(l graphLine) bool { return l.blocks > 1 && belongs(other.side, &other.layers[l.layer], names) }); i >= 0 {
			other.list.Select(i)
			return
		}
	}
	if i := other.find(func(l *report.Layer) bool { return belongs(other.side, l, names) }); i >= 0 {
		other.list.Select(i)
	}
}
