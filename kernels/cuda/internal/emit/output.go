package emit

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// RowOutput is what becomes of sums: scale and bias by channel, the epilogue, the output's type.
type RowOutput struct {
	sums     Sums
	Program  elementwise.Program
	args     []Argument
	Y        Storage
	Vector   int // elements that a thread finishes together
	Width    int // of the output's rows, padding included
	Pitch    int // from one of them to the next
	Channels int // of a group that are written: those behind the last too, as zeros, where the format pads them

	bias, scale, zero       int // offsets among the constants; -1 where there is none
	GivenBias               int // offset of the bias in the workspace, as a kernel before packed it; -1 where there is none
	biasP, scaleP, zeroSumP ptx.GlobalPtr
}

// Sums says what sums by output channel stand for, and what rows they make.
type Sums struct {
	Channels, Groups int // channels of a group
	Width            int // elements of an output's row, padding included
	Pitch            int // from one of them to the next

	Alpha float32                  // a factor of all
	Bias  []float32                // by channel of all groups; nil for none
	Scale []float32                // of integers, by channel of all groups; nil for reals
	Zeros func(length int) []int32 // what is taken off integers, by channel, rows of the length; nil: nothing
}

// NewRowOutput places what the output reads among the constants.
func NewRowOutput(b kernels.Binding, s Sums, w *Work) (*RowOutput, error) {
	o := &RowOutput{sums: s, Program: b.Layer.Epilogue, Width: s.Width, Pitch: s.Pitch, bias: -1, scale: -1, zero: -1, GivenBias: -1}
	if o.Program.Args == 0 {
		o.Program = Identity()
	}
	var err error
	inputs := elementwiseInputs(b, len(b.Layer.OpInputs()))
	if o.args, err = Arguments(b, inputs, b.Out[0], &w.Constants); err != nil {
		return nil, err
	}
	o.Y = Storage{Type: b.Out[0].Type, Range: b.Layer.Outputs[0].Range}
	o.Vector = narrowed(s.vector(o.Y.Type), o.args)
	o.Channels = s.Channels
	if s.Groups == 1 {
		o.Channels = s.Width
	}
	// Tables are as long as padded rows, so that whole vectors may be read.
	padded := o.tableRow()
	if s.Bias != nil {
		o.bias = w.Append(numeric.Bytes(append(s.Bias[:len(s.Bias):len(s.Bias)], make([]float32, padded-len(s.Bias))...)))
	}
	if s.Scale != nil {
		o.scale = w.Append(numeric.Bytes(append(s.Scale[:len(s.Scale):len(s.Scale)], make([]float32, padded-len(s.Scale))...)))
		if s.Zeros != nil {
			o.zero = w.Append(numeric.Bytes(s.Zeros(padded)))
		}
	}
	return o, nil
}

// PlainOutput is what becomes of a row of real numbers that need neither scale nor bias: the epilogue and the output's type.
func PlainOutput(b kernels.Binding, w *Work) (*RowOutput, error) {
	to := LayoutOf(b.Out[0])
	return NewRowOutput(b, Sums{Channels: to.Last, Groups: 1, Width: to.Width, Pitch: to.Pitch, Alpha: 1}, w)
}

// RowVector returns what [RowOutput.Vector] will be.
func RowVector(b kernels.Binding, s Sums) (int, error) {
	args, err := unplaced(b, elementwiseInputs(b, len(b.Layer.OpInputs())), b.Out[0])
	return narrowed(s.vector(b.Out[0].Type), args), err
}

// vector returns how many elements of rows of a type are written together.
func (s Sums) vector(t numeric.DataType) int {
	v := VectorOf(t.Size(), s.Width|s.Pitch)
	if s.Groups > 1 {
		v = min(v, VectorOf(1, s.Channels))
	}
	return v
}

// narrowed is a vector that is no longer than whole rows of arguments are read.
func narrowed(vector int, args []Argument) int {
	for _, a := range args {
		if a.Input >= 0 && a.Whole {
			vector = min(vector, VectorOf(a.Type.Size(), a.Width|a.Pitch))
		}
	}
	return vector
}

// Precede puts arguments before the epilogue's, and takes the program that reads them all.
func (o *RowOutput) Precede(args []Argument, program elementwise.Program) {
	o.Vector = narrowed(o.Vector, args)
	o.args, o.Program = append(args, o.args...), program
}

// Aligned returns of how many elements, a power of two, all rows that are written and read begin at multiples, and whether
// none are read.
func (o *RowOutput) Aligned() (n int, alone bool) {
	all := o.Width | o.Pitch
	alone = true
	for _, a := range o.args {
		if a.Input >= 0 {
			alone = false
		}
		if a.Input >= 0 && a.Whole {
			all |= a.Width | a.Pitch
		}
	}
	return 1 << bits.TrailingZeros(uint(all)), alone
}

// RowChannels returns how many elements of a row are the sums' channels; those behind them are padding.
func (o *RowOutput) RowChannels() int { return o.sums.Channels * o.sums.Groups }

// tableRow returns the length of a table by channel.
func (o *RowOutput) tableRow() int { return RoundUp(o.RowChannels(), 16) }

// ZerosOf goes on with a later row of what is taken off integers, where there are several.
func (o *RowOutput) ZerosOf(k *ptx.K, row ptx.Uint) {
	if o.zero >= 0 {
		o.zeroSumP = k.Offset(o.zeroSumP, row, 4*o.tableRow())
	}
}

// Parameters declares the kernel's parameters that the output reads and writes.
func (o *RowOutput) Parameters(k *ptx.K, l *Launch) {
	table := func(name string, at int) ptx.GlobalPtr {
		if at < 0 {
			return ptx.GlobalPtr{}
		}
		l.Args = append(l.Args, ConstArg(at))
		return k.Pointer(name)
	}
	if o.GivenBias >= 0 {
		o.bias = o.GivenBias
		o.biasP = l.Scratch(k, "bias", o.GivenBias)
	} else {
		o.biasP = table("bias", o.bias)
	}
	o.scaleP, o.zeroSumP = table("scale", o.scale), table("zero", o.zero)
	for i := range o.args {
		o.args[i].Parameter(k, l, fmt.Sprintf("e%d", i))
	}
	o.Y.Base = k.Pointer("y")
	l.Args = append(l.Args, OutArg(0))
}

// RowTables is what the output reads of its tables for a vector of channels.
type RowTables struct{ bias, scale, zero []ptx.Word }

// Tables loads what the output reads by channel, for n channels.
func (o *RowOutput) Tables(k *ptx.K, channel ptx.Uint, n int) RowTables {
	table := func(p ptx.GlobalPtr, at int) (list []ptx.Word) {
		if at < 0 {
			return nil
		}
		for i := 0; i < n; i += 4 {
			list = append(list, k.LoadConst(k.Offset(p, channel, 4).At(4*i), min(4, n-i))...)
		}
		return list
	}
	return RowTables{table(o.biasP, o.bias), table(o.scaleP, o.scale), table(o.zeroSumP, o.zero)}
}

// Fetch loads what the epilogue reads of other tensors for n channels of a pixel.
func (o *RowOutput) Fetch(k *ptx.K, pixel, channel ptx.Uint, n int) [][]ptx.Float {
	values := make([][]ptx.Float, len(o.args))
	for i := range o.args {
		values[i] = o.args[i].Read(k, pixel, channel, n, o.Width)
	}
	return values
}

// Emit finishes sums of consecutive channels of a pixel, and stores them.
func (o *RowOutput) Emit(k *ptx.K, pixel, channel ptx.Uint, sums []ptx.Word) {
	o.Finish(k, pixel, channel, sums, o.Tables(k, channel, len(sums)), o.Fetch(k, pixel, channel, len(sums)))
}

// Finish is Emit with what it reads.
func (o *RowOutput) Finish(k *ptx.K, pixel, channel ptx.Uint, sums []ptx.Word, t RowTables, values [][]ptx.Float) {
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
		if o.sums.Alpha != 1 {
			x[i] = k.MulF(x[i], ptx.F(o.sums.Alpha))
		}
		if t.bias != nil {
			x[i] = k.AddF(x[i], k.FloatOf(t.bias[i]))
		}
	}
	o.complete(k, pixel, channel, x, values)
}

// Store runs the epilogue on elements of consecutive channels, and writes the outputs.
func (o *RowOutput) Store(k *ptx.K, pixel, channel ptx.Uint, x []ptx.Float) {
	o.complete(k, pixel, channel, x, o.Fetch(k, pixel, channel, len(x)))
}

// complete is Store with what the epilogue reads.
func (o *RowOutput) complete(k *ptx.K, pixel, channel ptx.Uint, x []ptx.Float, values [][]ptx.Float) {
	for e := range x {
		in := []ptx.Float{x[e]}
		for i := range values {
			in = append(in, values[i][e])
		}
		x[e] = Translate(k, o.Program, in)
	}
	ClearPads(k, o.Program, channel, o.RowChannels(), o.Width, x)
	o.Y.Store(k, k.Mad(pixel, ptx.U(o.Pitch), channel), x)
}

// RowsTogether returns of how many vectors of n elements a thread with so many registers for it, no more than [ReadRegisters],
// reads the arguments before it computes one.
func (o *RowOutput) RowsTogether(n, registers int) int {
	reads := 0
	for _, a := range o.args {
		if a.Input >= 0 {
			reads++
		}
	}
	return max(1, min(8, min(ReadRegisters, registers)/(max(1, reads)*n)))
}

// ReadRegisters is the most elements of arguments that a thread has before it computes.
const ReadRegisters = 32

// elementwiseInputs returns a layer's inputs from first on that a program reads.
func elementwiseInputs(b kernels.Binding, first int) []int {
	var list []int
	for i := first; i < len(b.In); i++ {
		list = append(list, i)
	}
	return slices.Clip(list)
}

// Identity is the program that changes nothing.
func Identity() elementwise.Program { return elementwise.Program{Args: 1} }
