package report

// Profile is one of an engine's optimisation profiles: the shapes of its inputs, and what its plan takes.
type Profile struct {
	Name       string
	Shapes     map[string][]int `entry:"input,shape"`                   // at which its tactics were timed
	MinShapes  map[string][]int `json:",omitempty" entry:"input,shape"` // the ends of what it serves; none: Shapes alone
	MaxShapes  map[string][]int `json:",omitempty" entry:"input,shape"`
	Steps      int
	ArenaBytes int // for activations and workspace, at any of its shapes
	IOBytes    int `output:"io_bytes"` // for inputs and outputs
}
