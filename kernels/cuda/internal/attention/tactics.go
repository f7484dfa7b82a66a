package attention

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// Tactics returns the kernels of the family, the best guess first.
func Tactics() []emit.Tactic {
	var list []emit.Tactic
	for _, t := range tiles() {
		list = append(list, tactic(t))
	}
	return list
}

// tactic is attention on a tile.
func tactic(t Tile) emit.Tactic {
	of := func(b kernels.Binding) (*problem, error) {
		p, err := problemOf(b)
		if err == nil {
			err = t.fits(p)
		}
		return p, err
	}
	return emit.Tactic{
		Name: "attention_" + t.String(), Op: graph.Attention, Variant: t.variant(), In: kernels.Linear, Out: kernels.Linear, Empty: true,
		Match: func(b kernels.Binding) error {
			_, err := of(b)
			return err
		},
		Workspace: func(b kernels.Binding) int {
			p, err := of(b)
			if err != nil {
				return 0
			}
			return p.workspace(t)
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) {
			p, err := of(b)
			if err != nil {
				return nil, err
			}
			return p.emit(t)
		},
		Cost: func(b kernels.Binding) []emit.Job {
			p, err := of(b)
			if err != nil {
				return nil
			}
			return p.jobs(t)
		},
	}
}
