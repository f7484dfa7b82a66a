package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestSequences: a model whose input and output are sequences runs with as many tensors as --sequences says; without it the error
// names the flag.
func TestSequences(t *testing.T) {
	field := func(n protowire.Number, parts ...[]byte) []byte {
		var body []byte
		for _, p := range parts {
			body = append(body, p...)
		}
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), body)
	}
	text := func(n protowire.Number, s string) []byte { return field(n, []byte(s)) }
	number := func(n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
	}
	dim := field(1, number(1, 3)) // of a shape
	sequence := field(4, field(1, field(1, number(1, 1), field(2, dim))))
	node := field(1, text(1, "x"), text(2, "y"), text(4, "Identity"))
	model := append(number(1, 8), field(8, number(2, 17))...)
	model = append(model, field(7, node, text(2, "g"), field(11, text(1, "x"), field(2, sequence)), field(12, text(1, "y"), field(2, sequence)))...)
	path := filepath.Join(t.TempDir(), "sequence.onnx")
	if err := os.WriteFile(path, model, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		return call(t, runCommand(tables{backends: testTable()}), append([]string{path, "--backends", "cpu,eval", "--items", "2"}, args...)...)
	}
	out, err := run("--sequences", "x:2")
	if err != nil || !strings.Contains(out, "y.0 f32[3]") || !strings.Contains(out, "y.1 f32[3]") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := run(); err == nil || !strings.Contains(hintOn(err), "--sequences NAME:N") {
		t.Errorf("no length: %v; %s", err, hintOn(err))
	}
	if _, err := run("--without", "x"); err == nil || !strings.Contains(err.Error(), "no input that is an optional") {
		t.Errorf("a sequence without an element: %v", err)
	}
	for _, wrong := range []string{"x:2x3", "4", "x:many", "x:5000"} {
		if _, err := run("--sequences", wrong); err == nil {
			t.Errorf("--sequences %s is taken", wrong)
		}
	}
}

// TestOpenAxes: a model that does not say how many axes its input has runs where --shapes, or the flags of profiles, say it, and an
// optional is left out where --without names it; without them the error names the flags.
func TestOpenAxes(t *testing.T) {
	field := func(n protowire.Number, parts ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), bytes.Join(parts, nil))
	}
	text := func(n protowire.Number, s string) []byte { return field(n, []byte(s)) }
	number := func(n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
	}
	tensor := field(1, number(1, 1)) // floats, of no shape
	relu := field(1, text(1, "x"), text(2, "y"), text(4, "Relu"))
	has := field(1, text(1, "o"), text(2, "has"), text(4, "OptionalHasElement"))
	inputs := slices.Concat(field(11, text(1, "x"), field(2, tensor)), field(11, text(1, "o"), field(2, field(9, field(1, tensor)))))
	outputs := slices.Concat(field(12, text(1, "y"), field(2, tensor)), field(12, text(1, "has")))
	model := slices.Concat(number(1, 8), field(8, number(2, 18)), field(7, relu, has, text(2, "g"), inputs, outputs))
	path := filepath.Join(t.TempDir(), "open.onnx")
	if err := os.WriteFile(path, model, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		return call(t, runCommand(tables{backends: testTable()}), append([]string{path, "--backends", "cpu,eval", "--items", "2"}, args...)...)
	}
	for _, shapes := range [][]string{{"--shapes", "x:2x3"}, {"--minShapes", "x:1x3", "--optShapes", "x:2x3", "--maxShapes", "x:4x3"}} {
		if out, err := run(append(shapes, "--without", "o")...); err != nil || !strings.Contains(out, "y f32[2 3]") {
			t.Errorf("%v: %v\n%s", shapes, err, out)
		}
	}
	if _, err := run("--without", "o"); err == nil || !strings.Contains(hintOn(err), "--shapes NAME:") {
		t.Errorf("no shape: %v; %s", err, hintOn(err))
	}
}
