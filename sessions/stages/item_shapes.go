package stages

import (
	"maps"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
)

// itemShapes are the shapes that the items of data have.
type itemShapes struct {
	model *model.Model
	data  dataset.Data // nil: there is none

	read sync.Once
	list []itemShape // of each set of shapes
}

// itemShape is a set of shapes, and the number of the first item that has it.
type itemShape struct {
	item   int
	shapes map[string][]int // of inputs that the data has
}

// itemExtents are values of a network's symbols, and the number of the first item that has them.
type itemExtents struct {
	item int
	env  map[string]int
}

// at returns the extents that items have beside those of env, one item at a time; none where data are made up, as they are at any
// extents. What is wrong with data is said when they are used.
func (x *itemShapes) at(env map[string]int) (list []itemExtents) {
	if env == nil || x.data == nil || x.data.Random() || x.data.Len() == 0 {
		return nil
	}
	x.read.Do(func() {
		for _, i := range dataset.Unlike(x.data) {
			if in, err := x.data.Inputs(i); err == nil {
				x.list = append(x.list, itemShape{i, x.shapesOf(in)})
			}
		}
	})
	for _, one := range x.list {
		if own, err := x.model.Network.BindSome(env, one.shapes); err == nil && !maps.Equal(own, env) {
			list = append(list, itemExtents{one.item, own})
		}
	}
	return list
}

// shapesOf returns the shapes of an item's inputs.
func (x *itemShapes) shapesOf(in map[string]numeric.Value) map[string][]int {
	shapes := map[string][]int{}
	for _, t := range x.model.Network.Inputs {
		if v, ok := in[t.Name]; ok {
			if dims, err := t.ShapeOf(v); err == nil {
				shapes[t.Name] = slices.Clone(dims)
			}
		}
	}
	return shapes
}

// alike reports whether all items have the same shapes.
func (x *itemShapes) alike() bool { return len(x.list) < 2 }

// serving returns the profile of a configuration that serves extents of one item, where one item has env, by its number; an error about
// the item where none does, by the first that has a range.
func (o *orders) serving(cfg config.Config, env map[string]int, of itemExtents) (k int, err error) {
	var refused error
	told := false // by one that has a range
	for k := range len(cfg.Profiles) + 1 {
		x, err := o.extents(cfg, k)
		if err != nil {
			return 0, nil // it is said when it is planned
		}
		ranged := x.Min != nil
		if !ranged {
			x.Min, x.Max = maps.Clone(x.Opt), maps.Clone(x.Opt)
		}
		for name, v := range env { // a profile of larger batches has items one by one, too
			x.Min[name], x.Max[name] = min(x.Min[name], v), max(x.Max[name], v)
		}
		err = x.Serves(o.model.Network, of.env)
		if err == nil {
			return k, nil
		}
		if refused == nil || ranged && !told {
			refused, told = &compare.ItemError{First: of.item, Count: 1, Err: err}, ranged
		}
	}
	return 0, refused
}

// ofItems returns the extents at which data are collected on where one item has env: those of all items, and of items that differ those of
// the one with most elements. The error is about an item that no profile of the configuration serves.
func (o *orders) ofItems(cfg config.Config, env map[string]int) (map[string]int, error) {
	others := o.calItems.at(env)
	most, largest := 0, env
	for _, one := range others {
		if _, err := o.serving(cfg, env, one); err != nil {
			return nil, err
		}
		n := 0
		for _, t := range o.model.Network.Inputs {
			n += numeric.Count(symbolic.Eval(t.Dims, one.env))
		}
		if n > most || o.calItems.alike() {
			most, largest = n, one.env
		}
	}
	return largest, nil
}

// reference returns the configuration whose engine is the reference. Where items have other shapes than those that tactics are timed at
// it serves what the engine serves at these.
func (o *orders) reference(cfg config.Config) config.Config {
	ref, one := fp32(cfg), cfg
	one.Batch = 1
	env, err := o.model.SymbolsIfAny(o.model.Shaped(one))
	if err != nil || len(o.items.at(env)) == 0 {
		return ref
	}
	best, err := o.model.Symbols(cfg)
	if err != nil {
		return ref
	}
	if k, err := o.serving(cfg, env, itemExtents{env: best}); err == nil {
		p := config.OfProfile(cfg, k)
		ref.MinShapes, ref.MaxShapes = p.MinShapes, p.MaxShapes
	}
	return ref
}
