package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
)

// unaryModel returns the bytes of an ONNX model y = op(x) for a vector of two numbers.
func unaryModel(op string) []byte {
	field := func(num protowire.Number, body string) string {
		return string(protowire.AppendString(protowire.AppendTag(nil, num, protowire.BytesType), body))
	}
	value := func(name string) string {
		return field(1, name) + field(2, field(1, "\x08\x01"+field(2, field(1, "\x08\x02")))) // float[2]
	}
	node := field(1, "x") + field(2, "y") + field(4, op)
	return []byte(field(7, field(1, node)+field(11, value("x"))+field(12, value("y"))) + field(8, "\x10\x0d"))
}

// writeCases writes three cases, of which one passes, one fails and one is unsupported, and returns their files.
func writeCases(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	x := onnx.WriteTensor("x", graph.Values(graph.F32, []float32{-1, 2}, 2))
	y := onnx.WriteTensor("y", graph.Values(graph.F32, []float32{0, 2}, 2))
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

const wantText = `failed       test_abs: test_data_set_0: output y: element 0 is 1, want 0
unsupported  test_odd: model.onnx cannot be imported: Odd (node #0): operator is not supported
1 passed, 1 failed, 1 unsupported
`

func TestConformance(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(t.TempDir(), "cases.tar.gz")
	writeArchive(t, archive, writeCases(t, dir))
	one := filepath.Join(dir, "test_relu")
	empty := t.TempDir()
	for _, c := range []struct {
		args   []string
		code   int
		out    string
		errHas string
	}{
		{[]string{dir}, 1, wantText, ""},
		{[]string{archive}, 1, wantText, ""},
		{[]string{one}, 0, "1 passed, 0 failed, 0 unsupported\n", ""},
		{[]string{one, one, "-v"}, 0, "passed       test_relu\npassed       test_relu\n2 passed, 0 failed, 0 unsupported\n", ""},
		{[]string{one, "-q"}, 0, "1 passed, 0 failed, 0 unsupported\n", ""},
		{[]string{}, 2, "", "needs the path"},
		{[]string{dir, "--format", "xml"}, 2, "", `--format "xml": want text or json`},
		{[]string{dir, "--odd"}, 2, "", "unknown flag: --odd"},
		{[]string{filepath.Join(dir, "none")}, 2, "", "no such file"},
		{[]string{empty}, 2, "", "has no cases"},
		{[]string{filepath.Join(one, "model.onnx")}, 0, "1 passed, 0 failed, 0 unsupported\n", ""},
		{[]string{filepath.Join(one, "test_data_set_0", "input_0.pb")}, 2, "", "neither a folder nor a model nor a .tar.gz"},
	} {
		var out, errOut bytes.Buffer
		code := execute(t.Context(), append([]string{"conformance"}, c.args...), &out, &errOut)
		if code != c.code || out.String() != c.out || !strings.Contains(errOut.String(), c.errHas) {
			t.Errorf("%v: exit code %d, stdout\n%sstderr\n%s", c.args, code, &out, &errOut)
		}
	}
}

// TestConformanceJSON has the head of all documents and a row for each case.
func TestConformanceJSON(t *testing.T) {
	dir := t.TempDir()
	writeArchive(t, filepath.Join(t.TempDir(), "cases.tar.gz"), writeCases(t, dir))
	for backend, device := range map[string]string{evaluation: "the layers' own definition", "cpu": ""} {
		var out bytes.Buffer
		if code := execute(t.Context(), []string{"conformance", dir, "--backend", backend, "--format", "json"}, &out, t.Output()); code != exitNo {
			t.Errorf("exit code %d, want %d", code, exitNo)
		}
		checkJSON(t, out.String())
		var got struct {
			Device struct{ Backend, Device string }
			conformanceReport
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if d := got.Device; d.Backend != backend || device != "" && d.Device != device {
			t.Errorf("the device is %+v", d)
		}
		want := []conformanceResult{
			{"test_abs", statusFailed, "test_data_set_0: output y: element 0 is 1, want 0"},
			{"test_odd", statusUnsupported, "model.onnx cannot be imported: Odd (node #0): operator is not supported"},
			{"test_relu", statusPassed, ""},
		}
		if r := got.conformanceReport; r.Passed != 1 || r.Failed != 1 || r.Unsupported != 1 || !slices.Equal(r.Cases, want) {
			t.Errorf("%s: %+v", backend, r)
		}
	}
}

func TestUnknownCommand(t *testing.T) {
	var errOut bytes.Buffer
	if code := execute(t.Context(), []string{"confirmance"}, io.Discard, &errOut); code != exitFailure {
		t.Errorf("exit code %d, want %d; %s", code, exitFailure, &errOut)
	}
}

// TestNodeConformance runs ONNX's own node cases. None may fail, and of the core ones of operators that are imported at
// all nine in ten must pass.
func TestNodeConformance(t *testing.T) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no external cases to test with")
	}
	archive := filepath.Join(dir, "onnx", "onnx-node-open.tar.gz")
	var out bytes.Buffer
	execute(t.Context(), []string{"conformance", "--format", "json", archive}, &out, t.Output())
	var report conformanceReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	tiers := caseTiers(t, filepath.Join(dir, "onnx", "onnx-node-open.manifest.tsv"))
	passed, refused := 0, 0
	for _, c := range report.Cases {
		switch {
		case c.Status == statusFailed:
			t.Errorf("%s: %s", c.Case, c.Reason)
		case tiers[c.Case] != "core" || strings.Contains(c.Reason, "operator is not supported"):
		case c.Status == statusPassed:
			passed++
		default:
			refused++
			t.Logf("%s: %s", c.Case, c.Reason)
		}
	}
	if passed < 9*refused {
		t.Errorf("%d core cases passed, %d were refused", passed, refused)
	}
	t.Logf("%d passed, %d failed, %d unsupported; core cases of imported operators: %d passed, %d unsupported", report.Passed, report.Failed, report.Unsupported, passed, refused)
}

// TestNodeConformanceOfEngines runs the same cases through the builder and the kernels of the CPU and of the simulated
// GPU: none may fail, and no fewer may pass than did.
func TestNodeConformanceOfEngines(t *testing.T) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no external cases to test with")
	}
	for backend, least := range map[string]int{"cpu": 607, "cudasim": 586} {
		t.Run(backend, func(t *testing.T) {
			var out bytes.Buffer
			execute(t.Context(), []string{"conformance", "--backend", backend, "--format", "json", filepath.Join(dir, "onnx", "onnx-node-open.tar.gz")}, &out, t.Output())
			var report conformanceReport
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatal(err)
			}
			for _, c := range report.Cases {
				if c.Status == statusFailed {
					t.Errorf("%s: %s", c.Case, c.Reason)
				}
			}
			if report.Passed < least {
				t.Errorf("%d cases passed, %d did", report.Passed, least)
			}
		})
	}
}

// caseTiers reads the tier of each case from a manifest.
func caseTiers(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tiers := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Scan()
	column := slices.Index(strings.Split(lines.Text(), "\t"), "tier")
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		tiers[cells[0]] = cells[column]
	}
	return tiers
}

// The model of a case may have any name where it is the only one; of several one is named.
func TestConformanceModelNames(t *testing.T) {
	dir := t.TempDir()
	files := writeCases(t, dir)
	relu := filepath.Join(dir, "test_relu")
	if err := os.Rename(filepath.Join(relu, "model.onnx"), filepath.Join(relu, "net.onnx")); err != nil {
		t.Fatal(err)
	}
	out, _ := command(t, 0, "conformance", relu)
	if !strings.Contains(out, "1 passed, 0 failed") {
		t.Error(out)
	}
	if err := os.WriteFile(filepath.Join(relu, "other.onnx"), files["test_abs/model.onnx"], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := command(t, exitFailure, "conformance", relu); !strings.Contains(errs, "name one, as in "+filepath.Join(relu, "net.onnx")) {
		t.Error(errs)
	}
	if out, _ := command(t, 0, "conformance", filepath.Join(relu, "net.onnx")); !strings.Contains(out, "1 passed, 0 failed") {
		t.Error(out)
	}
	if out, _ := command(t, exitNo, "conformance", dir); !strings.Contains(out, "0 passed, 1 failed, 1 unsupported") {
		t.Error(out)
	}
}
