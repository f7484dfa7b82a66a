package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Eval computes the layer as a whole: the op, the epilogue, and conversions from and to the tensors' stored types.
// in and out go with l.Inputs and l.Outputs; out's values have their actual dims and are overwritten. It is the
// specification of every kernel that claims to compute l.
func (l *Layer) Eval(in, out []numeric.Value) error {
	if err := l.eval(in, out); err != nil {
		return fmt.Errorf("layer %s (%s): %w", l.Name, l.Op.Name, err)
	}
	return nil
}

func (l *Layer) eval(in, out []numeric.Value) (err error) {
	defer CatchFault(&err)
	nargs := len(l.OpInputs())
	args := make([]numeric.Value, len(in))
	for i, v := range in {
		t := l.Inputs[i]
		if t == nil {
			continue
		}
		raw := i < nargs && (l.Op.Reals == AsStored || l.Op.Reals == AsIntegers && t.Quantized())
		if raw {
			args[i] = v
		} else {
			args[i] = numeric.ToReal(v, t.Range)
		}
	}
	results := make([]numeric.Value, len(out))
	for i, v := range out {
		results[i] = v
		if v.Type == numeric.Str {
			results[i] = numeric.NewValue(v.Type, v.Dims...)
		} else if l.Op.Reals != AsStored && isReal(l.Outputs[i]) && v.Type != numeric.F32 {
			results[i] = numeric.NewValue(numeric.F32, v.Dims...)
		} else {
			clear(v.Data)
		}
	}
	if !slices.ContainsFunc(results, func(v numeric.Value) bool { return v.Len() > 0 }) { // an extent is 0: nothing to compute
		return nil
	}
	if err := l.evalOp(args[:nargs], results); err != nil {
		return err
	}
	if l.Epilogue.Args > 0 {
		if len(out) != 1 || results[0].Type != numeric.F32 {
			return fmt.Errorf("epilogue on %d outputs of type %s", len(out), results[0].Type)
		}
		if err := l.Epilogue.Apply(append([]numeric.Value{results[0]}, args[nargs:]...), results[0]); err != nil {
			return err
		}
	}
	for i := range out {
		if results[i].Type != out[i].Type {
			numeric.FromReal(out[i], results[i].F32(), l.Outputs[i].Range)
		} else if len(out[i].Data) == 0 || out[i].Type == numeric.Str {
			out[i] = results[i]
		}
	}
	return nil
}

// isReal reports whether t holds real numbers in a form other than F64.
func isReal(t *Tensor) bool {
	return t.Quantized() || t.Type == numeric.F32 || t.Type == numeric.F16 || t.Type == numeric.BF16
}

// Bind checks the inputs' types and shapes and returns the values of the symbols in them.
func (n *Network) Bind(inputs map[string]numeric.Value) (map[string]int, error) {
	shapes := map[string][]int{}
	for _, t := range n.Inputs {
		v, ok := inputs[t.Name]
		if !ok {
			return nil, fmt.Errorf("input %s: no data; the network needs %s", t.Name, t)
		}
		if v.Type != t.Type {
			return nil, fmt.Errorf("input %s: data is %s, the network needs %s", t.Name, v.Type, t)
		}
		var err error
		if shapes[t.Name], err = t.ShapeOf(v); err != nil {
			return nil, err
		}
	}
	return n.BindShapes(shapes)
}

// BindSome is [Network.BindShapes] for shapes of some inputs. Others are as the given values have them, as far as the shapes do
// not say what their symbols are.
func (n *Network) BindSome(env map[string]int, shapes map[string][]int) (map[string]int, error) {
	known, found := maps.Clone(env), 0
	if known == nil {
		known = map[string]int{}
	}
	for _, t := range n.Inputs {
		dims, ok := shapes[t.Name]
		if ok {
			found++
		}
		extents := t.Extents()
		for i := range min(len(dims), len(extents)) {
			if name, ok := extents[i].SymbolName(); ok && dims[i] >= 0 {
				known[name] = dims[i]
			}
		}
	}
	if found < len(shapes) {
		for _, name := range slices.Sorted(maps.Keys(shapes)) {
			if !slices.ContainsFunc(n.Inputs, func(t *Tensor) bool { return t.Name == name }) {
				return nil, fmt.Errorf("input %s: the network has no such input", name)
			}
		}
	}
	all := map[string][]int{}
	for _, t := range n.Inputs {
		dims, ok := shapes[t.Name]
		if !ok {
			dims = symbolic.Eval(t.Extents(), known)
		}
		all[t.Name] = dims
	}
	return n.BindShapes(all)
}

// BindShapes returns the values that the symbols of the inputs' dims have for the given shapes, and those that stand for counts
// the largest that they can have. Of an input that is a shape ([Tensor.Extents]) what is given are its elements, of which
// those of a Reshape may be 0 and -1 as ONNX has them.
func (n *Network) BindShapes(shapes map[string][]int) (map[string]int, error) {
	shapes, err := n.inferElements(shapes)
	if err != nil {
		return nil, err
	}
	if err := n.CheckShared(shapes); err != nil {
		return nil, err
	}
	env := map[string]int{}
	for _, t := range n.Inputs {
		dims := shapes[t.Name]
		if extents := t.Extents(); len(dims) != len(extents) {
			if t.IsShape {
				return nil, fmt.Errorf("input %s: %d values %v, the network needs those of its %d elements", t.Name, len(dims), dims, len(extents))
			}
			return nil, fmt.Errorf("input %s: shape %v has %d axes, the network needs %s", t.Name, dims, len(dims), t)
		}
		for i, d := range t.Extents() {
			if name, ok := d.SymbolName(); ok {
				env[name] = dims[i]
			}
		}
	}
	for _, t := range n.Inputs {
		for i, d := range t.Extents() {
			if v := d.Eval(env); v != shapes[t.Name][i] {
				return nil, fmt.Errorf("input %s: shape %v does not fit %s: %s must be %d", t.Name, shapes[t.Name], t, t.extentName(i), v)
			}
		}
	}
	return n.Counts(env), nil
}
