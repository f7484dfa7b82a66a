//go:build unix

package build_test

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// largeNetworks are networks of about n layers: what one pass after the other makes of them differs.
var largeNetworks = map[string]func(n int) *graph.Network{
	"a chain that fuses": func(n int) *graph.Network {
		return network(n, func(b *graph.Network, i int, x, _ *graph.Tensor) *graph.Tensor {
			return unary(b, []elementwise.Op{elementwise.Tanh, elementwise.Abs, elementwise.Sigmoid}[i%3], x)
		})
	},
	"a chain of kernels": func(n int) *graph.Network {
		return network(n, func(b *graph.Network, i int, x, _ *graph.Tensor) *graph.Tensor {
			return add(b, graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, x)
		})
	},
	"branches of one input": func(n int) *graph.Network { // each a layer of its own
		b := graph.NewNetwork("branches")
		x := b.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(8))
		y := x
		for i := range n / 3 {
			s := add(b, graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, scale(b, i, x))
			if i%64 == 0 {
				b.MarkOutput(s)
				continue
			}
			y = add(b, graph.Concat, graph.ConcatAttrs{Axis: 0}, slice(b, y), s)
		}
		b.MarkOutput(y)
		return b
	},
	"duplicates": func(n int) *graph.Network {
		return network(n/2, func(b *graph.Network, i int, x, input *graph.Tensor) *graph.Tensor {
			return binary(b, elementwise.Add, x, unary(b, elementwise.Tanh, input))
		})
	},
	"dense blocks": func(n int) *graph.Network { // each layer reads all before it in its block
		b := graph.NewNetwork("dense")
		x := b.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(8))
		for len(b.Layers) < n {
			parts := []*graph.Tensor{x}
			for range 12 {
				y := add(b, graph.Concat, graph.ConcatAttrs{Axis: 0}, parts...)
				parts = append(parts, add(b, graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, slice(b, y)))
			}
			x = slice(b, add(b, graph.Concat, graph.ConcatAttrs{Axis: 0}, parts...))
		}
		b.MarkOutput(x)
		return b
	},
	"nested": func(n int) *graph.Network { // each reads the one before twice: as an expression it is as long as 2 to the power of n
		return network(n/2, func(b *graph.Network, i int, x, _ *graph.Tensor) *graph.Tensor {
			return unary(b, elementwise.Tanh, binary(b, elementwise.Add, x, x))
		})
	},
	"residual blocks": func(n int) *graph.Network {
		return network(n/3, func(b *graph.Network, i int, x, _ *graph.Tensor) *graph.Tensor {
			w := b.AddConst(fmt.Sprint("w", i), numeric.Values(numeric.F32, make([]float32, 64), 8, 8))
			return binary(b, elementwise.Add, x, unary(b, elementwise.Relu, add(b, graph.MatMul, nil, x, w)))
		})
	},
}

func network(n int, layer func(b *graph.Network, i int, x, input *graph.Tensor) *graph.Tensor) *graph.Network {
	b := graph.NewNetwork("large")
	input := b.AddInput("x", numeric.F32, symbolic.Const(2), symbolic.Const(8))
	x := input
	for i := range n {
		x = layer(b, i, x, input)
	}
	b.MarkOutput(x)
	return b
}

func add(b *graph.Network, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
	name := fmt.Sprint(op.Name, len(b.Layers))
	l, err := b.Add(name, op, attrs, in, name+"_out")
	if err != nil {
		panic(err)
	}
	return l.Outputs[0]
}

func unary(b *graph.Network, op elementwise.Op, x *graph.Tensor) *graph.Tensor {
	return add(b, graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(op)}, x)
}

func binary(b *graph.Network, op elementwise.Op, x, y *graph.Tensor) *graph.Tensor {
	return add(b, graph.Pointwise, graph.Elementwise{Program: elementwise.Binary(op)}, x, y)
}

func scale(b *graph.Network, i int, x *graph.Tensor) *graph.Tensor {
	return binary(b, elementwise.Mul, x, b.AddConst(fmt.Sprint("k", i), numeric.Values(numeric.F32, []float32{float32(i + 2)}, 1)))
}

func slice(b *graph.Network, x *graph.Tensor) *graph.Tensor {
	return add(b, graph.ReduceMax, graph.ReduceAttrs{Axes: []int{0}, KeepDims: true}, x)
}

// TestLargeNetworks: what is done to a network from import to plan grows about as its layers do: four times the layers take
// less than half of what squares of them would.
func TestLargeNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds networks of 10000 layers")
	}
	b := cpu.Open(1)
	spent := func(n *graph.Network) float64 {
		ctx, before := context.Background(), processorTime()
		o, err := build.Optimize(ctx, n, pass.Config{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := build.Lower(ctx, o, build.LowerConfig{Precision: numeric.F16}, run.Supports(b, nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := build.Plan(ctx, l.Network, nil, b, build.PlanConfig{Untimed: true}); err != nil {
			t.Fatal(err)
		}
		return (processorTime() - before).Seconds()
	}
	for name, of := range largeNetworks {
		small, large := of(2500), of(10000)
		growth := math.Inf(1)
		for range 3 { // the machine may do something else
			if growth = min(growth, spent(large)/spent(small)); growth < 8 {
				break
			}
		}
		if growth >= 8 {
			t.Errorf("%s: four times the layers take %.1f times as long", name, growth)
		}
		t.Logf("%s: %.1f", name, growth)
	}
}

// processorTime is that of the whole process.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
