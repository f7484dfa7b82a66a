package cuda

import (
	"slices"
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/attention"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/moves"
	"github.com/trtui/trtui/kernels/cuda/internal/pointwise"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
	"github.com/trtui/trtui/kernels/cuda/internal/reductions"
)

// Tactics returns the families of kernels, for each op what needs none, then the best guess first. To add a kernel is to add
// a line in one of them. Pointwise conversions come before moves to other formats, and windows before reductions over all.
func Tactics() []emit.Tactic {
	return slices.Concat(moves.Known(), pointwise.Tactics(), products.Tactics(), attention.Tactics(), reductions.Tactics(), moves.Tactics())
}

// table returns the tactics for the backend's device.
func (b *Backend) table() []kernels.Tactic {
	d := b.Context().Device()
	m, device := newMachine(d), emit.Device{SM: d.SM, Shared: d.SharedPerBlockMax}
	var list []kernels.Tactic
	for _, e := range Tactics() {
		list = append(list, kernels.Tactic{
			Name: e.Name, Op: e.Op, Variant: e.Variant, In: e.In, Out: e.Out, Workspace: e.Workspace, InPlace: e.InPlace, Strided: e.Strided,
			Match: func(bind kernels.Binding) error { return e.On(device, bind) },
			Cost: func(bind kernels.Binding) time.Duration {
				var t time.Duration
				for _, j := range e.Jobs(bind) {
					t += m.time(j)
				}
				return t
			},
			Bind: func(bind kernels.Binding) (kernels.Kernel, error) {
				if e.Emit == nil {
					return nothing{}, nil
				}
				w, err := e.Work(device, bind)
				if err != nil {
					return nil, err
				}
				return b.Bind(emit.OpenOf(bind).Work(w))
			},
		})
	}
	return list
}

// nothing is the kernel without launches.
type nothing struct{}

func (nothing) Launch(kernels.Stream, []kernels.Mem, []kernels.Mem, kernels.Mem) error { return nil }
