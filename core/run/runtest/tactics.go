package runtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// Tactics runs every tactic of the backend on every layer that it matches, dense and, where it says it can, in slices
// of larger tensors, and compares with Eval. take is asked about each tactic that matches a layer, by name: it leaves out
// where it returns false, and what it has seen tells whether any tactic ran on no layer.
func Tactics(t *testing.T, b run.Backend, layers []Case, take func(layer, tactic string) bool) {
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range layers {
		l := c.Layer
		for _, tac := range b.Tactics(l.Op) {
			if tac.Reference && l.Op != graph.Reformat {
				continue
			}
			for _, batch := range []int{0, 48} {
				binding, ok := bindCase(l, tac, batch)
				if !ok || tac.Match(binding) != nil || !take(c.Name, tac.Name) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/stride%d", c.Name, tac.Name, batch), func(t *testing.T) {
					if err := runCase(b, s, tac, binding, c); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// bindCase returns the layer's binding in the tactic's formats; extra elements between two batch indices make slices.
func bindCase(l *graph.Layer, tac kernels.Tactic, extra int) (kernels.Binding, bool) {
	if extra > 0 && !tac.Strided {
		return kernels.Binding{}, false
	}
	b := kernels.Binding{Layer: l, Consts: make([][]byte, len(l.Inputs))}
	form := func(t *graph.Tensor, f kernels.Format) (kernels.Desc, bool) {
		d := kernels.Desc{Type: t.Type, Dims: graph.EvalDims(t.Dims, nil), Format: f}
		if f != kernels.Linear && len(d.Dims) < 2 {
			return d, false
		}
		if extra > 0 && len(d.Dims) > 1 && d.Dims[0] > 1 {
			d.Batch = d.BatchStride() + extra
		}
		return d, true
	}
	for i, t := range l.Inputs {
		var d kernels.Desc
		ok := true
		switch {
		case t == nil:
		case t.IsConst():
			d = kernels.Desc{Type: t.Type, Dims: graph.EvalDims(t.Dims, nil)}
			b.Consts[i] = t.Weights
		case i >= len(l.OpInputs()):
			d, ok = form(t, tac.Out)
		default:
			d, ok = form(t, tac.In)
		}
		if !ok {
			return b, false
		}
		b.In = append(b.In, d)
	}
	for _, t := range l.Outputs {
		d, ok := form(t, tac.Out)
		if !ok {
			return b, false
		}
		b.Out = append(b.Out, d)
	}
	return b, true
}

// runCase binds and launches the tactic on random inputs, twice into poisoned outputs, and compares with Eval.
func runCase(b run.Backend, s kernels.Stream, tac kernels.Tactic, binding kernels.Binding, c Case) error {
	l := binding.Layer
	rnd := rand.New(rand.NewPCG(11, uint64(len(c.Name))))
	ins, outs := make([]graph.Value, len(l.Inputs)), make([]graph.Value, len(l.Outputs))
	in := make([]kernels.Mem, len(l.Inputs))
	for i, t := range l.Inputs {
		if t == nil {
			continue
		}
		if v, ok := t.Const(); ok {
			ins[i] = v
			continue
		}
		ins[i] = Random(rnd, t)
		m, err := upload(b, s, binding.In[i], ins[i].Data)
		if err != nil {
			return err
		}
		defer b.Free(m)
		in[i] = m
	}
	for i, t := range l.Outputs {
		outs[i] = graph.NewValue(t.Type, graph.EvalDims(t.Dims, nil)...)
	}
	if err := l.Eval(ins, outs); err != nil {
		return err
	}
	k, err := tac.Bind(binding)
	if err != nil {
		return err
	}
	defer kernels.Close(k)
	constants, err := run.Place(b, k)
	if err != nil {
		return err
	}
	defer b.Free(constants)
	var scratch kernels.Mem
	if tac.Workspace != nil {
		n := tac.Workspace(binding)
		if scratch, err = b.Alloc(n); err != nil {
			return err
		}
		defer b.Free(scratch)
		if err := b.Upload(s, scratch, poison(n)); err != nil {
			return err
		}
	}
	if err := launchTwice(b, s, k, binding, in, scratch, outs, c.Tolerance); err != nil || !tac.InPlace {
		return err
	}
	for i, d := range binding.In {
		if (in[i].Host != nil || in[i].Addr != 0) && d.Equal(binding.Out[0]) { // destroys the input: it is the last run
			if err := k.Launch(s, in, []kernels.Mem{in[i]}, scratch); err != nil {
				return err
			}
			if err := compare(b, s, binding, []kernels.Mem{in[i]}, outs, c.Tolerance); err != nil {
				return fmt.Errorf("over input %d: %w", i, err)
			}
			break
		}
	}
	return nil
}

// launchTwice launches a kernel twice into new, poisoned outputs and compares them with the wanted values.
func launchTwice(b run.Backend, s kernels.Stream, k kernels.Kernel, binding kernels.Binding, in []kernels.Mem, scratch kernels.Mem, want []graph.Value, tol Tolerance) error {
	for range 2 {
		out := make([]kernels.Mem, len(binding.Out))
		for i, d := range binding.Out {
			m, err := b.Alloc(d.Span())
			if err != nil {
				return err
			}
			defer b.Free(m)
			if err := b.Upload(s, m, poison(d.Span())); err != nil {
				return err
			}
			out[i] = m
		}
		if err := k.Launch(s, in, out, scratch); err != nil {
			return err
		}
		if err := compare(b, s, binding, out, want, tol); err != nil {
			return err
		}
	}
	return nil
}

// compare reads the outputs and compares them with the wanted values.
func compare(b run.Backend, s kernels.Stream, binding kernels.Binding, out []kernels.Mem, want []graph.Value, tol Tolerance) error {
	for i, d := range binding.Out {
		stored := make([]byte, d.Span())
		if err := b.Download(s, stored, out[i]); err != nil {
			return err
		}
		if err := s.Wait(); err != nil {
			return err
		}
		got := graph.NewValue(d.Type, d.Dims...)
		d.ToLinear(got.Data, stored)
		if err := Near(got, want[i], binding.Layer.Outputs[i].Range, tol); err != nil {
			return fmt.Errorf("%s, output %d: %w", binding.Layer, i, err)
		}
	}
	return nil
}

// upload stores elements in new memory, in the form d, with what is between them poisoned by finite numbers.
func upload(b run.Backend, s kernels.Stream, d kernels.Desc, linear []byte) (kernels.Mem, error) {
	m, err := b.Alloc(d.Span())
	if err != nil {
		return m, err
	}
	stored := make([]byte, d.Span())
	if d.Type == graph.F32 {
		for i, f := range graph.View[float32](stored) {
			graph.View[float32](stored)[i] = f + 1e6
		}
	}
	d.FromLinear(stored, linear)
	return m, b.Upload(s, m, stored)
}

// poison returns bytes that are NaN as floats.
func poison(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = 0xff
	}
	return p
}

// Random returns a value for t: floats and quantised integers over a few units, indices small.
func Random(rnd *rand.Rand, t *graph.Tensor) graph.Value {
	v := graph.NewValue(t.Type, graph.EvalDims(t.Dims, nil)...)
	switch t.Type {
	case graph.F32:
		for i := range v.F32() {
			v.F32()[i] = float32(rnd.NormFloat64() * 2)
		}
	case graph.F16:
		for i, d := 0, graph.View[uint16](v.Data); i < len(d); i++ {
			d[i] = graph.F32ToF16(float32(rnd.NormFloat64() * 2))
		}
	case graph.I8, graph.U8:
		for i := range v.Data {
			v.Data[i] = byte(rnd.Uint32())
		}
	case graph.Bool:
		for i := range v.Data {
			v.Data[i] = byte(rnd.IntN(2))
		}
	case graph.I32:
		for i := range v.I32() {
			v.I32()[i] = int32(rnd.IntN(7))
		}
	case graph.I64:
		for i := range v.I64() {
			v.I64()[i] = rnd.Int64N(7)
		}
	}
	return v
}

// Tolerance says how far a result may be from the reference.
type Tolerance struct {
	Real float64 // as a share of the largest magnitude in the reference, or of 1 if that is larger
	Step int     // for quantised outputs: so many steps of the range
}

// Near returns an error where got differs from want by more than the tolerance.
func Near(got, want graph.Value, r graph.Range, tol Tolerance) error {
	if got.Type.IsInteger() || got.Type == graph.Bool {
		step := 0
		if r.IsSet() {
			step = tol.Step
		}
		a, b := got.Ints(), want.Ints()
		for i := range b {
			if d := a[i] - b[i]; d > int64(step) || -d > int64(step) {
				return fmt.Errorf("element %d is %d, want %d within %d", i, a[i], b[i], step)
			}
		}
		return nil
	}
	a, b := got.Floats(), want.Floats()
	largest := 1.0
	for _, f := range b {
		if m := math.Abs(float64(f)); m > largest && !math.IsInf(m, 0) {
			largest = m
		}
	}
	limit := tol.Real * largest
	if got.Type == graph.F16 {
		limit += largest / 1024
	}
	for i := range b {
		x, y := float64(a[i]), float64(b[i])
		if !(math.Abs(x-y) <= limit) && x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
			return fmt.Errorf("element %d is %v, want %v within %.3g", i, x, y, limit)
		}
	}
	return nil
}
