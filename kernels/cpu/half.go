package cpu

import (
	"slices"
	"strings"
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/products"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// halfTactics are those tactics in float32 that also compute on tensors stored in half precision: the inputs are
// widened into the workspace, and the result is narrowed from there. Arithmetic is float32's throughout. Weights are widened
// once, when a kernel is bound, or, of some products, in registers.
func halfTactics(isa asm.Features, workers int) []kernels.Tactic {
	var list []kernels.Tactic
	for _, t := range append(f32Tactics(isa, workers), products.TacticsHalf(isa, workers)...) {
		list = append(list, half(t, isa))
	}
	return list
}

// half returns the tactic that runs t on tensors of which some are stored in half precision.
func half(t kernels.Tactic, isa asm.Features) kernels.Tactic {
	h := t
	h.Name, h.Strided, h.Rows, h.InPlace = strings.Replace(t.Name, "_f32_", "_f16_", 1), false, false, false
	h.Match = func(b kernels.Binding) error {
		w := widened(b)
		if w.size == 0 {
			return kernels.ErrNotHalf
		}
		return t.Match(w.binding)
	}
	h.Workspace = func(b kernels.Binding) int {
		w := widened(b)
		if t.Workspace == nil {
			return w.size
		}
		return w.size + t.Workspace(w.binding)
	}
	h.Bind = func(b kernels.Binding) (kernels.Kernel, error) {
		w := widened(b)
		inner, err := t.Bind(w.binding)
		if err != nil {
			return nil, err
		}
		k := &halfConversion{wide: w, inner: inner, half: work.HalfKernel(isa), widen: work.NewJob((*halfPart).widen), narrow: work.NewJob((*halfPart).narrow)}
		k.operands.New = func() any {
			return &halfOperands{in: make([]kernels.Mem, len(b.In)), out: make([]kernels.Mem, len(b.Out))}
		}
		return k, nil
	}
	return h
}

// wide is a binding with every activation of half precision in float32, and where those lie in the workspace.
type wide struct {
	binding kernels.Binding
	in, out []int // offsets; -1 for what is not converted
	size    int
}

func widened(b kernels.Binding) wide {
	w := wide{binding: b}
	w.binding.In, w.binding.Out = slices.Clone(b.In), slices.Clone(b.Out)
	place := func(d *kernels.Desc) int {
		if d.Type != numeric.F16 {
			return -1
		}
		d.Type, d.Batch = numeric.F32, 0
		at := w.size
		w.size += work.RoundUp64(d.Bytes())
		return at
	}
	for i := range b.In {
		at := -1
		if b.Consts[i] == nil {
			at = place(&w.binding.In[i])
		}
		w.in = append(w.in, at)
	}
	for i := range b.Out {
		w.out = append(w.out, place(&w.binding.Out[i]))
	}
	return w
}

// halfConversion runs a kernel in float32 between conversions.
type halfConversion struct {
	wide          wide
	inner         kernels.Kernel
	half          asm.HalfKernel
	widen, narrow *work.Job[halfPart]
	operands      sync.Pool // *halfOperands
}

// halfOperands are those of the kernel in float32.
type halfOperands struct{ in, out []kernels.Mem }

// halfPart is the conversion of one tensor.
type halfPart struct {
	half   *asm.HalfKernel
	floats []float32
	halves []uint16
}

// part returns the conversion between a tensor in the workspace and one in half precision.
func (k *halfConversion) part(wide, narrow kernels.Mem) halfPart {
	return halfPart{&k.half, numeric.View[float32](wide.Host), numeric.View[uint16](narrow.Host)}
}

// pieces returns how many units it is.
func (p *halfPart) pieces() int { return (len(p.floats) + halfPiece - 1) / halfPiece }

// halfPiece is the elements that a worker converts at a time.
const halfPiece = 16 << 10

// Launch widens, computes and narrows.
func (k *halfConversion) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	l := k.operands.Get().(*halfOperands)
	room := func(at int, d kernels.Desc) kernels.Mem { return kernels.Mem{Host: ws.Host[at : at+d.Bytes()]} }
	for i, at := range k.wide.in {
		if l.in[i] = in[i]; at >= 0 {
			l.in[i] = room(at, k.wide.binding.In[i])
			p := k.part(l.in[i], in[i])
			k.widen.Each(work.Loop(st), p.pieces(), p)
		}
	}
	for i, at := range k.wide.out {
		if l.out[i] = out[i]; at >= 0 {
			l.out[i] = room(at, k.wide.binding.Out[i])
		}
	}
	err := k.inner.Launch(st, l.in, l.out, kernels.Mem{Host: ws.Host[k.wide.size:]})
	for i, at := range k.wide.out {
		if at >= 0 && err == nil {
			p := k.part(l.out[i], out[i])
			k.narrow.Each(work.Loop(st), p.pieces(), p)
		}
	}
	clear(l.in)
	clear(l.out)
	k.operands.Put(l)
	return err
}

func (p *halfPart) widen(u, _ int) {
	from, to := u*halfPiece, min(len(p.floats), (u+1)*halfPiece)
	p.half.Widen(p.floats[from:to], p.halves[from:to])
}

func (p *halfPart) narrow(u, _ int) {
	from, to := u*halfPiece, min(len(p.floats), (u+1)*halfPiece)
	p.half.Narrow(p.halves[from:to], p.floats[from:to])
}
