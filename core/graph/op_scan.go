package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ScanAttrs are the attributes of Scan. The body's inputs are the states, one element of each scanned input and then what it
// captures; its outputs the next states and one element of each gathered output.
type ScanAttrs struct {
	Body    *Network `json:"-"`
	States  int      // values that an iteration hands to the next one
	Scanned int      // inputs of which each iteration is given one element
	// Of scanned inputs and of gathered outputs, where they are not all 0 and forwards: the axis along which elements follow each
	// other, counted from the end where it is negative, and whether they are taken, or put, from the end on.
	InAxes, OutAxes           []int  `json:",omitempty"`
	InBackwards, OutBackwards []bool `json:",omitempty"`
}

// Bodies returns the body.
func (a ScanAttrs) Bodies() []Body {
	if a.Body == nil {
		return nil
	}
	return namedBodies(a, captures(nil, 0, len(a.Body.Inputs)), a.Body)
}

// WithBodies returns the attributes with another body.
func (a ScanAttrs) WithBodies(b []*Network) any { a.Body = b[0]; return a }

func (ScanAttrs) parts() []string { return []string{"body"} }

func (a ScanAttrs) fits(l *Layer) error {
	if a.Body == nil {
		return fmt.Errorf("the body is missing")
	}
	if a.States < 0 || a.Scanned < 1 || len(l.Inputs) < a.States+a.Scanned || len(l.Outputs) < a.States {
		return fmt.Errorf("%d inputs and %d outputs with %d states and %d scanned inputs", len(l.Inputs), len(l.Outputs), a.States, a.Scanned)
	}
	if in, out := len(a.Body.Inputs), len(a.Body.Outputs); in != len(l.Inputs) || out != len(l.Outputs) {
		return fmt.Errorf("the body has %d inputs and %d outputs, the layer %d and %d", in, out, len(l.Inputs), len(l.Outputs))
	}
	gathered := len(l.Outputs) - a.States
	ok := func(n, want int) bool { return n == 0 || n == want }
	if !ok(len(a.InAxes), a.Scanned) || !ok(len(a.InBackwards), a.Scanned) || !ok(len(a.OutAxes), gathered) || !ok(len(a.OutBackwards), gathered) {
		return fmt.Errorf("axes or directions are not those of %d inputs and %d outputs", a.Scanned, gathered)
	}
	return nil
}

// OutAxis returns the axis of gathered output i, which has so many; -1 where there is no such axis.
func (a ScanAttrs) OutAxis(i, rank int) int { return scanAxis(a.OutAxes, i, rank) }

// InAxis returns the axis of scanned input i, which has so many; -1 where there is no such axis.
func (a ScanAttrs) InAxis(i, rank int) int { return scanAxis(a.InAxes, i, rank) }

func scanAxis(axes []int, i, rank int) int {
	axis := 0
	if len(axes) > 0 {
		axis = axes[i]
	}
	axis, err := axisIn(axis, rank)
	if err != nil {
		return -1
	}
	return axis
}

// InPlace returns which element of scanned input i iteration k of n is given.
func (a ScanAttrs) InPlace(i, k, n int) int { return scanPlace(a.InBackwards, i, k, n) }

// OutPlace returns which element of gathered output i iteration k of n gives.
func (a ScanAttrs) OutPlace(i, k, n int) int { return scanPlace(a.OutBackwards, i, k, n) }

func scanPlace(backwards []bool, i, k, n int) int {
	if len(backwards) > 0 && backwards[i] {
		return n - 1 - k
	}
	return k
}

// Scan runs a body for each element of its scanned inputs along an axis, all of one extent. It gives the states after the last
// iteration, and behind them what the body gives at each iteration, along a new axis. States keep their type and shape.
var Scan = &Op{
	Name:  "Scan",
	Attrs: ScanAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Scan"},
	Class: ClassControl, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 {
		return symbolic.MulSaturating(bodyFLOPs(l.Attrs.(ScanAttrs).Body, env), int64(l.trips(env)))
	},
	Infer:  inferScan,
	Eval:   evalScan,
	Import: importScan,
	Export: exportScan,
}

func inferScan(l *Layer) error {
	a := l.Attrs.(ScanAttrs)
	if err := a.fits(l); err != nil {
		return err
	}
	formal := a.States + a.Scanned
	if i := slices.Index(l.OpInputs(), nil); i >= 0 {
		return fmt.Errorf("input %d is missing", i)
	}
	in, err := a.given(l.Inputs[:formal])
	if err != nil {
		return err
	}
	for i, t := range l.Inputs[a.States:formal] {
		if t.Range.PerChannel() {
			return fmt.Errorf("input %d is quantised per channel", a.States+i)
		}
		first, n := l.Inputs[a.States], t.Dims[a.InAxis(i, len(t.Dims))]
		m := first.Dims[a.InAxis(0, len(first.Dims))]
		if x, ok := n.IsConst(); ok {
			if y, ok := m.IsConst(); ok && x != y {
				return fmt.Errorf("input %d has %d elements to scan, the first one %d", a.States+i, x, y)
			}
		}
	}
	for _, t := range l.Inputs[formal:] {
		in = append(in, t.seen(""))
	}
	if a.Body, err = inferBody(a.Body, in); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	l.Attrs = a
	if err := l.inferCarried(in[:a.States], a.Body.Outputs); err != nil {
		return err
	}
	return l.inferGathered(a.States, a.Body.Outputs[a.States:], func(i, rank int) (int, error) {
		if axis := a.OutAxis(i, rank); axis >= 0 {
			return axis, nil
		}
		return 0, fmt.Errorf("output %d has no axis %v", a.States+i, a.OutAxes)
	})
}

func evalScan(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(ScanAttrs)
	scanned, err := newPieces(in[a.States : a.States+a.Scanned])
	if err != nil {
		return err
	}
	gathered, err := newPieces(out[a.States:])
	if err != nil {
		return err
	}
	n := -1
	for i, v := range scanned.values {
		extent := v.Dims[a.InAxis(i, len(v.Dims))]
		if n >= 0 && extent != n {
			return fmt.Errorf("scanned inputs of %d and %d elements", n, extent)
		}
		n = extent
	}
	states := append([]numeric.Value(nil), in[:a.States]...)
	run := &bodyRun{body: a.Body, until: l.until}
	for k := range n {
		args := append([]numeric.Value(nil), states...)
		for i, v := range scanned.values {
			piece, err := scanned.take(i, a.InAxis(i, len(v.Dims)), a.InPlace(i, k, n))
			if err != nil {
				return err
			}
			args = append(args, piece)
		}
		results, err := run.run(append(args, in[a.States+a.Scanned:]...))
		if err != nil {
			return fmt.Errorf("iteration %d: %w", k, err)
		}
		states = results[:a.States]
		for i, v := range results[a.States:] {
			rank := len(gathered.values[i].Dims)
			if err := gathered.put(i, v, a.OutAxis(i, rank), a.OutPlace(i, k, n)); err != nil {
				return err
			}
		}
	}
	if err := gathered.give(out[a.States:]); err != nil {
		return err
	}
	for i, v := range states {
		if err := give(&out[i], v); err != nil {
			return err
		}
	}
	return nil
}

func importScan(n *Node) (any, []*Tensor, error) {
	graphs, captured, err := n.Graphs("body")
	if err != nil {
		return nil, nil, err
	}
	a, err := scanAttrs(n)
	a.Body = graphs[0]
	return a, append(slices.Clone(n.Inputs), captured...), err
}

// scanAttrs returns the attributes of a node, its body aside.
func scanAttrs(n *Node) (ScanAttrs, error) {
	a := ScanAttrs{Scanned: n.Int("num_scan_inputs", 0)}
	a.States = len(n.Inputs) - a.Scanned
	if a.Scanned < 1 || a.States < 0 || slices.Contains(n.Inputs, nil) {
		return a, fmt.Errorf("num_scan_inputs is %d of %d inputs", a.Scanned, len(n.Inputs))
	}
	backwards := func(name string) []bool {
		var list []bool
		for _, v := range n.Ints(name) {
			list = append(list, v != 0)
		}
		return list
	}
	a.InAxes, a.OutAxes = n.Ints("scan_input_axes"), n.Ints("scan_output_axes")
	a.InBackwards, a.OutBackwards = backwards("scan_input_directions"), backwards("scan_output_directions")
	return a, nil
}

// ScanInputs returns what the body of a Scan node is given at each iteration: tensors of the types and shapes of its inputs.
func ScanInputs(n *Node) ([]*Tensor, error) {
	a, err := scanAttrs(n)
	if err != nil {
		return nil, err
	}
	return a.given(n.Inputs)
}

// given returns what the body is given at each iteration of states and scanned tensors.
func (a ScanAttrs) given(inputs []*Tensor) ([]*Tensor, error) {
	if n := len(a.InAxes); n != 0 && n != a.Scanned {
		return nil, fmt.Errorf("%d axes for %d scanned inputs", n, a.Scanned)
	}
	var list []*Tensor
	for i, t := range inputs {
		x := &Tensor{Name: t.Name, Type: t.Type, Dims: t.Dims, Range: t.Range}
		if k := i - a.States; k >= 0 {
			axis := a.InAxis(k, len(t.Dims))
			if axis < 0 {
				return nil, fmt.Errorf("input %d, %s, has no axis to scan", i, t)
			}
			x.Dims = slices.Delete(slices.Clone(t.Dims), axis, axis+1)
		}
		list = append(list, x)
	}
	return list, nil
}

func exportScan(e *Exporter) error {
	a := e.Layer.Attrs.(ScanAttrs)
	directions := func(backwards []bool) []int {
		var list []int
		for _, b := range backwards {
			if b {
				list = append(list, 1)
			} else {
				list = append(list, 0)
			}
		}
		return list
	}
	formal := a.States + a.Scanned
	return e.Node("Scan", Attributes{
		"body": e.subgraph(a.Body, formal, formal), "num_scan_inputs": a.Scanned,
		"scan_input_axes": a.InAxes, "scan_output_axes": a.OutAxes,
		"scan_input_directions": directions(a.InBackwards), "scan_output_directions": directions(a.OutBackwards),
	}, e.Inputs()[:formal]...)
}
