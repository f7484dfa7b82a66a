package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Runtime is what an engine does over the shapes that it serves, those of its first profile unless another is named.
type Runtime struct {
	Axes       []RuntimeAxis
	Points     []SweepPoint // at the least, the best and the largest shapes; one where they are the same, and until they are measured
	Grids      []Sweep      `json:",omitempty"` // over two axes each ([Runtime.Pairs]), as far as profiles go, the others at their best; those that are measured
	Contexts   []SweepPoint `json:",omitempty"` // so many contexts at the same time, at the best shapes; none where nothing is measured
	Others     []Served     `json:",omitempty"` // what the engine does in its other profiles, of the first as far as they are measured
	ArenaBytes int          // of a context, at any of the shapes
	IOBytes    int          `output:"io_bytes"`
	MadeUp     bool         `json:",omitempty"` // no data fix the best shapes: they are made up at whichever these are
}

// Served is what an engine does over the shapes that another of its profiles serves.
type Served struct {
	Points     []SweepPoint // at the least, the best and the largest shapes, or one where they are the same
	Contexts   []SweepPoint `json:",omitempty"` // so many contexts at the same time, at the best shapes
	ArenaBytes int          // of a context, at any of the shapes
	IOBytes    int          `output:"io_bytes"`
}

// In returns what the engine does in one of its profiles, from 0 on: nothing where that is not measured.
func (r *Runtime) In(profile int) Served {
	switch {
	case profile == 0:
		return Served{r.Points, r.Contexts, r.ArenaBytes, r.IOBytes}
	case profile <= len(r.Others):
		return r.Others[profile-1]
	}
	return Served{}
}

// UnmarshalJSON reads reports of older programs, too, in which one axis had a curve, beside the axes, and two a grid.
func (r *Runtime) UnmarshalJSON(text []byte) error {
	type plain Runtime
	var old struct {
		Axis  int
		Curve []SweepPoint
		Grid  *Sweep
	}
	if err := json.Unmarshal(text, (*plain)(r)); err != nil {
		return err
	}
	err := json.Unmarshal(text, &old)
	if len(old.Curve) > 0 && old.Axis >= 0 && old.Axis < len(r.Axes) {
		r.Axes[old.Axis].Curve = old.Curve
	}
	for i := range r.Axes { // what a file says is not to be trusted
		r.Axes[i].Curve = slices.DeleteFunc(r.Axes[i].Curve, func(p SweepPoint) bool { return len(p.Values) != 1 })
	}
	if old.Grid != nil {
		r.Grids = append(r.Grids, *old.Grid)
	}
	r.Grids = slices.DeleteFunc(r.Grids, func(g Sweep) bool {
		return len(g.Axes) != 2 || slices.ContainsFunc(g.Points, func(p SweepPoint) bool { return len(p.Values) != 2 })
	})
	return err
}

// RuntimeAxis is an open extent of inputs.
type RuntimeAxis struct {
	Symbol        string
	Places        []RuntimePlace // where it is an extent
	Min, Opt, Max int
	Batch         bool         `json:",omitempty"` // it is the batch, which a configuration has by itself
	Follows       *Following   `json:",omitempty"` // it is a sum of others; nil: it can be varied by itself
	Limit         *ExtentLimit `json:",omitempty"` // what the model itself allows; nil: nothing was found that it does not
	Curve         []SweepPoint `json:",omitempty"` // over it and as far as other profiles go on, the other axes at their best; none until it is measured, and where nothing is
}

// Ends returns the least, the best and the largest of the sum, where extents are of the axes.
func (f *Following) Ends(axes []RuntimeAxis) (low, opt, high int) {
	low, opt, high = f.Plus, f.Plus, f.Plus
	for i := range axes {
		a := &axes[i]
		switch f.Terms[a.Symbol] {
		case 1:
			low, opt, high = low+a.Min, opt+a.Opt, high+a.Max
		case -1:
			low, opt, high = low-a.Max, opt-a.Opt, high-a.Min
		}
	}
	return low, opt, high
}

// Follow gives axes that follow others the ends that these say.
func Follow(axes []RuntimeAxis) {
	for i := range axes {
		if f := axes[i].Follows; f != nil {
			axes[i].Min, axes[i].Opt, axes[i].Max = f.Ends(axes)
		}
	}
}

// ExtentLimit is how far an extent can go in a model, the others at their best.
type ExtentLimit struct {
	Least, Most int    // the same where the best one alone is possible, as where a Reshape is to constants
	Why         string // the layer that another one does not fit
}

// Clip brings the ends of a range within the limit; why says what keeps them there, and is empty where nothing does.
func (a *RuntimeAxis) Clip(low, high int) (least, most int, why string) {
	l := a.Limit
	if l == nil || low >= l.Least && high <= l.Most {
		return low, high, ""
	}
	low, high = min(max(low, l.Least), a.Opt), max(min(high, l.Most), a.Opt)
	if l.Least == l.Most {
		return low, high, fmt.Sprintf("%s can be %d alone: %s", a.Symbol, a.Opt, l.Why)
	}
	return low, high, fmt.Sprintf("%s can be %d to %d: %s", a.Symbol, l.Least, l.Most, l.Why)
}

// Rest returns the axes that are not varied where some are, at their best or as they follow.
func (r *Runtime) Rest(varied ...int) (list []SweepRest) {
	for i := range r.Axes {
		a := &r.Axes[i]
		x := SweepRest{Name: a.Symbol, Value: a.Opt}
		if a.Follows != nil && slices.ContainsFunc(varied, func(k int) bool { return a.Follows.Terms[r.Axes[k].Symbol] != 0 }) {
			x.Value, x.Follows = 0, a.Follows
		}
		if !slices.Contains(varied, i) {
			list = append(list, x)
		}
	}
	return list
}

// Along returns the curve as a sweep of the axis, with its points.
func (a *RuntimeAxis) Along() *Sweep {
	s := &Sweep{Axes: []SweepAxis{{Name: a.Symbol, Items: a.Batch}}, Points: a.Curve}
	for _, p := range a.Curve {
		s.Axes[0].Values = append(s.Axes[0].Values, p.Values[0])
	}
	return s
}

// Items returns how many items an inference of the best extents takes: the extent of axes that are first ones of inputs alone, if they
// have one.
func (r *Runtime) Items() int {
	items := 0
	for _, a := range r.Axes {
		if slices.ContainsFunc(a.Places, func(p RuntimePlace) bool { return p.Axis > 0 }) {
			continue
		}
		if items > 0 && a.Opt != items {
			return 1
		}
		items = a.Opt
	}
	return max(1, items)
}

// Serves reports whether the axes of the engine have the extents that others have.
func (r *Runtime) Serves(axes []RuntimeAxis) bool {
	return slices.EqualFunc(r.Axes, axes, func(a, b RuntimeAxis) bool {
		return a.Symbol == b.Symbol && a.Min == b.Min && a.Opt == b.Opt && a.Max == b.Max
	})
}

// Ranged returns the axes with a range that follow no others, those first whose ends are furthest apart.
func (r *Runtime) Ranged() (list []int) {
	for i := range r.Axes {
		if a := &r.Axes[i]; a.Min < a.Max && a.Follows == nil {
			list = append(list, i)
		}
	}
	ratio := func(i int) float64 { return float64(r.Axes[i].Max) / float64(max(1, r.Axes[i].Min)) }
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(ratio(b), ratio(a)) })
	return list
}

// mostPairs bounds the pairs of axes over which an engine is measured.
const mostPairs = 6

// Pairs returns the pairs of axes with a range that grids are over, the widest two first, each as the axis that goes down and the wider
// one that goes across.
func (r *Runtime) Pairs() (list [][2]int) {
	ranged := r.Ranged()
	for down := 1; down < len(ranged); down++ {
		for across := range down {
			if len(list) < mostPairs {
				list = append(list, [2]int{ranged[down], ranged[across]})
			}
		}
	}
	return list
}

// GridOf returns what is measured over a pair of axes; nil where nothing is.
func (r *Runtime) GridOf(pair [2]int) *Sweep {
	for i := range r.Grids {
		if g := &r.Grids[i]; g.Axes[0].Name == r.Axes[pair[0]].Symbol && g.Axes[1].Name == r.Axes[pair[1]].Symbol {
			return g
		}
	}
	return nil
}

// Widest returns the axis whose ends are furthest apart of those with a range that are wanted; -1: there is none.
func (r *Runtime) Widest(wanted func(*RuntimeAxis) bool) int {
	for _, i := range r.Ranged() {
		if wanted(&r.Axes[i]) {
			return i
		}
	}
	return -1
}

// RuntimePlace is an axis of an input, or an element of one on whose elements shapes depend.
type RuntimePlace struct {
	Input string
	Axis  int
}

// Shapes returns the shapes of the inputs that have open axes, with such an extent of each axis.
func (r *Runtime) Shapes(extent func(*RuntimeAxis) int) map[string][]int {
	shapes := map[string][]int{}
	for i := range r.Axes {
		a := &r.Axes[i]
		for _, p := range a.Places {
			if shapes[p.Input] == nil {
				shapes[p.Input] = append([]int(nil), r.Points[0].Shapes[p.Input]...)
			}
			shapes[p.Input][p.Axis] = extent(a)
		}
	}
	return shapes
}
