package quantised

import (
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Dynamic quantises tensors of so many elements to unsigned bytes, each by its own range, as [graph.DynamicQuantize] does.
type Dynamic struct {
	elements        int
	vec             asm.VecKernel
	quant           asm.QuantKernel
	extremes, bytes *work.Job[*dynamicRun]
	runs            sync.Pool
}

// dynamicRun is the state of one run.
type dynamicRun struct {
	d         *Dynamic
	x         []float32
	q         []byte
	low, high []float32 // of each part of x; NaN where it has one
	to        asm.Quantization
}

// dynamicPart is how many elements are looked at, or quantised, in one piece.
const dynamicPart = 1 << 14

// NewDynamic prepares the quantisation of so many elements.
func NewDynamic(elements int, isa asm.Features) *Dynamic {
	d := &Dynamic{elements: elements, vec: work.VecKernel(isa), quant: work.QuantKernel(isa)}
	d.extremes, d.bytes = work.NewJob(rangeOfPart), work.NewJob(bytesOfPart)
	parts := work.CeilDiv(elements, dynamicPart)
	d.runs.New = func() any { return &dynamicRun{d: d, low: make([]float32, parts), high: make([]float32, parts)} }
	return d
}

// Run quantises x into q and returns by what. Several runs may go on at the same time; none allocates.
func (d *Dynamic) Run(parallel work.Parallel, q []byte, x []float32) asm.Quantization {
	r := d.runs.Get().(*dynamicRun)
	r.x, r.q = x[:d.elements], q[:d.elements]
	d.extremes.Each(parallel, len(r.low), r)
	low, high := float32(0), float32(0)
	for u := range r.low {
		low, high = min(low, r.low[u]), max(high, r.high[u])
	}
	by := graph.DynamicRange(low, high)
	r.to = asm.Quantization{Scale: by.ScaleAt(0), Zero: by.ZeroAt(0)}
	d.bytes.Each(parallel, len(r.low), r)
	to := r.to
	r.x, r.q = nil, nil
	d.runs.Put(r)
	return to
}

// part returns the elements of part u.
func (r *dynamicRun) part(u int) (x []float32, q []byte) {
	from, to := u*dynamicPart, min((u+1)*dynamicPart, len(r.x))
	return r.x[from:to], r.q[from:to]
}

// rangeOfPart finds the extremes of a part.
func rangeOfPart(run **dynamicRun, u, _ int) {
	r := *run
	x, _ := r.part(u)
	r.low[u], r.high[u] = extremes(&r.d.vec, x)
}

// extremes returns the least and the largest element: NaN where one is. The kernel leaves those out; a sum that is NaN tells of them.
func extremes(vec *asm.VecKernel, x []float32) (low, high float32) {
	low, high = vec.Range(x)
	if sum := vec.Sum(x); sum != sum {
		for _, v := range x {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// bytesOfPart quantises a part.
func bytesOfPart(run **dynamicRun, u, _ int) {
	r := *run
	x, q := r.part(u)
	toBytes(&r.d.quant, q, x, r.to)
}

// toBytes quantises x to unsigned bytes.
func toBytes(quant *asm.QuantKernel, q []byte, x []float32, to asm.Quantization) {
	if to.Scale < 1<<99 {
		quant.Quantize(q, x, to)
		return
	}
	numeric.PerTensor(to.Scale, to.Zero).Quantize(numeric.Value{Type: numeric.U8, Dims: []int{len(q)}, Data: q}, x) // beyond the kernel
}
