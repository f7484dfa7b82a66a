package programs

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Argument is one argument of a program: a tensor that broadcasts to the program's result.
type Argument struct {
	Input int // of the layer; -1 for the program's own input
	Codec Codec
	Data  []float32 // a constant's elements, in the result's format; nil for others
	batch int       // elements between two batch indices; 0 where it has but one
	whole bool      // an element for each element of the result, in the same order
	// Where it does not: extents of the result's stored axes and the argument's steps on them, in as few axes as give
	// the same places.
	dims, steps []int
	one         bool // a constant of one element, which is read as such
	// Where strips are parts of rows: the elements that repeat through a strip, 0 for an argument that is no such; and
	// whether a strip's elements are adjacent.
	few      int
	adjacent bool
}

// NewArgument says how input i, in the form d, is read for every element of the result.
func NewArgument(b kernels.Binding, i int, result kernels.Desc, isa asm.Features) (Argument, error) {
	d := b.In[i]
	arg := Argument{Input: i}
	if v, ok := b.Const(i); ok {
		arg.Data = numeric.ToReal(v, b.Layer.Inputs[i].Range).Floats()
		return arg, arg.Spread(d.Dims, result)
	}
	var err error
	if arg.Codec, err = NewCodec(d, b.Layer.Inputs[i].Range, isa); err != nil {
		return arg, fmt.Errorf("input %s: %w", b.Layer.Inputs[i].Name, err)
	}
	return arg, arg.Place(d, result)
}

// Place says how an activation of the form d is read.
func (a *Argument) Place(d, result kernels.Desc) error {
	if d.Format != result.Format {
		return fmt.Errorf("input %v and output %v differ in format", d, result)
	}
	if equalDims(d.Dims, result.Dims) {
		a.whole, a.batch = true, d.BatchStride()
		return nil
	}
	have, want := storedDims(d), storedDims(result)
	if d.Format != kernels.Linear && len(have) != len(want) {
		return fmt.Errorf("input %v does not broadcast to %v in blocks", d, result)
	}
	steps, err := broadcast(have, want)
	if err != nil {
		return fmt.Errorf("input %v does not broadcast to %v", d, result)
	}
	if len(have) > 0 && have[0] > 1 {
		steps[len(want)-len(have)] = d.BatchStride()
	}
	if d.Format != kernels.Linear && d.Dims[1] == 1 && result.Dims[1] != 1 {
		steps[1], steps[len(steps)-1] = 0, 0 // the one channel for all: its lane 0
	}
	a.dims, a.steps = want, steps
	return nil
}

// Spread brings a constant of the given shape into the result's format.
func (a *Argument) Spread(dims []int, result kernels.Desc) error {
	full := make([]int, len(result.Dims)) // on the result's axes
	if len(dims) > len(full) {
		return fmt.Errorf("constant of shape %v does not broadcast to %v", dims, result)
	}
	for k := range full {
		full[k] = 1
	}
	copy(full[len(full)-len(dims):], dims)
	d := kernels.Desc{Type: numeric.F32, Dims: full, Format: result.Format}
	if result.Format != kernels.Linear {
		if len(full) < 2 {
			return fmt.Errorf("%v has no channels", result)
		}
		if full[1] == 1 { // the same in all lanes
			stored := make([]float32, len(a.Data)*work.Lanes)
			for i := range stored {
				stored[i] = a.Data[i/work.Lanes]
			}
			a.Data = stored
		} else {
			stored := make([]float32, d.Bytes()/4)
			d.FromLinear(numeric.Bytes(stored), numeric.Bytes(a.Data))
			a.Data = stored
		}
	}
	if equalDims(full, result.Dims) && numeric.Count(full) == numeric.Count(result.Dims) {
		a.whole, a.batch = true, d.BatchStride()
		return nil
	}
	want := storedDims(result)
	steps, err := broadcast(storedDims(d), want)
	if err != nil {
		return fmt.Errorf("constant of shape %v does not broadcast to %v", dims, result)
	}
	a.dims, a.steps = want, steps
	return nil
}

// finish joins axes. With split, axis 0 is kept apart, as some tensor is a slice of a larger one.
func (a *Argument) finish(split bool) {
	if a.whole {
		return
	}
	if split {
		a.batch, a.dims, a.steps = a.steps[0], a.dims[1:], a.steps[1:]
	}
	a.dims, a.steps = collapse(a.dims, a.steps)
}

// repeated returns how many elements of the result, from a multiple of that on, the argument serves with 1 or 16 elements
// that repeat; or, with a width of 0, with adjacent ones. A length of 0 says that it does neither.
func (a *Argument) repeated() (length, width int) {
	last := len(a.dims) - 1
	switch {
	case a.whole || last < 0:
		return 0, 0
	case a.steps[last] == 0:
		return a.dims[last], 1
	case a.steps[last] == 1 && a.dims[last] == work.Lanes && last > 0 && a.steps[last-1] == 0:
		return a.dims[last-1] * work.Lanes, work.Lanes
	case a.steps[last] == 1:
		return a.dims[last], 0
	}
	return 0, 0
}

// placeOf returns the place of the argument's element for the result's at, base being the place of the batch.
func (a *Argument) placeOf(base, at int) int {
	for i := len(a.dims) - 1; i >= 0 && at > 0; i-- {
		base += at % a.dims[i] * a.steps[i]
		at /= a.dims[i]
	}
	return base
}

// equalDims reports whether two shapes are the same.
func equalDims(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// storedDims returns the extents of the axes in memory, the slowest first.
func storedDims(d kernels.Desc) []int {
	dims := append([]int(nil), d.Dims...)
	if b := d.Block(); b > 1 {
		dims[1] = (dims[1] + b - 1) / b
		dims = append(dims, b)
	}
	return dims
}

// broadcast returns the steps of a dense tensor of extents have on the axes want; 0 where it is repeated.
func broadcast(have, want []int) ([]int, error) {
	steps := make([]int, len(want))
	step := 1
	for i := len(have) - 1; i >= 0; i-- {
		j := i + len(want) - len(have)
		switch {
		case j < 0:
			return nil, fmt.Errorf("too many axes")
		case have[i] == want[j] && have[i] > 1:
			steps[j] = step
		case have[i] != 1:
			return nil, fmt.Errorf("extent %d meets %d", have[i], want[j])
		}
		step *= have[i]
	}
	return steps, nil
}

// collapse joins axes that are one: extents of 1 vanish, and an axis joins the next where its step continues it.
func collapse(dims, steps []int) (d, s []int) {
	for i, n := range dims {
		switch last := len(d) - 1; {
		case n == 1:
		case last >= 0 && s[last] == steps[i]*n:
			d[last], s[last] = d[last]*n, steps[i]
		default:
			d, s = append(d, n), append(s, steps[i])
		}
	}
	return d, s
}

// read sets dst to the argument's elements for the result's from at on, base being the place of the batch.
func (a *Argument) read(dst []float32, m kernels.Mem, base, at int) {
	spread(a, dst, base, at, func(dst []float32, place int) { a.run(dst, m, place) })
}

// spread sets dst to the argument's elements for the result's from at on, base being the place of the batch; run sets a slice to
// adjacent ones.
func spread[T any](a *Argument, dst []T, base, at int, run func(dst []T, place int)) {
	for len(dst) > 0 {
		place, left, inner, phase := base, at, 1<<62, 0
		for i := len(a.dims) - 1; i >= 0; i-- {
			k := left % a.dims[i]
			place += k * a.steps[i]
			left /= a.dims[i]
			if i == len(a.dims)-1 {
				inner, phase = a.dims[i], k
			}
		}
		n := min(len(dst), inner-phase)
		step := 0
		last := len(a.dims) - 1
		if last >= 0 {
			step = a.steps[last]
		}
		switch step {
		case 1:
			run(dst[:n], place)
		case 0:
			run(dst[:1], place)
			repeat(dst[:n], 1)
		default:
			for i := range n {
				run(dst[i:i+1], place+i*step)
			}
		}
		if phase == 0 && n == inner && last > 0 && a.steps[last-1] == 0 { // the same run again, as for channels in blocks
			k := at / inner % a.dims[last-1]
			n = min(len(dst), (a.dims[last-1]-k)*inner)
			repeat(dst[:n], inner)
		}
		dst, at = dst[n:], at+n
	}
}

// run sets dst to adjacent elements of the argument.
func (a *Argument) run(dst []float32, m kernels.Mem, at int) {
	if a.Data != nil {
		copy(dst, a.Data[at:])
		return
	}
	a.Codec.Load(dst, m, at)
}

// repeat fills dst with its first n elements.
func repeat[T any](dst []T, n int) {
	for ; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}
