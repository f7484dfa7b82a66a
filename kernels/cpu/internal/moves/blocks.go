package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// maxBlockAxes bounds the axes of an image that is made of blocks.
const maxBlockAxes = 4

// blocksKernel adds up the blocks that images are made of, plane by plane: columns [planes, block, places] to [planes, image].
type blocksKernel struct {
	b       kernels.Binding
	axes    int
	windows [maxBlockAxes]graph.Window
	image   [maxBlockAxes]int
	places  [maxBlockAxes]int
	planes  int
	block   int // elements of one,
	each    int // its places,
	plane   int // and the elements of an image
	vec     asm.VecKernel
	job     *work.Job[blocksLaunch]
}

func newBlocksKernel(b kernels.Binding, isa asm.Features) (kernels.Kernel, error) {
	if err := onlyFloats(b); err != nil {
		return nil, err
	}
	y := b.Out[0]
	k := &blocksKernel{b: b, axes: len(y.Dims) - 2, planes: y.Dims[0] * y.Dims[1], block: 1, each: 1, plane: numeric.Count(y.Dims[2:]), vec: work.VecKernel(isa)}
	if k.axes > maxBlockAxes {
		return nil, fmt.Errorf("images of %d axes, the kernel takes %d", k.axes, maxBlockAxes)
	}
	for i, w := range b.Layer.Attrs.(graph.Col2ImAttrs).Windows(y.Dims[2:]) {
		k.windows[i], k.image[i], k.places[i] = w, y.Dims[2+i], w.Out(y.Dims[2+i])
		k.block *= w.Kernel
		k.each *= k.places[i]
	}
	if k.each != b.In[0].Dims[2] {
		return nil, fmt.Errorf("columns %v for %d places of a block", b.In[0], k.each)
	}
	k.job = work.NewJob((*blocksLaunch).do)
	return k, nil
}

// blocksLaunch is the state of one launch.
type blocksLaunch struct {
	kernel *blocksKernel
	x, y   []float32
}

// Launch makes all images.
func (k *blocksKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.job.Each(work.LoopOver(st, k.b.In[0].Bytes()), k.planes, blocksLaunch{k, floats(k.b, in, 0), numeric.View[float32](out[0].Host)})
	return nil
}

// do makes a plane: each element of the block adds, at all places, to the elements that it lies on.
func (l *blocksLaunch) do(plane, _ int) {
	k := l.kernel
	y := l.y[plane*k.plane:][:k.plane]
	clear(y)
	for e := range k.block {
		var tap [maxBlockAxes]int
		for i, rest := k.axes-1, e; i >= 0; i-- {
			tap[i], rest = rest%k.windows[i].Kernel, rest/k.windows[i].Kernel
		}
		k.add(y, l.x[(plane*k.block+e)*k.each:][:k.each], &tap)
	}
}

// add adds an element of the block at all places.
func (k *blocksKernel) add(y, x []float32, tap *[maxBlockAxes]int) {
	last := k.axes - 1
	w, wide := &k.windows[last], k.places[last]
	shift := tap[last]*w.Dilation - w.PadBegin
	first := 0
	if shift < 0 {
		first = work.CeilDiv(-shift, w.Stride)
	}
	end := 0
	if over := k.image[last] - shift; over > 0 {
		end = min(wide, work.CeilDiv(over, w.Stride))
	}
	if first >= end {
		return
	}
	for row := range k.each / wide {
		at, scale, rest := 0, k.image[last], row
		for i := last - 1; i >= 0 && at >= 0; i-- {
			v := &k.windows[i]
			p := rest%k.places[i]*v.Stride + tap[i]*v.Dilation - v.PadBegin
			rest /= k.places[i]
			if p < 0 || p >= k.image[i] {
				at = -1
				break
			}
			at += p * scale
			scale *= k.image[i]
		}
		if at < 0 {
			continue
		}
		from, to := x[row*wide+first:row*wide+end], y[at+first*w.Stride+shift:]
		if w.Stride == 1 {
			to = to[:len(from)]
			k.vec.Binary(asm.Add, to, to, from)
			continue
		}
		for j, v := range from {
			to[j*w.Stride] += v
		}
	}
}
