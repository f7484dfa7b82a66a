package moves

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// deformedPoints are the places of the output that are a unit of work.
const deformedPoints = 32

// deformedKernel makes the columns of a deformable convolution.
type deformedKernel struct {
	b                              kernels.Binding
	attrs                          graph.DeformAttrs
	items, channels, height, width int
	points, columns, taps          int       // places of the output, those of a row, elements of the window
	tables                         sync.Pool // *[]deformedTap
	job                            *work.Job[deformedLaunch]
}

// deformedTap is what an element of the window at a place of the output is made of: the four elements around it.
type deformedTap struct {
	index   [4]int32
	weights [4]float32
	inside  bool // all of them are on the plane
}

// maxDeformedTaps bounds the window.
const maxDeformedTaps = 1 << 10

func newDeformedKernel(b kernels.Binding, _ int) (kernels.Kernel, error) {
	if err := onlyFloats(b); err != nil {
		return nil, err
	}
	x, offset := b.In[0], b.In[1]
	k := &deformedKernel{b: b, attrs: b.Layer.Attrs.(graph.DeformAttrs), items: x.Dims[0], channels: x.Dims[1], height: x.Dims[2], width: x.Dims[3],
		points: offset.Dims[2] * offset.Dims[3], columns: offset.Dims[3]}
	k.taps = numeric.Count(k.attrs.Kernel)
	if k.taps > maxDeformedTaps || k.height*k.width > maxGathered {
		return nil, fmt.Errorf("a window of %d elements on planes of %d, the kernel takes %d on %d", k.taps, k.height*k.width, maxDeformedTaps, maxGathered)
	}
	k.tables.New = func() any {
		table := make([]deformedTap, deformedPoints*k.taps)
		return &table
	}
	k.job = work.NewJob((*deformedLaunch).do)
	return k, nil
}

// deformedLaunch is the state of one launch.
type deformedLaunch struct {
	kernel             *deformedKernel
	x, offset, mask, y []float32
}

// Launch makes all columns.
func (k *deformedKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	units := k.items * k.attrs.Offsets * work.CeilDiv(k.points, deformedPoints)
	k.job.Each(work.LoopOver(st, 4*k.b.Out[0].Bytes()), units, deformedLaunch{k, floats(k.b, in, 0), floats(k.b, in, 1), floats(k.b, in, 2), numeric.View[float32](out[0].Host)})
	return nil
}

// do makes some rows of columns of the channels that share offsets.
func (l *deformedLaunch) do(u, _ int) {
	k := l.kernel
	blocks := work.CeilDiv(k.points, deformedPoints)
	first, group := u%blocks*deformedPoints, u/blocks // of all items
	points := min(deformedPoints, k.points-first)
	table := k.tables.Get().(*[]deformedTap)
	defer k.tables.Put(table)
	for p := range points {
		for tap := range k.taps {
			(*table)[p*k.taps+tap] = l.tap(group*k.taps+tap, tap, first+p)
		}
	}
	item, plane, each, per := group/k.attrs.Offsets, k.height*k.width, k.channels/k.attrs.Offsets, k.channels/k.attrs.Group
	for c := group % k.attrs.Offsets * each; c < (group%k.attrs.Offsets+1)*each; c++ {
		x := l.x[(item*k.channels+c)*plane:][:plane]
		at := (item*k.attrs.Group+c/per)*k.points + first // the row of the first place
		for p := range points {
			k.row(l.y[((at+p)*per+c%per)*k.taps:][:k.taps], x, (*table)[p*k.taps:])
		}
	}
}

// tap returns what a tap of the window at a place is made of; row is that of its offsets and its mask.
func (l *deformedLaunch) tap(row, tap, place int) deformedTap {
	k := l.kernel
	moved := l.offset[row*2*k.points+place:]
	y := float32(k.attrs.Place(0, place/k.columns, tap/k.attrs.Kernel[1])) + moved[0]
	x := float32(k.attrs.Place(1, place%k.columns, tap%k.attrs.Kernel[1])) + moved[k.points]
	factor := float32(1)
	if l.mask != nil {
		factor = l.mask[row*k.points+place]
	}
	t := deformedTap{inside: true}
	for i, e := range graph.PlaneTaps(y, x, k.height, k.width) {
		t.index[i], t.weights[i] = int32(e.Index), e.Weight*factor
		if e.Weight == 0 { // it does not count, whatever it is
			t.index[i], t.inside = -1, false
		}
	}
	return t
}

// row sets y to what the taps of a window make of a plane.
func (k *deformedKernel) row(y, x []float32, taps []deformedTap) {
	for i := range y {
		t := &taps[i]
		if t.inside {
			y[i] = t.weights[0]*x[t.index[0]] + t.weights[1]*x[t.index[1]] + t.weights[2]*x[t.index[2]] + t.weights[3]*x[t.index[3]]
			continue
		}
		sum := float32(0)
		for j, w := range t.weights {
			if at := t.index[j]; at >= 0 {
				sum += w * x[at]
			}
		}
		y[i] = sum
	}
}
