package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// tactic is one before it has a device: what it computes, when, and the code.
type tactic struct {
	name    string // op_type_tier_tile
	op      *graph.Op
	in, out kernels.Format
	match   func(kernels.Binding) error
	// workspace returns the bytes of scratch memory; nil: none.
	workspace func(kernels.Binding) int
	// emit returns the launches; nil: there are none.
	emit func(kernels.Binding) (*work, error)
	// cost returns what the launches ask of the device; nil: as much as the tensors' bytes.
	cost func(kernels.Binding) []job
	// inPlace says that the output may lie where an equal input does: each element is read by the thread that writes it.
	inPlace bool
	// strided says that tensors may be slices of larger ones: in NHWC of their channels, in Linear of all behind axis 0.
	strided bool
	// empty says that tensors without elements are taken.
	empty bool
}

// matches refuses what no kernel takes, and then asks the tactic.
func (e tactic) matches(b kernels.Binding) error {
	for _, list := range [][]kernels.Desc{b.In, b.Out} {
		for _, d := range list {
			if !d.Dense() && (!e.strided || d.Format == kernels.NHWC && d.Batch > 0) {
				return fmt.Errorf("slices of larger tensors are not read or written")
			}
			switch n := d.Span() / max(1, d.Type.Size()); {
			case n > maxElements:
				return fmt.Errorf("%v takes more than %d elements in memory", d, maxElements)
			case graph.Count(d.Dims) == 0 && !e.empty && d.Type.Size() > 0:
				return fmt.Errorf("%v is empty", d)
			}
		}
	}
	return e.match(b)
}

// jobs returns what the launches ask of the device.
func (e tactic) jobs(b kernels.Binding) []job {
	if e.cost != nil {
		return e.cost(b)
	}
	if e.emit == nil {
		return nil
	}
	return []job{{blocks: 1, bytes: traffic(b)}}
}

// traffic returns the bytes of all activations and constants of a binding, each once.
func traffic(b kernels.Binding) float64 {
	n := 0
	for i, d := range b.In {
		if b.Layer.Inputs[i] != nil {
			n += d.Bytes()
		}
	}
	for _, d := range b.Out {
		n += d.Bytes()
	}
	return float64(n)
}
