package reductions

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// rotaryTactic is the rotary embedding for one instruction set.
func rotaryTactic(isa asm.Features) kernels.Tactic {
	return kernels.Tactic{
		Name: "rotary_f32_" + work.ISAName(isa), Op: graph.Rotary, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			_, err := newRotaryKernel(b, 0)
			return err
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newRotaryKernel(b, isa) },
	}
}

// rotaryKernel turns the heads of an element of the sequence, which lie side by side in x [B,S,Heads*D], or those elements
// that one head has in x [B,Heads,S,D].
type rotaryKernel struct {
	graph.RotaryShape
	b           kernels.Binding
	interleaved bool
	cos, sin    []float32 // of constants
	indices     sync.Pool // *[]int32, where positions are given
	program     *programs.Program
	halves      asm.RotaryKernel // for pairs that are not side by side
	job         *work.Job[rotaryLaunch]
}

func newRotaryKernel(b kernels.Binding, isa asm.Features) (*rotaryKernel, error) {
	a, own := b.Layer.Attrs.(graph.RotaryAttrs), b.In[graph.RotaryCos].Dims[0]
	if b.Layer.Input(graph.RotaryPositions) != nil {
		own = b.In[graph.RotaryPositions].Dims[0]
	}
	k := &rotaryKernel{RotaryShape: a.Shape(b.In[graph.RotaryX].Dims, own), b: b, interleaved: a.Interleaved}
	for i := range graph.RotaryPositions {
		if b.Consts[i] == nil && b.In[i].Type != graph.F32 || b.Out[0].Type != graph.F32 {
			return nil, fmt.Errorf("input %d is %s and the result %s, the kernel takes f32", i, b.In[i].Type, b.Out[0].Type)
		}
	}
	if k.positions() {
		if t := b.In[graph.RotaryPositions].Type; t != graph.I64 && t != graph.I32 {
			return nil, fmt.Errorf("positions are %s, the kernel takes i32 and i64", t)
		}
		n := graph.Count(b.In[graph.RotaryPositions].Dims)
		k.indices.New = func() any {
			room := make([]int32, n)
			return &room
		}
	}
	var err error
	if k.program, err = programs.Trailing(b, isa); err != nil {
		return nil, err
	}
	k.cos, k.sin = work.RealConst(b, graph.RotaryCos), work.RealConst(b, graph.RotarySin)
	k.halves, k.job = work.RotaryKernel(isa), work.NewJob((*rotaryLaunch).do)
	return k, nil
}

func (k *rotaryKernel) positions() bool { return k.b.Layer.Input(graph.RotaryPositions) != nil }

// rotaryLaunch is the state of one launch.
type rotaryLaunch struct {
	kernel         *rotaryKernel
	y, x, cos, sin []float32
	index          []int32 // which cosines each element of the sequence has; nil: those at its place
}

// Launch turns all heads, after it has checked all positions.
func (k *rotaryKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	l := rotaryLaunch{kernel: k, y: graph.View[float32](out[0].Host), x: graph.View[float32](in[graph.RotaryX].Host), cos: k.cos, sin: k.sin}
	if l.cos == nil {
		l.cos = graph.View[float32](in[graph.RotaryCos].Host)
	}
	if l.sin == nil {
		l.sin = graph.View[float32](in[graph.RotarySin].Host)
	}
	if k.positions() {
		room := k.indices.Get().(*[]int32)
		defer k.indices.Put(room)
		l.index = *room
		if err := k.resolve(l.index, in); err != nil {
			return err
		}
	}
	units := k.Batch * k.Length
	if k.Split {
		units = k.Batch * k.Heads
	}
	if len(l.x) > 0 {
		k.job.Each(work.LoopOver(st, 2*k.b.Out[0].Bytes()), units, l)
	}
	if k.program != nil {
		k.program.Launch(work.Loop(st), out[0], in, out[0])
	}
	return nil
}

func (k *rotaryKernel) resolve(index []int32, in []kernels.Mem) error {
	data, extent := k.b.Consts[graph.RotaryPositions], k.b.In[graph.RotaryCos].Dims[0]
	if data == nil {
		data = in[graph.RotaryPositions].Host
	}
	if k.b.In[graph.RotaryPositions].Type == graph.I32 {
		return work.Indices(index, graph.View[int32](data), extent)
	}
	return work.Indices(index, graph.View[int64](data), extent)
}

// do turns the heads of a unit.
func (l *rotaryLaunch) do(u, _ int) {
	k := l.kernel
	if !k.Split {
		l.turn(u*k.Heads*k.Size, k.Heads, u/k.Length, u%k.Length)
		return
	}
	for i := range k.Length {
		l.turn((u*k.Length+i)*k.Size, 1, u/k.Heads, i)
	}
}

// turn turns so many heads from an offset on, of element i of the sequence of an item.
func (l *rotaryLaunch) turn(at, heads, item, i int) {
	k, half := l.kernel, l.kernel.Turned/2
	place := min(item, k.Angles-1)*k.Length + i
	if l.index != nil {
		place = int(l.index[place])
	}
	x, y := l.x[at:at+heads*k.Size], l.y[at:at+heads*k.Size]
	c, s := l.cos[place*half:][:half], l.sin[place*half:][:half]
	if !k.interleaved {
		k.halves.Turn(y, x, c, s, k.Size, heads)
		return
	}
	for h := 0; h < len(x); h += k.Size {
		turnNeighbours(y[h:h+k.Size], x[h:h+k.Size], c, s)
	}
}

// turnNeighbours turns the pairs of a head that lie side by side.
func turnNeighbours(y, x, cos, sin []float32) {
	sin = sin[:len(cos)]
	copy(y[2*len(cos):], x[2*len(cos):])
	for j, c := range cos {
		p, q, s := x[2*j:][:2], y[2*j:][:2], sin[j]
		a, b := p[0], p[1]
		q[0], q[1] = float32(a*c)-float32(b*s), float32(a*s)+float32(b*c)
	}
}
