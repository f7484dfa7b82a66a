package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// argument is one argument of an element-wise program, as code reads it along the rows of the output.
type argument struct {
	storage
	input  int // of the layer; -1 where the value is a number
	number float32
	offset int // among the work's constants, where it is one
	fixed  bool
	axes   []axis
	whole  bool // it has a row's elements; else it repeats one
	width  int  // elements of a row, padding included
	pitch  int  // from one row to the next
}

// arguments returns how a program's arguments from the layer's inputs are read, and appends those that are constants, as
// f32 in the output's layout, to consts.
func arguments(b kernels.Binding, inputs []int, out kernels.Desc, consts *[]byte) ([]argument, error) {
	to := layoutOf(out)
	var list []argument
	for _, i := range inputs {
		a := argument{input: i}
		from := layoutOf(b.In[i])
		t := b.Layer.Inputs[i]
		v, isConst := b.Const(i)
		switch {
		case isConst && v.Len() == 1:
			a.input, a.number = -1, graph.ToReal(v, t.Range).Floats()[0]
			list = append(list, a)
			continue
		case isConst:
			d := constantDesc(v.Dims, out)
			from = layoutOf(d)
			a.fixed, a.offset, a.typ = true, place(consts, d, graph.ToReal(v, t.Range).Floats()), graph.F32
		default:
			if err := storable(t); err != nil {
				return nil, err
			}
			a.typ, a.rng = t.Type, t.Range
		}
		var err error
		if a.axes, a.whole, err = to.reach(from); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		a.width, a.pitch = from.width, from.pitch
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
	return kernels.Desc{Type: graph.F32, Dims: append(full, dims...), Format: out.Format}
}

// place appends floats, in the form d, to constants and returns where.
func place(consts *[]byte, d kernels.Desc, data []float32) int {
	at := roundUp(len(*consts), 256)
	stored := make([]byte, d.Bytes())
	d.FromLinear(stored, graph.Bytes(data))
	*consts = append(append(*consts, make([]byte, at-len(*consts))...), stored...)
	return at
}

// checkArguments returns why the program over a layer's inputs from first on cannot be translated.
func checkArguments(b kernels.Binding, p graph.Program, first int) error {
	if err := translatable(p); err != nil {
		return err
	}
	if len(b.Out) != 1 {
		return fmt.Errorf("%d outputs", len(b.Out))
	}
	if err := storable(b.Layer.Outputs[0]); err != nil {
		return err
	}
	var inputs []int
	for i := first; i < len(b.In); i++ {
		if b.Layer.Inputs[i] == nil {
			return fmt.Errorf("input %d is left out", i)
		}
		inputs = append(inputs, i)
	}
	var dropped []byte
	_, err := arguments(b, inputs, b.Out[0], &dropped)
	return err
}

// parameter declares the argument's address as the kernel's next parameter, where it has one.
func (a *argument) parameter(k *ptx.K, w *launch, name string) {
	switch {
	case a.input < 0:
	case a.fixed:
		a.base = k.Pointer(name)
		w.args = append(w.args, constArg(a.offset))
	default:
		a.base = k.Pointer(name)
		w.args = append(w.args, inArg(a.input))
	}
}

// read returns n elements of a row of the output, from column on. width is the output's: where the argument's rows are
// shorter, the elements behind are zeros.
func (a *argument) read(k *ptx.K, row, column ptx.Uint, n, width int) []ptx.Float {
	list := make([]ptx.Float, n)
	if a.input < 0 {
		for i := range list {
			list[i] = ptx.F(a.number)
		}
		return list
	}
	start := rowOffset(k, row, a.axes)
	if !a.whole {
		x := a.load(k, start, 1, nil)[0]
		for i := range list {
			list[i] = x
		}
		return list
	}
	var when *ptx.Cond
	if roundUp(a.width, n) < width && n*a.typ.Size() >= 4 {
		p := k.Lt(column, ptx.U(a.width))
		when = &p
	}
	return a.load(k, k.Add(start, column), n, when)
}
