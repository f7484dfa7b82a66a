package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// TestReadTensors reads test data of an optional and of sequences: with tensors, with nothing, one inside the other, and cut off.
func TestReadTensors(t *testing.T) {
	one, two := WriteTensor("", numeric.Values(numeric.F32, []float32{1, 2}, 2)), WriteTensor("", numeric.Values(numeric.F32, []float32{3}, 1))
	pair := msg(str(1, "x"), num(2, elementTensor), sub(3, one), sub(3, two))
	for _, c := range []struct {
		data []byte
		want string
	}{
		{msg(str(1, "x"), num(2, elementTensor), sub(3, one)), "x [[1 2]]"},
		{pair, "x [[1 2] [3]]"},
		{msg(str(1, "o"), num(2, elementSequence), sub(5, pair)), "o [[1 2] [3]]"},
		{msg(str(1, "e"), num(2, elementTensor)), "e []"},
	} {
		name, list, err := ReadTensors(c.data)
		var values [][]float32
		for _, v := range list {
			values = append(values, v.F32())
		}
		if got := fmt.Sprint(name, " ", values); err != nil || got != c.want {
			t.Errorf("%s %v, want %s", got, err, c.want)
		}
	}
	if name, _, err := ReadTensors(msg(str(1, "x"), num(2, 0))); name != "x" || !errors.Is(err, ErrNoElement) {
		t.Errorf("%s %v", name, err)
	}
	if _, _, err := ReadTensors(msg(num(2, elementTensor), slices.Repeat(sub(3, nil), maxSequence))); err == nil || !strings.Contains(err.Error(), "4096 tensors or more") {
		t.Errorf("many: %v", err)
	}
	for i := range pair {
		_, _, _ = ReadTensors(pair[:i])
	}
}

// sequenceInput is a sequence of F32, or an optional one, as an input of a model.
func sequenceInput(name string, optional bool, dims ...any) []byte {
	_, _, n := protowire.ConsumeField(valueBytes("", 1, dims...)) // the name
	tensor := valueBytes("", 1, dims...)[n:]                      // field 2: the type
	_, _, k := protowire.ConsumeTag(tensor)
	body, _ := protowire.ConsumeBytes(tensor[k:])
	typ := sub(4, sub(1, body))
	if optional {
		typ = sub(9, sub(1, typ))
	}
	return sub(11, msg(str(1, name), sub(2, typ)))
}

// TestSequencesOfModels: the tensors of a sequence are inputs and outputs of the network, whatever their extents; what hands a sequence
// through, and one that is written twice, has outputs too.
func TestSequencesOfModels(t *testing.T) {
	body := graphField("body", sub(11, valueBytes("e", 1, "n")), nodeField("Relu", "r", list("e"), list("p")), sub(12, str(1, "p")))
	model := modelBytes(sequenceInput("q", false, "n", 2), sequenceInput("o", true, 3),
		nodeField("SequenceMap", "m", list("q"), list("y"), body), nodeField("OptionalGetElement", "g", list("o"), list("z")), output("y"), output("z"), output("q"))
	n, err := Importer{Ops: graph.Ops(), Lengths: map[string]int{"q": 2, "o": 1}}.Parse("m.onnx", model)
	if err != nil {
		t.Fatal(err)
	}
	want := `network g
input  q.0 f32[q_0_dim0,2]
input  q.1 f32[q_1_dim0,2]
input  o.0 f32[3]
m/body/0/r: m/body/0/p f32[q_0_dim0,2] = Relu(q.0) program=relu($0)
m/body/1/r: m/body/1/p f32[q_1_dim0,2] = Relu(q.1) program=relu($0)
y.0: y.0 f32[q_0_dim0,2] = Identity(m/body/0/p)
y.1: y.1 f32[q_1_dim0,2] = Identity(m/body/1/p)
z.0: z.0 f32[3] = Identity(o.0)
output y.0
output y.1
output z.0
output q.0
output q.1
`
	if got := n.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestSequencesRefused names the sequence and what is wrong with it; where only its length is missing the error says so to programs.
func TestSequencesRefused(t *testing.T) {
	at := nodeField("ConcatFromSequence", "c", list("q"), list("y"), intAttr("axis", 0))
	for _, c := range []struct {
		name   string
		length int
		model  []byte
		want   string
	}{
		{"no length", -1, modelBytes(sequenceInput("q", false, 2), at, output("y")), `input "q" is a sequence, and how many tensors it has is not given`},
		{"too long", 5000, modelBytes(sequenceInput("q", false, 2), at, output("y")), `input "q" is a sequence of 5000 tensors; 0 to 4096 are possible`},
		{"empty", 0, modelBytes(sequenceInput("q", false, 2), at, output("y")), "ConcatFromSequence (node c): the sequence is empty"},
		{"name", 1, modelBytes(input("q.0", 2), sequenceInput("q", false, 2), at, output("y")), `input "q": its tensor 0 would be "q.0", and there is another value of that name`},
		{"no such input", 1, modelBytes(sequenceInput("p", false, 2), output("p")), `a length is given for "q", and there is no such input; the sequences among the inputs are "p"`},
		{"no sequence", 1, modelBytes(input("q", 2), output("q")), `a length is given for input "q", which is no sequence; none of the inputs is one: "q"`},
		{"name of an output", -1, modelBytes(input("q.0", 2), nodeField("SequenceConstruct", "s", list("q.0", "q.0"), list("q")), output("q.0"), output("q")), `output "q": its tensor 0 would be "q.0"`},
		{"twice", 1, modelBytes(sequenceInput("q", false, 2), sequenceInput("q", false, 2), at, output("y")), `input "q": there are two inputs of this name`},
	} {
		im := Importer{Ops: graph.Ops(), Lengths: map[string]int{"q": c.length}}
		if c.length < 0 {
			im.Lengths = nil
		}
		_, err := im.Parse("m.onnx", c.model)
		var refused *ImportError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
			continue
		}
		if length := refused.Problems[0].Length; length != slices.Contains([]string{"no length", "too long", "no such input", "no sequence"}, c.name) {
			t.Errorf("%s: of lengths: %v", c.name, length)
		}
	}
}

// TestOpenInputs: what a model leaves open of its inputs is said of it: how many axes one has, a tensor of a sequence too, and that an
// optional has no element.
func TestOpenInputs(t *testing.T) {
	unknown := sub(11, msg(str(1, "x"), sub(2, sub(1, num(1, 1)))))                                    // float, of no shape
	sequence := sub(11, msg(str(1, "q"), sub(2, sub(4, sub(1, sub(1, num(1, 1)))))))                   // of such
	optional := sub(11, msg(str(1, "o"), sub(2, sub(9, sub(1, sub(1, msg(num(1, 1), sub(2, nil)))))))) // a scalar, or nothing
	model := modelBytes(unknown, sequence, optional, sequenceInput("p", true, 3),
		nodeField("Relu", "r", list("x"), list("y")), nodeField("SequenceAt", "a", list("q", "first"), list("z")),
		initializer("first", numeric.Values(numeric.I64, []int64{0})),
		nodeField("OptionalHasElement", "h", list("o"), list("has")), nodeField("OptionalHasElement", "s", list("p"), list("some")),
		sub(12, str(1, "y")), sub(12, str(1, "z")), sub(12, str(1, "has")), sub(12, str(1, "some")))
	im := Importer{Ops: graph.Ops(), Axes: map[string]int{"x": 2, "q.0": 1}, Lengths: map[string]int{"q": 1}, Without: []string{"o", "p"}}
	n, err := im.Parse("m.onnx", model)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, t := range n.Inputs {
		inputs = append(inputs, t.String())
	}
	if got := fmt.Sprint(inputs); got != "[x f32[x_dim0,x_dim1] q.0 f32[q_0_dim0]]" {
		t.Error(got)
	}
	for _, name := range []string{"has", "some"} {
		if v, ok := n.Tensor(name).Const(); !ok || v.Data[0] != 0 {
			t.Errorf("%s: %v, %v", name, v, ok)
		}
	}
	for _, c := range []struct {
		change func(*Importer)
		want   string
		axes   bool
	}{
		{func(im *Importer) { im.Axes = nil }, `input "x": its number of dimensions is not known`, true},
		{func(im *Importer) { im.Axes = map[string]int{"x": 65, "q.0": 1} }, `input "x": 65 dimensions are given for it, 0 to 64 are possible`, true},
		{func(im *Importer) { im.Axes = map[string]int{"x": 2} }, `input "q.0": its number of dimensions is not known`, true},
		{func(im *Importer) { im.Without = []string{"o", "p", "x"} }, `"x" is to have no element, and is no input that is an optional`, false},
		{func(im *Importer) { im.Without = []string{"o", "p", "none"} }, `"none" is to have no element, and is no input that is an optional`, false},
	} {
		changed := im
		c.change(&changed)
		_, err := changed.Parse("m.onnx", model)
		var refused *ImportError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || refused.Problems[0].Axes != c.axes {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	im.Fixed = map[string]numeric.Value{"q.0": numeric.Values(numeric.F32, []float32{5}, 1)}
	if n, err = im.Parse("m.onnx", model); err != nil || len(n.Inputs) != 1 {
		t.Errorf("a fixed tensor of a sequence: %v, inputs %v", err, n)
	}
}
