package sessions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// Symbols returns the values of the network's dimension symbols under a configuration: from its shapes, and of an input
// that has none there the batch for a first axis that is a symbol. Where other symbols have no value the error says how to
// give them one: an [UnboundShapes].
func (m *Model) Symbols(cfg Config) (map[string]int, error) {
	if free := m.free(cfg.Shapes); len(free) > 0 {
		return nil, &UnboundShapes{free}
	}
	known := m.known(cfg)
	shapes := map[string][]int{}
	for _, t := range m.Network.Inputs {
		if given, ok := cfg.Shapes[t.Name]; ok {
			shapes[t.Name] = given
			continue
		}
		shapes[t.Name] = graph.EvalDims(t.Dims, known)
	}
	return m.Network.BindShapes(shapes)
}

// known returns the values of symbols that are an axis of an input: those of the shapes, and the batch for the first axes of
// other inputs.
func (m *Model) known(cfg Config) map[string]int {
	known := map[string]int{}
	for _, t := range m.Network.Inputs {
		for i, n := range cfg.Shapes[t.Name] {
			if i < len(t.Dims) {
				if name, symbol := t.Dims[i].SymbolName(); symbol {
					known[name] = n
				}
			}
		}
	}
	for _, t := range m.Network.Inputs {
		if len(t.Dims) == 0 {
			continue
		}
		if name, symbol := t.Dims[0].SymbolName(); symbol {
			if _, ok := known[name]; !ok {
				known[name] = max(1, cfg.Batch)
			}
		}
	}
	return known
}

// UnboundShapes is the error that axes of inputs have no extent.
type UnboundShapes struct {
	Inputs []*graph.Tensor // with such axes
}

func (u *UnboundShapes) Error() string {
	var open, examples []string
	for _, t := range u.Inputs {
		var axes []string
		for i, d := range t.Dims {
			if name, symbol := d.SymbolName(); symbol && i > 0 {
				axes = append(axes, name)
			}
		}
		verb := "has"
		if len(axes) > 1 {
			verb = "have"
		}
		open = append(open, fmt.Sprintf("input %s is %s, where %s %s no value", t.Name, t.TypeString(), strings.Join(axes, " and "), verb))
		examples = append(examples, exampleShape(t))
	}
	return fmt.Sprintf("%s: give shapes, as in --shapes %s, or --data that has them", strings.Join(open, "; "), strings.Join(examples, ","))
}

// Shaped returns the configuration with its batch in the first axis of its shapes, where that is a symbol.
func (m *Model) Shaped(cfg Config) Config {
	if len(cfg.Shapes) == 0 || m.Network == nil {
		return cfg
	}
	shapes := map[string][]int{}
	for name, dims := range cfg.Shapes {
		shapes[name] = slices.Clone(dims)
	}
	for _, t := range m.Network.Inputs {
		if dims := shapes[t.Name]; isBatched(t) && len(dims) > 0 {
			dims[0] = max(1, cfg.Batch)
		}
	}
	cfg.Shapes = shapes
	return cfg
}

// BatchOfShapes returns the extent that shapes give to the first axis of inputs where that is a symbol; ok is false
// where they give none.
func (m *Model) BatchOfShapes(shapes map[string][]int) (batch int, ok bool) {
	if m.Network == nil {
		return 0, false
	}
	for _, t := range m.Network.Inputs {
		if dims := shapes[t.Name]; isBatched(t) && len(dims) > 0 {
			return dims[0], true
		}
	}
	return 0, false
}

// DataShapes returns the shapes of inputs that the first item of data has, for a model of whose inputs other axes than a
// first one are symbols; nil for every other model.
func (m *Model) DataShapes(d Data) (map[string][]int, error) {
	if m.Network == nil || len(m.free(nil)) == 0 {
		return nil, nil
	}
	item, err := d.Inputs(0)
	if err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for _, t := range m.Network.Inputs {
		if v, ok := item[t.Name]; ok {
			shapes[t.Name] = slices.Clone(v.Dims)
		}
	}
	return shapes, nil
}

// free returns the inputs that have symbols in other axes than a first one, to which neither the shapes nor a batch give a
// value.
func (m *Model) free(shapes map[string][]int) []*graph.Tensor {
	known := m.known(Config{Shapes: shapes})
	var list []*graph.Tensor
	for _, t := range m.Network.Inputs {
		for i, d := range t.Dims {
			name, symbol := d.SymbolName()
			if _, ok := known[name]; symbol && !ok && i > 0 {
				list = append(list, t)
				break
			}
		}
	}
	return list
}

// exampleShape writes a shape for an input as --shapes takes it.
func exampleShape(t *graph.Tensor) string {
	var dims []string
	for i, d := range t.Dims {
		n, fixed := d.IsConst()
		switch {
		case fixed:
		case i == 0:
			n = 1
		default:
			n = 64
		}
		dims = append(dims, fmt.Sprint(n))
	}
	return t.Name + ":" + strings.Join(dims, "x")
}
