package cuda

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// rowOutput is what becomes of sums: scale and bias by channel, the epilogue, the output's type.
type rowOutput struct {
	sums     sums
	program  graph.Program
	args     []argument
	y        storage
	vector   int // elements that a thread finishes together
	width    int // of the output's rows, padding included
	pitch    int // from one of them to the next
	channels int // of a group that are written: those behind the last too, as zeros, where the format pads them

	bias, scale, zero       int // offsets among the constants; -1 where there is none
	givenBias               int // offset of the bias in the workspace, as a kernel before packed it; -1 where there is none
	biasP, scaleP, zeroSumP ptx.GlobalPtr
}

// sums says what sums by output channel stand for, and what rows they make.
type sums struct {
	channels, groups int // channels of a group
	width            int // elements of an output's row, padding included
	pitch            int // from one of them to the next

	alpha float32                  // a factor of all
	bias  []float32                // by channel of all groups; nil for none
	scale []float32                // of integers, by channel of all groups; nil for reals
	zeros func(length int) []int32 // what is taken off integers, by channel, rows of the length; nil: nothing
}

// newRowOutput places what the output reads among the constants.
func newRowOutput(b kernels.Binding, s sums, w *work) (*rowOutput, error) {
	o := &rowOutput{sums: s, program: b.Layer.Epilogue, width: s.width, pitch: s.pitch, bias: -1, scale: -1, zero: -1, givenBias: -1}
	if o.program.Args == 0 {
		o.program = identity()
	}
	var err error
	inputs := elementwiseInputs(b, len(b.Layer.OpInputs()))
	if o.args, err = arguments(b, inputs, b.Out[0], &w.constants); err != nil {
		return nil, err
	}
	o.y = storage{typ: b.Out[0].Type, rng: b.Layer.Outputs[0].Range}
	o.vector = vectorOf(o.y.typ.Size(), s.width|s.pitch)
	o.channels = s.channels
	if s.groups == 1 {
		o.channels = s.width
	} else {
		o.vector = min(o.vector, vectorOf(1, s.channels))
	}
	o.narrow(o.args)
	// Tables are as long as padded rows, so that whole vectors may be read.
	padded := o.tableRow()
	if s.bias != nil {
		o.bias = w.append(graph.Bytes(append(s.bias[:len(s.bias):len(s.bias)], make([]float32, padded-len(s.bias))...)))
	}
	if s.scale != nil {
		o.scale = w.append(graph.Bytes(append(s.scale[:len(s.scale):len(s.scale)], make([]float32, padded-len(s.scale))...)))
		if s.zeros != nil {
			o.zero = w.append(graph.Bytes(s.zeros(padded)))
		}
	}
	return o, nil
}

// plainOutput is what becomes of a row of real numbers that need neither scale nor bias: the epilogue and the output's type.
func plainOutput(b kernels.Binding, w *work) (*rowOutput, error) {
	to := layoutOf(b.Out[0])
	return newRowOutput(b, sums{channels: to.last, groups: 1, width: to.width, pitch: to.pitch, alpha: 1}, w)
}

// narrow makes vectors as short as whole rows of arguments are read.
func (o *rowOutput) narrow(args []argument) {
	for _, a := range args {
		if a.input >= 0 && a.whole {
			o.vector = min(o.vector, vectorOf(a.typ.Size(), a.width|a.pitch))
		}
	}
}

// precede puts arguments before the epilogue's, and takes the program that reads them all.
func (o *rowOutput) precede(args []argument, program graph.Program) {
	o.narrow(args)
	o.args, o.program = append(args, o.args...), program
}

// rowChannels returns how many elements of a row are the sums' channels; those behind them are padding.
func (o *rowOutput) rowChannels() int { return o.sums.channels * o.sums.groups }

// tableRow returns the length of a table by channel.
func (o *rowOutput) tableRow() int { return roundUp(o.rowChannels(), 16) }

// zerosOf goes on with a later row of what is taken off integers, where there are several.
func (o *rowOutput) zerosOf(k *ptx.K, row ptx.Uint) {
	if o.zero >= 0 {
		o.zeroSumP = k.Offset(o.zeroSumP, row, 4*o.tableRow())
	}
}

// parameters declares the kernel's parameters that the output reads and writes.
func (o *rowOutput) parameters(k *ptx.K, l *launch) {
	table := func(name string, at int) ptx.GlobalPtr {
		if at < 0 {
			return ptx.GlobalPtr{}
		}
		l.args = append(l.args, constArg(at))
		return k.Pointer(name)
	}
	if o.givenBias >= 0 {
		o.bias = o.givenBias
		o.biasP = l.scratch(k, "bias", o.givenBias)
	} else {
		o.biasP = table("bias", o.bias)
	}
	o.scaleP, o.zeroSumP = table("scale", o.scale), table("zero", o.zero)
	for i := range o.args {
		o.args[i].parameter(k, l, fmt.Sprintf("e%d", i))
	}
	o.y.base = k.Pointer("y")
	l.args = append(l.args, outArg(0))
}

// rowTables is what the output reads of its tables for a vector of channels.
type rowTables struct{ bias, scale, zero []ptx.Word }

// tables loads them for n channels.
func (o *rowOutput) tables(k *ptx.K, channel ptx.Uint, n int) rowTables {
	table := func(p ptx.GlobalPtr, at int) (list []ptx.Word) {
		if at < 0 {
			return nil
		}
		for i := 0; i < n; i += 4 {
			list = append(list, k.LoadConst(k.Offset(p, channel, 4).At(4*i), min(4, n-i))...)
		}
		return list
	}
	return rowTables{table(o.biasP, o.bias), table(o.scaleP, o.scale), table(o.zeroSumP, o.zero)}
}

// fetch loads what the epilogue reads of other tensors for n channels of a pixel.
func (o *rowOutput) fetch(k *ptx.K, pixel, channel ptx.Uint, n int) [][]ptx.Float {
	values := make([][]ptx.Float, len(o.args))
	for i := range o.args {
		values[i] = o.args[i].read(k, pixel, channel, n, o.width)
	}
	return values
}

// emit finishes sums of consecutive channels of a pixel, and stores them.
func (o *rowOutput) emit(k *ptx.K, pixel, channel ptx.Uint, sums []ptx.Word) {
	o.finish(k, pixel, channel, sums, o.tables(k, channel, len(sums)), o.fetch(k, pixel, channel, len(sums)))
}

// finish is emit with what it reads.
func (o *rowOutput) finish(k *ptx.K, pixel, channel ptx.Uint, sums []ptx.Word, t rowTables, values [][]ptx.Float) {
	x := make([]ptx.Float, len(sums))
	for i, s := range sums {
		if t.zero != nil {
			s = k.SubS(s.Int(), t.zero[i].Int()).Word()
		}
		if t.scale != nil {
			x[i] = k.MulF(k.IntToFloat(s.Int()), k.FloatOf(t.scale[i]))
		} else {
			x[i] = k.FloatOf(s)
		}
		if o.sums.alpha != 1 {
			x[i] = k.MulF(x[i], ptx.F(o.sums.alpha))
		}
		if t.bias != nil {
			x[i] = k.AddF(x[i], k.FloatOf(t.bias[i]))
		}
	}
	o.complete(k, pixel, channel, x, values)
}

// store runs the epilogue on elements of consecutive channels, and writes the outputs.
func (o *rowOutput) store(k *ptx.K, pixel, channel ptx.Uint, x []ptx.Float) {
	o.complete(k, pixel, channel, x, o.fetch(k, pixel, channel, len(x)))
}

// complete is store with what the epilogue reads.
func (o *rowOutput) complete(k *ptx.K, pixel, channel ptx.Uint, x []ptx.Float, values [][]ptx.Float) {
	for e := range x {
		in := []ptx.Float{x[e]}
		for i := range values {
			in = append(in, values[i][e])
		}
		x[e] = translate(k, o.program, in)
	}
	clearPads(k, o.program, channel, o.rowChannels(), o.width, x)
	o.y.store(k, k.Mad(pixel, ptx.U(o.pitch), channel), x)
}

// rowsTogether returns of how many vectors a thread reads the arguments before it computes one.
func (o *rowOutput) rowsTogether() int {
	reads := 0
	for _, a := range o.args {
		if a.input >= 0 {
			reads++
		}
	}
	const registers = 32
	return max(1, min(8, registers/(max(1, reads)*o.vector)))
}

// elementwiseInputs returns a layer's inputs from first on that a program reads.
func elementwiseInputs(b kernels.Binding, first int) []int {
	var list []int
	for i := first; i < len(b.In); i++ {
		list = append(list, i)
	}
	return slices.Clip(list)
}

// identity is the program that changes nothing.
func identity() graph.Program { return graph.Program{Args: 1} }
