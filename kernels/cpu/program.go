package cpu

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

// strip is how many elements a program is run on at a time: its values stay in the L1 cache.
const strip = 512

// reach is how an argument of a program lies relative to the result.
type reach uint8

const (
	everywhere reach = iota // an element for each element of the result, in the same order
	byChannel               // an element for each channel (and batch index, unless it is constant)
	single                  // one element
)

// argument is one argument of a program.
type argument struct {
	input int // of the layer; -1 for the result itself
	reach reach
	desc  kernels.Desc
	data  []float32 // a constant's elements
	batch bool      // a byChannel argument has values for each batch index
}

// programRun is an element-wise program over tensors of one format.
type programRun struct {
	program graph.Program
	args    []argument
	out     kernels.Desc
	isa     asm.Features
	buffers sync.Pool // *[][]float32, a strip for each value
}

// newProgramRun prepares a program whose arguments are the layer's inputs from first on; with result set, argument 0 is
// the output itself and first is argument 1's.
func newProgramRun(b kernels.Binding, p graph.Program, first int, result bool, isa asm.Features) (*programRun, error) {
	r := &programRun{program: p, out: b.Out[0], isa: isa}
	for a := range p.Args {
		if result && a == 0 {
			r.args = append(r.args, argument{input: -1, desc: r.out})
			continue
		}
		i := first + a
		if result {
			i--
		}
		arg, err := newArgument(b, i)
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, arg)
	}
	r.buffers.New = func() any {
		bufs := make([][]float32, p.Args+len(p.Code))
		for i := range bufs {
			bufs[i] = alignedFloats(strip)
		}
		return &bufs
	}
	return r, nil
}

// newArgument says how input i is read for every element of the output.
func newArgument(b kernels.Binding, i int) (argument, error) {
	out, d := b.Out[0], b.In[i]
	arg := argument{input: i, desc: d}
	constant := b.Consts[i] != nil
	if constant {
		v, _ := b.Const(i)
		arg.data = graph.ToReal(v, b.Layer.Inputs[i].Range).Floats()
	} else if d.Type != graph.F32 {
		return arg, fmt.Errorf("input %s is %s, the kernel takes f32", b.Layer.Inputs[i].Name, d.Type)
	}
	rank := len(out.Dims)
	dims := make([]int, rank) // of the argument on the output's axes
	for k := range dims {
		dims[k] = 1
	}
	copy(dims[rank-len(d.Dims):], d.Dims)
	switch n := graph.Count(dims); {
	case n == 1:
		arg.reach = single
	case n == graph.Count(out.Dims) && (!constant || out.Format == kernels.Linear):
		arg.reach = everywhere
	case rank >= 2 && dims[1] == out.Dims[1] && n == dims[0]*dims[1]:
		arg.reach, arg.batch = byChannel, dims[0] > 1
	default:
		return arg, fmt.Errorf("input %v does not broadcast to %v by element, channel or as a whole", d, out)
	}
	if arg.reach != everywhere && !constant && d.Format != kernels.Linear && d.Format != out.Format {
		return arg, fmt.Errorf("input %v and output %v differ in format", d, out)
	}
	return arg, nil
}

// run computes the program; out may be the memory of an argument.
func (r *programRun) run(p Parallel, in []kernels.Mem, out kernels.Mem) {
	plane := graph.Count(r.out.Dims[min(2, len(r.out.Dims)):])
	batches, channels := 1, 1
	if len(r.out.Dims) > 0 {
		batches = r.out.Dims[0]
	}
	if len(r.out.Dims) > 1 {
		channels = r.out.Dims[1]
	}
	block := r.out.Format.Block()
	groups := (channels + block - 1) / block
	if r.flat() { // channels do not matter: long runs
		block, plane, groups = 1, groups*plane*block, 1
	}
	length := plane * block
	const chunk = 8 * strip
	pieces := max(1, (length+chunk-1)/chunk)
	p(batches*groups*pieces, func(u int) {
		n, g, k := u/(groups*pieces), u/pieces%groups, u%pieces
		bufs := r.buffers.Get().(*[][]float32)
		r.piece(*bufs, in, out, n, g, block, length, k*chunk, min(length, (k+1)*chunk))
		r.buffers.Put(bufs)
	})
}

// flat reports whether no argument depends on the channel.
func (r *programRun) flat() bool {
	for _, a := range r.args {
		if a.reach == byChannel {
			return false
		}
	}
	return true
}

// piece computes elements [from, to) of channel group g of batch index n, whose group is length elements.
func (r *programRun) piece(bufs [][]float32, in []kernels.Mem, out kernels.Mem, n, g, block, length, from, to int) {
	vals := make([][]float32, len(bufs))
	offset := func(d kernels.Desc) int { return n*d.BatchStride() + g*length }
	for a, arg := range r.args {
		if arg.reach != everywhere {
			r.spread(bufs[a], arg, in, n, g, block)
		}
	}
	dst := graph.View[float32](out.Host)[offset(r.out):]
	for at := from; at < to; at += strip {
		size := min(strip, to-at)
		for a, arg := range r.args {
			switch {
			case arg.reach != everywhere:
				vals[a] = bufs[a][:size]
			case arg.data != nil:
				vals[a] = arg.data[n*length*r.groups(block)+g*length+at:][:size]
			case arg.input < 0:
				vals[a] = dst[at:][:size]
			default:
				vals[a] = graph.View[float32](in[arg.input].Host)[offset(arg.desc)+at:][:size]
			}
		}
		for i, ins := range r.program.Code {
			v := r.program.Args + i
			vals[v] = bufs[v][:size]
			if i == len(r.program.Code)-1 {
				vals[v] = dst[at:][:size]
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
			elementwise(vals[v], x, y, z, ins, r.isa)
		}
		if len(r.program.Code) == 0 {
			copy(dst[at:][:size], vals[0])
		}
	}
}

func (r *programRun) groups(block int) int {
	if len(r.out.Dims) < 2 || r.flat() {
		return 1
	}
	return (r.out.Dims[1] + block - 1) / block
}

// spread fills a strip with an argument that does not change within a channel group.
func (r *programRun) spread(dst []float32, arg argument, in []kernels.Mem, n, g, block int) {
	data, first := arg.data, 0
	if data == nil {
		data = graph.View[float32](in[arg.input].Host)
	}
	if arg.reach == single {
		for i := range dst {
			dst[i] = data[0]
		}
		return
	}
	if arg.batch {
		first = n * r.out.Dims[1]
		if arg.data == nil {
			first = n * arg.desc.BatchStride()
		}
	}
	var lane [lanes]float32
	channels := r.out.Dims[1]
	for l := range block {
		if c := g*block + l; c < channels {
			lane[l] = data[first+c]
		}
	}
	for i := 0; i < len(dst); i += block {
		copy(dst[i:], lane[:block])
	}
}
