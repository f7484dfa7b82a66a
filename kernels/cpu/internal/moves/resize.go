package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// resampling is how a Resize of one axis, or of two neighbouring ones, walks memory: an image, an index of axis 0, is
// planes of rows of pixels. A pixel is elements next to each other that are resampled alike: the 16 of a block of
// channels, or what lies behind the last of the axes.
type resampling struct {
	images, planes int
	pixel          int      // elements
	height, width  int      // of a plane of the input, in pixels
	rows, columns  tapTable // for each row and column of the output
	imageIn        int      // elements from one image of the input to the next,
	imageOut       int      // and of the output
	chunk          int      // rows of the output that are a unit of work
}

// tapTable is what each index of an axis of the output is made of: the sum of as many indices of the input's, weighted.
type tapTable struct {
	count   int
	extent  int       // of the output
	index   []int32   // [count][extent]
	weights []float32 // likewise
}

// picks reports whether each index of the output is one of the input's.
func (t *tapTable) picks() bool {
	for _, w := range t.weights {
		if w != 1 {
			return false
		}
	}
	return t.count == 1
}

// newTapTable returns the table of taps; nil taps are those of an axis of n indices that stays as it is.
func newTapTable(taps [][]graph.ResizeTap, n int) (tapTable, error) {
	if taps == nil {
		t := tapTable{count: 1, extent: n}
		for i := range n {
			t.index, t.weights = append(t.index, int32(i)), append(t.weights, 1)
		}
		return t, nil
	}
	t := tapTable{count: len(taps[0]), extent: len(taps)}
	t.index, t.weights = make([]int32, t.count*t.extent), make([]float32, t.count*t.extent)
	for i, list := range taps {
		if len(list) != t.count || t.count == 0 {
			return t, fmt.Errorf("what lies outside of the input has a value of its own")
		}
		for k, tap := range list {
			t.index[k*t.extent+i], t.weights[k*t.extent+i] = int32(tap.Index), float32(tap.Weight)
		}
	}
	return t, nil
}

// maxResized bounds the tables of taps.
const maxResized = 1 << 20

// resamplingOf returns how a layer's Resize walks memory.
func resamplingOf(b kernels.Binding) (resampling, error) {
	r, x, y := resampling{}, b.In[0], b.Out[0]
	if b.Layer.Epilogue.Args > 0 {
		return r, fmt.Errorf("the kernel has no epilogue")
	}
	if numeric.Count(x.Dims) == 0 || numeric.Count(y.Dims) == 0 {
		return r, fmt.Errorf("a tensor is empty")
	}
	a, rank, first := b.Layer.Attrs.(graph.ResizeAttrs), len(x.Dims), 0
	taps := make([][][]graph.ResizeTap, rank+1)
	for axis := rank - 1; axis >= 0; axis-- {
		if n := max(x.Dims[axis], y.Dims[axis]); n > maxResized {
			return r, fmt.Errorf("axis %d has %d indices, the kernel's tables take %d", axis, n, maxResized)
		}
		if taps[axis] = a.Taps(axis, rank, x.Dims[axis], y.Dims[axis]); taps[axis] != nil {
			first = axis
		}
	}
	for axis := first + 2; axis < rank; axis++ {
		if taps[axis] != nil {
			return r, fmt.Errorf("axes %d and %d are resampled, the kernel takes one, or two that follow each other", first, axis)
		}
	}
	inner := 1 // axes before this one are of planes
	if x.Format == kernels.C16 {
		inner = 2
	}
	if first < inner {
		return r, fmt.Errorf("axis %d is resampled, the kernel takes those from %d on in this format", first, inner)
	}
	r.images, r.planes = x.Dims[0], numeric.Count(x.Dims[inner:first])
	if r.pixel = x.Block(); x.Format == kernels.C16 {
		r.planes *= work.BlocksOf(x.Dims[1])
	}
	r.imageIn, r.imageOut = x.BatchStride(), y.BatchStride()
	columns := first + 1
	if r.height = x.Dims[first]; columns == rank { // a plane is a row
		r.height, columns = 1, first
	}
	r.width = x.Dims[columns]
	r.pixel *= numeric.Count(x.Dims[columns+1:])
	var err error
	if r.columns, err = newTapTable(taps[columns], r.width); err != nil {
		return r, err
	}
	if columns == first {
		r.rows, err = newTapTable(nil, 1)
	} else {
		r.rows, err = newTapTable(taps[first], r.height)
	}
	return r, err
}

// split cuts the output's rows into units of work, several for each worker where there are so many.
func (r *resampling) split(workers int) {
	const each = 4
	pieces := (each*workers + r.images*r.planes - 1) / (r.images * r.planes)
	r.chunk = (r.rows.extent + pieces - 1) / pieces
}

// units returns how many there are.
func (r *resampling) units() int { return r.images * r.planes * r.chunks() }

// chunks returns how many units a plane is.
func (r *resampling) chunks() int { return (r.rows.extent + r.chunk - 1) / r.chunk }

// unit returns a unit's first element of the planes of input and output, and its rows of the output.
func (r *resampling) unit(u int) (in, out, first, last int) {
	plane, chunk := u/r.chunks(), u%r.chunks()
	image, plane := plane/r.planes, plane%r.planes
	in = image*r.imageIn + plane*r.height*r.width*r.pixel
	out = image*r.imageOut + plane*r.rows.extent*r.columns.extent*r.pixel
	return in, out, chunk * r.chunk, min(r.rows.extent, (chunk+1)*r.chunk)
}

// Nearest take pixels as they are, of any type.
func Nearest(workers int) []kernels.Tactic {
	var list []kernels.Tactic
	for _, f := range []kernels.Format{kernels.C16, kernels.Linear} {
		list = append(list, kernels.Tactic{
			Name: "resize_nearest_" + f.String(), Op: graph.Resize, In: f, Out: f, Strided: true,
			Match: func(b kernels.Binding) error {
				_, err := nearestOf(b)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) {
				r, err := nearestOf(b)
				if err != nil {
					return nil, err
				}
				r.split(workers)
				k := &nearestKernel{resampling: r, size: r.pixel * b.Out[0].Type.Size(), bytes: b.Out[0].Bytes()}
				k.job = work.NewJob((*nearestLaunch).do)
				return k, nil
			},
		})
	}
	return list
}

func nearestOf(b kernels.Binding) (resampling, error) {
	x, y := b.Layer.Inputs[0], b.Layer.Outputs[0]
	if x.Type != y.Type || !x.Range.Equal(y.Range) || x.Range.PerChannel() {
		return resampling{}, fmt.Errorf("from %s to %s, the kernel keeps type and range", x.TypeString(), y.TypeString())
	}
	r, err := resamplingOf(b)
	if err == nil && !(r.rows.picks() && r.columns.picks()) {
		err = fmt.Errorf("mode %s makes sums, the kernel copies", b.Layer.Attrs.(graph.ResizeAttrs).Mode)
	}
	return r, err
}

// nearestKernel copies pixels.
type nearestKernel struct {
	resampling
	size  int // bytes of a pixel
	bytes int // of the output
	job   *work.Job[nearestLaunch]
}

// nearestLaunch is the state of one launch.
type nearestLaunch struct {
	kernel   *nearestKernel
	dst, src []byte
}

// Launch copies all pixels.
func (k *nearestKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.job.Each(work.LoopOver(st, k.bytes), k.units(), nearestLaunch{k, out[0].Host, in[0].Host})
	return nil
}

// do copies a unit's rows, those that are equal from the one before.
func (l *nearestLaunch) do(u, _ int) {
	k := l.kernel
	in, out, first, last := k.unit(u)
	size, wide := k.size/k.pixel, k.columns.extent*k.size
	src, dst := l.src[in*size:], l.dst[out*size:]
	for y := first; y < last; y++ {
		row := dst[y*wide:][:wide]
		if y > first && k.rows.index[y] == k.rows.index[y-1] {
			copy(row, dst[(y-1)*wide:][:wide])
			continue
		}
		copyPixels(row, src[int(k.rows.index[y])*k.width*k.size:][:k.width*k.size], k.columns.index, k.size)
	}
}

// copyPixels copies the pixels at the given places, of size bytes each.
func copyPixels(dst, src []byte, at []int32, size int) {
	switch size {
	case 1:
		for x, i := range at {
			dst[x] = src[i]
		}
	case 2:
		copyElements(numeric.View[uint16](dst), numeric.View[uint16](src), at)
	case 4:
		copyElements(numeric.View[uint32](dst), numeric.View[uint32](src), at)
	case 16: // a block of bytes
		for x, i := range at {
			*(*[16]byte)(dst[16*x:]) = *(*[16]byte)(src[16*int(i):])
		}
	case 64: // a block of float32
		for x, i := range at {
			*(*[64]byte)(dst[64*x:]) = *(*[64]byte)(src[64*int(i):])
		}
	default:
		for x, i := range at {
			copy(dst[size*x:size*(x+1)], src[size*int(i):])
		}
	}
}

func copyElements[T numeric.Element](dst, src []T, at []int32) {
	for x, i := range at {
		dst[x] = src[i]
	}
}
