package onnx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// controlCase is a model with graphs inside nodes, or with sequences, and what ONNX Runtime computes; see testdata/control.py.
type controlCase struct {
	Name  string
	Model []byte
	Runs  []struct{ Inputs, Outputs map[string]nodeTensor }
}

func controlCases(t testing.TB, file string) (list []controlCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// check evaluates a network on the inputs of the case.
func (c controlCase) check(t *testing.T, n *graph.Network) {
	t.Helper()
	for i, run := range c.Runs {
		in := map[string]numeric.Value{}
		for name, x := range run.Inputs {
			in[name] = x.value()
		}
		got, err := n.Eval(context.Background(), in, nil)
		if err != nil {
			t.Errorf("run %d: %v", i, err)
			continue
		}
		for name, want := range run.Outputs {
			if err := near(got[name], want.value()); err != "" {
				t.Errorf("run %d: %s: %s", i, name, err)
			}
		}
	}
}

// near says how a value differs from what is wanted.
func near(got, want numeric.Value) string {
	if got.Type != want.Type || !equalInts(got.Dims, want.Dims) {
		return got.Type.String() + " of another shape, or another type"
	}
	x, y := got.Float64s(), want.Float64s()
	for i := range y {
		if d := x[i] - y[i]; d > 1e-5*(1+abs(y[i])) || -d > 1e-5*(1+abs(y[i])) || d != d {
			return "another value"
		}
	}
	return ""
}

func abs(x float64) float64 { return max(x, -x) }

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestControl compares with ONNX Runtime what is imported, and what is written of it and imported again.
func TestControl(t *testing.T) { checkModels(t, "testdata/control.json") }

// TestOpenAxes is TestControl of models whose shapes are computed from open axes in ways of their own; see testdata/open.py.
func TestOpenAxes(t *testing.T) { checkModels(t, "testdata/open.json") }

// TestPreview is TestControl of operators that ONNX has on trial or for training, with what its reference computes; see
// testdata/preview.py.
func TestPreview(t *testing.T) { checkModels(t, "testdata/preview.json") }

func checkModels(t *testing.T, file string) {
	for _, c := range controlCases(t, file) {
		t.Run(c.Name, func(t *testing.T) {
			importer := Importer{Ops: graph.Ops(), MaxExtent: 40}
			n, err := importer.Parse("m.onnx", c.Model)
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, n)
			var b bytes.Buffer
			if err := Export(&b, n); err != nil {
				t.Fatal(err)
			}
			again, err := importer.Parse("again.onnx", b.Bytes())
			if err != nil {
				t.Fatalf("%v\n%s", err, n)
			}
			c.check(t, again)
		})
	}
}

// TestDecidedExtents: an extent that data decide is refused where nothing says how large it can be, as a problem of its own kind, and
// at a run where it is larger.
func TestDecidedExtents(t *testing.T) {
	for _, c := range controlCases(t, "testdata/control.json") {
		if c.Name != "a length that data decide" {
			continue
		}
		_, err := Parse(graph.Ops(), "m.onnx", c.Model)
		var refused *ImportError
		if !errors.As(err, &refused) || !slices.ContainsFunc(refused.Problems, func(p Problem) bool { return p.Extent }) {
			t.Errorf("without a limit: %v", err)
		}
		n, err := Importer{Ops: graph.Ops(), MaxExtent: 5}.Parse("m.onnx", c.Model)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []struct {
			x    []float32
			want string
		}{{[]float32{2, 4}, "is 6; 0 to 5 are planned for"}, {[]float32{-7, 4}, "is -3; 0 to 5 are planned for"}} {
			_, err = n.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, wrong.x, 2)}, nil)
			if err == nil || !strings.Contains(err.Error(), wrong.want) {
				t.Errorf("%v: %v, want %q", wrong.x, err, wrong.want)
			}
		}
	}
}

// TestMasksAlike: places of one mask are counted once, however the model writes it again.
func TestMasksAlike(t *testing.T) {
	for _, c := range controlCases(t, "testdata/control.json") {
		if c.Name != "a mask expanded to the shape that it has" {
			continue
		}
		n, err := Parse(graph.Ops(), "m.onnx", c.Model)
		if err != nil {
			t.Fatal(err)
		}
		if list := n.CountSymbols(); len(list) != 1 {
			t.Errorf("%s: %q are counted", c.Name, list)
		}
	}
}

// graphField is a graph attribute of the given fields.
func graphField(name string, fields ...[]byte) []byte { return graphAttr(name, msg(fields...)) }

// previewBytes returns a model of a FlexAttention f of what has one head, one place and one element.
func previewBytes(attrs ...[]byte) []byte {
	x := input("x", 1, 1, 1, 1)
	node := nodeField("FlexAttention", "f", list("x", "x", "x"), list("y"), append(attrs, str(7, "ai.onnx.preview"))...)
	return msg(num(1, 13), opsetField("", 26), opsetField("ai.onnx.preview", 1), sub(7, msg(x, node, output("y", 1, 1, 1, 1), str(2, "g"))))
}

// TestControlRefused names what is not supported in a graph inside a node by its path.
func TestControlRefused(t *testing.T) {
	flag := sub(11, valueBytes("c", 9))
	branch := func(name, op string) []byte {
		return graphField(name, nodeField(op, "inner", list("x"), list("p")), sub(12, str(1, "p")))
	}
	missing := graphField("else_branch", nodeField("Neg", "n", list("nowhere"), list("p")), sub(12, str(1, "p")))
	nested := nodeField("If", "deep", list("c"), list("q"), branch("then_branch", "Foo"), branch("else_branch", "Neg"))
	for _, c := range []struct {
		name  string
		model []byte
		want  string
	}{
		{"operator", modelBytes(flag, input("x", 2), nodeField("If", "if", list("c"), list("y"), branch("then_branch", "Neg"), branch("else_branch", "Foo")), output("y", 2)),
			"Foo (node if/else/inner): operator is not supported"},
		{"deeper", modelBytes(flag, input("x", 2), nodeField("If", "if", list("c"), list("y"), graphField("then_branch", nested, sub(12, str(1, "q"))), branch("else_branch", "Neg")), output("y", 2)),
			"Foo (node if/then/deep/then/inner): operator is not supported"},
		{"missing value", modelBytes(flag, input("x", 2), nodeField("If", "if", list("c"), list("y"), branch("then_branch", "Neg"), missing), output("y", 2)),
			`If (node if): its input "nowhere" is produced by no node`},
		{"no branch", modelBytes(flag, input("x", 2), nodeField("If", "if", list("c"), list("y"), branch("then_branch", "Neg")), output("y", 2)),
			"If (node if): attribute else_branch is no graph"},
		{"sequence", modelBytes(input("x", 2), nodeField("SequenceConstruct", "s", list("x", "x"), list("q")), nodeField("Neg", "n", list("q"), list("y")), output("y", 2)),
			`Neg (node n): its input "q" is a sequence, which is not supported`},
		{"no tensors as an output", modelBytes(input("x", 2), nodeField("SequenceEmpty", "s", nil, list("q")), output("q")),
			`output "q" is a sequence without tensors, which is not supported`},
		{"element of nothing", modelBytes(input("x", 2), nodeField("Optional", "o", nil, list("q")), nodeField("OptionalGetElement", "g", list("q"), list("y")), output("y", 2)),
			"OptionalGetElement (node g): its input has no element"},
		{"nothing as a tensor", modelBytes(input("x", 2), nodeField("Optional", "o", nil, list("q")), nodeField("Add", "n", list("x", "q"), list("y")), output("y", 2)),
			`Add (node n): its input "q" is an optional without an element`},
		{"map of no sequence", modelBytes(input("x", 2), nodeField("SequenceMap", "m", list("x"), list("q"), branch("body", "Neg")), output("q")),
			"SequenceMap (node m): its input 0 is no sequence that is known"},
		{"operator in a graph that is called", previewBytes(graphField("score_mod", input("w", 1, 1, 1, 1), nodeField("Foo", "inner", list("w"), list("p")), sub(12, str(1, "p")))), "Foo (node f/score_mod/inner): operator is not supported"},
		{"another shape of a graph that is called", previewBytes(graphField("prob_mod", input("w", 1, 1, 1, 1), nodeField("Squeeze", "", list("w"), list("p")), sub(12, str(1, "p")))),
			"prob_mod makes f32[] of f32[1,1,1,1], want the same type and shape"},
		{"graph with too few inputs", previewBytes(branch("score_mod", "Neg")), "score_mod has 0 inputs, want 1"},
		{"output of a length that is not known", modelBytes(input("x", "n"), nodeField("SplitToSequence", "s", list("x"), list("q")), output("q")),
			`output "q" is a sequence, and how many tensors it has is not known`},
		{"tensor of a length that is not known", modelBytes(input("x", "n"), nodeField("SplitToSequence", "s", list("x"), list("q")), nodeField("Neg", "n", list("q"), list("y")), output("y")),
			`Neg (node n): its input "q" is a sequence, which is not supported`},
		{"insert in a length that is not known", modelBytes(input("x", "n"), nodeField("SplitToSequence", "s", list("x"), list("q")), nodeField("SequenceInsert", "i", list("q", "x"), list("r")),
			nodeField("SequenceAt", "a", list("r"), list("y")), output("y")), "SequenceInsert (node i): how many tensors its input 0 has must be known"},
		{"parts of an open axis", modelBytes(input("x", "n"), initializer("two", numeric.Value{Type: numeric.I64, Dims: []int{}, Data: []byte{2, 0, 0, 0, 0, 0, 0, 0}}), nodeField("SplitToSequence", "s", list("x", "two"), list("q")),
			nodeField("ConcatFromSequence", "c", list("q"), list("y"), intAttr("axis", 0)), output("y")), "SplitToSequence (node s): input 0 is f32[n]: unless parts are of 1, its extent on axis 0 must be known"},
		{"place", modelBytes(input("x", 2), sub(11, valueBytes("i", 7)), nodeField("SequenceConstruct", "s", list("x", "x"), list("q")), nodeField("SequenceAt", "a", list("q", "i"), list("y")), output("y", 2)),
			"SequenceAt (node a): its place in the sequence (input 1, i) must be known"},
	} {
		_, err := Parse(graph.Ops(), "m.onnx", c.model)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	deep := graphField("then_branch")
	for range maxDepth {
		deep = graphField("then_branch", nodeField("If", "", list("c"), nil, deep))
	}
	if _, err := Parse(graph.Ops(), "m.onnx", modelBytes(flag, nodeField("If", "", list("c"), list("y"), deep), output("y"))); err == nil || !strings.Contains(err.Error(), "graphs lie more than 16 deep in each other") {
		t.Errorf("deep: %v", err)
	}
}
