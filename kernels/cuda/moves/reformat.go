package moves

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// reformatTactics are the changes between the memory formats, to another type on the way where the layer says so.
func reformatTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range [][2]kernels.Format{{kernels.Linear, kernels.NHWC}, {kernels.NHWC, kernels.Linear}} {
		list = append(list, emit.Tactic{
			Name: fmt.Sprintf("reformat_%s_%s", f[0], f[1]), Op: graph.Reformat, In: f[0], Out: f[1], Strided: true,
			Match: func(b kernels.Binding) error {
				if size := b.In[0].Type.Size(); size > 4 || len(b.In[0].Dims) < 2 {
					return fmt.Errorf("%v: the kernel takes elements of 1, 2 and 4 bytes in at least 2 axes", b.In[0])
				}
				if sameElements(b) {
					return nil
				}
				return errors.Join(emit.Storable(b.Layer.Inputs[0]), emit.Storable(b.Layer.Outputs[0]))
			},
			Emit: emitReformat,
		})
	}
	return list
}

// sameElements reports whether a reformat's elements stay as they are stored.
func sameElements(b kernels.Binding) bool {
	x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]
	return x.Type == y.Type && x.Range.Equal(y.Range)
}

// emitReformat emits a transposition of channels and pixels, image by image. In NHWC the channels behind the last become
// zeros.
//
//	block (x: pixels/32, y: channels/32, z: images), threads 32 x 8:
//	  read 32x32 elements along the input's rows -> shared -> write along the output's rows
func emitReformat(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	d, linear := b.Out[0], b.In[0]
	toNHWC := d.Format == kernels.NHWC
	if !toNHWC {
		d, linear = linear, d
	}
	channels, pixels := d.Dims[1], graph.Count(d.Dims[2:])

	k := w.Module.Kernel("reformat", transposeTile*transposeRows)
	x := emit.Storage{Type: b.In[0].Type, Range: b.Layer.Inputs[0].Range, Base: k.Pointer("x")}
	y := emit.Storage{Type: b.Out[0].Type, Range: b.Layer.Outputs[0].Range, Base: k.Pointer("y")}
	asStored := sameElements(b)
	t := newTransposition(k)
	t.load = func(at ptx.Uint) ptx.Word {
		p := k.Offset(x.Base, at, x.Type.Size())
		if asStored {
			return emit.LoadElement(k, p, x.Type.Size()).Word()
		}
		return k.Bits(x.LoadOne(k, p))
	}
	t.store = func(at ptx.Uint, v ptx.Word) {
		p := k.Offset(y.Base, at, y.Type.Size())
		if asStored {
			emit.StoreElement(k, p, y.Type.Size(), v)
		} else {
			y.StoreOne(k, p, k.FloatOf(v))
		}
	}
	tileP, tileC, image, grid := emit.BlockIndices(k, [3]int{emit.CeilDiv(pixels, transposeTile), emit.CeilDiv(d.Width(), transposeTile), d.Dims[0]})
	p0, c0 := k.Shl(tileP, 5), k.Shl(tileC, 5)
	planar := k.Mul(image, ptx.U(linear.BatchStride()))
	padded := k.Mul(image, ptx.U(d.BatchStride()))
	atPlanar := func(p, c ptx.Uint) ptx.Uint { return k.Add(planar, k.Mad(c, ptx.U(pixels), p)) }
	atPadded := func(c, p ptx.Uint) ptx.Uint { return k.Add(padded, k.Mad(p, ptx.U(d.PixelPitch()), c)) }
	if toNHWC {
		t.read(p0, c0, pixels, channels, atPlanar)
		k.Barrier()
		t.write(c0, p0, d.Width(), pixels, atPadded)
	} else {
		t.read(c0, p0, channels, pixels, atPadded)
		k.Barrier()
		t.write(p0, c0, pixels, channels, atPlanar)
	}
	k.End()
	w.Launches = []emit.Launch{{
		Kernel: "reformat", Grid: grid,
		Block: [3]int{transposeTile * transposeRows, 1, 1}, Args: []emit.Arg{emit.InArg(0), emit.OutArg(0)},
	}}
	return w, nil
}
