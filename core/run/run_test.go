package run_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"sync"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// residual is x -> conv -> relu -> conv -> + x.
func residual(t testing.TB) *graph.Network {
	t.Helper()
	n := graph.NewNetwork("residual")
	x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(5), symbolic.Const(5))
	conv := func(name string, in *graph.Tensor) *graph.Tensor {
		w := make([]float32, 3*3*9)
		for i := range w {
			w[i] = float32(i*i%13)/8 - 0.75
		}
		l, err := n.Add(name, graph.Conv, graph.ConvAttrs{Pads: []int{1, 1, 1, 1}, Group: 1}, []*graph.Tensor{in, n.AddConst(name+".w", numeric.Values(numeric.F32, w, 3, 3, 3, 3))})
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0]
	}
	ops := graph.Ops()
	r, err := n.Add("relu", ops.Named("Relu"), graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, []*graph.Tensor{conv("conv1", x)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := n.Add("add", ops.Named("Add"), graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, []*graph.Tensor{conv("conv2", r.Outputs[0]), x})
	if err != nil {
		t.Fatal(err)
	}
	n.MarkOutput(s.Outputs[0])
	return n
}

func input(batch int) numeric.Value {
	x := numeric.NewValue(numeric.F32, batch, 3, 5, 5)
	for i := range x.F32() {
		x.F32()[i] = float32(i*31%17)/4 - 2
	}
	return x
}

func TestPlanEqualsEvalAndSurvivesTheFile(t *testing.T) {
	ctx := context.Background()
	n, b := residual(t), cpu.Open(2)
	defer b.Close()
	want, err := n.Eval(context.Background(), map[string]numeric.Value{"x": input(2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.NewPlan(ctx, n, map[string]int{"batch": 2}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	e := &run.Engine{Source: n, Profiles: []run.Profile{{Name: "default", Shapes: map[string][]int{"x": {2, 3, 5, 5}}}}, Plans: []*run.Plan{p}}
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	back, err := run.ReadEngine(graph.Ops(), file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if _, err := back.WriteTo(&again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Error("an engine read and written again differs")
	}
	if c := back.Contents; c != e.Contents || c.Bytes() != file.Len() || c.Source == 0 || c.Plans != 0 || c.Code != 0 || c.Description <= 0 {
		t.Errorf("contents %+v as read, %+v as written, of a file of %d bytes", c, e.Contents, file.Len())
	}
	for _, p := range []*run.Plan{p, back.Plans[0]} {
		l, err := run.Load(ctx, p, b)
		if err != nil {
			t.Fatal(err)
		}
		c, err := l.NewContext()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetInput("x", input(2)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := c.Execute(); err != nil {
				t.Fatal(err)
			}
			got, err := c.Output("add")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Data, want["add"].Data) {
				t.Fatal("the plan's output differs from Eval's")
			}
		}
	}
}

func TestDamagedEngineIsRefused(t *testing.T) {
	n, b := residual(t), cpu.Open(1)
	p, err := run.NewPlan(context.Background(), n, map[string]int{"batch": 1}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	e := &run.Engine{Source: n, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	data := file.Bytes()
	for i := range data {
		data[i] ^= 0x10
		if _, err := run.ReadEngine(graph.Ops(), data); err == nil {
			t.Fatalf("byte %d flipped, and the file was read", i)
		}
		data[i] ^= 0x10
	}
	for _, k := range []int{0, 7, 63, 100, len(data) - 1} {
		if _, err := run.ReadEngine(graph.Ops(), data[:k]); err == nil {
			t.Errorf("cut to %d bytes, and the file was read", k)
		}
	}
}

// TestOutputWithoutSlot: an engine whose plan does not write an output is refused as it is read.
func TestOutputWithoutSlot(t *testing.T) {
	n, b := residual(t), cpu.Open(1)
	p, err := run.NewPlan(context.Background(), n, map[string]int{"batch": 1}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Slots {
		if s.Tensor != nil && s.Tensor.Name == "conv1" {
			p.Network.MarkOutput(s.Tensor)
		}
	}
	var file bytes.Buffer
	if _, err := (&run.Engine{Source: residual(t), Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := run.ReadEngine(graph.Ops(), file.Bytes()); err == nil || !strings.Contains(err.Error(), "output conv1 has no slot") {
		t.Errorf("it is read: %v", err)
	}
}

// TestSlotOutOfOrder: an engine whose slots are in use from a step to an earlier one, or behind the last, is refused as it is read.
func TestSlotOutOfOrder(t *testing.T) {
	for _, spoil := range []func(s *run.Slot){func(s *run.Slot) { s.First = s.Last + 1 }, func(s *run.Slot) { s.Last = 99 }, func(s *run.Slot) { s.First = -2 }} {
		n, b := residual(t), cpu.Open(1)
		p, err := run.NewPlan(context.Background(), n, map[string]int{"batch": 1}, b, run.BestGuess)
		if err != nil {
			t.Fatal(err)
		}
		spoil(&p.Slots[1])
		var file bytes.Buffer
		if _, err := (&run.Engine{Source: n, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}).WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		if _, err := run.ReadEngine(graph.Ops(), file.Bytes()); err == nil || !strings.Contains(err.Error(), "slot 1 is in use from step") {
			t.Errorf("it is read: %v", err)
		}
	}
}

// TestContextsRunAtTheSameTime: contexts of one loaded engine share kernels and the backend's workers, nothing else.
func TestContextsRunAtTheSameTime(t *testing.T) {
	ctx := context.Background()
	n, b := residual(t), cpu.Open(2)
	defer b.Close()
	p, err := run.NewPlan(ctx, n, map[string]int{"batch": 1}, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	l, err := run.Load(ctx, p, b)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		x := input(1)
		for i := range x.F32() {
			x.F32()[i] += float32(g)
		}
		want, err := n.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			c, err := l.NewContext()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for range 200 {
				if err := errors.Join(c.SetInput("x", x), c.Execute()); err != nil {
					t.Error(err)
					return
				}
				got, err := c.Output("add")
				if err != nil {
					t.Error(err)
					return
				}
				for i, v := range want["add"].F32() {
					if d := got.F32()[i] - v; d > 1e-4 || d < -1e-4 {
						t.Errorf("context %d: element %d is %v, want %v", g, i, got.F32()[i], v)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// An engine file holds the source where it is given, what it was made of, and several plans, of which one is chosen by target and
// shapes.
func TestEngineWithoutSource(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	n := residual(t)
	var plans []*run.Plan
	for i, batch := range []int{1, 4} {
		p, err := run.NewPlan(t.Context(), n, map[string]int{"batch": batch}, b, run.BestGuess)
		if err != nil {
			t.Fatal(err)
		}
		p.Profile = i
		plans = append(plans, p)
	}
	shapes := func(batch int) map[string][]int { return map[string][]int{"x": {batch, 3, 5, 5}} }
	e := &run.Engine{Profiles: []run.Profile{run.ProfileOf("one", plans[0]), run.ProfileOf("four", plans[1])}, Plans: plans,
		Origin: run.Provenance{Program: "p 1", Commit: "c", Built: "2024-01-02T03:04:05Z", Model: "m.onnx", ModelHash: "h", Config: "fp32", Data: "d", Backend: "cpu", Device: "x"}}
	var stripped, full bytes.Buffer
	if _, err := e.WriteTo(&stripped); err != nil {
		t.Fatal(err)
	}
	back, err := run.ReadEngine(graph.Ops(), stripped.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if back.Source != nil || back.Origin != e.Origin || len(back.Plans) != 2 || back.Contents.Source != 0 {
		t.Errorf("read %+v", back)
	}
	target := b.Info().Fingerprint
	if p, err := back.PlanFor(target, shapes(4)); err != nil || p.Env()["batch"] != 4 {
		t.Errorf("plan for batch 4: %v, %v", p, err)
	}
	if p, err := back.PlanFor(target, nil); err != nil || p.Env()["batch"] != 1 {
		t.Errorf("plan for %s: %v, %v", target, p, err)
	}
	for _, ask := range []struct {
		target string
		shapes map[string][]int
	}{{"cuda sm_90", nil}, {target, shapes(2)}} {
		_, err := back.PlanFor(ask.target, ask.shapes)
		if !errors.Is(err, run.ErrStale) || !strings.Contains(err.Error(), "profile four, x [4 3 5 5]") || !strings.Contains(err.Error(), target) {
			t.Errorf("%v: %v", ask, err)
		}
	}
	e.Source, e.Origin = n, run.Provenance{}
	if _, err := e.WriteTo(&full); err != nil {
		t.Fatal(err)
	}
	// A file of the format before has the source and no provenance, and is read.
	old := full.Bytes()
	old[8] = 2
	binary.LittleEndian.PutUint32(old[16:], 0)
	head := 64 + 24*int(binary.LittleEndian.Uint32(old[12:]))
	binary.LittleEndian.PutUint32(old[16:], crc32.Checksum(old[:head], crc32.MakeTable(crc32.Castagnoli)))
	if back, err := run.ReadEngine(graph.Ops(), old); err != nil || back.Source == nil {
		t.Errorf("version 2: %v", err)
	}
	old[8] = 1
	if _, err := run.ReadEngine(graph.Ops(), old); !errors.Is(err, run.ErrStale) || !strings.Contains(err.Error(), "reads 2 to 3") {
		t.Errorf("version 1: %v", err)
	}
}
