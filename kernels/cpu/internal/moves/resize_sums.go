package moves

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Resizes resample between pixels, in float32 whatever is stored: rows of the input are summed to one, and its
// pixels to those of the output.
func Resizes(isa asm.Features, workers int) []kernels.Tactic {
	var list []kernels.Tactic
	for _, f := range []kernels.Format{kernels.C16, kernels.Linear} {
		list = append(list, kernels.Tactic{
			Name: "resize_" + work.ISAName(isa) + "_" + f.String(), Op: graph.Resize, Needs: kernels.Feature(isa), In: f, Out: f, Strided: true,
			Match: func(b kernels.Binding) error {
				_, err := newResizeKernel(b, 0, 1)
				return err
			},
			Workspace: func(b kernels.Binding) int {
				k, err := newResizeKernel(b, 0, workers)
				if err != nil {
					return 0
				}
				return 4 * workers * k.scratch()
			},
			Bind: func(b kernels.Binding) (kernels.Kernel, error) { return newResizeKernel(b, isa, workers) },
		})
	}
	return list
}

// resizeKernel makes sums of pixels.
type resizeKernel struct {
	resampling
	from, to programs.Codec
	vector   asm.VecKernel
	weights  [][]float32 // of each tap of the columns, for every element of a row of the output
	workers  int
	job      *work.Job[resizeLaunch]
}

func newResizeKernel(b kernels.Binding, isa asm.Features, workers int) (*resizeKernel, error) {
	r, err := resamplingOf(b)
	if err != nil {
		return nil, err
	}
	k := &resizeKernel{resampling: r, vector: work.VecKernel(isa), workers: workers}
	k.split(workers)
	if k.from, err = programs.NewCodec(b.In[0], b.Layer.Inputs[0].Range, isa); err != nil {
		return nil, err
	}
	if k.to, err = programs.NewCodec(b.Out[0], b.Layer.Outputs[0].Range, isa); err != nil {
		return nil, err
	}
	if !k.columns.picks() {
		k.weights = k.columns.spread(k.pixel)
	}
	k.job = work.NewJob((*resizeLaunch).do)
	return k, nil
}

// scratch returns the float32 that a worker needs: two rows of the input and two of the output.
func (k *resizeKernel) scratch() int { return 2 * (k.width + k.columns.extent) * k.pixel }

// resizeLaunch is the state of one launch.
type resizeLaunch struct {
	kernel    *resizeKernel
	in, out   kernels.Mem
	workspace []float32
}

// Launch computes all rows.
func (k *resizeKernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	k.job.Run(work.Loop(st), k.workers, k.units(), resizeLaunch{k, in[0], out[0], numeric.View[float32](ws.Host)})
	return nil
}

// do computes a unit's rows.
func (l *resizeLaunch) do(u, worker int) {
	k := l.kernel
	in, out, first, last := k.unit(u)
	room := l.workspace[worker*k.scratch():][:k.scratch()]
	wide := k.width * k.pixel
	sum, part, row := room[:wide], room[wide:2*wide], room[2*wide:]
	for y := first; y < last; y++ {
		for t := range k.rows.count {
			tap := t*k.rows.extent + y
			at, w := in+int(k.rows.index[tap])*wide, k.rows.weights[tap]
			if t == 0 {
				if k.from.Load(sum, l.in, at); w != 1 {
					k.vector.Unary(asm.Affine, sum, sum, w, 0)
				}
				continue
			}
			k.from.Load(part, l.in, at)
			k.vector.Unary(asm.Affine, part, part, w, 0)
			k.vector.Binary(asm.Add, sum, sum, part)
		}
		result := k.across(row, sum)
		k.to.Store(l.out, out+y*len(result), result)
	}
}

// across makes a row of the output's pixels of a row of the input's; row has room for two of the output's.
func (k *resizeKernel) across(row, sum []float32) []float32 {
	c, n := &k.columns, len(row)/2
	result, part := row[:n], row[n:]
	for t := range c.count {
		to := result
		if t > 0 {
			to = part
		}
		copyPixels(numeric.Bytes(to), numeric.Bytes(sum), c.index[t*c.extent:(t+1)*c.extent], 4*k.pixel)
		if k.weights != nil {
			k.vector.Binary(asm.Mul, to, to, k.weights[t])
		}
		if t > 0 {
			k.vector.Binary(asm.Add, result, result, part)
		}
	}
	return result
}

// spread returns the weights of each tap for every element of a row of such pixels.
func (t *tapTable) spread(pixel int) [][]float32 {
	list := make([][]float32, t.count)
	for k := range list {
		for _, w := range t.weights[k*t.extent : (k+1)*t.extent] {
			for range pixel {
				list[k] = append(list[k], w)
			}
		}
	}
	return list
}
