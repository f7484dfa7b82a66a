package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// GatedAttrs are the attributes of a gated matrix product.
type GatedAttrs struct {
	Activation elementwise.Op // of one argument, without parameters
}

// The inputs of a gated matrix product behind its rows x.
const (
	GatedGate     = iota + 1 // w
	GatedUp                  // v
	GatedGateBias            // optional: b
	GatedUpBias              // optional: c
)

// GatedMatMul is y = activation(x*w + b) * (x*v + c), element by element, for x [...,K], the matrices w and v [K,N] and the vectors
// b and c [N]: the first half of the feed-forward part of many transformers. No ONNX operator is like it; passes make it, last of all.
var GatedMatMul = &Op{
	Name:  "GatedMatMul",
	Attrs: GatedAttrs{},
	Class: ClassMatrix, Inputs: []Role{Data, Weights, Weights, Bias, Bias}, Memory: Written,
	Moves:   computed,
	FLOPs:   gatedFLOPs,
	Product: &Product{Axes: matmulAxes, Groups: oneGroup},
	Infer:   inferGated,
	Eval:    evalGated,
	Export: func(e *Exporter) error {
		l := e.Layer
		var args []programArg
		for i := GatedGate; i <= GatedUp; i++ {
			sum := e.Step("MatMul", nil, e.Input(0), e.Input(i))
			if at := i + GatedGateBias - GatedGate; l.Input(at) != nil {
				sum = e.Step("Add", nil, sum, e.Input(at))
			}
			args = append(args, programArg{sum, l.Outputs[0].Type})
		}
		return e.program(l.Attrs.(GatedAttrs).Program(), args, e.outputs[0], l.Outputs[0].Type)
	},
}

// Program returns what is computed of an element of both products.
func (a GatedAttrs) Program() elementwise.Program {
	return elementwise.Unary(a.Activation).Then(elementwise.Binary(elementwise.Mul), 0)
}

func inferGated(l *Layer) error {
	p := l.Attrs.(GatedAttrs).Program()
	if err := p.Check(); err != nil {
		return err
	}
	if info := p.Code[0].Op.Info(); info.Arity != 1 || info.Imms != 0 {
		return fmt.Errorf("activation %s is not of one argument alone", p.Code[0].Op)
	}
	x, err := l.needReal(0)
	if err != nil {
		return err
	}
	for i := GatedGate; i <= GatedUp; i++ {
		w, err := l.needReal(i)
		if err != nil {
			return err
		}
		if len(w.Dims) != 2 || len(x.Dims) < 2 || conflict(w.Dims[1], l.Inputs[1].Dims[1]) {
			return fmt.Errorf("inputs %s, %s and %s: want rows and two matrices of as many columns", x.TypeString(), l.Inputs[1].TypeString(), w.TypeString())
		}
		dims, err := matmulDims(x, w)
		if err != nil {
			return err
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), dims
		at := i + GatedGateBias - GatedGate
		if l.Input(at) == nil {
			continue
		}
		if b, err := l.needReal(at); err != nil {
			return err
		} else if len(b.Dims) != 1 || conflict(b.Dims[0], w.Dims[1]) {
			return fmt.Errorf("input %d is %s, want one number for each column of %s", at, b.TypeString(), w.TypeString())
		}
	}
	return nil
}

func evalGated(l *Layer, in, out []numeric.Value) error {
	var sums []numeric.Value
	for i := GatedGate; i <= GatedUp; i++ {
		y := numeric.NewValue(numeric.F32, out[0].Dims...)
		plain := &Layer{Op: MatMul, Inputs: []*Tensor{{Type: numeric.F32}, {Type: numeric.F32}}, Outputs: []*Tensor{{Type: numeric.F32}}}
		if err := evalMatMul(plain, []numeric.Value{in[0], in[i]}, []numeric.Value{y}); err != nil {
			return err
		}
		if at := i + GatedGateBias - GatedGate; at < len(in) && in[at].Dims != nil {
			for j, b := 0, in[at].F32(); j < y.Len(); j++ {
				y.F32()[j] += b[j%len(b)]
			}
		}
		sums = append(sums, y)
	}
	return l.Attrs.(GatedAttrs).Program().Apply(sums, out[0])
}

// gatedFLOPs counts both products, the activation and the product of the two.
func gatedFLOPs(l *Layer, env map[string]int) int64 {
	return 2*matrixFLOPs(l, env) + 2*outputCount(l, env)
}
