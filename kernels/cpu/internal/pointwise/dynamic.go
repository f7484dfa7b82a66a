package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// dynamicTactic is the change to bytes by a range that is computed, too.
func dynamicTactic(isa asm.Features) kernels.Tactic {
	return kernels.Tactic{
		Name: "quantize_dynamic_" + work.ISAName(isa), Op: graph.DynamicQuantize, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			if b.In[0].Type != numeric.F32 || b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("input %v is not %s, or an epilogue follows", b.In[0], numeric.F32)
			}
			return nil
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			d := quantised.NewDynamic(numeric.Count(b.In[0].Dims), isa)
			return work.Launcher(func(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
				to := d.Run(work.Loop(st), out[0].Host, numeric.View[float32](in[0].Host))
				numeric.View[float32](out[1].Host)[0], out[2].Host[0] = to.Scale, byte(to.Zero)
				return nil
			}), nil
		},
	}
}

// rowsTactic rounds rows by ranges of their own.
func rowsTactic(isa asm.Features) kernels.Tactic {
	return kernels.Tactic{
		Name: "round_rows_" + work.ISAName(isa), Op: graph.RoundRows, Needs: kernels.Feature(isa),
		Match: func(b kernels.Binding) error {
			if b.In[0].Type != numeric.F32 || b.Out[0].Type != numeric.F32 || b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("input %v or output %v is not %s, or an epilogue follows", b.In[0], b.Out[0], numeric.F32)
			}
			return nil
		},
		Workspace: func(b kernels.Binding) int { return numeric.Count(b.In[0].Dims) },
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			dims := b.In[0].Dims
			n := dims[len(dims)-1]
			r := quantised.NewRows(numeric.Count(dims)/max(1, n), n, b.Layer.Attrs.(graph.RoundRowsAttrs).Rows, isa)
			return work.Launcher(func(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
				r.Round(work.Loop(st), numeric.View[float32](out[0].Host), numeric.View[float32](in[0].Host), ws.Host)
				return nil
			}), nil
		},
	}
}
