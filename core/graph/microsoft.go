package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// Composites returns the ONNX operators that are imported as several layers: those of ONNX Runtime's domain com.microsoft that
// its optimiser, Optimum and Olive put into networks, those of ai.onnx.ml and ai.onnx.preview, and some of ONNX's own. What is not
// supported of them is in the comments of the functions that import them.
func Composites() []*Composite {
	var list []*Composite
	for _, family := range []map[string]func(*Definition, *Node) ([]*Tensor, error){
		onnxComposites, onnxExperimental, onnxPreview, onnxTraining, mlComposites, microsoftImages, microsoftNorms, microsoftActivations, microsoftProducts, microsoftAttentions, microsoftQuantised,
	} {
		for name, f := range family {
			list = append(list, &Composite{Onnx: name, Import: f})
		}
	}
	return list
}

// result is that of an operator of one output.
func result(t *Tensor) ([]*Tensor, error) { return []*Tensor{t}, nil }

// times adds the product with a number, or nothing for 1.
func (d *Definition) times(x *Tensor, factor float32) *Tensor {
	if factor == 1 {
		return x
	}
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Mul, 0, b.Constant(factor))
	return d.Program(b.Program, x)
}

// plusNumber adds the sum with a number.
func (d *Definition) plusNumber(x *Tensor, summand float32) *Tensor {
	b := elementwise.NewBuilder(1)
	b.Do(elementwise.Add, 0, b.Constant(summand))
	return d.Program(b.Program, x)
}

// plus adds a sum, or nothing where there is no summand.
func (d *Definition) plus(x, summand *Tensor) *Tensor {
	if summand == nil {
		return x
	}
	return d.Add(x, summand)
}

// as adds a cast, or nothing where x has the type.
func (d *Definition) as(x *Tensor, t numeric.DataType) *Tensor {
	if x.Type == t {
		return x
	}
	return d.Cast(x, t)
}

// number adds an integer.
func (d *Definition) number(n int64) *Tensor {
	return d.Constant(d.fresh("number"), numeric.Values(numeric.I64, []int64{n}))
}

// counting adds 0, 1, ... up to an extent of x, without it.
func (d *Definition) counting(x *Tensor, axis int) *Tensor {
	return d.Sequence(d.number(0), d.extentOf(x, axis), d.number(1))
}

// extentOf adds an extent of x, a scalar.
func (d *Definition) extentOf(x *Tensor, axis int) *Tensor {
	return d.Gather(d.ShapeOf(x), d.number(int64(axis)), 0)
}

// activated adds the activation that a fused operator names, with its parameters.
func (d *Definition) activated(x *Tensor, name string, params ...float32) (*Tensor, error) {
	switch {
	case name == "":
		return x, nil
	case name == "Clip" && len(params) == 2:
		return d.Clip(x, params[0], params[1]), nil
	case name == "LeakyRelu" && len(params) >= 1:
		return d.LeakyRelu(x, params[0]), nil
	case name == "HardSigmoid" && len(params) == 2:
		return d.HardSigmoid(x, params[0], params[1]), nil
	case name == "Elu" && len(params) >= 1:
		return d.Elu(x, params[0]), nil
	}
	switch name {
	case "Relu":
		return d.Relu(x), nil
	case "Sigmoid":
		return d.Sigmoid(x), nil
	case "Tanh":
		return d.Tanh(x), nil
	case "Softplus":
		return d.Softplus(x), nil
	case "Softsign":
		return d.Softsign(x), nil
	case "Gelu":
		return d.Gelu(x), nil
	case "HardSwish":
		return d.HardSwish(x), nil
	}
	return nil, fmt.Errorf("activation %q with %d parameters is not supported", name, len(params))
}
