package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// LoopAttrs are the attributes of Loop. The body's inputs are the number of the iteration, an I64 of one element, the condition,
// the carried values and then what it captures; its outputs the condition of the next iteration, the carried values and what is
// gathered.
type LoopAttrs struct {
	Body    *Network `json:"-"`
	Carried int      // values that an iteration hands to the next one
	Count   string   // the symbol of how many iterations there are, where data end a loop that gathers; "" if none may
}

// Bodies returns the body.
func (a LoopAttrs) Bodies() []Body {
	if a.Body == nil {
		return nil
	}
	return namedBodies(a, captures([]int{-1, -1}, 2, len(a.Body.Inputs)-2), a.Body)
}

// WithBodies returns the attributes with another body.
func (a LoopAttrs) WithBodies(b []*Network) any { return LoopAttrs{b[0], a.Carried, a.Count} }

func (LoopAttrs) parts() []string { return []string{"body"} }

func (a LoopAttrs) fits(l *Layer) error {
	if a.Body == nil {
		return fmt.Errorf("the body is missing")
	}
	if a.Carried < 0 || len(l.Inputs) < 2+a.Carried || len(l.Outputs) < a.Carried {
		return fmt.Errorf("%d inputs and %d outputs with %d carried values", len(l.Inputs), len(l.Outputs), a.Carried)
	}
	if in, out := len(a.Body.Inputs), len(a.Body.Outputs); in != len(l.Inputs) || out != 1+len(l.Outputs) {
		return fmt.Errorf("the body has %d inputs and %d outputs, the layer %d and %d", in, out, len(l.Inputs), len(l.Outputs))
	}
	return nil
}

// Loop runs a body again and again: input 0 times at most, an I64 of one element that may be left out, and as long as the
// condition holds, a Bool of one element: input 1 before the first iteration, true where it is left out, and then what the body
// says. It gives the carried values, as they are after the last iteration and as they were at first if there was none, and
// behind them what the body gives at each iteration, stacked along a new axis 0. How many iterations there are must follow from shapes
// then, or be counted: the most must follow from them, and what is gathered last must be the numbers of the iterations. Carried values
// keep their type and shape.
var Loop = &Op{
	Name:  "Loop",
	Attrs: LoopAttrs{},
	Reals: AsStored,
	Onnx:  []string{"Loop"},
	Class: ClassControl, Inputs: []Role{Parameter, Parameter, Data}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 {
		return symbolic.MulSaturating(bodyFLOPs(l.Attrs.(LoopAttrs).Body, env), int64(l.trips(env)))
	},
	Counted: countedLoop,
	Infer:   inferLoop,
	Eval:    evalLoop,
	Import:  importLoop,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(LoopAttrs)
		inputs := []string{e.Input(0), e.Input(1)}
		for i := range a.Carried {
			inputs = append(inputs, e.Input(2+i))
		}
		return e.Node("Loop", Attributes{"body": e.subgraph(a.Body, 2+a.Carried, 2+a.Carried)}, inputs...)
	},
}

// Trips returns how many iterations a loop or a scan has, where that does not depend on data. Those of a loop are the most that
// it has where certain is false.
func (l *Layer) Trips() (n symbolic.Dim, certain, known bool) {
	switch a := l.Attrs.(type) {
	case ScanAttrs:
		return l.Inputs[a.States].Dims[a.InAxis(0, len(l.Inputs[a.States].Dims))], true, true
	case LoopAttrs:
		certain = l.endless(a)
		if m := l.Input(0); m != nil {
			if list, ok := m.Ints(); ok && len(list) == 1 {
				return symbolic.Const(max(0, list[0])), certain, true
			}
			if len(m.Value) == 1 {
				return m.Value[0].AtLeast0(), certain, true
			}
		}
	}
	return symbolic.Dim{}, certain, false
}

// countedLoop counts the iterations of a loop that data end, by their numbers, which it gathers last.
func countedLoop(l *Layer) []Counting {
	a := l.Attrs.(LoopAttrs)
	if a.Count == "" || !a.gathersNumbers() {
		return nil
	}
	n, certain, known := l.Trips()
	if most, fixed := n.IsConst(); certain || !known || fixed && most > MaxIterations {
		return nil
	}
	return []Counting{{Symbol: a.Count, Output: len(l.Outputs) - 1, Most: n}}
}

// loopAttrs are those of a loop of the given name, which counts its iterations if it gathers their numbers last.
func loopAttrs(body *Network, carried int, name string) LoopAttrs {
	a := LoopAttrs{Body: body, Carried: carried}
	if a.gathersNumbers() {
		a.Count = countSymbol(name)
	}
	return a
}

// gathersNumbers reports whether the last of what the loop gathers is the numbers of its iterations.
func (a LoopAttrs) gathersNumbers() bool {
	if a.Body == nil || len(a.Body.Outputs) < 2+a.Carried || len(a.Body.Inputs) < 2 {
		return false
	}
	l := a.Body.Outputs[len(a.Body.Outputs)-1].Producer
	return l != nil && l.Op == Identity && l.Epilogue.Args == 0 && l.Inputs[0] == a.Body.Inputs[0]
}

// UncountedError is the error of a loop that gathers, that data end, and that does not count its iterations.
type UncountedError struct {
	Output int  // the first that has an element for each iteration
	Most   bool // it is known how many there can be, and memory for them can be had
}

func (e *UncountedError) Error() string {
	return fmt.Sprintf("output %d has an element for each iteration, but how many there are depends on data, and %s", e.Output, map[bool]string{
		true:  "what is gathered last is not their numbers, by which they are counted",
		false: fmt.Sprintf("how many there can be, up to %d, does not follow from shapes and constants; give the loop a number of iterations", MaxIterations),
	}[e.Most])
}

// trips returns how many iterations arithmetic is counted for: 1 where nothing is known.
func (l *Layer) trips(env map[string]int) int {
	n, certain, known := l.Trips()
	if v := n.Eval(env); known && (certain || v < MaxIterations) {
		return max(v, 0)
	}
	return 1
}

// endless reports whether the condition of a loop always holds.
func (l *Layer) endless(a LoopAttrs) bool {
	if c := l.Input(1); c != nil {
		if v, known := c.Truth(); !known || !v {
			return false
		}
	}
	next := a.Body.Outputs[0]
	for next.Producer != nil && (next.Producer.Op == Identity || next.Producer.Op == Cast) && next.Producer.Inputs[0].Type == numeric.Bool {
		next = next.Producer.Inputs[0]
	}
	if next == a.Body.Inputs[1] {
		return true
	}
	v, known := next.Truth()
	return known && v
}

func inferLoop(l *Layer) error {
	a := l.Attrs.(LoopAttrs)
	if err := a.fits(l); err != nil {
		return err
	}
	if m := l.Inputs[0]; m != nil {
		if err := m.isOne("the number of iterations", numeric.I64); err != nil {
			return err
		}
	}
	if c := l.Inputs[1]; c != nil {
		if err := c.isOne("the condition", numeric.Bool); err != nil {
			return err
		}
	}
	if a.Carried == 0 && len(l.Outputs) == 0 {
		return fmt.Errorf("it gives nothing")
	}
	in := []*Tensor{{Type: numeric.I64, Dims: oneDims(a.Body.Inputs[0])}, {Type: numeric.Bool, Dims: oneDims(a.Body.Inputs[1])}}
	for i, t := range l.OpInputs()[2:] {
		if t == nil {
			return fmt.Errorf("input %d is missing", i+2)
		}
		s := t.seen("")
		if i < a.Carried {
			s.Value = nil
		}
		in = append(in, s)
	}
	var err error
	if a.Body, err = inferBody(a.Body, in); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	l.Attrs = a
	out := a.Body.Outputs
	if err := out[0].isOne("the body's condition", numeric.Bool); err != nil {
		return err
	}
	if l.Inputs[0] == nil && l.endless(a) {
		return fmt.Errorf("neither a number of iterations nor a condition ends it")
	}
	if err := l.inferCarried(in[2:2+a.Carried], out[1:]); err != nil {
		return err
	}
	return l.inferGathered(a.Carried, out[1+a.Carried:], nil)
}

// oneDims returns the shape of a body's input of one element: none or one axis.
func oneDims(t *Tensor) []symbolic.Dim { return symbolic.Shape([]int{1}[:min(len(t.Dims), 1)]...) }

// inferCarried gives the first outputs the types and shapes that an iteration is given and must give.
func (l *Layer) inferCarried(before, after []*Tensor) error {
	for i, t := range before {
		if after[i].Type != t.Type || !symbolic.Equal(after[i].Dims, t.Dims) || !after[i].Range.Equal(t.Range) {
			return fmt.Errorf("carried value %d is %s before an iteration and %s after it; only values that keep their type and shape are supported", i, t.TypeString(), after[i].TypeString())
		}
		y := l.Outputs[i]
		y.Type, y.Dims, y.Range, y.Value = t.Type, t.Dims, t.Range, nil
	}
	return nil
}

// inferGathered gives the outputs from first on the types and shapes of what an iteration gives, with an axis more.
func (l *Layer) inferGathered(first int, each []*Tensor, axes func(i, rank int) (int, error)) error {
	if len(each) == 0 {
		return nil
	}
	n, certain, known := l.Trips()
	if !known || !certain {
		counted := l.Counted()
		if most, fixed := n.IsConst(); len(counted) == 0 {
			return &UncountedError{first, known && !(fixed && most > MaxIterations)}
		}
		n = symbolic.Symbol(counted[0].Symbol)
	}
	for i, t := range each {
		axis := 0
		if axes != nil {
			var err error
			if axis, err = axes(i, len(t.Dims)+1); err != nil {
				return err
			}
		}
		dims := append([]symbolic.Dim{}, t.Dims[:axis]...)
		dims = append(append(dims, n), t.Dims[axis:]...)
		if err := l.inferMoved(first+i, t, dims, -1); err != nil {
			return err
		}
	}
	return nil
}

func evalLoop(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(LoopAttrs)
	most, goes := int64(math.MaxInt64), true
	if l.Inputs[0] != nil {
		most = in[0].Ints()[0]
	}
	if l.Inputs[1] != nil {
		goes = in[1].Data[0] != 0
	}
	carried := append([]numeric.Value(nil), in[2:2+a.Carried]...)
	run, done := &bodyRun{body: a.Body, until: l.until}, 0
	gathered, err := newPieces(out[a.Carried:])
	if err != nil {
		return err
	}
	for i := int64(0); i < most && goes; i++ {
		if i == MaxIterations {
			return EndlessError{}
		}
		args := append([]numeric.Value{
			numeric.Values(numeric.I64, []int64{i}, symbolic.Eval(a.Body.Inputs[0].Dims, nil)...),
			numeric.Values(numeric.Bool, []uint8{1}, symbolic.Eval(a.Body.Inputs[1].Dims, nil)...),
		}, carried...)
		results, err := run.run(append(args, in[2+a.Carried:]...))
		if err != nil {
			return fmt.Errorf("iteration %d: %w", i, err)
		}
		goes, done = results[0].Data[0] != 0, done+1
		carried = results[1 : 1+a.Carried]
		for j, v := range results[1+a.Carried:] {
			if err := gathered.put(j, v, 0, int(i)); err != nil {
				return err
			}
		}
	}
	if err := gathered.give(out[a.Carried:]); err != nil {
		return err
	}
	if l.Counts() {
		numbers := out[len(out)-1].I64()
		for i := done; i < len(numbers); i++ {
			numbers[i] = -1
		}
	}
	for i, v := range carried {
		if err := give(&out[i], v); err != nil {
			return err
		}
	}
	return nil
}

// put copies a value to place i on an axis of dst.
func put(dst, v numeric.Value, axis, i int) error {
	if i >= dst.Dims[axis] {
		return fmt.Errorf("iteration %d has no place in %s%v", i, dst.Type, dst.Dims)
	}
	inner := numeric.Count(dst.Dims[axis+1:]) * dst.Type.Size()
	if len(v.Data)*dst.Dims[axis] != len(dst.Data) {
		return fmt.Errorf("%s%v is no part of %s%v", v.Type, v.Dims, dst.Type, dst.Dims)
	}
	for k := 0; inner > 0 && k*inner < len(v.Data); k++ {
		at := (k*dst.Dims[axis] + i) * inner
		copy(dst.Data[at:at+inner], v.Data[k*inner:])
	}
	return nil
}

// take returns place i on an axis of v, without that axis.
func take(v numeric.Value, axis, i int) numeric.Value {
	dims := append(append([]int{}, v.Dims[:axis]...), v.Dims[axis+1:]...)
	inner := numeric.Count(v.Dims[axis+1:]) * v.Type.Size()
	if axis == 0 {
		return numeric.Value{Type: v.Type, Dims: dims, Data: v.Data[i*inner : (i+1)*inner]}
	}
	t := numeric.NewValue(v.Type, dims...)
	for k := 0; inner > 0 && k*inner < len(t.Data); k++ {
		at := (k*v.Dims[axis] + i) * inner
		copy(t.Data[k*inner:], v.Data[at:at+inner])
	}
	return t
}

func importLoop(n *Node) (any, []*Tensor, error) {
	graphs, captured, err := n.Graphs("body")
	if err != nil {
		return nil, nil, err
	}
	inputs := append([]*Tensor(nil), n.Inputs...)
	for len(inputs) < 2 {
		inputs = append(inputs, nil)
	}
	return loopAttrs(graphs[0], len(inputs)-2, n.Name), append(inputs, captured...), nil
}
