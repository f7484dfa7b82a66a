package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Other returns an engine of another model, or of another configuration, as something to compare a model with: it is given the
// same inputs, and its outputs stand beside the model's. Inputs and outputs go by their names or, where one has none of a name
// and both have as many, by their order. perLayer: tensors between layers are compared, too, by their names. The function that
// is returned frees the engine.
func Other(ctx context.Context, name string, than, m *model.Model, w stages.Workplace, cfg config.Config, perLayer bool, progress func(report.Progress)) (Contender, func(), error) {
	c := Contender{Name: name, Device: describe.Device(w.Backend)}
	inputs, err := matched("input", m.Network.Inputs, than.Network.Inputs)
	if err != nil {
		return c, nil, err
	}
	outputs, err := matched("output", than.Network.Outputs, m.Network.Outputs)
	if err != nil {
		return c, nil, err
	}
	if err := model.CheckState(m, cfg); err != nil {
		return c, nil, err
	}
	s := stages.New(m, w, w.Told(forecasting(progress)))
	loaded, err := s.Engines.Load(ctx, cfg)
	if err != nil {
		s.Release()
		return c, nil, err
	}
	at, err := loaded.NewContext()
	if err != nil {
		loaded.Close()
		s.Release()
		return c, nil, err
	}
	other := &otherEngine{loaded, at, inputs, outputs, perLayer}
	c.Outside = other.run
	return c, func() { at.Close(); loaded.Close(); s.Release() }, nil
}

// matched returns by the name of each of the tensors the one that it stands for among others.
func matched(what string, tensors, others []*graph.Tensor) (map[string]string, error) {
	has := func(name string) bool {
		return slices.ContainsFunc(others, func(t *graph.Tensor) bool { return t.Name == name })
	}
	by := map[string]string{}
	inOrder := slices.ContainsFunc(tensors, func(t *graph.Tensor) bool { return !has(t.Name) })
	for i, t := range tensors {
		switch {
		case !inOrder:
			by[t.Name] = t.Name
		case len(tensors) == len(others):
			by[t.Name] = others[i].Name
		case !has(t.Name):
			return nil, fmt.Errorf("%s %s is not among the other's, which are %s, and they are not as many: nothing tells which is which", what, t.Name, names(others))
		}
	}
	return by, nil
}

func names(tensors []*graph.Tensor) string {
	var list []string
	for _, t := range tensors {
		list = append(list, t.Name)
	}
	return strings.Join(list, ", ")
}

// otherEngine is an engine that another model's outputs are compared with.
type otherEngine struct {
	loaded          *run.Loaded
	at              *run.ExecutionContext
	inputs, outputs map[string]string // inputs by its own names, outputs by the model's
	perLayer        bool
}

// run computes a batch of the model's inputs.
func (e *otherEngine) run(ctx context.Context, of compare.Span, in map[string]numeric.Value) (map[string]numeric.Value, error) {
	own := map[string]numeric.Value{}
	for name, from := range e.inputs {
		own[name] = in[from]
	}
	if err := compare.Feed(e.at, own, of.First, of.Count); err != nil {
		return nil, err
	}
	all := map[string]numeric.Value{}
	if err := e.execute(ctx, all); err != nil {
		return nil, err
	}
	made, err := e.at.Outputs()
	if err != nil {
		return nil, err
	}
	for name, from := range e.outputs {
		all[name] = made[from]
	}
	return all, nil
}

// execute runs the engine, and keeps what its layers give where that is wanted.
func (e *otherEngine) execute(ctx context.Context, all map[string]numeric.Value) error {
	if !e.perLayer {
		return e.at.Execute()
	}
	p := e.loaded.Plan
	return e.at.Observe(ctx, run.Observer{After: func(i int) error {
		if p.Steps[i].Reformat {
			return nil
		}
		for _, slot := range p.Steps[i].Out {
			v, err := e.at.Read(slot)
			if err != nil {
				return err
			}
			t := p.Slots[slot].Tensor
			all[t.Name] = numeric.ToReal(v, t.Range)
		}
		return nil
	}})
}
