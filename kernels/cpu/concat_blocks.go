package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// A concatenation of bytes in blocks of channels whose inputs do not fill their blocks: every block of the output is put
// together from parts of blocks.

// lanePart moves lanes of one block of an input to lanes of a block of the output.
type lanePart struct {
	input, block int
	left, right  uint // bits by which a pixel's 128 move; one of them is 0
	low, high    uint64
}

// laneParts returns the parts of each output block for inputs of the given channels.
func laneParts(channels []int) [][]lanePart {
	total := 0
	for _, c := range channels {
		total += c
	}
	parts := make([][]lanePart, blocksOf(total))
	at := 0 // channel of the output
	for i, c := range channels {
		for from := 0; from < c; {
			to := at + from
			n := min(c-from, lanes-from%lanes, lanes-to%lanes)
			p := lanePart{input: i, block: from / lanes}
			p.low, p.high = laneMask(to%lanes, n)
			if shift := 8 * (to%lanes - from%lanes); shift >= 0 {
				p.left = uint(shift)
			} else {
				p.right = uint(-shift)
			}
			parts[to/lanes] = append(parts[to/lanes], p)
			from += n
		}
		at += c
	}
	return parts
}

// laneMask returns 128 bits that are set in n bytes from lane on.
func laneMask(lane, n int) (low, high uint64) {
	for l := lane; l < lane+n; l++ {
		if l < 8 {
			low |= 0xff << (8 * l)
		} else {
			high |= 0xff << (8 * (l - 8))
		}
	}
	return low, high
}

// copy moves the part for all pixels: it overwrites dst if it is the block's first, and otherwise adds to it.
func (p *lanePart) copy(dst, src []byte, first bool) {
	keep := uint64(math.MaxUint64)
	if first {
		keep = 0
	}
	src = src[:len(dst)]
	for i := 0; i+lanes <= len(dst); i += lanes {
		a, b := binary.LittleEndian.Uint64(src[i:]), binary.LittleEndian.Uint64(src[i+8:])
		if p.right > 0 { // shifts by 64 and more, as unsigned differences may be, give 0
			a, b = a>>p.right|b<<(64-p.right)|b>>(p.right-64), b>>p.right
		} else if p.left > 0 {
			a, b = a<<p.left, b<<p.left|a>>(64-p.left)|a<<(p.left-64)
		}
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(dst[i:])&keep|a&p.low)
		binary.LittleEndian.PutUint64(dst[i+8:], binary.LittleEndian.Uint64(dst[i+8:])&keep|b&p.high)
	}
}

func matchConcatBlocks(b kernels.Binding) error {
	out := b.Out[0]
	if concatAxis(b) != 1 || out.Type.Size() != 1 {
		return fmt.Errorf("the kernel concatenates bytes along channels, not %v along axis %d", out, concatAxis(b))
	}
	if b.Layer.Epilogue.Args > 0 {
		return fmt.Errorf("the kernel has no epilogue")
	}
	for i := range b.In {
		t := b.Layer.Inputs[i]
		if t.Type != out.Type || !t.Range.Equal(b.Layer.Outputs[0].Range) || b.Consts[i] != nil {
			return fmt.Errorf("input %s has another type or range, or is a constant", t.Name)
		}
	}
	return nil
}

// concatBlocksKernel is such a concatenation bound to a layer.
type concatBlocksKernel struct {
	b        kernels.Binding
	parts    [][]lanePart
	plane    int // bytes of a block of channels
	launches sync.Pool
}

// concatLaunch is the state of one launch.
type concatLaunch struct {
	kernel *concatBlocksKernel
	in     []kernels.Mem
	out    []byte
	work   func(u int)
}

func bindConcatBlocks(b kernels.Binding) (kernels.Kernel, error) {
	k := &concatBlocksKernel{b: b, plane: graph.Count(b.Out[0].Dims[2:]) * lanes}
	var channels []int
	for _, d := range b.In {
		channels = append(channels, d.Dims[1])
	}
	k.parts = laneParts(channels)
	k.launches.New = func() any {
		l := &concatLaunch{kernel: k}
		l.work = l.do
		return l
	}
	return k, nil
}

// Launch puts all blocks together.
func (k *concatBlocksKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	l := k.launches.Get().(*concatLaunch)
	l.in, l.out = in, out[0].Host
	loopOver(st, k.b.Out[0].Bytes(), k.b.Out[0].Dims[0]*len(k.parts), l.work)
	l.in, l.out = nil, nil
	k.launches.Put(l)
	return nil
}

func (l *concatLaunch) do(u int) {
	k := l.kernel
	n, block := u/len(k.parts), u%len(k.parts)
	dst := l.out[n*k.b.Out[0].BatchStride()+block*k.plane:][:k.plane]
	for i := range k.parts[block] {
		p := &k.parts[block][i]
		p.copy(dst, l.in[p.input].Host[n*k.b.In[p.input].BatchStride()+p.block*k.plane:], i == 0)
	}
}
