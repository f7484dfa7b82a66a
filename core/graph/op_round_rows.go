package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// RowRange says by which ranges a tensor is quantised to U8 as it comes: a row is what lies along its last axis, such as a token.
type RowRange uint8

// The ranges.
const (
	OneRange      RowRange = iota // one of the tensor, as DynamicQuantize has it
	RowsWithZero                  // one of each row, from its least to its largest number, widened to hold 0
	RowsSymmetric                 // one of each row, from -amax to amax: scale amax/127, zero 128
)

func (r RowRange) String() string {
	return [...]string{"one", "asymmetric", "symmetric"}[min(int(r), 2)]
}

// Of returns the range of numbers between lo and hi, which are not above and not below 0: NaN if one of the numbers is.
func (r RowRange) Of(lo, hi float32) (scale float32, zero int32) {
	if r != RowsSymmetric {
		return dynamicRange(lo, hi)
	}
	scale = max(-lo, hi) / 127
	if !(scale > 0) {
		scale = 1
	}
	return scale, 128
}

// quantize quantises a row to U8 and returns by what.
func (r RowRange) quantize(q numeric.Value, row []float32) numeric.Range {
	lo, hi := float32(0), float32(0)
	for _, v := range row {
		lo, hi = min(lo, v), max(hi, v)
	}
	of := numeric.PerTensor(r.Of(lo, hi))
	of.Quantize(q, row)
	return of
}

// RoundRowsAttrs are the attributes of RoundRows.
type RoundRowsAttrs struct{ Rows RowRange }

// RoundRows rounds each row, along the last axis, to the 256 numbers that a range of its own holds: (q - zero) * scale, where q is the
// row quantised to U8. It stands in front of a product whose rows are to be quantised as they come, until [DynamicQuantizeMatMul] does both.
var RoundRows = &Op{
	Name:  "RoundRows",
	Attrs: RoundRowsAttrs{},
	Class: ClassConversion, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: elementFLOPs(9),
	Infer: func(l *Layer) error {
		x, err := l.needReal(0)
		if err != nil {
			return err
		}
		if by := l.Attrs.(RoundRowsAttrs).Rows; by != RowsWithZero && by != RowsSymmetric {
			return fmt.Errorf("ranges of rows: %d is none", by)
		}
		if x.Quantized() || len(x.Dims) == 0 {
			return fmt.Errorf("input %s: want rows of real numbers", x.TypeString())
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = x.Type, x.Dims
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		n := in[0].Dims[len(in[0].Dims)-1]
		by, x := l.Attrs.(RoundRowsAttrs).Rows, in[0].Floats()
		y := make([]float32, 0, len(x))
		for q := numeric.NewValue(numeric.U8, n); len(x) > 0; x = x[n:] {
			y = append(y, by.quantize(q, x[:n]).Dequantize(q)...)
		}
		numeric.FromReal(out[0], y, numeric.Range{})
		return nil
	},
	Export: func(e *Exporter) error {
		y, err := e.roundRows(e.Input(0), e.Layer.Attrs.(RoundRowsAttrs).Rows)
		if err != nil {
			return err
		}
		return e.Node("Cast", Attributes{"to": e.Layer.Outputs[0].Type}, y)
	},
}

// roundRows adds the nodes of RoundRows, in float32: ONNX's own dynamic quantisation has one range for a tensor.
func (e *Exporter) roundRows(x string, by RowRange) (string, error) {
	if t := e.Layer.Inputs[0].Type; t != numeric.F32 {
		x = e.Step("Cast", Attributes{"to": numeric.F32}, x)
	}
	number := func(v float64) string { // of types that are known, there is no error
		name, _ := e.number("row", numeric.F32, v)
		return name
	}
	last := e.list("axes", []int{-1})
	extreme := func(of string) string {
		return e.Step(of, nil, e.Step("Reduce"+of, Attributes{"keepdims": true}, x, last), number(0))
	}
	lo, hi := extreme("Min"), extreme("Max")
	width, steps := "", 255.0
	if by == RowsSymmetric {
		width, steps = e.Step("Max", nil, e.Step("Neg", nil, lo), hi), 127
	} else {
		width = e.Step("Sub", nil, hi, lo)
	}
	scale := e.Step("Div", nil, width, number(steps))
	scale = e.Step("Where", nil, e.Step("Greater", nil, scale, number(0)), scale, number(1))
	zero := ""
	if by == RowsWithZero {
		zero = e.Step("Round", nil, e.Step("Div", nil, e.Step("Neg", nil, lo), scale))
	} else {
		zero = number(128)
	}
	q := e.Step("Add", nil, e.Step("Round", nil, e.Step("Div", nil, x, scale)), zero)
	q = e.Step("Min", nil, e.Step("Max", nil, q, number(0)), number(255))
	return e.Step("Mul", nil, e.Step("Sub", nil, q, zero), scale), nil
}
