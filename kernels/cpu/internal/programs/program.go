package programs

import (
	"fmt"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// strip is how many elements a program is run on at a time: its values stay in the L1 cache.
const strip = 512

// Program is an element-wise program over tensors of one format, of any types that have a codec: strips of the
// arguments become float32, the program runs on them, and its result is stored as the output's type.
type Program struct {
	program elementwise.Program
	args    []Argument
	out     kernels.Desc
	codec   Codec
	code    []vectorInstr
	vector  asm.VecKernel
	slots   []int // the buffer of each value; -1 for one that is used where it lies
	buffers int   // the first are rooms for instructions
	pads    bool  // lanes behind the last channel are cleared, as the program may not keep them finite
	batches int
	length  int      // elements of a batch, or of all if the output is dense
	stride  int      // elements between two batches of the result
	onBytes *onBytes // how it is computed in one pass, if it can be
	row     int      // strips end at multiples of it, so that an argument has one value in each; 0 for no such argument
	copies  bool     // it but changes the type of float32 that are read where they lie: no strip keeps anything
	job     *work.Job[programLaunch]
}

// Own is what a program reads besides the layer's inputs: the result that an epilogue follows.
type Own struct {
	Desc   kernels.Desc
	affine numeric.Range
}

// New prepares a program over the layer's inputs from first on. With before set, argument 0 is that, and
// first is argument 1's.
func New(b kernels.Binding, p elementwise.Program, first int, before *Own, isa asm.Features) (*Program, error) {
	var args []Argument
	for a := range p.Args {
		if before != nil && a == 0 {
			arg := Argument{Input: -1}
			var err error
			if arg.Codec, err = NewCodec(before.Desc, before.affine, isa); err != nil {
				return nil, err
			}
			if err := arg.Place(before.Desc, b.Out[0]); err != nil {
				return nil, err
			}
			args = append(args, arg)
			continue
		}
		i := first + a
		if before != nil {
			i--
		}
		arg, err := NewArgument(b, i, b.Out[0], isa)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return Over(args, p, b.Out[0], b.Layer.Outputs[0].Range, isa)
}

// Over prepares a program over given arguments.
func Over(args []Argument, p elementwise.Program, out kernels.Desc, r numeric.Range, isa asm.Features) (*Program, error) {
	if p.Args == 0 {
		return nil, fmt.Errorf("program %s has no arguments", p)
	}
	run := &Program{program: p, args: args, out: out, vector: work.VecKernel(isa)}
	var err error
	if run.codec, err = NewCodec(out, r, isa); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	run.batches, run.length, run.stride = 1, out.Span()/out.Type.Size(), out.BatchStride()
	split := !out.Dense()
	for _, a := range args {
		split = split || a.whole && a.batch != out.BatchStride()
	}
	if split {
		one := kernels.Desc{Type: out.Type, Dims: append([]int{1}, out.Dims[1:]...), Format: out.Format}
		run.batches, run.length = out.Dims[0], one.Bytes()/out.Type.Size()
	}
	for i := range run.args {
		run.args[i].finish(split)
	}
	if out.Format != kernels.Linear {
		run.pads = out.Dims[1]%work.Lanes != 0 && (out.Type == numeric.F32 || out.Type == numeric.F16) && !p.StaysFinite()
	}
	for _, in := range p.Code {
		run.code = append(run.code, prepareInstr(in))
	}
	run.single()
	run.alignRows()
	run.mergeAffine()
	run.allocate()
	run.copies = len(p.Code) == 0 && run.args[0].direct()
	run.onBytes = run.asBytes()
	run.job = work.NewJob((*programLaunch).do)
	return run, nil
}

// single finds the constants of one element that their readers take as such.
func (r *Program) single() {
	for a := range r.args {
		arg := &r.args[a]
		arg.one = arg.Data != nil && len(arg.dims) == 0 && !arg.whole && r.repeats(a)
	}
}

// repeats reports whether all readers of an argument take it as few elements that repeat.
func (r *Program) repeats(a int) bool {
	for _, v := range r.code {
		for k, value := range v.in.Arg[:v.in.Op.Info().Arity] {
			if value == a && !v.broadcasts(k) {
				return false
			}
		}
	}
	return len(r.code) > 0
}

// shortestRow is the least elements that are worth a strip of their own.
const shortestRow = 64

// alignRows finds the arguments that keep their value through a row of the result, or their 16 lanes through a plane of a
// block, and lets strips end with the shortest such row: readers take the values as they are.
func (r *Program) alignRows() {
	lengths, widths := make([]int, len(r.args)), make([]int, len(r.args))
	for a := range r.args {
		if lengths[a], widths[a] = r.args[a].repeated(); widths[a] > 0 && !r.repeats(a) || lengths[a] < shortestRow {
			lengths[a] = 0
		}
		if widths[a] > 1 && r.out.Format == kernels.Linear && r.trails() {
			lengths[a] = 0 // parts that begin anywhere, not at a vector's first lane
		}
		if n := lengths[a]; n > 0 && widths[a] > 0 && (r.row == 0 || n < r.row) {
			r.row = n
		}
	}
	for a := range r.args {
		arg := &r.args[a]
		if r.row == 0 || lengths[a] == 0 || lengths[a]%r.row != 0 {
			continue
		}
		if widths[a] == 0 {
			arg.adjacent = arg.Data != nil || arg.Codec.Kind == numeric.F32
		} else if widths[a] == 1 || r.row%widths[a] == 0 {
			arg.few = widths[a]
		}
	}
}

// trails reports whether the program follows a computation, whose parts it is run on as they are finished.
func (r *Program) trails() bool {
	return slices.ContainsFunc(r.args, func(a Argument) bool { return a.Input < 0 })
}

// mergeAffine makes one function of a product and a sum, both with one value for a strip, that follow each other.
func (r *Program) mergeAffine() {
	p := &r.program
	single := func(v int) bool { return v < p.Args && (r.args[v].one || r.args[v].few == 1) }
	for i := 1; i < len(p.Code); i++ {
		mul, add, product := p.Code[i-1], p.Code[i], p.Args+i-1
		if mul.Op != elementwise.Mul || add.Op != elementwise.Add || r.code[i-1].form != binaryForm || single(mul.Arg[0]) ||
			!single(mul.Arg[1]) || add.Arg[0] != product || !single(add.Arg[1]) {
			continue
		}
		readers := 0
		for _, in := range p.Code {
			for _, a := range in.Arg[:in.Op.Info().Arity] {
				if a == product {
					readers++
				}
			}
		}
		if readers == 1 {
			r.code[i-1].form, r.code[i].form = mergedForm, affineForm
		}
	}
}

// allocate gives every value a buffer, reused after its last reader.
func (r *Program) allocate() {
	r.slots, r.buffers = allocate(r.program.Args, len(r.program.Code), func(i int) []int {
		in := &r.program.Code[i]
		return in.Arg[:in.Op.Info().Arity]
	}, func(a int) bool { return r.args[a].direct() })
	for v := range r.slots {
		if r.slots[v] >= 0 {
			r.slots[v] += rooms
		}
	}
	r.buffers += rooms
}

// allocate gives the arguments that are not direct and the results of the instructions, which read the values that reads says, a
// buffer each, reused after its last reader; -1 to direct ones. It returns how many there are.
func allocate(args, code int, reads func(i int) []int, direct func(a int) bool) (slots []int, buffers int) {
	last := make([]int, args+code)
	for i := range code {
		for _, a := range reads(i) {
			last[a] = i
		}
	}
	last[len(last)-1] = code
	var free []int
	take := func() int {
		if n := len(free); n > 0 {
			s := free[n-1]
			free = free[:n-1]
			return s
		}
		buffers++
		return buffers - 1
	}
	slots = make([]int, len(last))
	for a := range args {
		if slots[a] = -1; !direct(a) {
			slots[a] = take()
		}
	}
	for i := range code {
		slots[args+i] = take()
		operands := reads(i)
		for k, a := range operands {
			if last[a] == i && slots[a] >= 0 && !contains(operands[:k], a) {
				free = append(free, slots[a])
			}
		}
	}
	return slots, buffers
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// direct reports whether the argument's float32 are read where they lie.
func (a *Argument) direct() bool {
	return a.one || (a.whole || a.few > 0 || a.adjacent) && (a.Data != nil || a.Codec.Kind == numeric.F32)
}

// programLaunch is the state of one run.
type programLaunch struct {
	run      *Program
	before   kernels.Mem
	in       []kernels.Mem
	out      kernels.Mem
	pieces   int
	perPiece int
}

// stripBuffers is where one worker keeps values.
type stripBuffers struct {
	room []float32
	vals [][]float32
}

var stripPool = sync.Pool{New: func() any { return &stripBuffers{} }}

// Launch computes the program for every element; out may be the memory of an argument of the same form.
func (r *Program) Launch(p work.Parallel, before kernels.Mem, in []kernels.Mem, out kernels.Mem) {
	l := programLaunch{run: r, before: before, in: in, out: out, perPiece: 8 * strip}
	l.pieces = max(1, (r.length+l.perPiece-1)/l.perPiece)
	r.job.Each(p, r.batches*l.pieces, l)
}

func (l *programLaunch) do(u, _ int) {
	n, from := u/l.pieces, u%l.pieces*l.perPiece
	l.run.Part(l.before, l.in, l.out, n, from, min(l.run.length, from+l.perPiece))
}

// Part computes elements [from, to) of batch n; of all batches, if the output is dense.
func (r *Program) Part(before kernels.Mem, in []kernels.Mem, out kernels.Mem, n, from, to int) {
	if r.onBytes != nil {
		r.bytes(before, in, out, n, from, to-from)
		return
	}
	s := stripPool.Get().(*stripBuffers)
	if len(s.room) < r.buffers*strip {
		s.room = work.AlignedFloats(r.buffers * strip)
	}
	if len(s.vals) < len(r.slots) {
		s.vals = make([][]float32, len(r.slots))
	}
	for at := from; at < to; {
		size := min(strip, to-at)
		if r.copies {
			size = to - at
		}
		if r.row > 0 {
			size = min(size, r.row-at%r.row)
		}
		r.strip(s, before, in, out, n, at, size)
		at += size
	}
	clear(s.vals)
	stripPool.Put(s)
}

// Alone reports whether the program reads nothing but the result that it follows and single numbers, so that [Program.Apart]
// computes it anywhere.
func (r *Program) Alone() bool {
	return !r.pads && !slices.ContainsFunc(r.args, func(a Argument) bool { return a.Input >= 0 && !a.one || a.Input < 0 && !a.whole })
}

// Apart computes a program that stands [Program.Alone] for numbers that lie together, wherever they are of the result, as elements of
// its type.
func (r *Program) Apart(own []float32, to []byte) {
	r.Part(kernels.Mem{Host: numeric.Bytes(own)}, nil, kernels.Mem{Host: to}, 0, 0, len(own))
}

// ElementSize returns the bytes of an element of the result.
func (r *Program) ElementSize() int { return r.out.Type.Size() }

// At returns how part names the element at place within of an image.
func (r *Program) At(image, within int) (n, at int) {
	if r.batches == 1 {
		return 0, image*r.stride + within
	}
	return image, within
}

// strip computes size elements from at on of batch n.
func (r *Program) strip(s *stripBuffers, before kernels.Mem, in []kernels.Mem, out kernels.Mem, n, at, size int) {
	vals, p := s.vals, &r.program
	place := n*r.stride + at
	for a := range r.args {
		arg := &r.args[a]
		m := before
		if arg.Input >= 0 {
			m = in[arg.Input]
		}
		base := n * arg.batch
		switch {
		case arg.one:
			vals[a] = arg.Data[:1]
		case arg.few > 0 && !arg.direct():
			vals[a] = s.room[r.slots[a]*strip:][:arg.few]
			arg.run(vals[a], m, arg.placeOf(base, at))
		case arg.direct():
			place, n := base+at, size
			if !arg.whole {
				place = arg.placeOf(base, at)
			}
			if arg.few > 0 {
				n = arg.few
			}
			data := arg.Data
			if data == nil {
				data = numeric.View[float32](m.Host)
			}
			vals[a] = data[place:][:n]
		default:
			if vals[a] = s.room[r.slots[a]*strip:][:size]; r.converts() {
				vals[a] = numeric.View[float32](out.Host)[place:][:size]
			}
			if arg.whole {
				arg.Codec.Load(vals[a], m, base+at)
			} else {
				arg.read(vals[a], m, base, at)
			}
		}
	}
	for i := range p.Code {
		v, ins := p.Args+i, &p.Code[i]
		if r.code[i].form == mergedForm {
			continue
		}
		if i == len(p.Code)-1 && r.codec.Kind == numeric.F32 {
			vals[v] = numeric.View[float32](out.Host)[place:][:size]
		} else {
			vals[v] = s.room[r.slots[v]*strip:][:size]
		}
		if r.code[i].form == affineForm {
			from := p.Code[i-1].Arg
			r.vector.Unary(asm.Affine, vals[v], vals[from[0]], vals[from[1]][0], vals[ins.Arg[1]][0])
			continue
		}
		var x, y, z []float32
		switch ins.Op.Info().Arity {
		case 3:
			z = vals[ins.Arg[2]]
			fallthrough
		case 2:
			y = vals[ins.Arg[1]]
			fallthrough
		case 1:
			x = vals[ins.Arg[0]]
		}
		r.code[i].run(&r.vector, vals[v], x, y, z, s.room[:rooms*strip])
	}
	result := vals[p.Result()]
	if (r.codec.Kind != numeric.F32 || len(p.Code) == 0) && !r.converts() {
		r.codec.Store(out, place, result)
	}
	if r.pads {
		r.clearLanes(out, n, at, size)
	}
}

// converts reports whether the program but converts its argument to float32, straight to its place.
func (r *Program) converts() bool {
	return len(r.program.Code) == 0 && r.codec.Kind == numeric.F32 && !r.args[0].direct()
}

// clearLanes makes what lies behind the last channel zero.
func (r *Program) clearLanes(out kernels.Mem, n, at, size int) {
	plane := numeric.Count(r.out.Dims[2:]) * work.Lanes
	blocks := (r.out.Dims[1] + work.Lanes - 1) / work.Lanes
	bytes := r.out.Type.Size()
	unused := (blocks*work.Lanes - r.out.Dims[1]) * bytes
	for i := at / work.Lanes * work.Lanes; i < at+size; i += work.Lanes {
		if i/plane%blocks == blocks-1 {
			end := (n*r.out.BatchStride() + i + work.Lanes) * bytes
			clear(out.Host[end-unused : end])
		}
	}
}

// Identity is the program that changes nothing but, perhaps, the type.
var Identity = elementwise.Program{Args: 1}
