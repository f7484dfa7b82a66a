package poolings

import (
	"fmt"

	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// GlobalInt8 is the average or the maximum over all pixels of NCHWc16 bytes, ready to run; see PoolInt8 for the arithmetic.
type GlobalInt8 struct {
	batch, blocks, workers int
	mode                   PoolMode
	kernel                 asm.QPoolKernel
	steps                  []int32
	start                  [work.Lanes]int32
	scale, bias            [work.Lanes]float32
	job                    *work.Job[globalInt8Run]
}

// NewGlobalInt8 plans the pooling of height*width pixels, at most 2^20, of bytes of scale and zero.
func NewGlobalInt8(mode PoolMode, batch, channels, height, width int, scale float32, zero int32, features asm.Features, workers int) (*GlobalInt8, error) {
	const most = 1 << 20 // sums fit int32, and a call is short
	if batch < 1 || channels < 1 || height < 1 || width < 1 || height > most || width > most/height {
		return nil, fmt.Errorf("global pooling of %dx%dx%dx%d, want 1 to %d pixels", batch, channels, height, width, most)
	}
	if zero < 0 || zero > 255 {
		return nil, fmt.Errorf("input zero point %d, want 0 to 255", zero)
	}
	g := &GlobalInt8{batch: batch, blocks: work.BlocksOf(channels), workers: max(1, workers), mode: mode, kernel: qpoolKernel(features)}
	n := height * width
	for i := range n {
		g.steps = append(g.steps, int32(i*work.Lanes))
	}
	for i := range work.Lanes {
		g.start[i], g.scale[i] = -zero*int32(n), scale/float32(n)
	}
	g.job = work.NewJob((*globalInt8Run).do)
	return g, nil
}

// globalInt8Run is the state of one Run.
type globalInt8Run struct {
	pool *GlobalInt8
	call quantised.Call
}

var onePixel = []int32{0}

// Run computes an output of one pixel. Several runs may go on at the same time.
func (g *GlobalInt8) Run(parallel work.Parallel, call *quantised.Call) {
	g.job.Run(parallel, g.workers, g.batch*g.blocks, globalInt8Run{g, *call})
}

func (r *globalInt8Run) do(u, _ int) {
	g := r.pool
	image, block := u/g.blocks, u%g.blocks
	requant := r.call.Epilogue.Requant(image, block, 0, work.Lanes)
	requant.Scale, requant.Bias = g.scale[:], g.bias[:]
	in := r.call.In
	call := asm.QConvCall{In: in.Data[image*in.Image+block*in.Plane:], Pixels: onePixel, Steps: g.steps, Start: g.start[:], Requant: &requant}
	if g.mode == MaxPool {
		g.kernel.Max(&call)
	} else {
		g.kernel.Average(&call)
	}
}
