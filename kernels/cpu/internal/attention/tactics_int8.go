package attention

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/quantised"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// TacticsInt8 are the attentions of bytes for one instruction set: queries, keys and values are quantised, results quantised or
// float32.
func TacticsInt8(isa asm.Features, workers int) []kernels.Tactic {
	return []kernels.Tactic{{
		Name: "attention_int8_" + work.ISAName(isa), Op: graph.Attention, Needs: kernels.Feature(isa), Strided: true, Rows: true,
		Match: func(b kernels.Binding) error {
			_, err := boundBytes(b, 0, 1)
			return err
		},
		Workspace: func(b kernels.Binding) int {
			a, err := boundBytes(b, isa, workers)
			if err != nil {
				return 0
			}
			return a.Workspace()
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) { return bindBytes(b, isa, workers) },
	}}
}

// quantization returns what the bytes of a tensor stand for.
func quantization(t *graph.Tensor) asm.Quantization {
	return asm.Quantization{Scale: t.Range.ScaleAt(0), Zero: t.Range.ZeroAt(0), Signed: t.Type == numeric.I8}
}

// boundBytes returns the attention of a layer whose queries, keys and values are bytes.
func boundBytes(b kernels.Binding, isa asm.Features, workers int) (*Bytes, error) {
	l := b.Layer
	var of [3]asm.Quantization
	for i, t := range l.OpInputs() {
		switch {
		case t == nil:
		case i <= graph.AttentionV:
			if err := quantised.OneScale(t); err != nil {
				return nil, fmt.Errorf("input %w", err)
			}
			if b.Consts[i] != nil {
				return nil, fmt.Errorf("input %s is constant", t.Name)
			}
			of[i] = quantization(t)
		case i == graph.AttentionMask && (b.In[i].Type == numeric.Bool || b.In[i].Type == numeric.F32), i == graph.AttentionKVLengths && b.In[i].Type == numeric.I64:
		default:
			return nil, fmt.Errorf("input %s is not taken beside bytes", t.Name)
		}
	}
	if len(b.Out) > 1 {
		return nil, fmt.Errorf("outputs beside %s are not computed of bytes", l.Outputs[0].Name)
	}
	if l.Epilogue.Args > 0 {
		return nil, fmt.Errorf("the kernel for bytes has no epilogue")
	}
	c := BytesConfig{Q: of[0], K: of[1], V: of[2]}
	if y := l.Outputs[0]; y.Type != numeric.F32 {
		if err := quantised.OneScale(y); err != nil {
			return nil, fmt.Errorf("output %w", err)
		}
		c.Out = quantization(y)
	}
	s, err := shapeOf(b)
	if err != nil {
		return nil, err
	}
	return NewBytes(s, c, isa, workers)
}

// bytesKernel is an attention of bytes bound to a layer.
type bytesKernel struct {
	*Bytes
	consts [graph.AttentionSinks + 1][]byte
	calls  sync.Pool
}

func bindBytes(b kernels.Binding, isa asm.Features, workers int) (kernels.Kernel, error) {
	a, err := boundBytes(b, isa, workers)
	if err != nil {
		return nil, err
	}
	k := &bytesKernel{Bytes: a}
	for i := range b.Layer.OpInputs() {
		if v, ok := b.Const(i); ok {
			k.consts[i] = v.Data
		}
	}
	k.calls.New = func() any { return new(BytesCall) }
	return k, nil
}

// Launch computes the attention.
func (k *bytesKernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	bytes := func(i int) []byte {
		if k.consts[i] != nil {
			return k.consts[i]
		}
		return in[i].Host
	}
	call := k.calls.Get().(*BytesCall)
	*call = BytesCall{Q: bytes(graph.AttentionQ), K: bytes(graph.AttentionK), V: bytes(graph.AttentionV), Workspace: ws.Host}
	if k.Masked && k.Mask.Bool {
		call.Bools = bytes(graph.AttentionMask)
	} else if k.Masked {
		call.Mask = numeric.View[float32](bytes(graph.AttentionMask))
	}
	if k.Counted {
		call.Counts = numeric.View[int64](bytes(graph.AttentionKVLengths))
	}
	if k.out.Scale == 0 {
		call.Y = numeric.View[float32](out[0].Host)
	} else {
		call.Out = out[0].Host
	}
	k.Run(work.Loop(st), call)
	*call = BytesCall{}
	k.calls.Put(call)
	return nil
}
