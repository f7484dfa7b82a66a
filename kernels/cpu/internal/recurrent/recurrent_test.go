package recurrent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/cputest"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// shape is a recurrent layer of a test.
type shape struct {
	op                         *graph.Op
	steps, batch, size, hidden int
	attrs                      graph.RecurrentAttrs
	lengths                    []int32
	split                      bool // three workers go through the steps together
}

var shapes = []shape{
	{op: graph.LSTM, steps: 4, batch: 1, size: 30, hidden: 200, split: true},
	{op: graph.LSTM, steps: 5, batch: 3, size: 7, hidden: 193, attrs: graph.RecurrentAttrs{Direction: graph.Bidirectional, BatchFirst: true}, lengths: []int32{5, 0, 2}, split: true},
	{op: graph.GRU, steps: 4, batch: 2, size: 9, hidden: 230, attrs: graph.RecurrentAttrs{Direction: graph.Reverse, Clip: 0.8}, lengths: []int32{1, 3}, split: true},
	{op: graph.GRU, steps: 4, batch: 9, size: 9, hidden: 215, attrs: graph.RecurrentAttrs{ResetAfter: true}, split: true},
	{op: graph.RNN, steps: 6, batch: 2, size: 5, hidden: 370, attrs: graph.RecurrentAttrs{Direction: graph.Bidirectional}, split: true},
	{op: graph.LSTM, steps: 6, batch: 11, size: 20, hidden: 64},
	{op: graph.GRU, steps: 6, batch: 7, size: 20, hidden: 33, attrs: graph.RecurrentAttrs{Direction: graph.Bidirectional}, lengths: []int32{6, 5, 4, 3, 2, 1, 0}},
	{op: graph.RNN, steps: 600, batch: 1, size: 3, hidden: 8},
}

// layer returns a layer of the shape, with all inputs, and random values for them.
func (s shape) layer(rnd *rand.Rand) (*graph.Layer, []numeric.Value) {
	a := s.attrs
	a.Hidden = s.hidden
	l := &graph.Layer{Name: "layer", Op: s.op, Attrs: a}
	gates, ways, outputs := l.Gates(), a.Direction.Count(), 2
	x, state := []int{s.steps, s.batch, s.size}, []int{ways, s.batch, s.hidden}
	if a.BatchFirst {
		x, state = []int{s.batch, s.steps, s.size}, []int{s.batch, ways, s.hidden}
	}
	var values []numeric.Value
	add := func(constant bool, dims ...int) {
		v := numeric.NewValue(numeric.F32, dims...)
		for i := range v.F32() {
			if v.F32()[i] = float32(rnd.NormFloat64()); constant {
				v.F32()[i] /= float32(math.Sqrt(float64(s.hidden)))
			}
		}
		t := &graph.Tensor{Name: fmt.Sprint("x", len(values)), Type: numeric.F32, Dims: symbolic.Shape(dims...)}
		if constant {
			t.Weights = v.Data
		}
		values = append(values, v)
		l.AddInput(t)
	}
	add(false, x...)
	add(true, ways, gates*s.hidden, s.size)
	add(true, ways, gates*s.hidden, s.hidden)
	add(true, ways, 2*gates*s.hidden)
	values = append(values, numeric.Value{})
	if l.AddInput(nil); s.lengths != nil {
		values[4] = numeric.Values(numeric.I32, s.lengths, s.batch)
		l.Inputs[4] = &graph.Tensor{Name: "lengths", Type: numeric.I32, Dims: symbolic.Shape(s.batch)}
	}
	add(false, state...)
	if s.op == graph.LSTM {
		outputs = 3
		add(false, state...)
		add(true, ways, 3*s.hidden)
	}
	for i := range outputs {
		l.Outputs = append(l.Outputs, &graph.Tensor{Name: fmt.Sprint("y", i), Producer: l})
	}
	return l, values
}

// TestWorkers compares kernels for one worker and three with the definition; a launch allocates nothing, but in products without
// assembly.
func TestWorkers(t *testing.T) {
	for _, s := range shapes {
		l, values := s.layer(rand.New(rand.NewPCG(1, 2)))
		if err := l.Infer(); err != nil {
			t.Fatal(err)
		}
		b := kernels.Binding{Layer: l, Consts: make([][]byte, len(values))}
		in, want := make([]kernels.Mem, len(values)), make([]numeric.Value, len(l.Outputs))
		for i, v := range values {
			b.In = append(b.In, kernels.Desc{Type: v.Type, Dims: v.Dims})
			if x := l.Inputs[i]; x != nil && x.IsConst() {
				b.Consts[i] = x.Weights
			} else {
				in[i].Host = v.Data
			}
		}
		for i, y := range l.Outputs {
			want[i] = numeric.NewValue(y.Type, symbolic.Eval(y.Dims, nil)...)
			b.Out = append(b.Out, kernels.Desc{Type: y.Type, Dims: want[i].Dims})
		}
		if err := l.Eval(values, want); err != nil {
			t.Fatal(err)
		}
		for _, isa := range cputest.FeatureSets() {
			for _, workers := range cputest.WorkerCounts() {
				name := fmt.Sprintf("%s %d workers %s", l, workers, work.ISAName(isa))
				st := work.NewStream(work.NewPool(workers))
				bound, err := bind(b, isa, workers)
				if err != nil {
					t.Fatal(name, err)
				}
				k := bound.(*kernel)
				if split := k.blocks > 1; split != (s.split && workers > 1) {
					t.Errorf("%s: %d parts of a step", name, k.blocks)
				}
				out, ws := make([]kernels.Mem, len(want)), kernels.Mem{Host: numeric.Bytes(work.AlignedFloats(k.plan().all))}
				for i := range ws.Host {
					ws.Host[i] = 0xff
				}
				for i, v := range want {
					out[i].Host = numeric.Bytes(work.AlignedFloats(v.Len()))
				}
				launch := func() {
					if err := k.Launch(st, in, out, ws); err != nil {
						t.Fatal(name, err)
					}
				}
				launch()
				for i, v := range want {
					for j, f := range numeric.View[float32](out[i].Host) {
						if !(math.Abs(float64(f-v.F32()[j])) <= 1e-5) {
							t.Fatalf("%s: output %d, element %d is %v, want %v", name, i, j, f, v.F32()[j])
						}
					}
				}
				if n := testing.AllocsPerRun(5, launch); n > 0 && !cputest.RaceEnabled && isa != 0 {
					t.Errorf("%s: a launch allocates %v times", name, n)
				}
			}
		}
	}
}

// TestRefused has what the kernel does not compute.
func TestRefused(t *testing.T) {
	l, values := shape{op: graph.LSTM, steps: 2, batch: 1, size: 3, hidden: 4, lengths: []int32{3}}.layer(rand.New(rand.NewPCG(1, 2)))
	if err := l.Infer(); err != nil {
		t.Fatal(err)
	}
	b, in := kernels.Binding{Layer: l, Consts: make([][]byte, len(values))}, make([]kernels.Mem, len(values))
	for i, v := range values {
		b.In, in[i].Host = append(b.In, kernels.Desc{Type: v.Type, Dims: v.Dims}), v.Data
		b.Consts[i] = l.Inputs[i].Weights
	}
	for _, y := range l.Outputs {
		b.Out = append(b.Out, kernels.Desc{Type: y.Type, Dims: symbolic.Eval(y.Dims, nil)})
	}
	if err := match(b); err != nil {
		t.Fatal(err)
	}
	k, err := bind(b, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	ws := kernels.Mem{Host: numeric.Bytes(work.AlignedFloats(k.(*kernel).plan().all))}
	if err := k.Launch(work.NewStream(work.NewPool(1)), in, make([]kernels.Mem, 3), ws); err == nil || err.Error() != "sequence 0 has 3 places, and there are 0 to 2" {
		t.Errorf("a sequence that is too long: %v", err)
	}
	b.Consts[graph.RecurrentR] = nil
	if match(b) == nil {
		t.Error("weights that are no constants are taken")
	}
}
