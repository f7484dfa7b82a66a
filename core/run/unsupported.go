package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/trtui/trtui/core/graph"
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

// Reason says in one line why the layer is not computed: what a tactic says that takes it but could not be measured, or else
// the last one, which in a backend's table is the most general.
func (l UnsupportedLayer) Reason() string {
	n := len(l.Reasons)
	if n == 0 {
		return "there is none for the op"
	}
	c := l.Reasons[n-1]
	for _, r := range l.Reasons {
		if r.Failed {
			c = r
			break
		}
	}
	if n == 1 {
		return c.Tactic + ": " + c.Reason
	}
	return fmt.Sprintf("%s: %s; and %d more", c.Tactic, c.Reason, n-1)
}

// unsupported returns the error of one layer.
func unsupported(b Backend, l *graph.Layer, reasons []Candidate) *Unsupported {
	return &Unsupported{b.Info().Name, []UnsupportedLayer{{l.Name, l.Op.Name, reasons}}}
}
