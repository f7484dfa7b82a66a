package moves

import (
	"fmt"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Samples take their input at places that are inputs, in float32: what a place is made of is found once for all channels.
func Samples(isa asm.Features, workers int) []kernels.Tactic {
	sample := func(name string, op *graph.Op, bind func(b kernels.Binding, workers int) (kernels.Kernel, error)) kernels.Tactic {
		return kernels.Tactic{
			Name: name + "_f32_" + work.ISAName(isa), Op: op, Needs: kernels.Feature(isa),
			Match: func(b kernels.Binding) error {
				_, err := bind(b, workers)
				return err
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return bind(b, workers) },
		}
	}
	return []kernels.Tactic{
		sample("grid_sample", graph.GridSample, newGridKernel),
		sample("roi_align", graph.RoiAlign, newRegionsKernel),
		sample("deform_columns", graph.DeformColumns, newDeformedKernel),
		sample("col2im", graph.Col2Im, func(b kernels.Binding, _ int) (kernels.Kernel, error) { return newBlocksKernel(b, isa) }),
	}
}

// onlyFloats returns an error where a tensor of real numbers is stored as anything but float32, or there is an epilogue.
func onlyFloats(b kernels.Binding) error {
	if b.Layer.Epilogue.Args > 0 {
		return fmt.Errorf("the kernel has no epilogue")
	}
	for _, d := range slices.Concat(b.In, b.Out) {
		if d.Type != numeric.F32 && d.Type != numeric.I64 && d.Dims != nil {
			return fmt.Errorf("%v, the kernel takes f32", d)
		}
	}
	for _, d := range append(b.In[:1:1], b.Out[0]) {
		if numeric.Count(d.Dims) == 0 {
			return fmt.Errorf("a tensor is empty")
		}
	}
	return nil
}

// floats returns the elements of input i, a constant's too; nil where it is left out.
func floats(b kernels.Binding, in []kernels.Mem, i int) []float32 {
	if i >= len(b.In) || b.Layer.Input(i) == nil {
		return nil
	}
	return numeric.View[float32](source(b, in, i))
}

// chunkOf returns how many of n channels are a unit of work, so that there are several units for each worker where there are
// others units already.
func chunkOf(n, others, workers int) int {
	const each = 4
	pieces := min(n, max(1, work.CeilDiv(each*workers, others)))
	return work.CeilDiv(n, pieces)
}

// gridPoints are the points of a grid that are a unit of work: what they are made of stays in the L1 cache.
const gridPoints = 128

// gridKernel samples x [items, channels, plane] at points [items, points, axes].
type gridKernel struct {
	b                      kernels.Binding
	attrs                  graph.GridSampleAttrs
	items, channels, chunk int
	dims                   []int // of a plane
	plane, points, taps    int
	tables                 sync.Pool // *gridTable
	job                    *work.Job[gridLaunch]
}

// gridTable has, for each point of a unit, the elements of a plane that it is made of.
type gridTable struct {
	counts  [gridPoints]int
	index   []int32
	weights []float32
	axes    [3][]graph.GridTap
}

func newGridKernel(b kernels.Binding, workers int) (kernels.Kernel, error) {
	if err := onlyFloats(b); err != nil {
		return nil, err
	}
	x, y := b.In[0], b.Out[0]
	k := &gridKernel{b: b, attrs: b.Layer.Attrs.(graph.GridSampleAttrs), items: x.Dims[0], channels: x.Dims[1], dims: x.Dims[2:],
		plane: numeric.Count(x.Dims[2:]), points: numeric.Count(y.Dims[2:]), taps: 1}
	if k.plane > maxGathered {
		return nil, fmt.Errorf("a plane has %d elements, the kernel takes %d", k.plane, maxGathered)
	}
	for range k.dims {
		k.taps *= k.attrs.Taps()
	}
	k.chunk = chunkOf(k.channels, k.items*work.CeilDiv(k.points, gridPoints), workers)
	k.tables.New = func() any {
		return &gridTable{index: make([]int32, gridPoints*k.taps), weights: make([]float32, gridPoints*k.taps)}
	}
	k.job = work.NewJob((*gridLaunch).do)
	return k, nil
}

// gridLaunch is the state of one launch.
type gridLaunch struct {
	kernel     *gridKernel
	x, grid, y []float32
}

// Launch samples all points.
func (k *gridKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	units := k.items * work.CeilDiv(k.points, gridPoints) * work.CeilDiv(k.channels, k.chunk)
	k.job.Each(work.LoopOver(st, k.b.Out[0].Bytes()*k.taps), units, gridLaunch{k, floats(k.b, in, 0), floats(k.b, in, 1), numeric.View[float32](out[0].Host)})
	return nil
}

// do samples some points of some channels.
func (l *gridLaunch) do(u, _ int) {
	k := l.kernel
	chunks, blocks := work.CeilDiv(k.channels, k.chunk), work.CeilDiv(k.points, gridPoints)
	first, u := u%chunks*k.chunk, u/chunks
	at, item := u%blocks*gridPoints, u/blocks
	points := min(gridPoints, k.points-at)
	t := k.tables.Get().(*gridTable)
	defer k.tables.Put(t)
	axes := len(k.dims)
	for i := range points {
		k.point(t, i, l.grid[(item*k.points+at+i)*axes:][:axes])
	}
	for c := first; c < min(k.channels, first+k.chunk); c++ {
		plane := item*k.channels + c
		t.sample(l.y[plane*k.points+at:][:points], l.x[plane*k.plane:][:k.plane], k.taps)
	}
}

// point notes what a point is made of: the products of the weights along each axis.
func (k *gridKernel) point(t *gridTable, i int, coordinates []float32) {
	index, weights := t.index[i*k.taps:][:k.taps], t.weights[i*k.taps:][:k.taps]
	n := 0
	for axis, extent := range k.dims {
		taps := k.attrs.AxisTaps(t.axes[axis][:0], coordinates[len(coordinates)-1-axis], extent)
		if t.axes[axis] = taps; axis == 0 {
			for _, tap := range taps {
				index[n], weights[n] = int32(tap.Index), tap.Weight
				n++
			}
			continue
		}
		for have := n - 1; have >= 0; have-- { // from the last on, whose place is not needed any more
			at, w := index[have]*int32(extent), weights[have]
			for j, tap := range taps {
				index[have*len(taps)+j], weights[have*len(taps)+j] = at+int32(tap.Index), w*tap.Weight
			}
		}
		n *= len(taps)
	}
	t.counts[i] = n
}

// sample sets y to the points of a plane.
func (t *gridTable) sample(y, plane []float32, taps int) {
	if taps == 1 {
		for i, n := range t.counts[:len(y)] {
			if y[i] = 0; n > 0 {
				y[i] = plane[t.index[i]]
			}
		}
		return
	}
	for i, n := range t.counts[:len(y)] {
		if n == 4 {
			at, w := (*[4]int32)(t.index[i*taps:]), (*[4]float32)(t.weights[i*taps:])
			y[i] = w[0]*plane[at[0]] + w[1]*plane[at[1]] + w[2]*plane[at[2]] + w[3]*plane[at[3]]
			continue
		}
		index, sum := t.index[i*taps:][:n], float32(0)
		for j, w := range t.weights[i*taps:][:n] {
			sum += w * plane[index[j]]
		}
		y[i] = sum
	}
}
