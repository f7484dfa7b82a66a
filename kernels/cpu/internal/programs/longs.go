package programs

import (
	"fmt"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Longs is an element-wise program over integers and truth values in rows: strips of the arguments become int64, the program runs on
// them, each value wrapping around to its type, and the result is stored as the output's type. An int64 holds the bits of a U64.
type Longs struct {
	args    []longArgument
	code    []longInstr
	slots   []int // the buffer of each value; -1 for one that is used where it lies
	buffers int
	out     numeric.DataType
	length  int
	job     *work.Job[longLaunch]
}

// longArgument is one argument, a tensor or a constant that broadcasts to the result.
type longArgument struct {
	Argument
	load  func(to []int64, from []byte, at int)
	fixed []byte  // a constant's elements
	strip []int64 // of a constant that is one number: that, as many times as a strip is long
	plain bool    // an element of 64 bits for each of the result's, read where it lies
}

// longInstr computes one value from earlier ones.
type longInstr struct {
	run    func(longOperands)
	arg    []int
	imm    [2]int64
	flip   int64 // makes the order of signed numbers that of the operands: the highest bit where one is U64
	narrow func([]int64)
}

// NewLongs prepares a program over the layer's inputs.
func NewLongs(b kernels.Binding, p elementwise.Program) (*Longs, error) {
	types := make([]numeric.DataType, len(b.In))
	for i, d := range b.In {
		types[i] = d.Type
	}
	types, err := p.Types(types)
	if err != nil {
		return nil, err
	}
	r := &Longs{code: make([]longInstr, len(p.Code))}
	for i, in := range p.Code {
		run := longOps[in.Op]
		if run == nil {
			return nil, fmt.Errorf("%s has no kernel on integers", in.Op)
		}
		r.code[i] = longInstr{run: run, arg: in.Arg[:in.Op.Info().Arity], imm: [2]int64{int64(in.Imm[0]), int64(in.Imm[1])}, narrow: narrowTo(types[p.Args+i])}
		if slices.ContainsFunc(r.code[i].arg, func(a int) bool { return types[a] == numeric.U64 }) {
			r.code[i].flip = -1 << 63
		}
	}
	return r, r.bind(b)
}

// NewBits prepares one operation on the layer's inputs that [LongOperation] stands for.
func NewBits(b kernels.Binding, run LongOperation) (*Longs, error) {
	in := longInstr{arg: []int{0, 1}[:len(b.In)], narrow: narrowTo(b.Out[0].Type)}
	in.run = func(o longOperands) {
		y := o.x
		if len(in.arg) > 1 {
			y = o.y
		}
		run(o.to, o.x, y)
	}
	r := &Longs{code: []longInstr{in}}
	return r, r.bind(b)
}

// LongOperation sets to to what it makes of the elements of x and y, which are as many; y is x where the layer has one input.
type LongOperation func(to, x, y []int64)

// bind says how the layer's inputs are read and its output is written.
func (r *Longs) bind(b kernels.Binding) error {
	if len(b.Out) != 1 || b.Layer.Epilogue.Args > 0 {
		return fmt.Errorf("the kernel has one output and no epilogue")
	}
	if len(b.In) == 0 || len(r.code) == 0 {
		return fmt.Errorf("a program without inputs or operations")
	}
	integers := false
	for i, t := range slices.Concat(b.Layer.Inputs, b.Layer.Outputs) {
		switch {
		case t == nil:
			return fmt.Errorf("input %d is left out", i)
		case longLoads[t.Type] == nil || t.Range.IsSet():
			return fmt.Errorf("%s is %s, the kernel takes integers that are not quantised, and bool", t.Name, t.TypeString())
		}
		integers = integers || t.Type.IsInteger()
	}
	if !integers {
		return fmt.Errorf("there are no integers")
	}
	out := b.Out[0]
	r.out, r.length = out.Type, numeric.Count(out.Dims)
	for i, d := range b.In {
		a := longArgument{Argument: Argument{Input: i}, load: longLoads[d.Type]}
		if err := a.Place(kernels.Desc{Type: d.Type, Dims: d.Dims}, kernels.Desc{Type: d.Type, Dims: out.Dims}); err != nil {
			return err
		}
		a.finish(false)
		if v, ok := b.Const(i); ok {
			a.fixed = v.Data
			if len(a.dims) == 0 && !a.whole || v.Len() == 1 {
				a.strip = make([]int64, strip)
				a.load(a.strip[:1], a.fixed, 0)
				repeat(a.strip, 1)
			}
		}
		a.plain = a.whole && d.Type.Size() == 8
		r.args = append(r.args, a)
	}
	r.slots, r.buffers = allocate(len(r.args), len(r.code), func(i int) []int { return r.code[i].arg },
		func(a int) bool { return r.args[a].plain || r.args[a].strip != nil })
	r.job = work.NewJob((*longLaunch).do)
	return nil
}

// longLaunch is the state of one run.
type longLaunch struct {
	run *Longs
	in  []kernels.Mem
	out kernels.Mem
}

// longPiece is how many elements are a unit of work.
const longPiece = 8 * strip

// Launch computes the program for every element; out may be the memory of an input of the same form.
func (r *Longs) Launch(s kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	r.job.Each(work.LoopOver(s, 8*r.length*(len(r.code)+len(r.args))), (r.length+longPiece-1)/longPiece, longLaunch{r, in, out[0]})
	return nil
}

// longBuffers is where one worker keeps values.
type longBuffers struct {
	room []int64
	vals [][]int64
}

var longPool = sync.Pool{New: func() any { return &longBuffers{} }}

func (l *longLaunch) do(u, _ int) {
	s := longPool.Get().(*longBuffers)
	s.room = slices.Grow(s.room[:0], l.run.buffers*strip)[:l.run.buffers*strip]
	s.vals = slices.Grow(s.vals[:0], len(l.run.slots))[:len(l.run.slots)]
	for at, end := u*longPiece, min(l.run.length, (u+1)*longPiece); at < end; at += strip {
		l.run.strip(s, l.in, l.out, at, min(strip, end-at))
	}
	clear(s.vals)
	longPool.Put(s)
}

// strip computes size elements from at on.
func (r *Longs) strip(s *longBuffers, in []kernels.Mem, out kernels.Mem, at, size int) {
	vals := s.vals
	for i := range r.args {
		a := &r.args[i]
		from := a.fixed
		if from == nil {
			from = in[i].Host
		}
		switch {
		case a.strip != nil:
			vals[i] = a.strip[:size]
		case a.plain:
			vals[i] = numeric.View[int64](from)[at:][:size]
		default:
			if vals[i] = s.room[r.slots[i]*strip:][:size]; a.whole {
				a.load(vals[i], from, at)
			} else {
				spread(&a.Argument, vals[i], 0, at, func(to []int64, place int) { a.load(to, from, place) })
			}
		}
	}
	for i := range r.code {
		c := &r.code[i]
		v := len(r.args) + i
		if i == len(r.code)-1 && r.out.Size() == 8 {
			vals[v] = numeric.View[int64](out.Host)[at:][:size]
		} else {
			vals[v] = s.room[r.slots[v]*strip:][:size]
		}
		o := longOperands{to: vals[v], imm: c.imm, flip: c.flip}
		for k, a := range c.arg {
			*[]*[]int64{&o.x, &o.y, &o.z}[k] = vals[a]
		}
		c.run(o)
		if c.narrow != nil {
			c.narrow(o.to)
		}
	}
	if r.out.Size() < 8 {
		longStores[r.out](out.Host, at, vals[len(vals)-1])
	}
}

// longLoads set a slice to elements of a type.
var longLoads = map[numeric.DataType]func(to []int64, from []byte, at int){
	numeric.Bool: widen[uint8],
	numeric.I8:   widen[int8], numeric.U8: widen[uint8], numeric.I16: widen[int16], numeric.U16: widen[uint16],
	numeric.I32: widen[int32], numeric.U32: widen[uint32], numeric.I64: widen[int64], numeric.U64: widen[uint64],
}

func widen[T numeric.Element](to []int64, from []byte, at int) {
	x := numeric.View[T](from)[at:][:len(to)]
	for i := range to {
		to[i] = int64(x[i])
	}
}

// longStores set elements of a type.
var longStores = map[numeric.DataType]func(to []byte, at int, from []int64){
	numeric.Bool: func(to []byte, at int, from []int64) {
		y := to[at:][:len(from)]
		for i, v := range from {
			y[i] = byte(truth(v != 0))
		}
	},
	numeric.I8: narrow[uint8], numeric.U8: narrow[uint8], numeric.I16: narrow[uint16], numeric.U16: narrow[uint16],
	numeric.I32: narrow[uint32], numeric.U32: narrow[uint32],
}

func narrow[T numeric.Element](to []byte, at int, from []int64) {
	y := numeric.View[T](to)[at:][:len(from)]
	for i, v := range from {
		y[i] = T(v)
	}
}

// narrowTo returns what reduces numbers to those of a type; nil where all are.
func narrowTo(t numeric.DataType) func([]int64) {
	switch t {
	case numeric.I8:
		return wrap[int8]
	case numeric.U8:
		return wrap[uint8]
	case numeric.I16:
		return wrap[int16]
	case numeric.U16:
		return wrap[uint16]
	case numeric.I32:
		return wrap[int32]
	case numeric.U32:
		return wrap[uint32]
	}
	return nil
}

func wrap[T int8 | uint8 | int16 | uint16 | int32 | uint32](x []int64) {
	for i, v := range x {
		x[i] = int64(T(v))
	}
}
