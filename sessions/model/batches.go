package model

import (
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
)

// Shaped returns the configuration with its batch in the first axis of its shapes, where that is one of items. Where the shapes have
// several extents there, they say it all, and its batch is one. Shapes that contradict each other stay, for [Model.Symbols] to refuse.
func (m *Model) Shaped(cfg config.Config) config.Config {
	if len(cfg.Shapes) == 0 || m.Network == nil || m.Network.CheckShared(cfg.Shapes) != nil {
		return cfg
	}
	if Apart(m.Network, cfg.Shapes) {
		cfg.Batch = 1
		return cfg
	}
	shapes := map[string][]int{}
	for name, dims := range cfg.Shapes {
		shapes[name] = slices.Clone(dims)
	}
	for _, t := range graph.Batched(m.Network.Inputs) {
		if dims := shapes[t.Name]; len(dims) > 0 {
			dims[0] = max(1, cfg.Batch)
		}
	}
	cfg.Shapes = shapes
	return cfg
}

// FixedBatch returns the extent of the first axis of inputs where no batch can be chosen; ok is false where it can, and where a
// model is not there.
func (m *Model) FixedBatch() (batch int, ok bool) {
	if m.Network == nil || len(graph.Batched(m.Network.Inputs)) > 0 {
		return 0, false
	}
	for _, t := range m.Network.Inputs {
		if len(t.Dims) > 0 {
			if n, fixed := t.Dims[0].IsConst(); fixed {
				return n, true
			}
			break
		}
	}
	return 1, true
}

// BatchOfShapes returns how many items shapes give to the first axes of inputs that may count them: one where these differ. ok is
// false where they give none.
func (m *Model) BatchOfShapes(shapes map[string][]int) (batch int, ok bool) {
	if m.Network == nil {
		return 0, false
	}
	for _, t := range graph.Batched(m.Network.Inputs) {
		ok = ok || len(shapes[t.Name]) > 0
	}
	_, batch = graph.BatchAt(m.Network.Inputs, AxisSymbols(m.Network, shapes))
	return batch, ok
}

// Apart reports whether shapes have several extents in the first axes of inputs that may count items, so that none does.
func Apart(n *graph.Network, shapes map[string][]int) bool {
	batched, _ := graph.BatchAt(n.Inputs, AxisSymbols(n, shapes))
	return len(batched) == 0 && len(graph.Batched(n.Inputs)) > 0
}

// DataShapes returns the shapes of inputs that the first item of data has, for a model whose inputs have other axes that are symbols
// than those which count items, and for an item that is more than one along these; nil for every other one.
func (m *Model) DataShapes(d dataset.Data) (map[string][]int, error) {
	if m.Network == nil {
		return nil, nil
	}
	open, batched := len(free(m.Network, nil)) > 0, graph.Batched(m.Network.Inputs)
	if !open && len(batched) == 0 {
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
			open = open || slices.Contains(batched, t) && dims[0] != 1
		}
	}
	if !open {
		return nil, nil
	}
	return shapes, nil
}

// DataRange returns the least and the largest shapes of inputs that items of data have, where these differ and layers fit together there;
// nil where not. shapes are those of the first item.
func DataRange(m *Model, d dataset.Data, shapes map[string][]int) (low, high map[string][]int) {
	unlike := dataset.Unlike(d)
	if len(shapes) == 0 || len(unlike) < 2 || m.Engine != nil || m.Refused != nil {
		return nil, nil
	}
	env, err := m.Network.BindSome(nil, shapes)
	if err != nil {
		return nil, nil
	}
	least, most := AxisSymbols(m.Network, shapes), AxisSymbols(m.Network, shapes)
	for _, i := range unlike {
		in, err := d.Inputs(i)
		if err != nil {
			return nil, nil
		}
		one, err := m.Network.Bind(in)
		if err != nil {
			return nil, nil
		}
		for name := range least {
			least[name], most[name] = min(least[name], one[name]), max(most[name], one[name])
		}
	}
	ties := FindTies(m, env)
	for _, tie := range ties.List() {
		delete(least, tie.Symbol)
		delete(most, tie.Symbol)
	}
	from, to := m.Network.Counts(ties.Move(env, least)), m.Network.Counts(ties.Move(env, most))
	if CheckExtents(m, from) != nil || CheckExtents(m, to) != nil {
		return nil, nil
	}
	return m.Network.ShapesAt(from), m.Network.ShapesAt(to)
}

// OneOf returns the values of a network's symbols for a single item, of those for a batch.
func OneOf(n *graph.Network, env map[string]int) map[string]int {
	one := maps.Clone(env)
	batched, _ := graph.BatchAt(n.Inputs, env)
	for _, t := range batched {
		name, _ := t.Dims[0].SymbolName()
		one[name] = 1
	}
	return one
}

// BatchOf returns how many items one inference of a plan takes.
func BatchOf(p *run.Plan) int {
	_, size := graph.BatchAt(p.Network.Inputs, p.Env())
	return size
}
