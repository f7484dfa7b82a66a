package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Kernel shows the code of a layer, which is named by its name, a part of it that no other has, or a source layer. With a
// tactic, it is that tactic's.
func (r *Runner) Kernel(ctx context.Context, cfg config.Config, layer, tactic string) (*report.Kernel, error) {
	var report *report.Kernel
	err := r.surviving(ctx, cfg, func() (err error) {
		report, err = explain(ctx, r.stages, cfg, layer, tactic)
		return err
	})
	return report, err
}

// explain shows the code of a layer of an engine.
func explain(ctx context.Context, s *stages.Stages, cfg config.Config, layer, tactic string) (*report.Kernel, error) {
	p, err := s.Tuning.Plan(ctx, cfg)
	if err != nil {
		return nil, err
	}
	i, err := findStep(p, layer)
	if err != nil {
		return nil, err
	}
	if tactic != "" && p.Steps[i].Tactic != tactic {
		name := p.Steps[i].Name
		cfg.Pin = map[string]string{name: tactic}
		if p, err = s.Tuning.Plan(ctx, cfg); err != nil {
			return nil, err
		}
		if i, err = findStep(p, name); err != nil {
			return nil, err
		}
		if got := p.Steps[i].Tactic; got != tactic {
			return nil, &TacticError{name, tactic, got}
		}
	}
	l, err := s.Engines.Load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	e, err := l.Explain(i)
	if err != nil {
		return nil, err
	}
	return kernelReport(p, i, e), nil
}

// kernelReport describes a step and its code.
func kernelReport(p *run.Plan, i int, e kernels.Explanation) *report.Kernel {
	st, w := p.Steps[i], p.Work()[i]
	r := &report.Kernel{
		Layer: st.Name, Op: graph.OpName(st.Layer), Tactic: st.Tactic, Timed: st.Timed, Time: st.Time, Language: e.Language, Compiler: e.Compiler, Text: e.Text,
		FLOPs: w.FLOPs, Bytes: w.Bytes,
	}
	for _, n := range e.Launches {
		r.Launches = append(r.Launches, report.Launch{
			Function: n.Function, Grid: n.Grid[:], Block: n.Block[:], Registers: n.Registers, Shared: n.SharedBytes,
			Spill: n.SpillBytes, ResidentBlocks: n.Resident,
		})
	}
	return r
}

// findStep returns the step that a person means by a name.
func findStep(p *run.Plan, name string) (int, error) {
	for _, fits := range []func(run.Step) bool{
		func(st run.Step) bool { return st.Name == name },
		func(st run.Step) bool { return slices.Contains(st.From, name) },
		func(st run.Step) bool { return name != "" && strings.Contains(st.Name, name) },
	} {
		var found []int
		for i, st := range p.Steps {
			if fits(st) {
				found = append(found, i)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	none := &noLayer{name: name}
	for _, st := range p.Steps {
		none.has = append(none.has, st.Name)
	}
	return 0, none
}

// noLayer is the error of a name that is none of one layer of an engine.
type noLayer struct {
	name string
	has  []string // the layers of the engine
}

func (e *noLayer) Error() string { return strings.Join(e.Lines(), "\n") }

// Lines returns the error and, each in a line below it, the layers that there are.
func (e *noLayer) Lines() []string {
	lines := []string{fmt.Sprintf("%q names no one layer of the engine, which has", e.name)}
	for _, l := range e.has {
		lines = append(lines, "  "+l)
	}
	return lines
}

// TacticError is the error that a tactic does not compute a layer, which has another one.
type TacticError struct{ Layer, Tactic, Has string }

func (e *TacticError) Error() string {
	return fmt.Sprintf("layer %s: tactic %s does not compute it here, which has %s", e.Layer, e.Tactic, e.Has)
}
