package build_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu"
)

// TestMemoryDoesNotGrowWithAttributes binds and runs every tactic that takes layers of small tensors whose strides, dilations
// and pads are enormous. What they take is bounded by their tensors, and not by these numbers.
func TestMemoryDoesNotGrowWithAttributes(t *testing.T) {
	const huge, most = 1 << 30, 16 << 20
	b := cpu.Open(2)
	defer b.Close()
	r := []int{1, 2}
	for _, typ := range []numeric.DataType{numeric.F32, numeric.F16, numeric.I8} {
		for i, a := range []graph.ConvAttrs{
			{Strides: []int{huge, huge}, Dilations: r[:0]},
			{Strides: []int{huge, 1}},
			{Strides: []int{1, huge}},
			{Strides: []int{huge, huge}, Pads: []int{huge, huge, huge, huge}},
			{Dilations: []int{huge, huge}, Pads: []int{huge, huge, huge, huge}, Strides: []int{huge, huge}},
			{Dilations: []int{1, huge}, Pads: []int{1, huge, 1, huge}, Strides: []int{1, huge}},
			{Dilations: []int{huge, 1}, Pads: []int{huge, 1, huge, 1}, Strides: []int{huge, 1}},
		} {
			a.Group = 1
			for _, op := range []string{"Conv", "grouped", "depthwise", "MaxPool", "AveragePool"} {
				for _, kernel := range []int{1, 2, 3} {
					name := fmt.Sprintf("%s %s %d, kernel %d", typ, op, i, kernel)
					n := &openNetwork{Network: graph.NewNetwork(name), rnd: rand.New(rand.NewPCG(1, 2)), env: map[string]int{}}
					x := n.AddInput("x", typ, symbolic.Shape(1, 32, 5, 6)...)
					if typ == numeric.I8 {
						x.Range = numeric.PerTensor(0.1, 0)
					}
					weights := func(dims ...int) *graph.Tensor {
						w := n.constant(suite.Random(n.rnd, &graph.Tensor{Type: typ, Dims: symbolic.Shape(dims...)}))
						if typ == numeric.I8 {
							w.Range = numeric.PerTensor(0.1, 0)
						}
						return w
					}
					ok := false
					switch op {
					case "Conv":
						ok = n.add("Conv", a, x, weights(17, 32, kernel, kernel))
					case "grouped":
						g := a
						g.Group = 2
						ok = n.add("Conv", g, x, weights(32, 16, kernel, kernel))
					case "depthwise":
						g := a
						g.Group = 32
						ok = n.add("Conv", g, x, weights(32, 1, kernel, kernel))
					default:
						ok = n.add(op, graph.PoolAttrs{CountIncludePad: true, Kernel: []int{kernel, kernel}, Strides: a.Strides, Dilations: a.Dilations, Pads: a.Pads}, x)
					}
					if !ok {
						continue
					}
					l := n.Layers[0]
					if typ == numeric.I8 {
						l.Outputs[0].Type, l.Outputs[0].Range = numeric.I8, numeric.PerTensor(0.1, 0)
					}
					if numeric.Count(symbolic.Eval(l.Outputs[0].Dims, nil)) > 1<<20 {
						continue
					}
					for _, tac := range b.Tactics(l.Op) {
						if tac.Reference {
							continue
						}
						measureTactic(t, b, name, l, tac, most)
					}
				}
			}
		}
	}
}

func measureTactic(t *testing.T, b run.Backend, name string, l *graph.Layer, tac kernels.Tactic, most uint64) {
	binding, ok := suite.Bind(l, tac, 0)
	if !ok || tac.Match(binding) != nil {
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	workspace := 0
	if tac.Workspace != nil {
		workspace = tac.Workspace(binding)
	}
	k, err := run.BindTactic(tac, binding)
	runtime.ReadMemStats(&after)
	taken := after.TotalAlloc - before.TotalAlloc + uint64(workspace)
	if err != nil || taken > most || time.Since(start) > time.Second {
		t.Errorf("%s: %s: %s taken, of that %s of workspace, in %v: %v", name, tac.Name, run.Bytes(int64(taken)), run.Bytes(int64(workspace)), time.Since(start), err)
		return
	}
	s, err := b.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ref, err := suite.NewReference(l, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		return // the definition refuses it, too
	}
	if _, err := suite.Check(b, s, tac, binding, k, []suite.Reference{ref}, suite.Tolerance{Real: 1e-2, Step: 1}, false); err != nil {
		t.Errorf("%s: %s: %v", name, tac.Name, err)
	}
}
