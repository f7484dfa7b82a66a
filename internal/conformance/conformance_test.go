package conformance_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/internal/conformance"
)

// unaryModel returns the bytes of an ONNX model y = op(x) for a vector of two numbers, and of as much for more outputs.
func unaryModel(op string, more ...string) []byte {
	field := func(num protowire.Number, body string) string {
		return string(protowire.AppendString(protowire.AppendTag(nil, num, protowire.BytesType), body))
	}
	value := func(name string) string {
		return field(1, name) + field(2, field(1, "\x08\x01"+field(2, field(1, "\x08\x02")))) // float[2]
	}
	nodes, outputs := "", ""
	for _, y := range append([]string{"y"}, more...) {
		nodes += field(1, field(1, "x")+field(2, y)+field(4, op))
		outputs += field(12, value(y))
	}
	return []byte(field(7, nodes+field(11, value("x"))+outputs) + field(8, "\x10\x0d"))
}

// writeCases writes the three cases of testdata, of which one passes, one fails and one is unsupported, and returns their files.
func writeCases(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	x := onnx.WriteTensor("x", numeric.Values(numeric.F32, []float32{-1, 2}, 2))
	y := onnx.WriteTensor("y", numeric.Values(numeric.F32, []float32{0, 2}, 2))
	files := map[string][]byte{}
	for name, op := range map[string]string{"test_relu": "Relu", "test_abs": "Abs", "test_odd": "Odd"} {
		files[name+"/model.onnx"] = unaryModel(op)
		files[name+"/test_data_set_0/input_0.pb"] = x
		files[name+"/test_data_set_0/output_0.pb"] = y
	}
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func writeArchive(t *testing.T, path string, files map[string][]byte) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: "./all/" + name, Mode: 0o666, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// conform runs the cases at paths.
func conform(t *testing.T, execute conformance.Executor, paths ...string) conformance.Report {
	t.Helper()
	cases, err := conformance.Find(paths...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := conformance.Run(t.Context(), cases, execute, time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFixture: testdata, which the command's tests run, is what writeCases writes.
func TestFixture(t *testing.T) {
	for name, want := range writeCases(t, t.TempDir()) {
		if got, err := os.ReadFile(filepath.Join("testdata", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, or other bytes", name, err)
		}
	}
}

func TestRun(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "cases.tar.gz")
	writeArchive(t, archive, writeCases(t, t.TempDir()))
	all := []conformance.Result{
		{Case: "test_abs", Status: conformance.Failed, Reason: "test_data_set_0: output y: element 0 is 1, want 0"},
		{Case: "test_odd", Status: conformance.Unsupported, Reason: "model.onnx cannot be imported: Odd (node #0): operator is not supported"},
		{Case: "test_relu", Status: conformance.Passed},
	}
	for path, want := range map[string][]conformance.Result{
		"testdata": all, archive: all, "testdata/test_relu": all[2:], "testdata/test_relu/model.onnx": all[2:],
	} {
		r := conform(t, conformance.Evaluate, path)
		of := map[conformance.Status]int{}
		for _, c := range want {
			of[c.Status]++
		}
		got := map[conformance.Status]int{conformance.Passed: r.Passed, conformance.Failed: r.Failed, conformance.Unsupported: r.Unsupported}
		maps.DeleteFunc(got, func(_ conformance.Status, n int) bool { return n == 0 })
		if !slices.Equal(r.Cases, want) || !maps.Equal(got, of) {
			t.Errorf("%s: %+v, want %+v", path, r, want)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/none": "no such file", t.TempDir(): "has no cases",
		"testdata/test_relu/test_data_set_0/input_0.pb": "neither a folder nor a model nor a .tar.gz",
	} {
		if _, err := conformance.Find("testdata", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// Cases end where they are when they are stopped, and each is told before it runs.
func TestRunEnds(t *testing.T) {
	cases, err := conformance.Find("testdata", "testdata")
	if err != nil || len(cases) != 6 {
		t.Fatal(len(cases), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := 0
	r, err := conformance.Run(ctx, cases, conformance.Evaluate, time.Minute, func(i int, c conformance.Case) {
		if told++; i == 4 && c.Name == "test_odd" {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(r.Cases) != 4 || told != 5 {
		t.Errorf("%v after %d cases, %d told", err, len(r.Cases), told)
	}
}

// The model of a case may have any name where it is the only one; of several one is named.
func TestModelNames(t *testing.T) {
	dir := t.TempDir()
	files := writeCases(t, dir)
	relu := filepath.Join(dir, "test_relu")
	if err := os.Rename(filepath.Join(relu, "model.onnx"), filepath.Join(relu, "net.onnx")); err != nil {
		t.Fatal(err)
	}
	if r := conform(t, conformance.Evaluate, relu); r.Passed != 1 {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(filepath.Join(relu, "other.onnx"), files["test_abs/model.onnx"], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := conformance.Find(relu); err == nil || !strings.Contains(err.Error(), "name one, as in "+filepath.Join(relu, "net.onnx")) {
		t.Error(err)
	}
	if r := conform(t, conformance.Evaluate, filepath.Join(relu, "net.onnx")); r.Passed != 1 {
		t.Errorf("%+v", r)
	}
	if r := conform(t, conformance.Evaluate, dir); r.Passed != 0 || r.Failed != 1 || r.Unsupported != 1 {
		t.Errorf("%+v", r)
	}
}

// A case with no file for an output has not passed: nobody knows whether that output is right.
func TestOutputWithoutFile(t *testing.T) {
	dir := t.TempDir()
	files := writeCases(t, dir)
	relu := filepath.Join(dir, "test_relu")
	if err := os.WriteFile(filepath.Join(relu, "model.onnx"), unaryModel("Relu", "z"), 0o666); err != nil {
		t.Fatal(err)
	}
	want := []conformance.Result{{Case: "test_relu", Status: conformance.Failed, Reason: "test_data_set_0: output z: no file says what is expected of it"}}
	if r := conform(t, conformance.Evaluate, relu); !slices.Equal(r.Cases, want) {
		t.Errorf("%+v, want %+v", r.Cases, want)
	}
	second := onnx.WriteTensor("z", numeric.Values(numeric.F32, []float32{0, 2}, 2))
	if err := os.WriteFile(filepath.Join(relu, "test_data_set_0", "output_1.pb"), second, 0o666); err != nil {
		t.Fatal(err)
	}
	if r := conform(t, conformance.Evaluate, relu); r.Passed != 1 {
		t.Errorf("%+v with all files", r)
	}
	delete(files, "test_relu/test_data_set_0/output_0.pb")
	archive := filepath.Join(dir, "cases.tar.gz")
	writeArchive(t, archive, files)
	want[0].Reason = "test_data_set_0: output y: no file says what is expected of it"
	if r := conform(t, conformance.Evaluate, archive); r.Passed != 0 || !slices.Equal(r.Cases[2:], want) {
		t.Errorf("%+v, want %+v", r.Cases, want)
	}
}
