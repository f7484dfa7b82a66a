package cmd

import (
	"os"
	"path/filepath"
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
	for _, wrong := range []string{"x:2x3", "4", "x:many", "x:5000"} {
		if _, err := run("--sequences", wrong); err == nil {
			t.Errorf("--sequences %s is taken", wrong)
		}
	}
}
