package emit

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Argument is one argument of an element-wise program, as code reads it along the rows of the output.
type Argument struct {
	Storage
	Input  int // of the layer; -1 where the value is a number
	number float32
	Offset int // among the work's constants, where it is one
	Fixed  bool
	Axes   []Axis
	Whole  bool // it has a row's elements; else it repeats one
	Width  int  // elements of a row, padding included
	Pitch  int  // from one row to the next
}

// Arguments returns how a program's arguments from the layer's inputs are read, and appends those that are constants, as
// f32 in the output's layout, to consts.
func Arguments(b kernels.Binding, inputs []int, out kernels.Desc, consts *[]byte) ([]Argument, error) {
	list, err := unplaced(b, inputs, out)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if a := &list[i]; a.Fixed {
			v, _ := b.Const(a.Input)
			a.Offset = place(consts, constantDesc(v.Dims, out), numeric.ToReal(v, b.Layer.Inputs[a.Input].Range).Floats())
		}
	}
	return list, nil
}

// unplaced returns the arguments, those that are constants without their place.
func unplaced(b kernels.Binding, inputs []int, out kernels.Desc) ([]Argument, error) {
	to := LayoutOf(out)
	var list []Argument
	for _, i := range inputs {
		a := Argument{Input: i}
		from := LayoutOf(b.In[i])
		t := b.Layer.Inputs[i]
		v, isConst := b.Const(i)
		switch {
		case isConst && v.Len() == 1:
			a.Input, a.number = -1, numeric.ToReal(v, t.Range).Floats()[0]
			list = append(list, a)
			continue
		case isConst:
			from = LayoutOf(constantDesc(v.Dims, out))
			a.Fixed, a.Type = true, numeric.F32
		default:
			if err := Storable(t); err != nil {
				return nil, err
			}
			a.Type, a.Range = t.Type, t.Range
		}
		var err error
		if a.Axes, a.Whole, err = to.Reach(from); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		a.Width, a.Pitch = from.Width, from.Pitch
		list = append(list, a)
	}
	return list, nil
}

// constantDesc is the form in which a constant is read along an output: f32, of the output's rank and format.
func constantDesc(dims []int, out kernels.Desc) kernels.Desc {
	full := make([]int, 0, len(out.Dims))
	for range len(out.Dims) - len(dims) {
		full = append(full, 1)
	}
	return kernels.Desc{Type: numeric.F32, Dims: append(full, dims...), Format: out.Format}
}

// place appends floats, in the form d, to constants and returns where.
func place(consts *[]byte, d kernels.Desc, data []float32) int {
	at := RoundUp(len(*consts), 256)
	stored := make([]byte, d.Bytes())
	d.FromLinear(stored, numeric.Bytes(data))
	*consts = append(append(*consts, make([]byte, at-len(*consts))...), stored...)
	return at
}

// CheckArguments returns why the program over a layer's inputs from first on cannot be translated.
func CheckArguments(b kernels.Binding, p elementwise.Program, first int) error {
	if err := translatable(p); err != nil {
		return err
	}
	if len(b.Out) != 1 {
		return fmt.Errorf("%d outputs", len(b.Out))
	}
	if err := Storable(b.Layer.Outputs[0]); err != nil {
		return err
	}
	var inputs []int
	for i := first; i < len(b.In); i++ {
		if b.Layer.Inputs[i] == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		inputs = append(inputs, i)
	}
	_, err := unplaced(b, inputs, b.Out[0])
	return err
}

// Parameter declares the argument's address as the kernel's next parameter, where it has one.
func (a *Argument) Parameter(k *ptx.K, w *Launch, name string) {
	switch {
	case a.Input < 0:
	case a.Fixed:
		a.Base = k.Pointer(name)
		w.Args = append(w.Args, ConstArg(a.Offset))
	default:
		a.Base = k.Pointer(name)
		w.Args = append(w.Args, InArg(a.Input))
	}
}

// Read returns n elements of a row of the output, from column on. width is the output's: where the argument's rows are
// shorter, the elements behind are zeros.
func (a *Argument) Read(k *ptx.K, row, column ptx.Uint, n, width int) []ptx.Float {
	list := make([]ptx.Float, n)
	if a.Input < 0 {
		for i := range list {
			list[i] = ptx.F(a.number)
		}
		return list
	}
	start := RowOffset(k, row, a.Axes)
	if !a.Whole {
		x := a.Load(k, start, 1, nil)[0]
		for i := range list {
			list[i] = x
		}
		return list
	}
	var when *ptx.Cond
	if RoundUp(a.Width, n) < width && n*a.Type.Size() >= 4 {
		p := k.Lt(column, ptx.U(a.Width))
		when = &p
	}
	return a.Load(k, k.Add(start, column), n, when)
}
