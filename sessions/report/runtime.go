package report

// Runtime is what an engine does over the shapes that its first profile serves.
type Runtime struct {
	Axes       []RuntimeAxis
	Points     []SweepPoint // at the least, the best and the largest shapes; one where they are the same
	Axis       int          // of Axes, that Curve is over, the others at their best; -1: there is none
	Curve      []SweepPoint
	Contexts   []SweepPoint `json:",omitempty"` // so many contexts at the same time, at the best shapes; none where nothing is measured
	ArenaBytes int          // of a context, at any of the shapes
	IOBytes    int          `output:"io_bytes"`
}

// RuntimeAxis is an open extent of inputs.
type RuntimeAxis struct {
	Symbol        string
	Places        []RuntimePlace // where it is an extent
	Min, Opt, Max int
}

// RuntimePlace is an axis of an input, or an element of one on whose elements shapes depend.
type RuntimePlace struct {
	Input string
	Axis  int
}

// Ends returns the least and the largest shapes with those of one symbol changed, of the inputs that have open axes.
func (r *Runtime) Ends(symbol string, least, largest int) (low, high map[string][]int) {
	low, high = map[string][]int{}, map[string][]int{}
	for _, a := range r.Axes {
		from, to := a.Min, a.Max
		if a.Symbol == symbol {
			from, to = least, largest
		}
		for _, p := range a.Places {
			for ends, v := range map[*map[string][]int]int{&low: from, &high: to} {
				if (*ends)[p.Input] == nil {
					(*ends)[p.Input] = append([]int(nil), r.Points[0].Shapes[p.Input]...)
				}
				(*ends)[p.Input][p.Axis] = v
			}
		}
	}
	return low, high
}
