package moves

import (
	"fmt"
	"slices"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// regionsKernel takes the means of bins of regions. The weights of a bin's elements are products of those of rows and of
// columns: rows are summed first, of those columns alone that count.
type regionsKernel struct {
	b                              kernels.Binding
	attrs                          graph.RoiAlignAttrs
	items, channels, height, width int
	regions, chunk                 int
	tables                         sync.Pool // *regionTable
	job                            *work.Job[regionsLaunch]
}

// maxRegionTable bounds the weights of the bins of a region along one axis.
const maxRegionTable = 1 << 20

func newRegionsKernel(b kernels.Binding, workers int) (kernels.Kernel, error) {
	if err := onlyFloats(b); err != nil {
		return nil, err
	}
	x := b.In[0]
	k := &regionsKernel{b: b, attrs: b.Layer.Attrs.(graph.RoiAlignAttrs), items: x.Dims[0], channels: x.Dims[1], height: x.Dims[2], width: x.Dims[3], regions: b.In[1].Dims[0]}
	switch {
	case k.attrs.Max:
		return nil, fmt.Errorf("mode max, the kernel takes means")
	case k.attrs.Height*k.height > maxRegionTable || k.attrs.Width*k.width > maxRegionTable:
		return nil, fmt.Errorf("%d rows of %d and %d columns of %d, the kernel's tables have %d weights", k.attrs.Height, k.height, k.attrs.Width, k.width, maxRegionTable)
	}
	k.chunk = chunkOf(k.channels, k.regions, workers)
	k.tables.New = func() any {
		return &regionTable{rows: newBinTable(k.attrs.Height, k.height), columns: newBinTable(k.attrs.Width, k.width), sums: make([]float32, k.width)}
	}
	k.job = work.NewJob((*regionsLaunch).do)
	return k, nil
}

// binTable has the weights of the elements of an axis in each bin.
type binTable struct {
	extent  int
	weights []float32  // [bins][extent], zeros but for the elements of a bin
	places  [][]binTap // of each bin
	used    []int32    // the elements that any bin has, in order
	place   []int32    // of an element among them
	idle    []bool     // elements that some sample of a bin takes nothing of: of an infinite one that is no number
}

// binTap is an element of an axis, or its place among those that are used, and its weight.
type binTap struct {
	at     int32
	weight float32
}

func newBinTable(bins, extent int) binTable {
	return binTable{extent: extent, weights: make([]float32, bins*extent), places: make([][]binTap, bins), place: make([]int32, extent), idle: make([]bool, extent)}
}

// fill notes the weights of all bins of an axis.
func (t *binTable) fill(axis graph.RoiAxis) {
	clear(t.weights)
	clear(t.place)
	for bin := range t.places {
		w := t.weights[bin*t.extent:][:t.extent]
		low, high := t.extent, -1
		clear(t.idle)
		first, last := axis.Within(bin)
		for i := first; i < last; i++ {
			if a, b, share, ok := axis.Tap(bin, i); ok {
				w[a] += 1 - share
				w[b] += share
				t.idle[b] = t.idle[b] || share == 0
				low, high = min(low, a), max(high, b)
			}
		}
		t.places[bin] = t.places[bin][:0]
		for i := low; i <= high; i++ {
			if w[i] != 0 {
				t.places[bin] = append(t.places[bin], binTap{int32(i), w[i]})
			}
			if t.idle[i] {
				t.places[bin] = append(t.places[bin], binTap{int32(i), 0})
			}
			if w[i] != 0 || t.idle[i] {
				t.place[i] = 1
			}
		}
	}
	t.used = t.used[:0]
	for i, used := range t.place {
		if used != 0 {
			t.place[i] = int32(len(t.used))
			t.used = append(t.used, int32(i))
		}
	}
}

// regionTable is what a worker knows of a region.
type regionTable struct {
	rows, columns binTable
	sums          []float32 // of rows, for the columns that are used
}

// regionsLaunch is the state of one launch.
type regionsLaunch struct {
	kernel        *regionsKernel
	x, regions, y []float32
	items         []int64
}

// Launch computes all regions, after it has checked of which items they are.
func (k *regionsKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	items := numeric.View[int64](source(k.b, in, 2))[:k.regions]
	if i := slices.IndexFunc(items, func(item int64) bool { return item < 0 || item >= int64(k.items) }); i >= 0 {
		return &graph.IndexError{Index: items[i], Extent: k.items}
	}
	units := k.regions * work.CeilDiv(k.channels, k.chunk)
	k.job.Each(work.LoopOver(st, 16*k.b.Out[0].Bytes()), units, regionsLaunch{k, floats(k.b, in, 0), floats(k.b, in, 1), numeric.View[float32](out[0].Host), items})
	return nil
}

// do computes some channels of a region.
func (l *regionsLaunch) do(u, _ int) {
	k := l.kernel
	chunks := work.CeilDiv(k.channels, k.chunk)
	region, first := u/chunks, u%chunks*k.chunk
	t := k.tables.Get().(*regionTable)
	defer k.tables.Put(t)
	box := l.regions[4*region:][:4]
	rows, columns := k.attrs.Axis(box[1], box[3], k.attrs.Height, k.height), k.attrs.Axis(box[0], box[2], k.attrs.Width, k.width)
	t.rows.fill(rows)
	t.columns.fill(columns)
	share := 1 / max(1, rows.Count()*columns.Count())
	plane, bins := k.height*k.width, k.attrs.Height*k.attrs.Width
	for c := first; c < min(k.channels, first+k.chunk); c++ {
		x := l.x[(int(l.items[region])*k.channels+c)*plane:][:plane]
		t.means(l.y[(region*k.channels+c)*bins:][:bins], x, share)
	}
}

// means computes the bins of a plane.
func (t *regionTable) means(y, x []float32, share float32) {
	sums, width := t.sums[:len(t.columns.used)], t.columns.extent
	for bin, rows := range t.rows.places {
		clear(sums)
		for _, r := range rows {
			row := x[int(r.at)*width:][:width]
			for j, at := range t.columns.used {
				sums[j] += r.weight * row[at]
			}
		}
		for column, taps := range t.columns.places {
			sum := float32(0)
			for _, c := range taps {
				sum += c.weight * sums[t.columns.place[c.at]]
			}
			y[bin*len(t.columns.places)+column] = sum * share
		}
	}
}
