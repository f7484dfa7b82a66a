package reductions

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// vectors is where the vectors of the last axis of a tensor begin, which may be a slice of a larger one.
type vectors struct{ batch, row int }

func vectorsOf(d kernels.Desc) vectors {
	if len(d.Dims) < 3 {
		return vectors{row: d.BatchStride()}
	}
	return vectors{d.BatchStride(), d.RowPitch()}
}

func (v vectors) at(batch, row int) int { return batch*v.batch + row*v.row }

// rotaryTactic is the rotary embedding for one instruction set.
func rotaryTactic(isa asm.Features) kernels.Tactic {
	return kernels.Tactic{
		Name: "rotary_f32_" + work.ISAName(isa), Op: graph.Rotary, Needs: kernels.Feature(isa), Strided: true, Rows: true,
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
	b        kernels.Binding
	rotation work.Rotation
	x, y     vectors
	angles   [2]vectors
	cos, sin []float32 // of constants
	indices  sync.Pool // *[]int32, where positions are given
	program  *programs.Program
	job      *work.Job[rotaryLaunch]
}

func newRotaryKernel(b kernels.Binding, isa asm.Features) (*rotaryKernel, error) {
	a, own := b.Layer.Attrs.(graph.RotaryAttrs), b.In[graph.RotaryCos].Dims[0]
	if b.Layer.Input(graph.RotaryPositions) != nil {
		own = b.In[graph.RotaryPositions].Dims[0]
	}
	k := &rotaryKernel{RotaryShape: a.Shape(b.In[graph.RotaryX].Dims, own), b: b}
	for i := range graph.RotaryPositions {
		if b.Consts[i] == nil && b.In[i].Type != numeric.F32 || b.Out[0].Type != numeric.F32 {
			return nil, fmt.Errorf("input %d is %s and the result %s, the kernel takes f32", i, b.In[i].Type, b.Out[0].Type)
		}
	}
	if k.positions() {
		if t := b.In[graph.RotaryPositions].Type; t != numeric.I64 && t != numeric.I32 {
			return nil, fmt.Errorf("positions are %s, the kernel takes i32 and i64", t)
		}
		n := numeric.Count(b.In[graph.RotaryPositions].Dims)
		k.indices.New = func() any {
			room := make([]int32, n)
			return &room
		}
	}
	k.x, k.y = vectorsOf(b.In[graph.RotaryX]), vectorsOf(b.Out[0])
	k.angles = [2]vectors{vectorsOf(b.In[graph.RotaryCos]), vectorsOf(b.In[graph.RotarySin])}
	var err error
	if k.program, err = programs.Trailing(b, isa); err != nil {
		return nil, err
	}
	k.cos, k.sin = work.RealConst(b, graph.RotaryCos), work.RealConst(b, graph.RotarySin)
	k.rotation, k.job = work.NewRotation(k.Size, a.Interleaved, isa), work.NewJob((*rotaryLaunch).do)
	k.rotation.Apart, k.rotation.First = a.Apart, a.First
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
	l := rotaryLaunch{kernel: k, y: numeric.View[float32](out[0].Host), x: numeric.View[float32](in[graph.RotaryX].Host), cos: k.cos, sin: k.sin}
	if l.cos == nil {
		l.cos = numeric.View[float32](in[graph.RotaryCos].Host)
	}
	if l.sin == nil {
		l.sin = numeric.View[float32](in[graph.RotarySin].Host)
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

// resolve writes which cosines each element of the sequence has.
func (k *rotaryKernel) resolve(index []int32, in []kernels.Mem) error {
	d := k.b.In[graph.RotaryPositions]
	data, extent := k.b.Consts[graph.RotaryPositions], k.b.In[graph.RotaryCos].Dims[0]
	stride := k.Length
	if data == nil {
		data, stride = in[graph.RotaryPositions].Host, d.BatchStride()
	}
	for item := range d.Dims[0] {
		part, at := index[item*k.Length:][:k.Length], item*stride
		var err error
		if d.Type == numeric.I32 {
			err = work.Indices(part, numeric.View[int32](data)[at:], extent)
		} else {
			err = work.Indices(part, numeric.View[int64](data)[at:], extent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// do turns the heads of a unit.
func (l *rotaryLaunch) do(u, _ int) {
	k := l.kernel
	if !k.Split {
		item, i := u/k.Length, u%k.Length
		l.turn(k.y.at(item, i), k.x.at(item, i), k.Heads, item, i)
		return
	}
	item, head := u/k.Heads, u%k.Heads
	for i := range k.Length {
		l.turn(k.y.at(item, head*k.Length+i), k.x.at(item, head*k.Length+i), 1, item, i)
	}
}

// turn turns so many heads, which lie side by side, of element i of the sequence of an item.
func (l *rotaryLaunch) turn(to, from, heads, item, i int) {
	k, half := l.kernel, l.kernel.Turned/2
	item = min(item, k.Angles-1)
	if l.index != nil {
		item, i = 0, int(l.index[item*k.Length+i])
	}
	k.rotation.Turn(l.y[to:], l.x[from:], l.cos[k.angles[0].at(item, i):][:half], l.sin[k.angles[1].at(item, i):][:half], heads)
}
