package elementwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Apply computes p for every element of out; each argument is an F32 value that broadcasts to out's shape. out may
// share memory with an argument of the same shape.
func (p Program) Apply(args []numeric.Value, out numeric.Value) error {
	if len(args) != p.Args {
		return fmt.Errorf("program of %d arguments given %d", p.Args, len(args))
	}
	index := make([]numeric.Broadcast, len(args))
	data := make([][]float32, len(args))
	for i, a := range args {
		b, err := numeric.NewBroadcast(a.Dims, out.Dims)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		index[i], data[i] = b, a.F32()
	}
	vals := make([]float32, p.Args+len(p.Code)+1)
	dst := out.F32()
	for i := range dst {
		for a := range args {
			vals[a] = data[a][index[a].At(i)]
		}
		dst[i] = p.Eval(vals)
	}
	return nil
}

// ApplyTyped computes p for every element of out as its arguments' types say.
func (p Program) ApplyTyped(args []numeric.Value, out numeric.Value) error {
	ints, doubles := false, false
	types := make([]numeric.DataType, len(args))
	for i, a := range args {
		types[i] = a.Type
		ints = ints || a.Type.IsInteger()
		doubles = doubles || a.Type == numeric.F64
	}
	reals := doubles
	for _, t := range types {
		reals = reals || t.IsFloat()
	}
	switch {
	case ints && !reals || !reals && !ints && out.Type == numeric.Bool:
		return p.applyInts(args, types, out)
	case ints || doubles:
		return applyReals(p, args, out, numeric.Value.Float64s, func(x []float64) { out.SetFloats(x) })
	case out.Type == numeric.F32:
		floats := make([]numeric.Value, len(args))
		for i, a := range args {
			floats[i] = numeric.Value{Type: numeric.F32, Dims: a.Dims, Data: numeric.Bytes(a.Floats())}
		}
		return p.Apply(floats, out)
	}
	return applyReals(p, args, out, numeric.Value.Floats, func(x []float32) {
		wide := make([]float64, len(x))
		numeric.Convert(wide, x)
		out.SetFloats(wide)
	})
}

// applyReals computes p in T and stores the results.
func applyReals[T float32 | float64](p Program, args []numeric.Value, out numeric.Value, view func(numeric.Value) []T, store func([]T)) error {
	data := make([][]T, len(args))
	for i, a := range args {
		data[i] = view(a)
	}
	vals, dst := make([]T, p.Args+len(p.Code)+1), make([]T, out.Len())
	err := Each(args, out, func(i int, places []int) {
		for a, at := range places {
			vals[a] = data[a][at]
		}
		dst[i] = eval(p, vals)
	})
	if err == nil {
		store(dst)
	}
	return err
}

// Each calls f for every element of out with the places of the arguments' elements that broadcast to it.
func Each(args []numeric.Value, out numeric.Value, f func(i int, places []int)) error {
	index := make([]numeric.Broadcast, len(args))
	for i, a := range args {
		b, err := numeric.NewBroadcast(a.Dims, out.Dims)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		index[i] = b
	}
	places := make([]int, len(args))
	for i := range out.Len() {
		for a := range args {
			places[a] = index[a].At(i)
		}
		f(i, places)
	}
	return nil
}

// applyInts computes p in integer arithmetic. An int64 holds the bits of a U64.
func (p Program) applyInts(args []numeric.Value, types []numeric.DataType, out numeric.Value) error {
	all, err := p.Types(types)
	if err != nil {
		return err
	}
	data := make([][]int64, len(args))
	for i, a := range args {
		data[i] = a.Ints()
	}
	vals, dst := make([]int64, p.Args+len(p.Code)+1), make([]int64, out.Len())
	code := make([]intInstr, len(p.Code))
	for i, in := range p.Code {
		code[i] = intInstr{Instr: in, result: all[p.Args+i]}
		for _, a := range in.Arg[:in.Op.Info().Arity] {
			code[i].unsigned = code[i].unsigned || all[a] == numeric.U64
		}
	}
	err = Each(args, out, func(i int, places []int) {
		for a, at := range places {
			vals[a] = data[a][at]
		}
		for k, in := range code {
			vals[p.Args+k] = in.result.Wrap(in.eval(vals))
		}
		dst[i] = vals[p.Result()]
	})
	out.SetInts(dst, all[p.Result()] == numeric.U64)
	return err
}
