package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// Integers compute element-wise layers of integers, which wrap around to their type: positions, masks, indices; and what works on
// bits.
func Integers() []kernels.Tactic {
	list := []kernels.Tactic{integerTactic("pointwise_integers", graph.Pointwise, func(b kernels.Binding) (*programs.Longs, error) {
		return programs.NewLongs(b, b.Layer.Attrs.(graph.Elementwise).Program)
	})}
	for _, bits := range []struct {
		op  *graph.Op
		run programs.LongOperation
	}{
		{graph.BitwiseAnd, func(to, x, y []int64) {
			for i := range to {
				to[i] = x[i] & y[i]
			}
		}},
		{graph.BitwiseOr, func(to, x, y []int64) {
			for i := range to {
				to[i] = x[i] | y[i]
			}
		}},
		{graph.BitwiseXor, func(to, x, y []int64) {
			for i := range to {
				to[i] = x[i] ^ y[i]
			}
		}},
		{graph.BitwiseNot, func(to, x, _ []int64) {
			for i := range to {
				to[i] = ^x[i]
			}
		}},
	} {
		list = append(list, integerTactic("bits", bits.op, func(b kernels.Binding) (*programs.Longs, error) {
			return programs.NewBits(b, bits.run)
		}))
	}
	return append(list, integerTactic("bits", graph.BitShift, func(b kernels.Binding) (*programs.Longs, error) {
		return programs.NewBits(b, shift(b.Layer.Attrs.(graph.ShiftAttrs).Left, b.In[0].Type.Signed()))
	}))
}

// shift is by y bits taken as unsigned: by 64 and more, none of x is left but its sign.
func shift(left, signed bool) programs.LongOperation {
	return func(to, x, y []int64) {
		for i := range to {
			switch by := uint64(y[i]); {
			case left:
				to[i] = x[i] << by
			case signed:
				to[i] = x[i] >> by
			default:
				to[i] = int64(uint64(x[i]) >> by)
			}
		}
	}
}

// integerTactic is one of integers in rows.
func integerTactic(name string, op *graph.Op, prepare func(kernels.Binding) (*programs.Longs, error)) kernels.Tactic {
	return kernels.Tactic{
		Name: name, Op: op, In: kernels.Linear, Out: kernels.Linear, InPlace: true,
		Match: func(b kernels.Binding) error {
			_, err := prepare(b)
			return err
		},
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			p, err := prepare(b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			return work.Launcher(p.Launch), nil
		},
	}
}
