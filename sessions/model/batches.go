package model

import (
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
)

// Shaped returns the configuration with its batch in the first axis of its shapes, where that is a symbol.
func (m *Model) Shaped(cfg config.Config) config.Config {
	if len(cfg.Shapes) == 0 || m.Network == nil {
		return cfg
	}
	shapes := map[string][]int{}
	for name, dims := range cfg.Shapes {
		shapes[name] = slices.Clone(dims)
	}
	for _, t := range m.Network.Inputs {
		if dims := shapes[t.Name]; compare.IsBatched(t) && len(dims) > 0 {
			dims[0] = max(1, cfg.Batch)
		}
	}
	cfg.Shapes = shapes
	return cfg
}

// FixedBatch returns the extent of the first axis of inputs where it is no symbol, so that no batch can be chosen; ok is false
// where it can, and where a model is not there.
func (m *Model) FixedBatch() (batch int, ok bool) {
	if m.Network == nil || slices.ContainsFunc(m.Network.Inputs, compare.IsBatched) {
		return 0, false
	}
	for _, t := range m.Network.Inputs {
		if len(t.Dims) > 0 {
			return t.Dims[0].IsConst()
		}
	}
	return 1, true
}

// BatchOfShapes returns the extent that shapes give to the first axis of inputs where that is a symbol; ok is false
// where they give none.
func (m *Model) BatchOfShapes(shapes map[string][]int) (batch int, ok bool) {
	if m.Network == nil {
		return 0, false
	}
	for _, t := range m.Network.Inputs {
		if dims := shapes[t.Name]; compare.IsBatched(t) && len(dims) > 0 {
			return dims[0], true
		}
	}
	return 0, false
}

// DataShapes returns the shapes of inputs that the first item of data has, for a model of whose inputs other axes than a
// first one are symbols; nil for every other model.
func (m *Model) DataShapes(d dataset.Data) (map[string][]int, error) {
	if m.Network == nil || len(free(m.Network, nil)) == 0 {
		return nil, nil
	}
	item, err := d.Inputs(0)
	if err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for _, t := range m.Network.Inputs {
		if v, ok := item[t.Name]; ok {
			dims, err := t.ShapeOf(v)
			if err != nil {
				return nil, err
			}
			shapes[t.Name] = slices.Clone(dims)
		}
	}
	return shapes, nil
}

// OneOf returns the values of a network's symbols for a single item, of those for a batch.
func OneOf(n *graph.Network, env map[string]int) map[string]int {
	one := maps.Clone(env)
	for _, t := range n.Inputs {
		if compare.IsBatched(t) {
			name, _ := t.Dims[0].SymbolName()
			one[name] = 1
		}
	}
	return one
}

// BatchOf returns how many items one inference of a plan takes.
func BatchOf(p *run.Plan) int {
	for _, t := range p.Network.Inputs {
		if compare.IsBatched(t) {
			return t.Dims[0].Eval(p.Env())
		}
	}
	return 1
}
