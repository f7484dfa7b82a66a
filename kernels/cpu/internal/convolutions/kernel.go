package convolutions

import (
	"sync"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// convKernel is a convolution in float32 bound to a layer.
type convKernel struct {
	b   kernels.Binding
	run func(work.Parallel, *CallF32)
	programs.Epilogue
	launches sync.Pool
}

// convLaunch is the state of one launch.
type convLaunch struct {
	kernel *convKernel
	call   CallF32
	in     []kernels.Mem
	out    kernels.Mem
	after  func(image, at, n int)
}

// newConvKernel returns the kernel that runs a convolution with the layer's epilogue.
func newConvKernel(b kernels.Binding, run func(work.Parallel, *CallF32), isa asm.Features) (kernels.Kernel, error) {
	k := &convKernel{b: b, run: run}
	var err error
	if k.Epilogue, err = programs.NewEpilogue(b, isa); err != nil {
		return nil, err
	}
	k.launches.New = func() any {
		l := &convLaunch{kernel: k}
		if k.Program != nil {
			l.after = l.finish
		}
		return l
	}
	return k, nil
}

// finish runs the epilogue's program over elements that the convolution has just written.
func (l *convLaunch) finish(image, at, n int) {
	p := l.kernel.Program
	batch, from := p.At(image, at)
	p.Part(l.out, l.in, l.out, batch, from, from+n)
}

// Launch computes the convolution.
func (k *convKernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	l := k.launches.Get().(*convLaunch)
	l.in, l.out = in, out[0]
	l.call = CallF32{
		In: work.Floats(k.b.In[0], in[0]), Out: work.Floats(k.b.Out[0], out[0]),
		Limits: k.Limits, Workspace: numeric.View[float32](ws.Host), After: l.after,
	}
	if k.Residual >= 0 {
		l.call.Residual = work.Floats(k.b.In[k.Residual], in[k.Residual])
	}
	k.run(work.Loop(st), &l.call)
	l.call, l.in, l.out = CallF32{}, nil, kernels.Mem{}
	k.launches.Put(l)
	return nil
}
