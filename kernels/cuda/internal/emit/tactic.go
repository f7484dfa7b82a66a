package emit

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Tactic is a way to compute an op before it has a device: what it computes, when, and the code.
type Tactic struct {
	Name    string // op_type_tier_tile
	Op      *graph.Op
	Variant kernels.Variant // among tactics that differ in their shape alone; zero: there are no others
	In, Out kernels.Format
	// Target is the least that the code needs of a GPU; zero: sm_80. A feature target, as sm_90a, is one architecture's alone.
	Target ptx.Target
	// Match returns why the tactic does not compute a binding; nil: it does.
	Match func(kernels.Binding) error
	// Workspace returns the bytes of scratch memory; nil: none.
	Workspace func(kernels.Binding) int
	// Emit returns the launches, to be asked for with Work; nil: there are none.
	Emit func(kernels.Binding) (*Work, error)
	// Cost returns what the launches ask of the device; nil: as much as the tensors' bytes.
	Cost func(kernels.Binding) []Job
	// InPlace says that the output may lie where an equal input does: each element is read by the thread that writes it.
	InPlace bool
	// Strided says that tensors may be slices of larger ones: in NHWC of their channels, in Linear of all behind axis 0.
	Strided bool
	// Empty says that tensors without elements are taken.
	Empty bool
}

// Matches refuses what no kernel takes, and then asks the tactic.
func (t Tactic) Matches(b kernels.Binding) error {
	for side, list := range [][]kernels.Desc{b.In, b.Out} {
		for i, d := range list {
			if !d.Dense() && (!t.Strided || d.Format == kernels.NHWC && d.Batch > 0 || d.Format == kernels.Linear && d.Pitch > 0) {
				return fmt.Errorf("slices of larger tensors are not read or written")
			}
			switch n := d.Span() / max(1, d.Type.Size()); {
			case d.Type == numeric.Str:
				return fmt.Errorf("strings are computed on the CPU alone")
			case n > MaxElements:
				return fmt.Errorf("%v takes more than %d elements in memory", d, MaxElements)
			case numeric.Count(d.Dims) == 0 && !t.Empty && d.Type.Size() > 0 && (side == 1 || b.Layer.Role(i) != graph.Parameter):
				// A parameter may be a list of nothing, as the shape of a scalar is.
				return fmt.Errorf("%v is empty", d)
			}
		}
	}
	return t.Match(b)
}

// Work emits the code for the tactic's target, and for a device that has it: kernels of one that can overlap do.
func (t Tactic) Work(d Device, b kernels.Binding) (*Work, error) {
	w, err := t.Emit(b)
	if err != nil {
		return nil, err
	}
	w.Module.Retarget(t.target())
	if ptx.SM90.RunsOn(d.SM) {
		w.overlap()
	}
	return w, nil
}

// Jobs returns what the launches ask of the device.
func (t Tactic) Jobs(b kernels.Binding) []Job {
	if t.Cost != nil {
		return t.Cost(b)
	}
	if t.Emit == nil {
		return nil
	}
	return []Job{{Blocks: 1, Bytes: Traffic(b)}}
}

// Traffic returns the bytes of all activations and constants of a binding, each once.
func Traffic(b kernels.Binding) float64 {
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
