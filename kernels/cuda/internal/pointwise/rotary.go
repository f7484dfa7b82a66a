package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// rotaryTactics are the rotary embeddings.
func rotaryTactics() []emit.Tactic {
	return []emit.Tactic{{
		Name: "rotary_linear", Op: graph.Rotary, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			if b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("the kernel has no epilogue")
			}
			for i := range graph.RotaryPositions {
				if err := rotaryStorable(b.Layer.Inputs[i]); err != nil {
					return err
				}
			}
			if p := b.Layer.Input(graph.RotaryPositions); p != nil && p.Type != numeric.I64 && p.Type != numeric.I32 {
				return fmt.Errorf("positions are %s, the kernel takes i32 and i64", p.Type)
			}
			return rotaryStorable(b.Layer.Outputs[0])
		},
		Emit: emitRotary,
		Cost: func(b kernels.Binding) []emit.Job {
			return []emit.Job{emit.ThreadJob(numeric.Count(b.Out[0].Dims), 30, emit.Traffic(b))}
		},
	}}
}

func rotaryStorable(t *graph.Tensor) error {
	if t.Type != numeric.F32 && t.Type != numeric.F16 {
		return fmt.Errorf("%s is %s, the kernel takes f32 and f16", t.Name, t.Type)
	}
	return nil
}

// emitRotary emits a kernel in which each thread computes an element; the other one of its pair comes from the cache.
func emitRotary(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	a, angles := b.Layer.Attrs.(graph.RotaryAttrs), b.In[graph.RotaryCos].Dims[0]
	own, positions := angles, b.Layer.Input(graph.RotaryPositions) != nil
	if positions {
		own = b.In[graph.RotaryPositions].Dims[0]
	}
	s, total := a.Shape(b.In[graph.RotaryX].Dims, own), numeric.Count(b.Out[0].Dims)
	k, l := w.Threads("rotary", total)
	operand := func(i int) emit.Storage { return emit.Storage{Type: b.In[i].Type, Base: l.Operand(k, w, b, i)} }
	x, cos, sin := operand(graph.RotaryX), operand(graph.RotaryCos), operand(graph.RotarySin)
	var places ptx.GlobalPtr
	if positions {
		places = l.Operand(k, w, b, graph.RotaryPositions)
	}
	y := emit.Storage{Type: b.Out[0].Type, Base: l.Output(k, 0)}
	index := emit.ThreadIndex(k, total)
	row, component := k.DivRem(index, s.Size)
	item, place := rotaryPlace(k, s, row)
	if s.Angles > 1 {
		place = k.Mad(item, ptx.U(s.Length), place)
	}
	if positions {
		place = emit.IndexAt(k, k.Offset(places, place, b.In[graph.RotaryPositions].Type.Size()), angles)
	}
	one := func(s emit.Storage, at ptx.Uint) ptx.Float { return s.LoadOne(k, k.Offset(s.Base, at, s.Type.Size())) }
	value := k.VarF(one(x, index))
	if s.First > 0 {
		component = k.Sub(component, ptx.U(s.First)) // those in front become the largest numbers
	}
	k.If(k.Lt(component, ptx.U(s.Turned)), func() {
		pair, second, apart := rotaryPair(k, component, s.Turned/2, a.Interleaved && !a.Apart)
		own := index
		if a.Apart {
			own, apart = k.Add(k.Sub(index, component), k.Mad(pair, ptx.U(2), k.Select(second, ptx.U(1), ptx.U(0)))), ptx.U(1)
			k.SetF(value, one(x, own))
		}
		other := one(x, k.Select(second, k.Sub(own, apart), k.Add(own, apart)))
		at := k.Mad(place, ptx.U(s.Turned/2), pair)
		of := k.MulF(other, one(sin, at))
		k.SetF(value, k.Fma(value, one(cos, at), k.SelectF(second, of, k.NegF(of))))
	})
	y.StoreOne(k, k.Offset(y.Base, index, y.Type.Size()), value)
	w.End(k, l)
	return w, nil
}

// rotaryPlace returns the item and the element of the sequence that a head belongs to.
func rotaryPlace(k *ptx.K, s graph.RotaryShape, row ptx.Uint) (item, place ptx.Uint) {
	if s.Split {
		head, place := k.DivRem(row, s.Length)
		return k.Div(head, s.Heads), place
	}
	return k.DivRem(k.Div(row, s.Heads), s.Length)
}

// rotaryPair returns which pair a component is of, whether it is the second one, and how far apart the two are.
func rotaryPair(k *ptx.K, component ptx.Uint, half int, interleaved bool) (pair ptx.Uint, second ptx.Cond, apart ptx.Uint) {
	if interleaved {
		return k.Shr(component, 1), k.Eq(k.And(component, ptx.U(1)), ptx.U(1)), ptx.U(1)
	}
	second = k.Ge(component, ptx.U(half))
	return k.Select(second, k.Sub(component, ptx.U(half)), component), second, ptx.U(half)
}
