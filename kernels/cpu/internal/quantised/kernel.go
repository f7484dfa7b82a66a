package quantised

import (
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Call is the operands of one run.
type Call struct {
	In work.Bytes4
	// Float, if its Data is set, is the NCHW input of a stem before quantisation by InScale and the
	// configured zero point; otherwise a stem reads NCHW bytes in In.
	Float    work.Tensor4
	InScale  float32
	Epilogue Epilogue

	Workspace []byte
}

// Computation computes sums of bytes in blocks of channels.
type Computation struct {
	Workspace int // bytes
	Run       func(work.Parallel, *Call)
}

// Planner returns a layer's computation, or why there is none; unless full, it may have no weights.
type Planner func(b kernels.Binding, full bool) (Computation, error)

// Tactic returns the tactic of a computation for an instruction set.
func Tactic(name, shape string, op *graph.Op, isa asm.Features, plan Planner) kernels.Tactic {
	return kernels.Tactic{
		Name: name + "_int8_" + work.ISAName(isa) + shape, Op: op, Needs: kernels.Feature(isa), In: kernels.C16, Out: kernels.C16, Strided: true,
		Match:     plan.match,
		Workspace: plan.workspace,
		Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return plan.bind(b, isa) },
	}
}

func (plan Planner) match(b kernels.Binding) error {
	if _, err := NewOutput(b, 0, false); err != nil {
		return err
	}
	_, err := plan(b, false)
	return err
}

func (plan Planner) workspace(b kernels.Binding) int {
	c, err := plan(b, false)
	if err != nil {
		return 0
	}
	o, err := NewOutput(b, 0, false)
	if err != nil {
		return 0
	}
	return o.Workspace() + c.Workspace
}

func (plan Planner) bind(b kernels.Binding, isa asm.Features) (kernels.Kernel, error) {
	c, err := plan(b, true)
	if err != nil {
		return nil, err
	}
	k := &kernel{b: b, run: c.Run}
	if k.Output, err = NewOutput(b, isa, false); err != nil {
		return nil, err
	}
	k.calls.New = func() any { return new(Call) }
	return k, nil
}

// kernel is a computation on bytes in blocks of channels, bound to a layer.
type kernel struct {
	b   kernels.Binding
	run func(work.Parallel, *Call)
	Output
	calls sync.Pool
}

// Launch computes the layer.
func (k *kernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	call := k.calls.Get().(*Call)
	*call = Call{In: work.Bytes(k.b.In[0], in[0]), Epilogue: k.Registers}
	var floats kernels.Mem
	if n := k.Workspace(); n > 0 {
		floats.Host, ws.Host = ws.Host[:n:n], ws.Host[n:]
	} else if k.InPlace {
		floats = out[0]
	}
	call.Workspace = ws.Host
	if k.Residual >= 0 {
		call.Epilogue.Residual = work.Bytes(k.b.In[k.Residual], in[k.Residual])
	}
	switch {
	case k.Program != nil:
		call.Epilogue.Float = work.Floats(k.floats, floats)
	case k.b.Out[0].Type == numeric.F32:
		call.Epilogue.Float = work.Floats(k.b.Out[0], out[0])
	default:
		call.Epilogue.Out = work.Bytes(k.b.Out[0], out[0])
	}
	k.run(work.Loop(st), call)
	*call = Call{}
	k.calls.Put(call)
	if k.Program != nil {
		k.Program.Launch(work.Loop(st), floats, in, out[0])
	}
	return nil
}
