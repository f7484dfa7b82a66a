package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/config"
)

// Symbols returns the values of the network's dimension symbols under a configuration: from its shapes, and of an input
// that has none there the batch for a first axis that may count items. Where other symbols have no value the error says how to
// give them one: an [UnboundShapes].
func (m *Model) Symbols(cfg config.Config) (map[string]int, error) {
	if err := checkShapes(m.Network, cfg); err != nil {
		return nil, err
	}
	if free := free(m.Network, cfg.Shapes); len(free) > 0 {
		return nil, &UnboundShapes{Inputs: free}
	}
	given := KnownSymbols(m.Network, cfg)
	shapes := map[string][]int{}
	for _, t := range m.Network.Inputs {
		if dims, ok := cfg.Shapes[t.Name]; ok {
			shapes[t.Name] = dims
			continue
		}
		shapes[t.Name] = symbolic.Eval(t.Extents(), given)
	}
	env, err := m.Network.BindShapes(shapes)
	if err == nil {
		err = checkEmpty(m.Network, shapes, env)
	}
	return env, err
}

// SymbolsIfAny is Symbols for a model that may only be looked at, which needs no shapes: nil where there are none.
func (m *Model) SymbolsIfAny(cfg config.Config) (map[string]int, error) {
	env, err := m.Symbols(cfg)
	if m.Refused != nil && errors.As(err, new(*UnboundShapes)) {
		return nil, nil
	}
	return env, err
}

// checkShapes returns an error that names every input that the model lacks, and every shape that its input cannot have.
func checkShapes(n *graph.Network, cfg config.Config) error {
	var inputs, typed, wrong []string
	for _, t := range n.Inputs {
		inputs, typed = append(inputs, t.Name), append(typed, t.String())
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Shapes)) {
		i := slices.Index(inputs, name)
		if i < 0 {
			has := cmp.Or(config.DidYouMean(name, inputs), "; it has "+strings.Join(typed[:min(len(typed), 8)], ", "))
			wrong = append(wrong, fmt.Sprintf("the model has no input %s%s", config.Quoted(name), has))
			continue
		}
		if text := misfit(n.Inputs[i], cfg.Shapes[name]); text != "" {
			wrong = append(wrong, fmt.Sprintf("%s %s: %s", name, config.TimesText(cfg.Shapes[name]), text))
		}
	}
	return Unknown("shapes", wrong)
}

// checkEmpty returns an error where nothing would be computed: no input or no output has an element. One input among several
// may be empty, as a cache of which nothing is used yet.
func checkEmpty(n *graph.Network, shapes map[string][]int, env map[string]int) error {
	empty := ""
	fed, made := false, len(n.Outputs) == 0
	for _, t := range n.Inputs {
		if t.IsShape || !slices.Contains(shapes[t.Name], 0) {
			fed = true
		} else if empty == "" {
			empty = fmt.Sprintf("input %s of shape %s", t.Name, config.TimesText(shapes[t.Name]))
		}
	}
	for _, t := range n.Outputs {
		made = made || !slices.Contains(symbolic.Eval(t.Dims, env), 0)
	}
	if empty == "" || fed && made {
		return nil
	}
	return fmt.Errorf("%s has no elements, so that nothing would be computed; give extents of at least 1", empty)
}

// CheckExtents returns an error where layers do not fit together at the values of symbols: a model may take the inputs to be
// multiples of its strides without saying so. A model that can only be looked at may leave symbols open, which count as 1.
func CheckExtents(m *Model, env map[string]int) error {
	if m.Refused != nil && len(m.Network.Unbound(env)) > 0 {
		return nil
	}
	if err := m.Network.CheckShapes(env); err != nil {
		var shapes []string
		for _, t := range m.Network.Inputs {
			shapes = append(shapes, t.Name+":"+config.TimesText(symbolic.Eval(t.Extents(), env)))
		}
		return &ShapesError{err, strings.Join(shapes, ",")}
	}
	return nil
}

// misfit says what is wrong with a shape for an input; "" where it may have it.
func misfit(t *graph.Tensor, dims []int) string {
	if t.IsShape && len(dims) != len(t.Value) {
		return fmt.Sprintf("%s, but shapes depend on the %s of the input, whose values these are; give as many, as in %s",
			config.CountOf(len(dims), "value", "values"), config.CountOf(len(t.Value), "element", "elements"), exampleShape(t))
	}
	if len(dims) != len(t.Extents()) {
		return fmt.Sprintf("%s, but the input is %s, which has %s; give a shape such as %s", config.CountOf(len(dims), "axis", "axes"),
			t.TypeString(), config.CountOf(len(t.Dims), "axis", "axes"), exampleShape(t))
	}
	for i, d := range t.Extents() {
		if dims[i] < 0 && !t.IsShape {
			return fmt.Sprintf("axis %d is %d; only elements of inputs on which shapes depend may be -1, for what is left", i, dims[i])
		}
		if n, fixed := d.IsConst(); fixed && n != dims[i] {
			return fmt.Sprintf("axis %d is %d, but the input is %s, where it is %d", i, dims[i], t.TypeString(), n)
		}
	}
	return ""
}

// AxisSymbols returns the values of symbols that are an axis of an input with a shape.
func AxisSymbols(net *graph.Network, shapes map[string][]int) map[string]int {
	values := map[string]int{}
	for _, t := range net.Inputs {
		for i, n := range shapes[t.Name] {
			if extents := t.Extents(); i < len(extents) {
				if name, symbol := extents[i].SymbolName(); symbol {
					values[name] = n
				}
			}
		}
	}
	return values
}

// KnownSymbols returns the values of symbols that are an axis of an input: those of the shapes, and the batch for those of other inputs
// that count items.
func KnownSymbols(net *graph.Network, cfg config.Config) map[string]int {
	known := AxisSymbols(net, cfg.Shapes)
	for _, t := range graph.Batched(net.Inputs) {
		name, _ := t.Dims[0].SymbolName()
		if _, ok := known[name]; !ok {
			known[name] = max(1, cfg.Batch)
		}
	}
	return known
}

// ShapesError is the error that the layers of a model do not fit together where its inputs have some shapes.
type ShapesError struct {
	Err    error
	Shapes string // of the inputs, as in x:1x4,y:1x3
}

func (e *ShapesError) Error() string {
	return fmt.Sprintf("%v; the model cannot take inputs of %s; give other shapes, another batch or other data", e.Err, e.Shapes)
}

func (e *ShapesError) Unwrap() error { return e.Err }

// UnboundShapes is the error that axes of inputs have no extent.
type UnboundShapes struct {
	Inputs []*graph.Tensor  // with such axes
	Fit    map[string][]int // shapes that the layers take; nil where none are known
}

// Example is a choice of shapes that closes the axes, as in x:1x3x64x64.
func (u *UnboundShapes) Example() string {
	var examples []string
	for _, t := range u.Inputs {
		if dims, ok := u.Fit[t.Name]; ok {
			examples = append(examples, t.Name+":"+config.TimesText(dims))
		} else {
			examples = append(examples, exampleShape(t))
		}
	}
	return strings.Join(examples, ",")
}

func (u *UnboundShapes) Error() string {
	var open []string
	for _, t := range u.Inputs {
		var axes []string
		for i, d := range t.Extents() {
			if name, symbol := d.SymbolName(); symbol && (i > 0 || t.IsShape) {
				axes = append(axes, name)
			}
		}
		verb := "has"
		if len(axes) > 1 {
			verb = "have"
		}
		if t.IsShape {
			open = append(open, fmt.Sprintf("shapes depend on the elements of input %s, %s, which have no values", t.Name, t.TypeString()))
			continue
		}
		open = append(open, fmt.Sprintf("input %s is %s, where %s %s no value", t.Name, t.TypeString(), strings.Join(axes, " and "), verb))
	}
	const most = 3 // that are named: keys and values of the past are two for each layer
	if more := len(open) - most; more > 1 {
		open = append(open[:most], fmt.Sprintf("%d more inputs likewise", more))
	}
	return fmt.Sprintf("%s: give shapes, as in %s, or data that has them", strings.Join(open, "; "), u.Example())
}

// exampleShape writes a shape for an input as --shapes takes it.
func exampleShape(t *graph.Tensor) string {
	var dims []string
	for i, d := range t.Extents() {
		n, fixed := d.IsConst()
		switch {
		case fixed:
		case slices.Contains(graph.Batched([]*graph.Tensor{t}), t) && i == 0:
			n = 1
		default:
			n = 64
		}
		dims = append(dims, fmt.Sprint(n))
	}
	return t.Name + ":" + strings.Join(dims, "x")
}

// free returns the inputs that have symbols in other axes than a first one, to which neither the shapes nor a batch give a
// value.
func free(n *graph.Network, shapes map[string][]int) []*graph.Tensor {
	given := KnownSymbols(n, config.Config{Shapes: shapes})
	var list []*graph.Tensor
	for _, t := range n.Inputs {
		for i, d := range t.Extents() {
			name, symbol := d.SymbolName()
			if _, ok := given[name]; symbol && !ok && (i > 0 || t.IsShape) {
				list = append(list, t)
				break
			}
		}
	}
	return list
}
