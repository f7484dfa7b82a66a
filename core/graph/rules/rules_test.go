package rules

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func read(t testing.TB, name string) *File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(name, text, graph.Ops())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func parse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("test.rules", []byte(text), graph.Ops())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// apply runs the rules alone.
func apply(n *graph.Network, f *File, off ...string) (*graph.Network, *pass.Step, error) {
	out, steps, err := passes.Run(context.Background(), n, passes.Standard(), pass.Config{Extra: []pass.Pass{f.Pass()}, DisableRules: off})
	for i := range steps {
		if steps[i].Pass == f.Name {
			return out, &steps[i], err
		}
	}
	return out, nil, err
}

func define(t testing.TB, f func(d *graph.Definition, x *graph.Tensor) *graph.Tensor) *graph.Network {
	t.Helper()
	d := graph.Define("net")
	d.Output("y", f(d, d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(4))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func scalar(d *graph.Definition, name string, v float32) *graph.Tensor {
	return d.Constant(name, numeric.Values(numeric.F32, []float32{v}))
}

// TestFired applies the rules of testdata, each to a network that it is about, and evaluates before and after.
func TestFired(t *testing.T) {
	w := make([]float32, 12)
	for i := range w {
		w[i] = float32(i%5) - 1.5
	}
	for _, c := range []struct {
		file, rule string
		want       string // of the step's network, behind "= "
		net        func(d *graph.Definition, x *graph.Tensor) *graph.Tensor
	}{
		{"activations.rules", "spelled-hard-swish", "Pointwise(x) program=hard_swish($0)", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			g := d.Clip(d.Add(scalar(d, "three", 3), x), 0, 6)
			return d.Div(d.Mul(g, x), scalar(d, "six", 6)) // both orders of both operations
		}},
		{"activations.rules", "written-square", "Pointwise(x, y_number f32[]) program=pow($0, $1)", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Mul(x, x)
		}},
		{"activations.rules", "mish-by-exp", "Pointwise(y_softplus) program=tanh($0)", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Mul(d.Tanh(d.Log(d.Add(d.Exp(x), scalar(d, "one", 1)))), x)
		}},
		{"layout.rules", "transpose-twice", "Relu(x) program=relu($0)", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.Relu(d.Transpose(d.Transpose(x, 1, 0), 1, 0))
		}},
		{"layout.rules", "scale-behind-product", "MatMul(x, w f32[4,3])", func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			return d.MatMul(d.Mul(x, scalar(d, "half", 0.5)), d.Weights("w", w, 4, 3))
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := define(t, c.net)
			f := read(t, c.file)
			out, step, err := apply(n, f)
			if err != nil {
				t.Fatal(err)
			}
			if len(step.Fired) != 1 || step.Fired[0].Site.Rule != c.rule || !strings.HasPrefix(step.Fired[0].Note, "checked on random input") {
				t.Fatalf("fired %+v, missed %+v", step.Fired, step.Missed)
			}
			if text := step.After.String(); !strings.Contains(text, "= "+c.want+"  <-") && !strings.Contains(text, "= "+c.want+"\n") {
				t.Errorf("want %q in\n%s", c.want, text)
			}
			equal(t, n, out)
			if _, step, _ := apply(n, f, c.rule); len(step.Fired) != 0 || len(step.Missed) == 0 || step.Missed[0].Reason != pass.Disabled {
				t.Errorf("switched off: fired %+v, missed %+v", step.Fired, step.Missed)
			}
		})
	}
}

// equal evaluates two networks.
func equal(t *testing.T, before, after *graph.Network) {
	t.Helper()
	x := numeric.Values(numeric.F32, []float32{-4, -1, -0.25, 0, 0.5, 1, 2.5, 7}, 2, 4)
	a, err := before.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := after.Eval(context.Background(), map[string]numeric.Value{"x": x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range a["y"].F32() {
		if !near(float64(v), float64(b["y"].F32()[i]), 1e-4) {
			t.Errorf("element %d is %g, was %g", i, b["y"].F32()[i], v)
		}
	}
}

// TestMissed has a reason for each way in which a rule does not apply.
func TestMissed(t *testing.T) {
	const square = "rule sq\nmatch\n t = exp(x)\n y = mul(t, $c)\nwhere\n"
	for _, c := range []struct {
		name, rules string
		reason      pass.Reason
		net         func(d *graph.Definition, x *graph.Tensor) *graph.Tensor
	}{
		{"second reader", square + " rank(x) == 2\nreplace\n y = mul(exp(x), $c)", pass.SecondConsumer, func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
			e := d.Exp(x)
			return d.Add(d.Mul(e, scalar(d, "c", 2)), e)
		}},
		{"type", square + " x f16\nreplace\n y = exp(x)", pass.WrongType, nil},
		{"rank", square + " x [_]\nreplace\n y = exp(x)", pass.WrongShape, nil},
		{"extent", square + " x [_,5]\nreplace\n y = exp(x)", pass.WrongShape, nil},
		{"symbol", square + " x [n,m]\n n < m\nreplace\n y = exp(x)", pass.WrongShape, nil},
		{"number", square + " $c == 3\nreplace\n y = exp(x)", pass.WrongAttribute, nil},
		{"literal", "rule sq\nmatch\n y = mul(exp(x), 3)\nreplace\n y = exp(x)", pass.WrongAttribute, nil},
		{"constant", "rule sq\nmatch\n y = mul(exp(x), c)\nwhere\n c const\n x const\nreplace\n y = exp(x)", pass.NotConstant, nil},
		{"shape of the result", square + " x [n,m]\nreplace\n y = ReduceSum(x) axes=[1]", pass.WrongShape, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.net == nil {
				c.net = func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Mul(d.Exp(x), scalar(d, "c", 2)) }
			}
			_, step, err := apply(define(t, c.net), parse(t, c.rules))
			if err != nil {
				t.Fatal(err)
			}
			if len(step.Fired) != 0 || len(step.Missed) != 1 || step.Missed[0].Reason != c.reason {
				t.Errorf("fired %+v, missed %+v; want %s", step.Fired, step.Missed, c.reason)
			}
		})
	}
}

// TestWrong has rules that are told to be wrong: another value, and one that goes on for ever.
func TestWrong(t *testing.T) {
	square := func(d *graph.Definition, x *graph.Tensor) *graph.Tensor { return d.Mul(x, x) }
	for rules, want := range map[string]string{
		"rule twice\nmatch\n y = mul(x, x)\nreplace\n y = add(x, x)":                                                       "rule twice (line 1 of rules-test) at [Mul]: it changes what the layers compute: element ",
		"rule swap\nmatch\n y = mul(x, x)\nreplace\n y = mul(mul(x, x), 1)":                                                "does not come to an end",
		"rule a1\nmatch\n y = mul(x, x)\nreplace\n y = pow(x, 2)\nrule a2\nmatch\n y = pow(x, 2)\nreplace\n y = mul(x, x)": "does not come to an end",
		"rule nan\nmatch\n y = mul(x, x)\nreplace\n y = pow(sqrt(x), 4)":                                                   "becomes NaN, where x is -",
	} {
		_, _, err := apply(define(t, square), parse(t, rules))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v, want %q", rules, err, want)
		}
		if !errors.As(err, new(*Wrong)) && !strings.Contains(want, "end") {
			t.Errorf("%T", err)
		}
	}
}

// TestErrors has a message with its place for what is wrong in a file.
func TestErrors(t *testing.T) {
	const head = "rule r\nmatch\n"
	for text, want := range map[string]string{
		"":                                    "1:1: there is no rule",
		"y = mul(x, x)":                       "1:1: want a line as rule NAME",
		"rule r\nreplace":                     "2:1: a rule has match, where and replace",
		head + " y = mull(x, x)":              "3:6: there is no element-wise operation mull",
		head + " y = Convv(x)":                "3:6: there is no op Convv",
		head + " y = Add(x, x)":               "3:6: Add is element-wise",
		head + " y = If(x)":                   "3:6: If has networks inside",
		head + " y = mul(x)":                  "3:6: mul takes 2 arguments, not 1",
		head + " y = mul(x, x":                "3:14: want \",\", not the end of the line",
		head + " y = mul(x, x) z":             "3:16: \"z\" is one thing too many",
		head + " y = Concat(x) axs=1":         "3:16: Concat has no attribute axs; it has axis",
		head + " y = Concat(x) axis=[1]":      "3:16: axis cannot be [1]: it wants an integer",
		head + " z = exp(u)\n y = mul(x, x)":  "3:6: nothing in the pattern uses",
		head + " y = mul(x, x)":               "1:1: rule r: it has no replace",
		head + " y = exp(x)\nreplace\n y = w": "5:6: there is no tensor w; the pattern's inputs are [x]",
		head + " y = exp(x)\nreplace\n z = x": "5:2: the last line makes the result of the pattern: want y = ...",
		head + " y = exp(x)\nwhere\n n == 1\nreplace\n y = x":       "5:2: n is no extent",
		head + " y = exp(x)\nwhere\n $n == 1\nreplace\n y = x":      "5:2: $n is not in the pattern",
		head + " y = exp(x)\nwhere\n z f32\nreplace\n y = x":        "5:2: z is no tensor of the pattern",
		head + " y = exp(x)\nreplace\n y = x\nrule r\nmatch":        "6:1: rule r: the rule in line 1 is called so",
		"rule gelu\nmatch\n y = exp(x)\nreplace\n y = x":            "1:1: rule gelu: the program has a rule or pass of this name",
		"before fuse-all\n" + head + " y = exp(x)\nreplace\n y = x": "1:1: before fuse-all: there is no such pass",
		head + " y = exp(x) @":                                      "3:13: \"@\" means nothing here",
		head + " y = " + strings.Repeat("exp(", 40) + "x":           "nested more than 32 deep",
		head + " y = exp(" + strings.Repeat("x", 200) + ")":         "is longer than 128 bytes",
		"rule r" + strings.Repeat("\n", MaxBytes):                   "more than 1024 KiB",
	} {
		_, err := Parse("f", []byte(text), graph.Ops())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q:\n%v, want %q", text, err, want)
		}
	}
}

// FuzzRules parses anything, prints and parses again what could be parsed, and applies it to a small network.
func FuzzRules(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.rules")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("rule r\nmatch\n a, b = Split(x) axis=1 sizes=[2 2]\n y = Concat(b, a) axis=1\nwhere\n x const ?[n,...,3]\n (n*2)%3 >= -$a/rank(x)\nreplace\n y = Reshape(x, [0 -1])")
	n := define(f, func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
		parts := d.Split(x, 1, 2, 2)
		t := d.Concat(1, parts[1], parts[0])
		t = d.MatMul(t, d.Weights("w", make([]float32, 16), 4, 4))
		return d.Mul(d.Relu(d.Add(t, scalar(d, "c", 3))), d.Transpose(d.Transpose(x, 1, 0), 1, 0))
	})
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f", []byte(text), graph.Ops())
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		printed := file.String()
		again, err := Parse("f", []byte(printed), graph.Ops())
		if err != nil {
			t.Fatalf("%v in\n%s", err, printed)
		}
		if p := again.String(); p != printed {
			t.Fatalf("printed as\n%s\nand then as\n%s", printed, p)
		}
		_, _, err = passes.Run(context.Background(), n, []pass.Pass{file.Pass()}, pass.Config{})
		if fault := (*graph.Fault)(nil); errors.As(err, &fault) {
			t.Fatalf("%v\n%s", err, fault.Stack)
		}
	})
}

// TestSeveralResults: rules whose patterns make several tensors, of one layer or of several, which need not read each other.
func TestSeveralResults(t *testing.T) {
	const products = `
rule products-of-one
match
    a = MatMul(x, u)
    b = MatMul(x, v)
where
    u const f32[4,2]
    v const f32[4,3]
replace
    w = Concat(u, v) axis=1
    a, b = Split(MatMul(x, w)) axis=1 sizes=[2 3]
`
	weights := func(n int) []float32 {
		w := make([]float32, n)
		for i := range w {
			w[i] = float32(i%7) - 2.5
		}
		return w
	}
	const halves = `
rule halves
match
    a, b = Split(x) axis=1 sizes=[2 2]
replace
    a = Slice(x) starts=[0] ends=[2] axes=[1] steps=[1]
    b = Slice(x) starts=[2] ends=[4] axes=[1] steps=[1]
`
	const powers = `
rule powers-of-exp
match
    a = exp(x)
    b = exp(mul(x, 2))
replace
    a = exp(x)
    b = mul(a, a)
`
	for _, c := range []struct {
		name, rules string
		reason      pass.Reason // why it is not applied; empty if it is
		has         []string    // of the network after it
		net         func(d *graph.Definition, x *graph.Tensor) []*graph.Tensor
	}{
		{"halves", halves, "", []string{"parts f32[n,2] = Slice(x)", "parts_1 f32[n,2] = Slice(x)"}, func(d *graph.Definition, x *graph.Tensor) []*graph.Tensor {
			parts := d.Named("parts").Split(x, 1, 2, 2)
			return []*graph.Tensor{d.Named("a").Relu(parts[0]), d.Named("b").Abs(parts[1])}
		}},
		{"products", products, "", []string{"a f32[n,2], b f32[n,3] = Split("}, func(d *graph.Definition, x *graph.Tensor) []*graph.Tensor {
			a, b := d.Named("a").MatMul(x, d.Weights("u", weights(8), 4, 2)), d.Named("b").MatMul(x, d.Weights("v", weights(12), 4, 3))
			return []*graph.Tensor{d.Relu(a), d.Relu(b)}
		}},
		{"what is left over", powers, pass.SecondConsumer, nil, func(d *graph.Definition, x *graph.Tensor) []*graph.Tensor {
			m := d.Mul(x, scalar(d, "two", 2))
			return []*graph.Tensor{d.Exp(m), d.Exp(d.Exp(x)), d.Relu(m)}
		}},
		{"outputs", powers, "", []string{"f32[n,4] = Pointwise(x) program=exp($0)", "program=mul($0, $1)"}, func(d *graph.Definition, x *graph.Tensor) []*graph.Tensor {
			return []*graph.Tensor{d.Exp(x), d.Exp(d.Mul(x, scalar(d, "two", 2)))}
		}},
		{"one depends on the other", `
rule sums
match
    a = add(x, u)
    b = add(x, v)
replace
    w = add(x, u)
    a = add(w, 0)
    b = add(x, v)
`, pass.WouldCycle, nil, func(d *graph.Definition, x *graph.Tensor) []*graph.Tensor {
			y := d.Add(x, scalar(d, "one", 1))
			return []*graph.Tensor{d.Add(x, d.Exp(y))}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := graph.Define("net")
			for i, y := range c.net(d, d.Input("x", numeric.F32, symbolic.Symbol("n"), symbolic.Const(4))) {
				d.Output("y"+string(rune('0'+i)), y)
			}
			n, err := d.Network()
			if err != nil {
				t.Fatal(err)
			}
			before, err := n.Eval(context.Background(), map[string]numeric.Value{"x": sample()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			out, step, err := apply(n, parse(t, c.rules))
			if c.reason != "" {
				if len(step.Missed) == 0 || step.Missed[0].Reason != c.reason {
					t.Fatalf("%v: fired %+v, missed %+v", err, step.Fired, step.Missed)
				}
				return
			}
			if err != nil || len(step.Fired) != 1 || step.Fired[0].Note != "checked on random input: equal" && !strings.HasPrefix(step.Fired[0].Note, "checked on random input: differs by at most") {
				t.Fatalf("%v: fired %+v, missed %+v", err, step.Fired, step.Missed)
			}
			for _, want := range c.has {
				if text := step.After.String(); !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			after, err := out.Eval(context.Background(), map[string]numeric.Value{"x": sample()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range before {
				for i, w := range v.F32() {
					if g := after[name].F32()[i]; g-w > 1e-5*max(1, w) || w-g > 1e-5*max(1, w) {
						t.Errorf("%s[%d] was %v and is %v", name, i, w, g)
					}
				}
			}
		})
	}
}

func sample() numeric.Value {
	return numeric.Values(numeric.F32, []float32{-4, -1, -0.25, 0, 0.5, 1, 2.5, 3}, 2, 4)
}
