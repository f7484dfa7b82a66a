package moves

import (
	"encoding/binary"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Reformats move between rows and blocks of channels, with or without a change between float32 and bytes.
func Reformats(isa asm.Features) []kernels.Tactic {
	var list []kernels.Tactic
	for _, f := range []struct {
		family string
		op     *graph.Op
		plan   func(b kernels.Binding, isa asm.Features, block bool) (blockMove, error)
		ways   []bool
	}{
		{"reformat", graph.Reformat, planReformat, []bool{true, false}},
		{"quantize", graph.Quantize, planQuantizeBlocks, []bool{true}},
		{"dequantize", graph.Dequantize, planDequantizeBlocks, []bool{false}},
	} {
		for _, block := range f.ways {
			t := kernels.Tactic{
				Name: f.family + "_" + work.ISAName(isa) + "_linear_c16", Op: f.op, Needs: kernels.Feature(isa),
				In: kernels.Linear, Out: kernels.C16, Strided: true,
				Match: func(b kernels.Binding) error {
					_, err := f.plan(b, 0, block)
					return err
				},
				Bind: func(b kernels.Binding) (kernels.Kernel, error) {
					move, err := f.plan(b, isa, block)
					if err != nil {
						return nil, err
					}
					return newBlockKernel(b, move, block), nil
				},
			}
			if !block {
				t.Name, t.In, t.Out = f.family+"_"+work.ISAName(isa)+"_c16_linear", kernels.C16, kernels.Linear
			}
			list = append(list, t)
		}
	}
	return list
}

// blockMove moves pixels [from, to) of one block of up to 16 channels between rows, plane elements apart, and a block;
// the elements of either begin at the given bytes.
type blockMove func(dst, src []byte, plane, channels, from, to int)

// blockKernel runs a blockMove over a tensor.
type blockKernel struct {
	b      kernels.Binding
	move   blockMove
	block  bool
	n, c   int
	plane  int
	pieces int // of a plane
	job    *work.Job[blockLaunch]
}

// blockPixels bounds the pixels of a unit.
const blockPixels = 4096

func newBlockKernel(b kernels.Binding, move blockMove, block bool) *blockKernel {
	k := &blockKernel{b: b, move: move, block: block, n: b.In[0].Dims[0], c: b.In[0].Dims[1], plane: numeric.Count(b.In[0].Dims[2:])}
	k.pieces = max(1, (k.plane+blockPixels-1)/blockPixels)
	k.job = work.NewJob((*blockLaunch).do)
	return k
}

// blockLaunch is the state of one launch.
type blockLaunch struct {
	kernel   *blockKernel
	dst, src []byte
}

// Launch moves the tensor.
func (k *blockKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.job.Each(work.LoopOver(st, k.b.Out[0].Bytes()), k.n*work.BlocksOf(k.c)*k.pieces, blockLaunch{k, out[0].Host, in[0].Host})
	return nil
}

func (l *blockLaunch) do(u, _ int) {
	k := l.kernel
	piece, block := u%k.pieces, u/k.pieces%work.BlocksOf(k.c)
	image := u / k.pieces / work.BlocksOf(k.c)
	x, y := k.b.In[0], k.b.Out[0]
	at := block * work.Lanes * k.plane
	from := piece * blockPixels
	k.move(l.dst[(image*y.BatchStride()+at)*y.Type.Size():], l.src[(image*x.BatchStride()+at)*x.Type.Size():],
		k.plane, min(work.Lanes, k.c-block*work.Lanes), from, min(k.plane, from+blockPixels))
}

// planReformat moves elements as they are; but bytes in blocks are in offset binary.
func planReformat(b kernels.Binding, isa asm.Features, block bool) (blockMove, error) {
	x, y := b.In[0], b.Out[0]
	if x.Type != y.Type || !b.Layer.Inputs[0].Range.Equal(b.Layer.Outputs[0].Range) || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("from %v to %v, the kernel changes the order alone", x, y)
	}
	if len(x.Dims) < 2 {
		return nil, fmt.Errorf("%v has no channels", x)
	}
	switch x.Type.Size() {
	case 1:
		var flip uint64
		if x.Type == numeric.I8 {
			flip = 0x8080808080808080
		}
		if block {
			return func(dst, src []byte, plane, channels, from, to int) {
				blockBytes(dst, src, plane, channels, from, to, flip)
			}, nil
		}
		return func(dst, src []byte, plane, channels, from, to int) {
			unblockBytes(dst, src, plane, channels, from, to, flip)
		}, nil
	case 2:
		return elementMove[uint16](block), nil
	case 4:
		return wordMove(work.LayoutKernel(isa), block), nil
	}
	return elementMove[uint64](block), nil
}

// wordMove moves elements of four bytes.
func wordMove(k asm.LayoutKernel, block bool) blockMove {
	return func(dst, src []byte, plane, channels, from, to int) {
		d, s := numeric.View[float32](dst), numeric.View[float32](src)
		if block {
			k.Interleave(d[from*work.Lanes:], work.Lanes, s[from:], plane, channels, to-from)
		} else {
			k.Deinterleave(d[from:], plane, s[from*work.Lanes:], work.Lanes, channels, to-from)
		}
	}
}

// elementMove moves elements of another size, one by one.
func elementMove[T uint16 | uint64](block bool) blockMove {
	return func(dst, src []byte, plane, channels, from, to int) {
		d, s := numeric.View[T](dst), numeric.View[T](src)
		if block {
			clear(d[from*work.Lanes : to*work.Lanes])
		}
		for c := range channels {
			if block {
				for x, v := range s[c*plane+from : c*plane+to] {
					d[(from+x)*work.Lanes+c] = v
				}
				continue
			}
			row := d[c*plane+from : c*plane+to]
			for x := range row {
				row[x] = s[(from+x)*work.Lanes+c]
			}
		}
	}
}

// planQuantizeBlocks quantises rows into blocks.
func planQuantizeBlocks(b kernels.Binding, isa asm.Features, _ bool) (blockMove, error) {
	a := b.Layer.Attrs.(graph.QuantAttrs)
	if len(b.In[0].Dims) < 2 || b.In[0].Type != numeric.F32 || !a.Range.IsSet() || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("from %v, the kernel takes f32 and one constant scale", b.In[0])
	}
	c, err := programs.NewCodec(b.Out[0], b.Layer.Outputs[0].Range, isa)
	if err == nil && c.Kind != numeric.I8 && c.Kind != numeric.U8 {
		err = fmt.Errorf("output %v is not 8-bit", b.Out[0])
	}
	return func(dst, src []byte, plane, channels, from, to int) {
		c.Quant.QuantizeBlock(dst[from*work.Lanes:to*work.Lanes], numeric.View[float32](src)[from:], plane, channels, c.Affine)
	}, err
}

// planDequantizeBlocks dequantises blocks into rows.
func planDequantizeBlocks(b kernels.Binding, isa asm.Features, _ bool) (blockMove, error) {
	a := b.Layer.Attrs.(graph.QuantAttrs)
	if len(b.In[0].Dims) < 2 || b.Out[0].Type != numeric.F32 || !a.Range.IsSet() || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("to %v, the kernel gives f32 by one constant scale", b.Out[0])
	}
	c, err := programs.NewCodec(b.In[0], a.Range, isa)
	if err == nil && c.Kind != numeric.I8 && c.Kind != numeric.U8 {
		err = fmt.Errorf("input %v is not 8-bit", b.In[0])
	}
	return func(dst, src []byte, plane, channels, from, to int) {
		c.Quant.DequantizeBlock(numeric.View[float32](dst)[from:], src[from*work.Lanes:to*work.Lanes], plane, channels, c.Affine)
	}, err
}

// blockBytes interleaves rows of bytes, flipping bits.
func blockBytes(dst, src []byte, plane, channels, from, to int, flip uint64) {
	for x := from; x < to; x += 8 {
		n := min(8, to-x)
		for half := 0; half < work.Lanes; half += 8 {
			var tile [8]uint64
			for i := range min(8, max(0, channels-half)) {
				tile[i] = loadBytes(src[(half+i)*plane+x:], n) ^ flip
			}
			transposeBytes(&tile)
			for i := range n {
				binary.LittleEndian.PutUint64(dst[(x+i)*work.Lanes+half:], tile[i])
			}
		}
	}
}

// unblockBytes is the way back.
func unblockBytes(dst, src []byte, plane, channels, from, to int, flip uint64) {
	for x := from; x < to; x += 8 {
		n := min(8, to-x)
		for half := 0; half < channels; half += 8 {
			var tile [8]uint64
			for i := range n {
				tile[i] = binary.LittleEndian.Uint64(src[(x+i)*work.Lanes+half:]) ^ flip
			}
			transposeBytes(&tile)
			for i := range min(8, channels-half) {
				storeBytes(dst[(half+i)*plane+x:], tile[i], n)
			}
		}
	}
}

func loadBytes(src []byte, n int) uint64 {
	if n == 8 {
		return binary.LittleEndian.Uint64(src)
	}
	v := uint64(0)
	for i, b := range src[:n] {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func storeBytes(dst []byte, v uint64, n int) {
	if n == 8 {
		binary.LittleEndian.PutUint64(dst, v)
		return
	}
	for i := range n {
		dst[i] = byte(v >> (8 * i))
	}
}

// transposeBytes transposes 8 x 8 bytes, swapping blocks of 4, 2 and 1 off the diagonal.
func transposeBytes(t *[8]uint64) {
	for i := range 4 {
		swapBytes(&t[i], &t[i+4], 32, 0x00000000ffffffff)
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		swapBytes(&t[i], &t[i+2], 16, 0x0000ffff0000ffff)
	}
	for i := 0; i < 8; i += 2 {
		swapBytes(&t[i], &t[i+1], 8, 0x00ff00ff00ff00ff)
	}
}

func swapBytes(a, b *uint64, shift uint, mask uint64) {
	d := (*a>>shift ^ *b) & mask
	*b ^= d
	*a ^= d << shift
}
