package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// rowOutput is what becomes of sums: scale and bias by channel, the epilogue, the output's type.
type rowOutput struct {
	p        *product
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

// newRowOutput places what the output reads among the constants.
func newRowOutput(b kernels.Binding, p *product, w *work) (*rowOutput, error) {
	o := &rowOutput{p: p, program: b.Layer.Epilogue, width: p.widthOut, pitch: p.pitchOut, bias: -1, scale: -1, zero: -1, givenBias: -1}
	if o.program.Args == 0 {
		o.program = identity
	}
	var err error
	inputs := elementwiseInputs(b, len(b.Layer.OpInputs()))
	if o.args, err = arguments(b, inputs, b.Out[0], &w.constants); err != nil {
		return nil, err
	}
	o.y = storage{typ: b.Out[0].Type, rng: b.Layer.Outputs[0].Range}
	o.vector = vectorOf(o.y.typ.Size(), p.widthOut|p.pitchOut)
	o.channels = p.k
	if p.groups == 1 {
		o.channels = p.widthOut
	} else {
		o.vector = min(o.vector, vectorOf(1, p.k))
	}
	for _, a := range o.args {
		if a.input >= 0 && a.whole {
			o.vector = min(o.vector, vectorOf(a.typ.Size(), a.width|a.pitch))
		}
	}
	// Tables are as long as padded rows, so that whole vectors may be read.
	padded := o.tableRow()
	if p.bias != nil {
		o.bias = w.append(graph.Bytes(append(p.bias[:len(p.bias):len(p.bias)], make([]float32, padded-len(p.bias))...)))
	}
	if p.scale != nil {
		o.scale = w.append(graph.Bytes(append(p.scale[:len(p.scale):len(p.scale)], make([]float32, padded-len(p.scale))...)))
		if p.zeroX != 0 {
			o.zero = w.append(graph.Bytes(p.zeroSums(padded)))
		}
	}
	return o, nil
}

// tableRow returns the length of a table by channel.
func (o *rowOutput) tableRow() int { return roundUp(o.p.k*o.p.groups, 16) }

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
		if o.p.alpha != 1 {
			x[i] = k.MulF(x[i], ptx.F(o.p.alpha))
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
	clearPads(k, o.program, channel, o.p.k*o.p.groups, o.width, x)
	o.y.store(k, k.Mad(pixel, ptx.U(o.pitch), channel), x)
}
