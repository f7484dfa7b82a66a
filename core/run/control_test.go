package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// controlModel is a model with graphs inside nodes and inputs for it, of those that are compared with ONNX Runtime.
type controlModel struct {
	Name  string
	Model []byte
	Runs  []struct {
		Inputs map[string]struct {
			Type numeric.DataType
			Dims []int
			Data []float64
		}
	}
}

func (m controlModel) inputs(i int) map[string]numeric.Value {
	in := map[string]numeric.Value{}
	for name, x := range m.Runs[i].Inputs {
		v := numeric.NewValue(x.Type, x.Dims...)
		for j, f := range x.Data {
			switch x.Type {
			case numeric.F32:
				v.F32()[j] = float32(f)
			case numeric.I64:
				v.I64()[j] = int64(f)
			default:
				v.Data[j] = byte(f)
			}
		}
		in[name] = v
	}
	return in
}

func controlModels(t *testing.T) (list []controlModel) {
	data, err := os.ReadFile("../graph/onnx/testdata/control.json")
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestControl runs models with branches and loops as engines, written and read in between: as they are imported, and after
// the passes, of which those that make the layers vanish are switched off.
func TestControl(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	stay := pass.Config{DisableRules: []string{"control-flow"}}
	planned := 0
	for _, m := range controlModels(t) {
		t.Run(m.Name, func(t *testing.T) {
			source, err := onnx.Importer{Ops: graph.Ops(), MaxExtent: 40}.Parse(m.Name, m.Model)
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range [][]pass.Pass{nil, passes.Standard()} {
				n, _, err := passes.Run(t.Context(), source, table, stay)
				if err != nil {
					t.Fatal(err)
				}
				for i := range m.Runs {
					in := m.inputs(i)
					planned += runControl(t, b, source, n, in)
				}
			}
		})
	}
	if planned < 40 {
		t.Errorf("%d bodies are planned", planned)
	}
}

// runControl compares an engine with Eval, and returns how many bodies it plans.
func runControl(t *testing.T, b run.Backend, source, n *graph.Network, in map[string]numeric.Value) (bodies int) {
	t.Helper()
	want, err := source.Eval(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	env, err := n.Bind(in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.NewPlan(t.Context(), n, env, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Steps {
		bodies += len(s.Bodies)
	}
	c := contextOf(t, b, reread(t, p))
	for range 2 {
		checkControl(t, c, in, want)
	}
	return bodies
}

// reread writes an engine of the plan and reads it.
func reread(t *testing.T, p *run.Plan) *run.Plan {
	t.Helper()
	var file bytes.Buffer
	if _, err := (&run.Engine{Profiles: []run.Profile{{Name: "only"}}, Plans: []*run.Plan{p}}).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	e, err := run.ReadEngine(graph.Ops(), file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return e.Plans[0]
}

func contextOf(t *testing.T, b run.Backend, p *run.Plan) *run.ExecutionContext {
	t.Helper()
	l, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); l.Close() })
	return c
}

func checkControl(t *testing.T, c *run.ExecutionContext, in, want map[string]numeric.Value) {
	t.Helper()
	if err := c.SetInputs(in); err != nil {
		t.Fatal(err)
	}
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		g := got[name]
		if g.Type != w.Type || !slices.Equal(g.Dims, w.Dims) {
			t.Errorf("%s is %s%v, want %s%v", name, g.Type, g.Dims, w.Type, w.Dims)
			continue
		}
		x, y := g.Floats(), w.Floats()
		for i := range y {
			if !(math.Abs(float64(x[i]-y[i])) <= 1e-5*(1+math.Abs(float64(y[i])))) {
				t.Errorf("%s: element %d is %g, want %g", name, i, x[i], y[i])
				break
			}
		}
	}
}

// TestControlRanges has one plan serve a range of iterations and of extents inside bodies.
func TestControlRanges(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	for _, name := range []string{"scan over a symbol", "loop over a symbol", "if"} {
		models := controlModels(t)
		m := models[slices.IndexFunc(models, func(m controlModel) bool { return m.Name == name })]
		n, err := onnx.Importer{Ops: graph.Ops(), MaxExtent: 40}.Parse(m.Name, m.Model)
		if err != nil {
			t.Fatal(err)
		}
		low, high, opt := map[string]int{}, map[string]int{}, map[string]int{}
		for _, s := range n.SymbolNames() {
			low[s], high[s], opt[s] = 1, 6, 3
		}
		p, err := run.NewPlanOf(t.Context(), n, run.Extents{Opt: opt, Min: low, Max: high}, b, run.BestGuess)
		if err != nil {
			t.Fatal(err)
		}
		c := contextOf(t, b, reread(t, p))
		for size := range 6 {
			env := map[string]int{}
			for s := range maps.Keys(opt) {
				env[s] = size + 1
			}
			in, shapes := map[string]numeric.Value{}, map[string][]int{}
			for _, x := range n.Inputs {
				v := numeric.NewValue(x.Type, symbolic.Eval(x.Dims, env)...)
				if x.Type == numeric.F32 {
					for i := range v.F32() {
						v.F32()[i] = float32(i%7)/7 - 0.4
					}
				} else {
					v.Data[0] = byte(size % 2)
				}
				in[x.Name], shapes[x.Name] = v, v.Dims
			}
			if err := c.SetShapes(shapes); err != nil {
				t.Fatal(err)
			}
			want, err := n.Eval(t.Context(), in, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkControl(t, c, in, want)
		}
	}
}

// endless is a loop that ends when its input is false.
func endless(t *testing.T) *graph.Network {
	d := graph.Define("endless")
	x, goes := d.Input("x", numeric.F32, symbolic.Const(4096)), d.Input("goes", numeric.Bool)
	d.Output("y", d.Named("forever").Loop(nil, goes, []*graph.Tensor{x}, func(b *graph.Definition, _, c *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
		return b.Or(goes, goes), []*graph.Tensor{b.Tanh(b.Sin(v[0]))}
	})[0])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestControlStops ends a loop with its context.
func TestControlStops(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), endless(t), nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	c := contextOf(t, b, p)
	if err := c.SetInputs(map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 4096), "goes": numeric.Values(numeric.Bool, []uint8{1})}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.ExecuteUntil(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "layer forever: ") {
		t.Errorf("%v", err)
	}
}

// TestControlProfile counts how often the steps of bodies run in an inference, of a loop in a loop too.
func TestControlProfile(t *testing.T) {
	d := graph.Define("profile")
	x := d.Input("x", numeric.F32, symbolic.Const(64))
	trips := d.Constant("trips", numeric.Values(numeric.I64, []int64{3}))
	d.Output("y", d.Named("outer").Loop(trips, nil, []*graph.Tensor{x}, func(b *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
		y := b.Named("inner").Loop(trips, nil, v, func(b *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
			return nil, []*graph.Tensor{b.Named("tanh").Tanh(v[0])}
		})
		return nil, []*graph.Tensor{b.Named("sin").Sin(y[0])}
	})[0])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	p, err := run.NewPlan(t.Context(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	c := contextOf(t, b, p)
	runs := map[string]int{"outer/body/sin": 3, "outer/body/inner": 3, "outer/body/inner/body/tanh": 9}
	if err := c.Profile(t.Context(), run.Profiling{Iterations: 3, PerStep: true}, func(s run.Sample) {
		found := 0
		for _, x := range s.Inside {
			if want := runs[x.Step.Name]; want > 0 {
				found++
				if x.Runs != want || x.Of != "outer" || x.Time == 0 && x.Step.Tactic != run.SubPlans {
					t.Errorf("%s runs %d times in %v, in %s", x.Step.Name, x.Runs, x.Time, x.Of)
				}
			}
		}
		if found != len(runs) {
			t.Errorf("%d steps of bodies", found)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(p.AllSteps()) < 5 {
		t.Errorf("%d steps", len(p.AllSteps()))
	}
}
