package run

import (
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
)

// frame is a context at one set of shapes.
type frame struct {
	loaded  *Loaded
	shape   *shape
	shapes  [][]int        // of the network's inputs
	own     [3]kernels.Mem // arena, inputs and outputs, and workspace, where the context's do not do
	held    int            // bytes of own
	counted bool           // steps have counted extents: executions begin elsewhere
	mem     []kernels.Mem  // by slot
	inputs  map[string]int
	outputs map[string]int
	args    []launch      // by step
	beside  []*forkRun    // the forks of the plan
	whole   kernels.Graph // all steps, where the stream can capture them
	stepped kernels.Graph // all steps with a mark before, between and after
	marks   *marks        // of stepped
	caller  *[2]traffic   // the data of ExecuteSplit, inputs and outputs
	ready   bool          // what is computed once is there
	changed bool          // the context's inputs are others than the caller's
	bound   bindings      // inputs and outputs that lie in the caller's memory
}

type launch struct {
	in, out []kernels.Mem
	scratch kernels.Mem
	control *control // of a step with bodies
}

// newFrame returns the arguments of all launches at a shape, in the given memory.
func (c *ExecutionContext) newFrame(at *shape, arena, io kernels.Mem) *frame {
	p, b := at.Plan, at.backend
	f := &frame{loaded: at.Loaded, shape: at, ready: p.Once() == 0, inputs: map[string]int{}, outputs: map[string]int{}}
	for _, t := range p.Network.Inputs {
		f.shapes = append(f.shapes, symbolic.Eval(t.Extents(), p.Env()))
	}
	for i, s := range p.Slots {
		region := arena
		if s.Region == IO {
			region = io
		}
		f.mem = append(f.mem, b.Slice(region, s.Offset, s.Size))
		if s.Tensor == nil || s.Desc.Format != kernels.Linear || s.Region != IO {
			continue
		}
		if p.Network.IsInput(s.Tensor) {
			f.inputs[s.Tensor.Name] = i
		}
		if p.Network.IsOutput(s.Tensor) {
			f.outputs[s.Tensor.Name] = i
		}
	}
	for i, s := range p.Steps {
		var a launch
		for _, in := range s.In {
			if in < 0 {
				a.in = append(a.in, kernels.Mem{})
			} else {
				a.in = append(a.in, f.mem[in])
			}
		}
		for _, out := range s.Out {
			a.out = append(a.out, f.mem[out])
		}
		if s.Scratch >= 0 {
			a.scratch = f.mem[s.Scratch]
		}
		if len(s.Bodies) > 0 {
			a.control = c.control(at.Loaded, i, a.scratch)
		}
		f.args = append(f.args, a)
	}
	f.beside = newForks(p.Forks)
	return f
}

// apart reports whether what is computed lies elsewhere than at other shapes.
func (f *frame) apart() bool { return f.loaded.apart || f.own[0].Host != nil || f.own[0].Addr != 0 }

// close gives back what a frame has beside the context's memory.
func (f *frame) close(base *Loaded) {
	for _, g := range []kernels.Graph{f.whole, f.stepped} {
		if g != nil {
			_ = g.Close() // nothing is left to be done
		}
	}
	for _, m := range f.own {
		base.backend.Free(m)
	}
	base.release(f.shape)
}
