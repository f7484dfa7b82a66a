package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// RecurrentAttrs are the attributes of LSTM, GRU and RNN.
type RecurrentAttrs struct {
	Hidden      int // size of the state
	Direction   Direction
	Activations []RecurrentActivation // of the gates, direction by direction; nil: those of the op's definition
	Clip        float32               // the gates' sums are bounded to ±Clip before their activations; 0: no bound
	BatchFirst  bool                  // the batch is axis 0 of all tensors that have one: ONNX's layout 1
	Coupled     bool                  // of an LSTM: the forget gate is 1 less the input gate
	ResetAfter  bool                  // of a GRU: the reset gate acts on the product of state and weights, not on the state
}

// Direction says in which order the places of a sequence are gone through.
type Direction int

// The directions.
const (
	Forward Direction = iota
	Reverse
	Bidirectional // both, each with weights of its own
)

var directions = []string{"forward", "reverse", "bidirectional"}

func (d Direction) String() string {
	if d < 0 || int(d) >= len(directions) {
		return fmt.Sprintf("direction(%d)", int(d))
	}
	return directions[d]
}

// Count returns the number of states: 2 for both directions.
func (d Direction) Count() int {
	if d == Bidirectional {
		return 2
	}
	return 1
}

// The inputs of a recurrent layer; D is the number of directions, G the number of gates.
const (
	RecurrentX       = iota // [T,B,I], or [B,T,I] where BatchFirst
	RecurrentW              // of the input: [D,G*H,I]
	RecurrentR              // of the state: [D,G*H,H]
	RecurrentBias           // optional: [D,2*G*H], those of W and then those of R
	RecurrentLengths        // optional: how many places of each sequence there are, I32 [B]; all without
	RecurrentState          // optional: the first state, [D,B,H], or [B,D,H]; zeros without
	RecurrentCell           // of an LSTM, optional: its first cell, as the state
	RecurrentPeep           // of an LSTM, optional: factors of the cell in the input, output and forget gate, [D,3*H]
)

// LSTM, GRU and RNN compute a state from the one before it and the next element of a sequence. Output 0 has the states of all
// places, [T,D,B,H], or [B,T,D,H] where BatchFirst; output 1 the last one, [D,B,H], or [B,D,H]; output 2 of an LSTM the last
// cell. Behind the end of a sequence output 0 is 0, and so are the last state and cell of a sequence of no places. The reverse
// direction begins at the end of each sequence.
//
// The gates are, in the order of the weights, with f, g and h the activations, and a bias in each sum:
//
//	LSTM  i = f(xWi + sRi + Pi.c)  o = f(xWo + sRo + Po.c')  f = f(xWf + sRf + Pf.c)  z = g(xWc + sRc)
//	      c' = f.c + i.z           s' = o.h(c')
//	GRU   z = f(xWz + sRz)         r = f(xWr + sRr)          n = g(xWh + (r.s)Rh), or g(xWh + r.(sRh))
//	      s' = (1-z).n + z.s
//	RNN   s' = f(xW + sR)
//
// ONNX's definition leaves open what is clipped; the sums of gates are, and not the cell before h, as runtimes do it.
var (
	LSTM = recurrent("LSTM", evalLSTM, []string{"Sigmoid", "Tanh", "Tanh"})
	GRU  = recurrent("GRU", evalGRU, []string{"Sigmoid", "Tanh"})
	RNN  = recurrent("RNN", evalRNN, []string{"Tanh"})
)

func recurrent(name string, cell recurrentCell, defaults []string) *Op {
	inputs := []Role{Data, Coefficients, Coefficients, Coefficients, Parameter, Data}
	if name == "LSTM" {
		inputs = append(inputs, Data, Coefficients)
	}
	return &Op{
		Name:  name,
		Attrs: RecurrentAttrs{},
		Onnx:  []string{name},
		Class: ClassReduction, Inputs: inputs, Memory: Written,
		Moves: computed,
		FLOPs: recurrentFLOPs, Products: recurrentProducts,
		Infer:  inferRecurrent,
		Eval:   func(l *Layer, in, out []numeric.Value) error { return evalRecurrent(l, cell, in, out) },
		Import: func(n *Node) (any, []*Tensor, error) { return importRecurrent(n, name, defaults) },
		Export: func(e *Exporter) error { return exportRecurrent(e, name) },
	}
}

// Gates returns the number of gates of an LSTM, GRU or RNN.
func (l *Layer) Gates() int {
	switch l.Op.Name {
	case "LSTM":
		return 4
	case "GRU":
		return 3
	}
	return 1
}

// GateActivations returns the activations of all directions, the op's own where the attributes have none.
func (l *Layer) GateActivations() []RecurrentActivation {
	a := l.Attrs.(RecurrentAttrs)
	if a.Activations != nil {
		return a.Activations
	}
	list := []RecurrentActivation{{Op: "Tanh"}}
	switch l.Op.Name {
	case "LSTM":
		list = []RecurrentActivation{{Op: "Sigmoid"}, {Op: "Tanh"}, {Op: "Tanh"}}
	case "GRU":
		list = []RecurrentActivation{{Op: "Sigmoid"}, {Op: "Tanh"}}
	}
	return slices.Repeat(list, a.Direction.Count())
}

// RecurrentShape are the extents of a recurrent layer, and where its rows lie.
type RecurrentShape struct {
	Steps, Batch, Directions, Input, Hidden, Gates int

	batchFirst bool
	direction  Direction
}

// RecurrentShape returns the extents of a layer whose input has the given ones.
func (l *Layer) RecurrentShape(x []int) RecurrentShape {
	a := l.Attrs.(RecurrentAttrs)
	s := RecurrentShape{Steps: x[0], Batch: x[1], Directions: a.Direction.Count(), Input: x[2], Hidden: a.Hidden, Gates: l.Gates(),
		batchFirst: a.BatchFirst, direction: a.Direction}
	if a.BatchFirst {
		s.Steps, s.Batch = s.Batch, s.Steps
	}
	return s
}

// Place returns the place in a sequence of some length to which a direction comes with a step.
func (s RecurrentShape) Place(direction, step, length int) int {
	if s.direction == Reverse || direction == 1 {
		return length - 1 - step
	}
	return step
}

// X returns the row of the input of a place of an item.
func (s RecurrentShape) X(place, item int) int {
	if s.batchFirst {
		return item*s.Steps + place
	}
	return place*s.Batch + item
}

// Y returns the row of output 0.
func (s RecurrentShape) Y(place, direction, item int) int {
	if s.batchFirst {
		return (item*s.Steps+place)*s.Directions + direction
	}
	return (place*s.Directions+direction)*s.Batch + item
}

// State returns the row of the first and the last states and cells.
func (s RecurrentShape) State(direction, item int) int {
	if s.batchFirst {
		return item*s.Directions + direction
	}
	return direction*s.Batch + item
}

// Lengths returns the lengths of the sequences of a batch: those given, or all steps.
func (s RecurrentShape) Lengths(dst []int, given []int64) error {
	for b := range dst {
		dst[b] = s.Steps
		if given == nil {
			continue
		}
		if n := given[b]; n < 0 || n > int64(s.Steps) {
			return fmt.Errorf("sequence %d has %d places, and there are 0 to %d", b, n, s.Steps)
		}
		dst[b] = int(given[b])
	}
	return nil
}

// needFloats returns input i, which holds real numbers of any type.
func (l *Layer) needFloats(i int) (*Tensor, error) {
	t, err := l.need(i)
	if err == nil && !isReal(t) && t.Type != numeric.F64 {
		return nil, fmt.Errorf("input %d is %s, want real numbers", i, t.TypeString())
	}
	return t, err
}

func inferRecurrent(l *Layer) error {
	a, g := l.Attrs.(RecurrentAttrs), symbolic.Const(l.Gates())
	if err := l.checkRecurrent(a); err != nil {
		return err
	}
	x, err := l.needFloats(RecurrentX)
	if err != nil {
		return err
	}
	if len(x.Dims) != 3 {
		return fmt.Errorf("input 0 is %s, want sequences, batches and elements", x.TypeString())
	}
	d, h := symbolic.Const(a.Direction.Count()), symbolic.Const(a.Hidden)
	steps, batch := x.Dims[0], x.Dims[1]
	state, all := []symbolic.Dim{d, batch, h}, []symbolic.Dim{steps, d, batch, h}
	if a.BatchFirst {
		steps, batch = batch, steps
		state, all = []symbolic.Dim{batch, d, h}, []symbolic.Dim{batch, steps, d, h}
	}
	want := [][]symbolic.Dim{RecurrentW: {d, g.Mul(h), x.Dims[2]}, RecurrentR: {d, g.Mul(h), h}, RecurrentBias: {d, g.MulN(2).Mul(h)},
		RecurrentLengths: {batch}, RecurrentState: state, RecurrentCell: state, RecurrentPeep: {d, h.MulN(3)}}
	if n := len(l.OpInputs()); n > len(l.Op.Inputs) {
		return fmt.Errorf("%d inputs, want at most %d", n, len(l.Op.Inputs))
	}
	for i := RecurrentW; i < len(l.Op.Inputs); i++ {
		t := l.Input(i)
		switch {
		case t == nil && i > RecurrentR:
			continue
		case t != nil && i == RecurrentLengths:
			if t.Type != numeric.I32 && t.Type != numeric.I64 {
				return fmt.Errorf("input %d is %s, want the lengths of sequences", i, t.TypeString())
			}
		default:
			if t, err = l.needFloats(i); err != nil {
				return err
			}
			if (t.Type == numeric.F64) != (x.Type == numeric.F64) {
				return fmt.Errorf("input %d is %s, and input 0 %s", i, t.TypeString(), x.TypeString())
			}
		}
		if !SameShape(t.Dims, want[i]) {
			return fmt.Errorf("input %d is %s, want %s", i, t.TypeString(), symbolic.Format(want[i]))
		}
	}
	outputs := [][]symbolic.Dim{all, state, state}[:min(3, len(l.Op.Inputs)-4)]
	if len(l.Outputs) > len(outputs) {
		return fmt.Errorf("%d outputs, want at most %d", len(l.Outputs), len(outputs))
	}
	for i, y := range l.Outputs {
		y.Type, y.Dims = x.RealType(), outputs[i]
	}
	return nil
}

// checkRecurrent checks attributes.
func (l *Layer) checkRecurrent(a RecurrentAttrs) error {
	if a.Hidden < 1 || a.Hidden > maxExtent || a.Direction < Forward || a.Direction > Bidirectional || !(a.Clip >= 0) {
		return fmt.Errorf("a state of %d elements, %s, and a clip of %g: want at least one, a direction, and no negative number", a.Hidden, a.Direction, a.Clip)
	}
	if a.Coupled && l.Op.Name != "LSTM" || a.ResetAfter && l.Op.Name != "GRU" {
		return fmt.Errorf("attributes of another op are set")
	}
	per := map[string]int{"LSTM": 3, "GRU": 2, "RNN": 1}[l.Op.Name]
	if n := len(a.Activations); a.Activations != nil && n != per*a.Direction.Count() {
		return fmt.Errorf("%d activations, want %d for each direction", n, per)
	}
	for _, f := range a.Activations {
		if recurrentFunction(f.Op) == nil {
			return fmt.Errorf("activation %q is unknown", f.Op)
		}
	}
	return nil
}

// recurrentProducts counts two for each multiply-add of the products with the input and with the state.
func recurrentProducts(l *Layer, env map[string]int) int64 {
	s := l.RecurrentShape(inputDims(l, env))
	return int64(s.Steps) * int64(s.Batch) * int64(s.Directions) * int64(s.Hidden) * int64(s.Gates) * int64(2*(s.Input+s.Hidden))
}

// recurrentFLOPs counts two for each multiply-add of the products, and one for each operation of a gate: a bias and an
// activation, and what makes a state of the gates.
func recurrentFLOPs(l *Layer, env map[string]int) int64 {
	s := l.RecurrentShape(inputDims(l, env))
	each := int64(s.Gates) * int64(2*(s.Input+s.Hidden)+2)
	switch s.Gates {
	case 4:
		each += 5
	case 3:
		each += 5
	}
	return int64(s.Steps) * int64(s.Batch) * int64(s.Directions) * int64(s.Hidden) * each
}
