package cuda

import (
	"fmt"
	"sync/atomic"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// bound is a work that was compiled.
type bound struct {
	work      *emit.Work
	ctx       driver.Context
	codes     *codeCache
	code      *code
	functions []driver.Function // by launch
	params    []emit.Params     // by launch
	place     kernels.Mem       // of the constants
	closed    atomic.Bool
}

// Bind compiles a work whose launches pass what its kernels take.
func (b *Backend) Bind(w *emit.Work) (kernels.Kernel, error) {
	var params []emit.Params
	for _, l := range w.Launches {
		p, err := w.Params(l)
		if err != nil {
			return nil, err
		}
		params = append(params, p)
	}
	ctx := b.Context()
	c, err := b.codes.acquire(ctx, w)
	if err != nil {
		return nil, err
	}
	k := &bound{work: w, ctx: ctx, codes: &b.codes, code: c, params: params}
	for _, l := range w.Launches {
		f, err := c.function(l)
		if err != nil {
			_ = k.Close() // the first error tells all
			return nil, fmt.Errorf("kernel %s: %w", l.Kernel, err)
		}
		k.functions = append(k.functions, f)
	}
	return k, nil
}

// Close unloads the code if nobody else uses it.
func (k *bound) Close() error {
	if k.closed.Swap(true) {
		return nil
	}
	return k.codes.release(k.code)
}

// Note returns what the compiler said that costs speed.
func (k *bound) Note() string { return k.code.note() }

// Constants returns what the kernels read beside the tensors.
func (k *bound) Constants() []byte { return k.work.Constants }

// Place is told where that is.
func (k *bound) Place(m kernels.Mem) { k.place = m }

// Code returns the module as the driver compiled it.
func (k *bound) Code() []kernels.Code {
	if len(k.code.binary.cubin) == 0 {
		return nil
	}
	return []kernels.Code{{Key: k.code.key, Data: k.code.binary.cubin}}
}

// Explain returns the module's text, and what the driver tells of each launch, or of a simulated device NVIDIA's assembler,
// where it is installed.
func (k *bound) Explain() (kernels.Explanation, error) {
	e := kernels.Explanation{Language: "PTX", Text: k.work.Text()}
	simulated := false
	for i, l := range k.work.Launches {
		a, err := k.ctx.FuncAttributes(k.functions[i])
		if err != nil {
			return e, fmt.Errorf("kernel %s: %w", l.Kernel, err)
		}
		resident, err := k.ctx.MaxActiveBlocks(k.functions[i], l.Block[0]*l.Block[1]*l.Block[2], l.Shared)
		if err != nil {
			return e, fmt.Errorf("kernel %s: %w", l.Kernel, err)
		}
		spill := &a.LocalBytes
		if a.Declared {
			spill, simulated = nil, true
		}
		e.Launches = append(e.Launches, kernels.LaunchNote{
			Function: l.Kernel, Grid: l.Grid, Block: l.Block, Registers: a.Registers, SharedBytes: a.SharedBytes + l.Shared,
			SpillBytes: spill, Resident: resident,
		})
	}
	if simulated {
		return e, assembled(&e, k.ctx.Device())
	}
	return e, nil
}

// Launch enqueues the kernels.
func (k *bound) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	st := s.(*Stream)
	address := func(a emit.Arg) uint64 {
		switch a.Kind {
		case emit.InputArg:
			return in[a.Index].Addr
		case emit.OutputArg:
			return out[a.Index].Addr
		case emit.ConstantArg:
			return k.place.Addr
		case emit.WorkspaceArg:
			return workspace.Addr
		}
		return st.counters.Addr
	}
	for i, l := range k.work.Launches {
		c := configOf(l)
		c.Overlap = l.Overlap && st.overlaps()
		st.behindKernel = true
		if err := k.ctx.LaunchKernel(k.functions[i], c, st.handle, k.params[i].Pack(address)); err != nil {
			_ = st.clear() // the first error tells all
			return fmt.Errorf("kernel %s: %w", l.Kernel, err)
		}
	}
	return nil
}

// configOf is a launch as the driver takes it, behind anything.
func configOf(l emit.Launch) driver.LaunchConfig {
	return driver.LaunchConfig{Grid: l.Grid, Block: l.Block, Shared: l.Shared, Cluster: l.Cluster}
}
