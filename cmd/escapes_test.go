package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
)

// title is what sets a terminal's title, clears its screen, and turns the direction of writing; the last byte of it begins a
// sequence where characters have 8 bits.
const title = "\x1b]0;owned\a\x1b[2J\u202e\u009b"

// titled returns a model y = op(x * w) whose every string holds title.
func titled(op string) []byte {
	field := func(num protowire.Number, body string) string {
		return string(protowire.AppendString(protowire.AppendTag(nil, num, protowire.BytesType), body))
	}
	name := func(s string) string { return s + title + "\n" + s }
	value := func(s string) string { // float[batch, 2]
		return field(1, name(s)) + field(2, field(1, "\x08\x01"+field(2, field(1, field(2, name("batch")))+field(1, "\x08\x02")))) + field(3, name("doc"))
	}
	node := func(op, s, out string, in ...string) string {
		text := ""
		for _, x := range in {
			text += field(1, name(x))
		}
		return text + field(2, name(out)) + field(3, name(s)) + field(4, op) + field(6, name("doc"))
	}
	w := string(onnx.WriteTensor(name("w"), numeric.Values(numeric.F32, []float32{1, 2, 3, 4}, 2, 2)))
	g := field(1, node("MatMul", "product", "t", "x", "w")) + field(1, node(op, "last", "y", "t")) + field(2, name("graph")) +
		field(5, w) + field(10, name("doc")) + field(11, value("x")) + field(12, value("y"))
	return []byte(field(2, name("producer")) + field(3, name("version")) + field(4, name("domain")) + field(6, name("doc")) + field(7, g) +
		field(8, "\x10\x0d") + field(14, field(1, name("key"))+field(2, name("value"))))
}

// acting returns what of a text acts on a terminal, but for the end of a line and a tab.
func acting(s string) (rune, bool) {
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return r, true
		}
	}
	return 0, false
}

// TestEscapes: nothing in a model's names, in a path or in a flag reaches the terminal as more than text, whatever the command
// prints it for; scripts get it as it is.
func TestEscapes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	dir := filepath.Join(t.TempDir(), "folder"+title)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Skip(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model, odd := write("model"+title+".onnx", titled("Softmax")), write("odd"+title+".onnx", titled("Odd"+title))
	short, cut := write("short.onnx", titled("Softmax")[:200]), write("config.json", []byte(`{"Precision": "`+title))
	engine, recording := filepath.Join(dir, "engine"), filepath.Join(dir, "recording.trtui")
	exported := filepath.Join(dir, "exported")
	once := []string{"--iterations", "1", "--duration", "1ms"}
	for _, c := range []struct {
		args []string
		fail bool
	}{
		{args: []string{"inspect", "model", model}}, {args: []string{"inspect", "passes", model, "--precision", "fp16"}},
		{args: []string{"inspect", "tactics", model}}, {args: []string{"inspect", "memory", model}}, {args: []string{"inspect", "engine", model}},
		{args: []string{model, "--precision", "int8"}},
		{args: append([]string{"bench", model, "--per-layer", "-v"}, once...)},
		{args: []string{"run", model, "--per-layer", "--backends", "cpu,eval"}},
		{args: []string{"eval", model, "--precision", "int8"}}, {args: []string{"calibrate", model, "--compare"}},
		{args: []string{"build", model, "--precision", "int8", "-v", "-o", engine}},
		{args: []string{"inspect", "engine", engine}}, {args: append([]string{"bench", engine}, once...)},
		{args: []string{"record", model, "-o", recording}}, {args: []string{"inspect", "recording", recording}}, {args: []string{"replay", recording}},
		{args: []string{"inspect", "model", odd}},
		{args: []string{"export", "csv", recording, "-o", exported}}, {args: []string{"export", "md", recording, "-o", filepath.Join(exported, "md")}},
		{args: []string{"export", "html", recording, "-o", filepath.Join(exported, "html")}},
		{args: []string{"bench", odd}, fail: true}, {args: []string{"build", odd, "-o", engine}, fail: true}, {args: []string{"inspect", "model", short}, fail: true},
		{args: []string{"bench", model, "--config", cut}, fail: true}, {args: []string{"bench", model, "--data", filepath.Join(dir, "none")}, fail: true},
		{args: []string{"bench", model, "--layer-precisions", "none" + title + ":int8"}, fail: true}, {args: []string{"conformance", dir}, fail: true},
		{args: []string{"bench" + title}, fail: true}, {args: []string{"bench", model, "--shapes", "x" + title + ":1x2"}, fail: true},
	} {
		var out, errs strings.Builder
		if code := executeOn(t.Context(), quick, c.args, &out, &errs); (code == exitFailure) != c.fail {
			t.Errorf("%q: exit code %d\n%s", c.args, code, &errs)
		}
		if r, ok := acting(out.String() + errs.String()); ok {
			t.Errorf("%q: %q in\n%q", c.args, r, out.String()+errs.String())
		}
		text := out.String()
		if c.fail {
			text = errs.String()
		}
		if strings.Contains(text, `\u009b`+"\n") {
			t.Errorf("%q: a name ends a line in\n%s", c.args, text)
		}
	}
	files, err := os.ReadDir(exported)
	if err != nil || len(files) < 4 {
		t.Errorf("%d files are exported, %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(exported, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := acting(string(data)); ok {
			t.Errorf("%s: %q in\n%q", f.Name(), r, data)
		}
	}
	out, _ := command(t, 0, "inspect", "model", model, "--format", "json")
	if !strings.Contains(out, `product\u001b]0;owned\u0007\u001b[2J`) {
		t.Errorf("a script does not get the name as it is:\n%s", out)
	}
}
