package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// untimed builds FP32 engines by the device's guess of tactics.
func untimed(b run.Backend) Builder {
	return func(ctx context.Context, n *graph.Network, shapes map[string][]int) (*run.Engine, error) {
		env, err := n.BindShapes(shapes)
		if err != nil {
			return nil, err
		}
		opt, err := build.Optimize(ctx, n, pass.Config{Shapes: env})
		if err != nil {
			return nil, err
		}
		low, err := build.Lower(ctx, opt, build.LowerConfig{Precision: numeric.F32, Pass: pass.Config{Shapes: env}}, run.Supports(b, env))
		if err != nil {
			return nil, err
		}
		p, err := build.Plan(ctx, low.Network, env, b, build.PlanConfig{Untimed: true})
		return &run.Engine{Plans: []*run.Plan{p}}, err
	}
}

func open(t *testing.T, path string) *graph.Network {
	t.Helper()
	f, err := onnx.Open(graph.Ops(), path)
	if err != nil {
		t.Fatal(err)
	}
	return f.Network
}

// continued is a prompt, and what Hugging Face's library writes behind it (testdata/make.py).
type continued struct{ Prompt, Tokens []int }

func casesOf(t *testing.T, model string) (cases []continued) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + model + ".cases.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// Models with their state kept in place write what Hugging Face's library writes with them, whatever the
// room that there is for the state.
func TestCachedModels(t *testing.T) {
	b := cpu.Open(2)
	defer b.Close()
	for _, name := range []string{"llama", "gpt2"} {
		n := open(t, "testdata/"+name+".onnx")
		cases := casesOf(t, name)
		for _, room := range []int{45, 100} {
			m, err := New(n, "", 12, room, b, untimed(b)) // prompts longer than that come in pieces
			if err != nil {
				t.Fatal(err)
			}
			if !m.Cached() {
				t.Errorf("%s keeps no state", name)
			}
			for _, c := range cases {
				var got []int
				times, err := m.Generate(t.Context(), Request{Prompt: c.Prompt, Most: len(c.Tokens)}, func(token int) error {
					got = append(got, token)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, c.Tokens) || times.Ended != Length || len(times.Tokens) != len(got) {
					t.Errorf("%s, room for %d: %v goes on with %v, want %v; ended by %s", name, room, c.Prompt, got, c.Tokens, times.Ended)
				}
			}
			testPhases(t, m)
			m.Close()
		}
	}
}

// testPhases looks at the engine of a model that has made texts: it has a profile for prompts and one for single tokens, which
// share their constants, and both are measured.
func testPhases(t *testing.T, m *Model) {
	e := m.Engine()
	if len(e.Profiles) != 2 || len(e.Plans) != 2 {
		t.Fatalf("%d plans", len(e.Plans))
	}
	there := map[*byte]bool{}
	for _, c := range e.Plans[0].Network.Consts() {
		there[unsafe.SliceData(c.Weights)] = true
	}
	shared, all := 0, 0
	for _, c := range e.Plans[1].Network.Consts() {
		if all += len(c.Weights); there[unsafe.SliceData(c.Weights)] {
			shared += len(c.Weights)
		}
	}
	if shared < all*9/10 {
		t.Errorf("%d bytes of %d are shared", shared, all)
	}
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil || file.Len() > 2<<20 {
		t.Errorf("a file of %d bytes: %v", file.Len(), err)
	}
	phases, err := m.Profile(t.Context(), run.Profiling{Iterations: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"prefill", "decode"} {
		if p := phases[i]; p.Name != want || len(p.Latency) != 2 || len(p.Steps) != len(p.Plan.Steps) || len(p.Steps[0]) != 2 || (p.Tokens == 1) != (want == "decode") {
			t.Errorf("phase %d is %s of %d tokens: %v", i, p.Name, p.Tokens, p.Latency)
		}
	}
}

// A text ends at a token that ends it, where there is no room left, with the context, and with the error of who takes it.
func TestEnds(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	m, err := New(open(t, "testdata/gpt2.onnx"), "", 4, 20, b, untimed(b))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, cancel := context.WithCancel(t.Context())
	first := -1
	times, err := m.Generate(ctx, Request{Prompt: []int{1, 2, 3}, Most: 100}, func(token int) error {
		if first < 0 {
			first = token
		}
		return nil
	})
	if err != nil || times.Ended != Full || len(times.Tokens) != 18 {
		t.Errorf("%+v, %v", times, err)
	}
	times, err = m.Generate(ctx, Request{Prompt: []int{1, 2, 3}, Most: 100, Ends: []int{first}}, func(int) error { return nil })
	if err != nil || times.Ended != EndOfText || len(times.Tokens) != 1 {
		t.Errorf("%+v, %v", times, err)
	}
	full := errors.New("disk full")
	if _, err := m.Generate(ctx, Request{Prompt: []int{1}, Most: 5}, func(int) error { return full }); !errors.Is(err, full) {
		t.Errorf("it says %v", err)
	}
	if _, err := m.Generate(ctx, Request{Prompt: make([]int, 21), Most: 5}, nil); err == nil || !strings.Contains(err.Error(), "room for 20") {
		t.Errorf("it says %v", err)
	}
	if _, err := m.Generate(ctx, Request{Most: 5}, nil); !errors.Is(err, errNoPrompt) {
		t.Errorf("it says %v", err)
	}
	cancel()
	if _, err := m.Generate(ctx, Request{Prompt: []int{1}, Most: 5}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
}

// Draws follow the probabilities that the settings leave.
func TestSampling(t *testing.T) {
	scores := []float32{0, float32(math.Log(2)), float32(math.Log(5)), float32(math.NaN()), float32(math.Inf(-1))}
	for _, c := range []struct {
		Sampling
		want []float64
	}{
		{Sampling{}, []float64{0, 0, 1, 0, 0}},
		{Sampling{Temperature: 1}, []float64{1. / 8, 2. / 8, 5. / 8, 0, 0}},
		{Sampling{Temperature: 0.5}, []float64{1. / 30, 4. / 30, 25. / 30, 0, 0}},
		{Sampling{Temperature: 1, TopK: 2}, []float64{0, 2. / 7, 5. / 7, 0, 0}},
		{Sampling{Temperature: 1, TopP: 0.6}, []float64{0, 0, 1, 0, 0}},
		{Sampling{Temperature: 1, TopP: 0.7}, []float64{0, 2. / 7, 5. / 7, 0, 0}},
	} {
		s, counts := newSampler(c.Sampling), make([]float64, len(scores))
		const draws = 20000
		for range draws {
			counts[s.next(scores)]++
		}
		for i, n := range counts {
			if got := n / draws; math.Abs(got-c.want[i]) > 0.015 {
				t.Errorf("%+v: token %d is drawn %.3f of the time, want %.3f", c.Sampling, i, got, c.want[i])
			}
		}
	}
	if got := newSampler(Sampling{Temperature: 1}).next([]float32{float32(math.NaN()), float32(math.NaN())}); got != 0 {
		t.Errorf("of no numbers it draws %d", got)
	}
}

// TestLogits finds the scores behind hidden states, by width or by name, and takes those that are named.
func TestLogits(t *testing.T) {
	for _, c := range []struct {
		outputs     []string // with a number of 4 or 12 values for each of 12 tokens behind the name
		named, want string
	}{
		{[]string{"hidden 4", "y 12"}, "", "y"},
		{[]string{"hidden 12", "logits 12"}, "", "logits"},
		{[]string{"a 12", "b 12"}, "", "a"},
		{[]string{"a 12", "b 12"}, "b", "b"},
		{[]string{"logits 4", "y 12"}, "", "y"},
		{[]string{"a 4", "b 4"}, "", "output a, f32[1,s,4]: 4 values for each token"},
		{[]string{"a 12", "b 4"}, "c", `logits "c": want an output of [batch, sequence, vocabulary]: a, b`},
	} {
		d := graph.Define("model")
		x := d.Gather(d.Weights("table", make([]float32, 48), 12, 4), d.Input("ids", numeric.I64, symbolic.Const(1), symbolic.Symbol("s")), 0)
		for _, o := range c.outputs {
			name, width, _ := strings.Cut(o, " ")
			y := d.Tanh(x)
			if width == "12" {
				y = d.MatMul(x, d.Weights("head of "+name, make([]float32, 48), 4, 12))
			}
			d.Output(name, y)
		}
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		r, err := findRoles(n, c.named)
		switch {
		case err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%v, named %q: %v, want %q", c.outputs, c.named, err, c.want)
		case err == nil && (r.logits.Name != c.want || r.others != 1):
			t.Errorf("%v, named %q: %s and %d others, want %s", c.outputs, c.named, r.logits.Name, r.others, c.want)
		}
	}
}

// What a model cannot be used for is said with the input or output that is the reason.
func TestRoles(t *testing.T) {
	b := cpu.Open(1)
	defer b.Close()
	symbol := symbolic.Symbol
	for _, c := range []struct {
		want string
		make func(d *graph.Definition, ids *graph.Tensor)
	}{
		{"no output of scores", func(d *graph.Definition, ids *graph.Tensor) { d.Output("y", d.Cast(ids, numeric.F32)) }},
		{"output h, f32[1,s,4]: 4 values for each token, and a vocabulary of 12, the rows of table", func(d *graph.Definition, ids *graph.Tensor) {
			d.Output("h", d.Tanh(d.Gather(d.Weights("table", make([]float32, 48), 12, 4), d.Cast(ids, numeric.I32), 0)))
		}},
		{"input pixels", func(d *graph.Definition, ids *graph.Tensor) {
			d.Output("y", d.Tanh(d.Input("pixels", numeric.F32, symbol("n"))))
		}},
		{"1 inputs of past keys and values and 0 outputs", func(d *graph.Definition, ids *graph.Tensor) {
			past := d.Input("past.0", numeric.F32, symbolic.Const(1), symbolic.Const(2), symbol("p"), symbolic.Const(4))
			d.Output("logits", d.Reshape(past, 1, -1, 4))
		}},
		{"want past keys or values", func(d *graph.Definition, ids *graph.Tensor) {
			past := d.Input("past.0", numeric.F32, symbol("p"))
			d.Output("present.0", d.Tanh(past))
			d.Output("logits", d.Reshape(past, 1, -1, 4))
		}},
		{"not an attention mask and positions", func(d *graph.Definition, ids *graph.Tensor) {
			past := d.Input("past.0", numeric.F32, symbolic.Const(1), symbolic.Const(2), symbol("p"), symbolic.Const(4))
			d.Output("present.0", d.Tanh(past))
			d.Output("logits", d.Reshape(past, 1, -1, 4))
		}},
	} {
		d := graph.Define("model")
		c.make(d, d.Input("ids", numeric.I64, symbolic.Const(1), symbol("s")))
		n, err := d.Network()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(n, "", 4, 8, b, untimed(b)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("it says %v, want %q", err, c.want)
		}
	}
}
