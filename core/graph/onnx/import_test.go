package onnx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
)

var relu = nodeField("Relu", "r", list("x"), list("y"))

var convWeights = numeric.Values(numeric.F32, make([]float32, 3*2*9), 3, 2, 3, 3)

// importCases are models and the text of the networks that they become.
var importCases = []struct {
	name  string
	model []byte
	want  string
}{
	{"symbols", modelBytes(input("x", "batch size", nil, -1, "min", 4), relu, output("y")[:0], sub(12, msg(str(1, "y")))),
		"network g\ninput  x f32[batch_size,x_dim1,x_dim2,_min,4]\nr: y f32[batch_size,x_dim1,x_dim2,_min,4] = Relu(x) program=relu($0)\noutput y\n"},
	{"initializer that is an input, too", modelBytes(input("x", 1, 2, 4, 4), input("w", 3, 2, 3, 3), initializer("w", convWeights),
		nodeField("Conv", "", list("x", "w", ""), list("y")), output("y", 1, 3, 2, 2)),
		"network g\ninput  x f32[1,2,4,4]\nConv_0: y f32[1,3,2,2] = Conv(x, w f32[3,2,3,3]) group=1\noutput y\n"},
	{"out of order, unnamed and duplicate names", modelBytes(input("x", 2),
		nodeField("Relu", "a", list("v"), list("y")),
		nodeField("Neg", "a", list("u"), list("v")),
		nodeField("Abs", "", list("x"), list("u")),
		nodeField("Sqrt", "Abs_2", list("u"), list("w")), output("y", 2), output("w", 2)),
		`network g
input  x f32[2]
Abs_2_2: u f32[2] = Abs(x) program=abs($0)
a_2: v f32[2] = Neg(u) program=neg($0)
a: y f32[2] = Relu(v) program=relu($0)
Abs_2: w f32[2] = Sqrt(u) program=sqrt($0)
output y
output w
`},
	{"constants", modelBytes(input("x", 2),
		nodeField("Constant", "", nil, list("c"), tensorAttr("value", WriteTensor("", numeric.Values(numeric.F32, []float32{1, 2}, 2)))),
		nodeField("Constant", "", nil, list("d"), sub(5, msg(str(1, "value_float"), num(20, kindFloat), []byte{2<<3 | 5, 0, 0, 128, 63}))),
		nodeField("Add", "", list("x", "c"), list("u")), nodeField("Mul", "", list("u", "d"), list("y")), output("y", 2)),
		"network g\ninput  x f32[2]\nAdd_2: u f32[2] = Add(x, c f32[2]) program=add($0, $1)\nMul_3: y f32[2] = Mul(u, d f32[]) program=mul($0, $1)\noutput y\n"},
	{"function", msg(modelBytes(input("x", 2), sub(1, msg(nodeBytes("F", "f", list("x"), list("y"), intAttr("ax", 0)), str(7, "my"))), output("y", 2)),
		sub(25, msg(str(1, "F"), str(10, "my"), str(4, "in"), str(5, "out"), sub(9, msg(str(1, ""), num(2, 13))),
			sub(7, nodeBytes("Relu", "", list("in"), list("mid"))),
			sub(7, nodeBytes("Softmax", "s", list("mid"), list("out"), sub(5, msg(str(1, "axis"), num(20, kindInt), str(21, "ax")))))))),
		"network g\ninput  x f32[2]\nf/Relu_0: f/mid f32[2] = Relu(x) program=relu($0)\nf/s: y f32[2] = Softmax(f/mid)\noutput y\n"},
	{"another rank without a number", modelBytes(input("x", 2), relu, output("y", "a", "b")), "network g\ninput  x f32[2]\nr: y f32[2] = Relu(x) program=relu($0)\noutput y\n"},
	{"second output left out", modelBytes(input("x", 1, 1, 4), nodeField("MaxPool", "p", list("x"), list("y", ""), intsAttr("kernel_shape", 2)), output("y")[:0], sub(12, str(1, "y"))),
		"network g\ninput  x f32[1,1,4]\np: y f32[1,1,3] = MaxPool(x) kernel=[2]\noutput y\n"},
}

func TestImport(t *testing.T) {
	for _, c := range importCases {
		n, err := Parse(graph.Ops(), "m.onnx", c.model)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := n.String(); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

var (
	twoNumbers = numeric.Values(numeric.F32, []float32{1, 2}, 2)
	reluModel  = modelBytes(input("x", 2), relu, output("y", 2))
	hugeTensor = msg(num(1, 1<<40), num(1, 1<<40), num(2, 1), str(8, "w"))
)

// importErrorCases are models that cannot be imported and parts of the errors.
var importErrorCases = []struct {
	name  string
	model []byte
	want  []string
}{
	{"empty", nil, list("it has no graph")},
	{"text", []byte("hello, I am a text file"), list("m.onnx is not an ONNX model")},
	{"truncated", reluModel[:len(reluModel)-3], list("not an ONNX model, or is truncated", "model: field 7")},
	{"wrong wire type", msg(num(7, 3)), list("field 7 has wire type 0, want 2")},
	{"unknown opset", msg(num(1, 3), opsetField("", 29), sub(7, nil)), list("operator set 29 is outside 1 to 28", "version_converter")},
	{"no outputs", modelBytes(input("x", 2), relu), list("the graph has no outputs")},
	{"cycle", modelBytes(nodeField("Relu", "a", list("v"), list("u")), nodeField("Neg", "b", list("u"), list("v")), output("v", 2)), list("node a", "part of a cycle")},
	{"two producers", modelBytes(input("x", 2), relu, nodeField("Neg", "n", list("x"), list("y")), output("y", 2)), list("node n", `its output "y" is also an output of node r`)},
	{"shadowed input", modelBytes(input("x", 2), nodeField("Relu", "r", list("x"), list("x")), output("x", 2)), list("r")},
	{"missing input", modelBytes(relu, output("y", 2)), list("node r", `its input "x" is produced by no node`)},
	{"all at once", modelBytes(input("x", 2), nodeField("Foo", "f", list("x"), list("a")), nodeField("Foo", "", list("a"), list("b")),
		nodeField("Bar", "", list("b"), list("c")), nodeField("Relu", "r", list("x"), list("y"), intAttr("odd", 1)), output("y", 2), output("c", 2)),
		list("Foo (2 nodes: f, #1): operator is not supported; Bar (node #2): operator is not supported; Relu (node r): attribute odd is not supported")},
	{"subgraph", modelBytes(input("x", 2), nodeField("If", "cond", list("x"), list("y"), sub(5, msg(str(1, "then_branch"), num(20, 5), sub(6, nil)))), output("y", 2)),
		list("If (node cond): attribute else_branch is no graph")},
	{"attribute kind", modelBytes(input("x", 1, 1, 4), nodeField("MaxPool", "p", list("x"), list("y"), intAttr("kernel_shape", 2)), output("y", 1)), list("attribute kernel_shape is of int, want ints")},
	{"a flag that is none", modelBytes(input("x", 2, 3), nodeField("ReduceMax", "m", list("x"), list("y"), intAttr("keepdims", 2)), nodeField("ArgMax", "a", list("x"), list("z"), intAttr("select_last_index", -1)), output("y", 2, 1)),
		list("ReduceMax (node m): attribute keepdims is 2, want 0 or 1", "ArgMax (node a): attribute select_last_index is -1, want 0 or 1")},
	{"alpha of nothing", modelBytes(input("x", 2), nodeField("Celu", "c", list("x"), list("y"), sub(5, msg(str(1, "alpha"), num(20, 1), []byte{0x15, 0, 0, 0, 0}))), output("y", 2)),
		list("Celu (node c): alpha is 0, which x cannot be divided by")},
	{"shape inference", modelBytes(input("x", 2, 3), initializer("w", twoNumbers), nodeField("Conv", "c", list("x", "w"), list("y")), output("y", 2)), list("Conv (node c): input f32[2,3] and weights f32[2]")},
	{"declared type", modelBytes(input("x", 2), relu, sub(12, valueBytes("y", 7, 2))), list(`output "y" is declared as i64, but the graph computes f32[2]`)},
	{"declared rank", modelBytes(input("x", "n", 2), relu, output("y", "n", 2, 1)), list(`output "y" is declared with shape [n,2,1], but the graph computes f32[n,2]`)},
	{"missing output", modelBytes(input("x", 2), relu, output("z", 2)), list(`output "z": nothing produces it`)},
	{"complex input", modelBytes(sub(11, valueBytes("x", 14, 2)), relu, output("y", 2)), list(`input "x": element type complex64 is not supported`)},
	{"string input", modelBytes(sub(11, valueBytes("x", 8, 2)), relu, output("y", 2)), list(`layer r (Relu): input x is strings, which the operator does not take`)},
	{"sequence input", modelBytes(sub(11, msg(str(1, "x"), sub(2, sub(4, nil)))), relu, output("y", 2)), list(`input "x" is a sequence, and how many tensors it has is not given`)},
	{"rank unknown", modelBytes(sub(11, msg(str(1, "x"), sub(2, sub(1, num(1, 1))))), relu, output("y", 2)), list("number of dimensions is not known")},
	{"complex weights", modelBytes(input("x", 2), sub(5, msg(num(1, 2), num(2, 14), str(8, "w"), sub(9, make([]byte, 16)))), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2)),
		list(`initializer "w": element type complex64 is not supported`)},
	{"too few bits", modelBytes(input("x", 3), sub(5, msg(num(1, 3), num(2, 22), str(8, "w"), sub(9, []byte{1}))), nodeField("Cast", "c", list("w"), list("y"), intAttr("to", 1)), output("y", 3)),
		list(`initializer "w": shape [3] of i4 needs 2 bytes of data, there are 1`)},
	{"blocks", modelBytes(sub(11, valueBytes("x", 22, 4, 6)), input("s", 4, 3), nodeField("DequantizeLinear", "d", list("x", "s"), list("y"), intAttr("block_size", 4)), output("y", 4, 6)),
		list("scales f32[4,3] do not fit blocks of 4 along axis 1 of i4[4,6]")},
	{"negative blocks", modelBytes(sub(11, valueBytes("x", 22, 4, 6)), input("s", 4, 3), nodeField("DequantizeLinear", "d", list("x", "s"), list("y"), intAttr("block_size", -4)), output("y", 4, 6)),
		list("blocks of -4 elements along axis 1")},
	{"scales of a matrix", modelBytes(sub(11, valueBytes("x", 22, 4, 6)), input("s", 4, 3), nodeField("DequantizeLinear", "d", list("x", "s"), list("y")), output("y", 4, 6)),
		list("scale s f32[4,3]: want one, a list, or a block_size")},
	{"f8 arithmetic", modelBytes(input("x", 2), sub(5, msg(num(1, 2), num(2, 17), str(8, "w"), sub(9, []byte{1, 2}))), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2)),
		list(`layer a (Add): input w is f8e4m3fn, in which nothing is computed; cast or dequantise it first`)},
	{"too little data", modelBytes(input("x", 2), sub(5, msg(num(1, 2), num(2, 1), str(8, "w"), sub(9, []byte{1, 2}))), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2)),
		list(`initializer "w": shape [2] of f32 needs 8 bytes of data, there are 2`)},
	{"huge weights", modelBytes(input("x", 2), sub(5, hugeTensor), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2)), list("too many elements")},
	{"sparse weights", modelBytes(input("x", 2), sub(15, sub(1, str(8, "w"))), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2)), list(`initializer "w" is sparse`)},
	{"unknown domain", modelBytes(input("x", 2), sub(1, msg(nodeBytes("Relu", "r", list("x"), list("y")), str(7, "com.example"))), output("y", 2)), list("com.example:Relu (node r): operator is not supported")},
	{"external data in memory", modelBytes(input("x", 2), externalWeights("w.bin"), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2)), list(`its data is in file "w.bin", but the model was not read from a file`)},
	{"recursive function", msg(modelBytes(input("x", 2), sub(1, msg(nodeBytes("F", "f", list("x"), list("y")), str(7, "my"))), output("y", 2)),
		sub(25, msg(str(1, "F"), str(10, "my"), str(4, "in"), str(5, "out"), sub(7, msg(nodeBytes("F", "", list("in"), list("out")), str(7, "my"))), sub(7, msg(nodeBytes("F", "", list("in"), list("out2")), str(7, "my")))))),
		list("nested too deep")},
}

func TestImportErrors(t *testing.T) {
	for _, c := range importErrorCases {
		_, err := Parse(graph.Ops(), "m.onnx", c.model)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not contain %q", c.name, err, want)
			}
		}
	}
}

func externalWeights(location string) []byte {
	entry := func(k, v string) []byte { return sub(13, msg(str(1, k), str(2, v))) }
	return sub(5, msg(num(1, 2), num(2, 1), str(8, "w"), num(14, 1), entry("location", location), entry("offset", "4"), entry("length", "8")))
}

func TestImportErrorJSON(t *testing.T) {
	_, err := Parse(graph.Ops(), "m.onnx", modelBytes(input("x", 2), nodeField("Foo", "", list("x"), list("y")), output("y", 2)))
	var e *ImportError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	b, err := json.Marshal(e)
	if want := `{"file":"m.onnx","problems":[{"node":"#0","op":"Foo","reason":"operator is not supported"}]}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestImportIsDeterministic(t *testing.T) {
	var fields [][]byte
	for i := range 50 {
		fields = append(fields, input(fmt.Sprint("x", i), fmt.Sprint("n", i)), nodeField("Relu", "", list(fmt.Sprint("x", i)), list(fmt.Sprint("y", i))), output(fmt.Sprint("y", i), nil))
	}
	data := modelBytes(fields...)
	first := ""
	for range 3 {
		n, err := Parse(graph.Ops(), "m.onnx", data)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = n.String()
		}
		if n.String() != first {
			t.Fatal("two imports of one model differ")
		}
	}
}

func TestWeightsAreNotCopied(t *testing.T) {
	raw := numeric.Values(numeric.F32, []float32{1, 2, 3, 4}, 4)
	data := modelBytes(input("x", 4), initializer("w", raw), nodeField("Add", "", list("x", "w"), list("y")), output("y", 4))
	n, err := Parse(graph.Ops(), "m.onnx", data)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, raw.Data)
	if w := n.Tensor("w").Weights; &w[0] != &data[at] {
		t.Error("weights were copied")
	}
}

func TestExternalData(t *testing.T) {
	write := func(dir, name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	model := func(location string) []byte {
		return modelBytes(input("x", 2), externalWeights(location), nodeField("Add", "a", list("x", "w"), list("y")), output("y", 2))
	}
	outer := t.TempDir()
	dir := filepath.Join(outer, "model")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(dir, "w.bin", numeric.Bytes([]float32{9, 1, 2, 7}))
	write(dir, "short.bin", make([]byte, 11))
	write(outer, "secret.bin", make([]byte, 100))
	f, err := Open(graph.Ops(), write(dir, "m.onnx", model("w.bin")))
	if err != nil {
		t.Fatal(err)
	}
	if changed, how := f.Changed(); how != "" {
		t.Errorf("%s %s", changed, how)
	}
	for _, s := range slices.Clone(f.read) { // what a writer does that does not rename
		if err := os.Truncate(s.path, 0); err != nil {
			t.Fatal(err)
		}
		if changed, how := f.Changed(); changed != s.path || how != host.Rewritten {
			t.Errorf("%q %s, not %s", changed, how, s.path)
		}
		if err := os.Remove(s.path); err != nil {
			t.Fatal(err)
		}
		if changed, how := f.Changed(); changed != s.path || how != "is gone" {
			t.Errorf("%q %s, but %s was deleted", changed, how, s.path)
		}
		if err := os.Mkdir(s.path, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, how := f.Changed(); how != "is a directory now" {
			t.Errorf("of a directory in its place it is said that it %q", how)
		}
		if err := os.Remove(s.path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		f.read = f.read[1:]
	}
	out, err := f.Network.Eval(context.Background(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, []float32{10, 20}, 2)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := out["y"].F32(); !slices.Equal(got, []float32{11, 22}) {
		t.Errorf("got %v", got)
	}
	write(dir, "w.bin", numeric.Bytes([]float32{9, 1, 2, 7}))
	links := list("../secret.bin", "/etc/hostname")
	if os.Symlink(filepath.Join(outer, "secret.bin"), filepath.Join(dir, "link.bin")) == nil {
		links = append(links, "link.bin")
	}
	for _, location := range links {
		if _, err := Open(graph.Ops(), write(dir, "bad.onnx", model(location))); err == nil || !strings.Contains(err.Error(), "inside the model's directory") {
			t.Errorf("%s: error is %v", location, err)
		}
	}
	for location, want := range map[string]string{
		"none.bin":  `initializer "w": its external data file "none.bin" is missing`,
		"short.bin": `bytes 4 to 12 of external data file "short.bin" are needed, but it has 11`,
		".":         "is not a regular file",
	} {
		if _, err := Open(graph.Ops(), write(dir, "bad.onnx", model(location))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", location, err)
		}
	}
	if _, err := Open(graph.Ops(), dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("directory: error is %v", err)
	}
	huge := write(dir, "huge.onnx", nil)
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(graph.Ops(), huge); err == nil || !strings.Contains(err.Error(), "put its weights in external data files") {
		t.Errorf("huge file: error is %v", err)
	}
	if _, err := Open(graph.Ops(), write(dir, "empty.onnx", nil)); err == nil || !strings.Contains(err.Error(), "no graph") {
		t.Errorf("empty file: error is %v", err)
	}
}

// TestMemoryIsBounded imports small hostile files.
func TestMemoryIsBounded(t *testing.T) {
	many := func(field []byte, n int) []byte { return bytes.Repeat(field, n) }
	call := sub(7, msg(nodeBytes("F", "", list("in"), list("a")), str(7, "my")))
	deep := msg(modelBytes(sub(1, msg(nodeBytes("F", "f", nil, list("y")), str(7, "my")))), sub(25, msg(str(1, "F"), str(10, "my"), str(4, "in"), str(5, "out"), many(call, 20))))
	for name, data := range map[string][]byte{
		"empty nodes":        sub(7, many(sub(1, nil), 1<<20)),
		"nodes without ops":  modelBytes(many(sub(1, nil), 1<<19)),
		"empty attributes":   sub(7, sub(1, many(sub(5, nil), 1<<21))),
		"empty initializers": sub(7, many(sub(5, nil), 1<<21)),
		"huge length":        {7<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"huge shape":         modelBytes(sub(11, valueBytes("x", 1, 1<<39, 1<<39)), relu, sub(12, str(1, "y"))),
		"functions":          deep,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := Parse(graph.Ops(), "m.onnx", data)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if len(err.Error()) > 1<<14 {
			t.Errorf("%s: error of %d bytes", name, len(err.Error()))
		}
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 700 {
			t.Errorf("%s: %d MiB allocated for a file of %d bytes", name, used, len(data))
		} else {
			t.Logf("%s: %d MiB, %v, for a file of %d bytes", name, used, time.Since(start), len(data))
		}
	}
}
