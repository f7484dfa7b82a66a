package moves

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// reformatTactics are the changes between the memory formats, to another type on the way where the layer says so.
func reformatTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range [][2]kernels.Format{{kernels.Linear, kernels.NHWC}, {kernels.NHWC, kernels.Linear}} {
		list = append(list, emit.Tactic{
			Name: fmt.Sprintf("reformat_%s_%s", f[0], f[1]), Op: graph.Reformat, In: f[0], Out: f[1], Strided: true,
			Match: func(b kernels.Binding) error {
				if b.Consts[0] != nil {
					return fmt.Errorf("the input is a constant")
				}
				if size := b.In[0].Type.Size(); size > 4 || len(b.In[0].Dims) < 2 {
					return fmt.Errorf("%v: the kernel takes elements of 1, 2 and 4 bytes in at least 2 axes", b.In[0])
				}
				if sameElements(b) {
					return nil
				}
				return errors.Join(emit.Storable(b.Layer.Inputs[0]), emit.Storable(b.Layer.Outputs[0]))
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) { return reformatOf(b).emit(b), nil },
			Cost: func(b kernels.Binding) []emit.Job {
				r := reformatOf(b)
				g := r.grid()
				return []emit.Job{r.shape.job(g[0]*g[1]*g[2], emit.Traffic(b))}
			},
		})
	}
	return list
}

// sameElements reports whether a reformat's elements stay as they are stored.
func sameElements(b kernels.Binding) bool {
	x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]
	return x.Type == y.Type && x.Range.Equal(y.Range)
}

// reformat is a transposition of channels and pixels, image by image. In NHWC the channels behind the last become zeros.
type reformat struct {
	linear, nhwc     kernels.Desc
	toNHWC           bool
	channels, pixels int
	x, y             emit.Storage
	shape            tileShape
}

func reformatOf(b kernels.Binding) *reformat {
	r := &reformat{linear: b.In[0], nhwc: b.Out[0], toNHWC: b.Out[0].Format == kernels.NHWC}
	if !r.toNHWC {
		r.linear, r.nhwc = r.nhwc, r.linear
	}
	r.channels, r.pixels = r.nhwc.Dims[1], numeric.Count(r.nhwc.Dims[2:])
	r.x = emit.Storage{Type: b.In[0].Type, Range: b.Layer.Inputs[0].Range}
	r.y = emit.Storage{Type: b.Out[0].Type, Range: b.Layer.Outputs[0].Range}
	alongPixels := r.pixels | r.linear.BatchStride()
	alongChannels := r.nhwc.Width() | r.nhwc.PixelPitch() | r.nhwc.BatchStride()
	size, wide := r.y.Type.Size(), max(r.x.Type.Size(), r.y.Type.Size())
	if r.toNHWC {
		r.shape = newTileShape(size, emit.VectorOf(wide, alongPixels), emit.VectorOf(size, alongChannels), r.pixels, r.nhwc.Width())
	} else {
		r.shape = newTileShape(size, emit.VectorOf(wide, alongChannels), emit.VectorOf(size, alongPixels), r.nhwc.Width(), r.pixels)
	}
	return r
}

// grid returns the blocks: tiles along the input's innermost axis and along the output's, images. Channels are those of
// NHWC, padding included.
func (r *reformat) grid() [3]int {
	inner, outer := r.pixels, r.nhwc.Width()
	if !r.toNHWC {
		inner, outer = outer, inner
	}
	inner, outer = r.shape.tiles(inner, outer)
	return [3]int{inner, outer, r.nhwc.Dims[0]}
}

func (r *reformat) emit(b kernels.Binding) *emit.Work {
	w := emit.NewWork()
	k := w.Module.Kernel("reformat", tileThreads)
	r.x.Base, r.y.Base = k.Pointer("x"), k.Pointer("y")
	t := newTransposition(k, r.shape)
	t.load = func(at ptx.Uint, when ptx.Cond) []ptx.Word { return r.converted(k, at, when) }
	if sameElements(b) {
		t.load = func(at ptx.Uint, when ptx.Cond) []ptx.Word { return loadUnit(k, r.x.Base, at, t.in, t.size, when) }
	}
	t.store = func(at ptx.Uint, unit []ptx.Word) { storeUnit(k, r.y.Base, at, t.out, t.size, unit) }

	tileIn, tileOut, image, grid := emit.BlockIndices(k, r.grid())
	innerSpan, outerSpan := t.spans()
	inner, outer := k.Mul(tileIn, ptx.U(innerSpan)), k.Mul(tileOut, ptx.U(outerSpan))
	planar, padded := k.Mul(image, ptx.U(r.linear.BatchStride())), k.Mul(image, ptx.U(r.nhwc.BatchStride()))
	atPlanar := func(p, c ptx.Uint) ptx.Uint { return k.Add(planar, k.Mad(c, ptx.U(r.pixels), p)) }
	atPadded := func(c, p ptx.Uint) ptx.Uint { return k.Add(padded, k.Mad(p, ptx.U(r.nhwc.PixelPitch()), c)) }
	if r.toNHWC {
		t.read(places{inner, r.pixels}, places{outer, r.channels}, atPlanar)
		k.Barrier()
		t.write(places{inner, r.pixels}, places{outer, r.nhwc.Width()}, func(p, c ptx.Uint) ptx.Uint { return atPadded(c, p) })
	} else {
		t.read(places{inner, r.channels}, places{outer, r.pixels}, atPadded)
		k.Barrier()
		t.write(places{inner, r.channels}, places{outer, r.pixels}, func(c, p ptx.Uint) ptx.Uint { return atPlanar(p, c) })
	}
	k.End()
	w.Launches = []emit.Launch{{
		Kernel: "reformat", Grid: grid, Block: [3]int{tileThreads, 1, 1}, Args: []emit.Arg{emit.InArg(0), emit.OutArg(0)},
	}}
	return w
}

// converted is a unit of elements as the output has them, of zeros where when does not hold.
func (r *reformat) converted(k *ptx.K, at ptx.Uint, when ptx.Cond) []ptx.Word {
	n := r.shape.in
	packed := func(reals []ptx.Float) (words []ptx.Word) {
		perWord := min(n, 4/r.shape.size)
		for i := 0; i < n; i += perWord {
			words = append(words, r.y.Pack(k, reals[i:i+perWord]))
		}
		return words
	}
	if n*min(r.x.Type.Size(), r.shape.size) >= 4 {
		return packed(r.x.Load(k, at, n, &when))
	}
	var words []ptx.Word
	for range max(1, n*r.shape.size/4) {
		words = append(words, k.Var(ptx.U(0)).Word())
	}
	k.If(when, func() {
		for i, w := range packed(r.x.Load(k, at, n, nil)) {
			k.Set(words[i].Uint(), w.Uint())
		}
	})
	return words
}
