package cuda

import (
	"slices"
	"time"

	"github.com/trtui/trtui/kernels"
)

// tactics returns the families of kernels, for each op what needs none, then the best guess first. To add a kernel is to add
// a line in one of them.
func tactics() []tactic {
	return slices.Concat(knownFamily(), pointwiseFamily(), productFamily(), reductionFamily(), moveFamily())
}

// table returns the tactics for the backend's device.
func (b *Backend) table() []kernels.Tactic {
	m := newMachine(b.context().Device())
	var list []kernels.Tactic
	for _, e := range tactics() {
		list = append(list, kernels.Tactic{
			Name: e.name, Op: e.op, In: e.in, Out: e.out, Match: e.matches, Workspace: e.workspace, InPlace: e.inPlace, Strided: e.strided,
			Cost: func(bind kernels.Binding) time.Duration {
				var t time.Duration
				for _, j := range e.jobs(bind) {
					t += m.time(j)
				}
				return t
			},
			Bind: func(bind kernels.Binding) (kernels.Kernel, error) {
				if e.emit == nil {
					return nothing{}, nil
				}
				w, err := e.emit(bind)
				if err != nil {
					return nil, err
				}
				return b.bind(w)
			},
		})
	}
	return list
}

// nothing is the kernel without launches.
type nothing struct{}

func (nothing) Launch(kernels.Stream, []kernels.Mem, []kernels.Mem, kernels.Mem) error { return nil }
