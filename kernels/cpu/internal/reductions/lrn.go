package reductions

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// lrnTactic normalises by neighbouring channels, in float32, for one instruction set.
func lrnTactic(isa asm.Features) kernels.Tactic {
	return kernels.Tactic{
		Name: "lrn_f32_" + work.ISAName(isa), Op: graph.LRN, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			if err := b.Only(numeric.F32); err != nil {
				return err
			}
			return programs.Match(b)
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			a, x := b.Layer.Attrs.(graph.LRNAttrs), b.In[0].Dims
			k := &lrnKernel{items: x[0], channels: x[1], inner: numeric.Count(x[2:]), vec: work.VecKernel(isa),
				factor: [1]float32{a.Alpha / float32(a.Size)}, bias: [1]float32{a.Bias}, power: [1]float32{-a.Beta}}
			k.before, k.after = min((a.Size-1)/2, k.channels), min(a.Size/2, k.channels)
			k.strip = max(work.Lanes, min(lrnStrip, lrnFloats/(k.before+k.after+2)))
			var err error
			k.program, err = programs.Trailing(b, isa)
			k.job = work.NewJob((*lrnLaunch).do)
			return k, err
		},
	}
}

// lrnKernel computes y = x * (bias + factor*sum of squares of the channels around) ^ power of x [items, channels, inner].
type lrnKernel struct {
	items, channels, inner int
	before, after          int // channels of the sum beside its own
	strip                  int // places that are computed at once
	factor, bias, power    [1]float32
	vec                    asm.VecKernel
	program                *programs.Program
	job                    *work.Job[lrnLaunch]
}

// A strip's squares of the channels of one sum stay in the L1 cache.
const (
	lrnStrip  = 512
	lrnFloats = 6 << 10
)

// lrnLaunch is the state of one launch.
type lrnLaunch struct {
	kernel *lrnKernel
	x, y   []float32
}

// Launch normalises all strips.
func (k *lrnKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	x := numeric.View[float32](in[0].Host)
	k.job.Each(work.LoopOver(st, 16*len(x)), k.items*work.CeilDiv(k.inner, k.strip), lrnLaunch{k, x, numeric.View[float32](out[0].Host)})
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

// do normalises a strip: the squares of its channels are a ring of rows.
func (l *lrnLaunch) do(u, _ int) {
	k := l.kernel
	strips := work.CeilDiv(k.inner, k.strip)
	first := u % strips * k.strip
	n, rows := min(k.strip, k.inner-first), k.before+k.after+1
	at := func(c int) int { return (u/strips*k.channels+c)*k.inner + first }
	r := takeRoom((rows + 1) * k.strip)
	ring := func(c int) []float32 { return r.floats[(c%rows+1)*k.strip:][:n] }
	sum := r.floats[:n]
	for c, squared := 0, 0; c < k.channels; c++ {
		for ; squared < min(k.channels, c+k.after+1); squared++ {
			x := l.x[at(squared):][:n]
			k.vec.Binary(asm.Mul, ring(squared), x, x)
		}
		from := max(0, c-k.before)
		copy(sum, ring(from))
		for d := from + 1; d < squared; d++ {
			k.vec.Binary(asm.Add, sum, sum, ring(d))
		}
		k.vec.Binary(asm.Mul, sum, sum, k.factor[:])
		k.vec.Binary(asm.Add, sum, sum, k.bias[:])
		k.vec.Unary(asm.Log, sum, sum, 0, 0)
		k.vec.Binary(asm.Mul, sum, sum, k.power[:])
		k.vec.Unary(asm.Exp, sum, sum, 0, 0)
		k.vec.Binary(asm.Mul, l.y[at(c):][:n], l.x[at(c):][:n], sum)
	}
	rooms.Put(r)
}
