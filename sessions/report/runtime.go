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
	Batch         bool `json:",omitempty"` // it is the batch, which a configuration has by itself
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
