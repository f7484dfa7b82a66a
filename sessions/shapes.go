package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// Symbols returns the values of the network's dimension symbols under a configuration: from its shapes, and of an input
// that has none there the batch for a first axis that is a symbol, and 1 for every other one.
func (m *Model) Symbols(cfg Config) (map[string]int, error) {
	shapes := map[string][]int{}
	for _, t := range m.Network.Inputs {
		if given, ok := cfg.Shapes[t.Name]; ok {
			shapes[t.Name] = given
			continue
		}
		dims := make([]int, len(t.Dims))
		for i, d := range t.Dims {
			switch _, symbol := d.SymbolName(); {
			case symbol && i == 0:
				dims[i] = max(1, cfg.Batch)
			case symbol:
				dims[i] = 1
			default:
				dims[i] = d.Eval(nil)
			}
		}
		shapes[t.Name] = dims
	}
	return m.Network.BindShapes(shapes)
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

// free returns the inputs of which axes other than a first one are symbols that shapes say nothing of.
func (m *Model) free(shapes map[string][]int) []*graph.Tensor {
	var list []*graph.Tensor
	for _, t := range m.Network.Inputs {
		for i, d := range t.Dims {
			if _, symbol := d.SymbolName(); symbol && i > 0 && shapes[t.Name] == nil {
				list = append(list, t)
				break
			}
		}
	}
	return list
}

// assumed adds to an error what was assumed of the shapes of inputs, since that may be its reason.
func (s *stages) assumed(cfg Config, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, new(*unknownNames)) || errors.As(err, new(*assumedShapes)) {
		return err
	}
	inputs := s.model.free(cfg.Shapes)
	if len(inputs) == 0 {
		return err
	}
	var given []string
	for _, t := range inputs {
		given = append(given, fmt.Sprintf("%s is %s, of which every open axis was taken to be 1", t.Name, t.TypeString()))
	}
	return &assumedShapes{err, fmt.Sprintf("input %s: name shapes as in --shapes %s, or data that has them", strings.Join(given, ", "), exampleShape(inputs[0]))}
}

// assumedShapes is an error that shapes which nobody named may have led to.
type assumedShapes struct {
	err  error
	text string
}

func (a *assumedShapes) Error() string { return a.err.Error() + "; " + a.text }
func (a *assumedShapes) Unwrap() error { return a.err }

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
