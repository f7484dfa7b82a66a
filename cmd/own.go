package cmd

import (
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// Own is what a program has beside the built-in: models may use its ops, its kernels are tried on the CPU before the others,
// its passes run, are shown and are switched off like the standard ones, and its calibrators are chosen and compared like them.
type Own struct {
	Ops         []*graph.Op
	Kernels     []kernels.Tactic
	Passes      []pass.Pass
	Calibrators []quant.Method
}

// tables are what commands choose from.
type tables struct {
	backends []backend
	own      Own
	live     time.Duration // that a session measures at last; 0: as long as sessions does
}

// tables returns the tables of the program with what it has of its own; the error names what cannot be had.
func (o Own) tables(rows []backend) (tables, error) {
	if _, err := graph.Ops().Plus(o.Ops...); err != nil {
		return tables{}, err
	}
	if _, err := passes.Extend(passes.Standard(), o.Passes); err != nil {
		return tables{}, err
	}
	if _, err := quant.Calibrators().Plus(o.Calibrators...); err != nil {
		return tables{}, err
	}
	rows = slices.Clone(rows)
	for i := range rows {
		if open := rows[i].open; rows[i].name == "cpu" && len(o.Kernels) > 0 {
			rows[i].open = func(device, threads int) (run.Backend, error) {
				b, err := open(device, threads)
				if err != nil {
					return nil, err
				}
				return o.with(b)
			}
		}
	}
	return tables{backends: rows, own: o}, nil
}

// with returns a backend with the program's kernels.
func (o Own) with(b run.Backend) (run.Backend, error) {
	taker, ok := b.(interface {
		With(...kernels.Tactic) (run.Backend, error)
	})
	if !ok {
		return nil, fmt.Errorf("it takes no kernels beside its own")
	}
	return taker.With(o.Kernels...)
}

// calibrators returns the built-in calibrators and the program's own, which tables has checked.
func (o Own) calibrators() quant.Methods { return append(quant.Calibrators(), o.Calibrators...) }

// ops returns the built-in ops and the program's own, which tables has checked.
func (o Own) ops() graph.OpSet { return graph.Ops().With(o.Ops...) }
