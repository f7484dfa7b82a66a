package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// Unsupported is the error of layers that no tactic of the backend computes: all of a network, or one.
type Unsupported struct {
	Backend string
	Layers  []UnsupportedLayer
}

// ErrFailed is wrapped by the reasons of a Cost for tactics that take a layer, but did not run.
var ErrFailed = errors.New("measuring failed")

// errUnfit is in the reasons of tactics that do not take a layer.
var errUnfit = errors.New("the tactic does not take the layer")

// unfit is the reason of a tactic that does not take a layer.
type unfit struct{ error }

func (unfit) Is(target error) bool { return target == errUnfit }
func (u unfit) Unwrap() error      { return u.error }

// UnsupportedLayer is one layer with what each tactic said.
type UnsupportedLayer struct {
	Layer, Op string
	Type      string // of a tensor, where the backend computes the layer once it is F32 instead; else ""
	Reasons   []Candidate
}

// Error lists the layers, a line each, with the reason that tells most.
func (u *Unsupported) Error() string {
	if len(u.Layers) == 1 {
		l := u.Layers[0]
		return fmt.Sprintf("no tactic of %s computes layer %s (%s): %s", u.Backend, l.Layer, l.Op, l.Reason())
	}
	var s strings.Builder
	fmt.Fprintf(&s, "no tactic of %s computes %d layers:", u.Backend, len(u.Layers))
	for _, l := range u.Layers {
		fmt.Fprintf(&s, "\n  %s (%s): %s", l.Layer, l.Op, l.Reason())
	}
	return s.String()
}

// Reason says in one line why the layer is not computed, and first of what can be done about: what a tactic says that takes
// it but could not be measured, then that it would be computed in another type, or else what the last one says, which in a
// backend's table is the most general, of those that are not for halves that the layer has not.
func (l UnsupportedLayer) Reason() string {
	n := len(l.Reasons)
	if n == 0 {
		return "there is none for the op"
	}
	c := l.Reasons[n-1]
	for _, r := range slices.Backward(l.Reasons) {
		if r.Reason != kernels.ErrNotHalf.Error() {
			c = r
			break
		}
	}
	if i := slices.IndexFunc(l.Reasons, func(r Candidate) bool { return r.Failed }); i >= 0 {
		c = l.Reasons[i]
	} else if l.Type != "" {
		return fmt.Sprintf("it is in %s, and computed in f32: export the model in float32", l.Type)
	}
	if n == 1 {
		return c.Tactic + ": " + c.Reason
	}
	return fmt.Sprintf("%s: %s; and %d more", c.Tactic, c.Reason, n-1)
}

// unservedType returns the type that keeps a backend from computing a layer, F64 or BF16: with F32 in its place it does; ""
// where it does not even then.
func unservedType(b Backend, l *graph.Layer, env map[string]int) string {
	served, found := *l, ""
	inF32 := func(list []*graph.Tensor) []*graph.Tensor {
		list = slices.Clone(list)
		for i, t := range list {
			if t == nil || t.Type != numeric.F64 && t.Type != numeric.BF16 {
				continue
			}
			found = t.Type.String()
			f := *t
			f.Type = numeric.F32
			if v, ok := t.Const(); ok {
				f.Weights = numeric.Values(numeric.F32, v.Floats(), v.Dims...).Data
			}
			list[i] = &f
		}
		return list
	}
	served.Inputs, served.Outputs = inF32(l.Inputs), inF32(l.Outputs)
	if found == "" || Supports(b, env)(&served) != nil {
		return ""
	}
	return found
}

// unsupported returns the error of one layer.
func unsupported(b Backend, l *graph.Layer, reasons []Candidate) *Unsupported {
	return &Unsupported{b.Info().Name, []UnsupportedLayer{{Layer: l.Name, Op: l.Op.Name, Reasons: reasons}}}
}
