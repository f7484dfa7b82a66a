package cmd

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/internal/conformance"
)

// conformanceCases are three: one passes, one fails and one is unsupported.
const conformanceCases = "../internal/conformance/testdata"

const wantText = `failed       test_abs: test_data_set_0: output y: element 0 is 1, want 0
unsupported  test_odd: model.onnx cannot be imported: Odd (node #0): operator is not supported
1 passed, 1 failed, 1 unsupported
`

func TestConformance(t *testing.T) {
	dir, one := conformanceCases, conformanceCases+"/test_relu"
	for _, c := range []struct {
		args   []string
		code   int
		out    string
		errHas string
	}{
		{[]string{dir}, 1, wantText, ""},
		{[]string{one}, 0, "1 passed, 0 failed, 0 unsupported\n", ""},
		{[]string{one, one, "-v"}, 0, "passed       test_relu\npassed       test_relu\n2 passed, 0 failed, 0 unsupported\n", ""},
		{[]string{one, "-q"}, 0, "1 passed, 0 failed, 0 unsupported\n", ""},
		{[]string{}, 2, "", "needs the path"},
		{[]string{dir, "--format", "xml"}, 2, "", `--format "xml": want text or json`},
		{[]string{dir, "--odd"}, 2, "", "unknown flag: --odd"},
		{[]string{dir + "/none"}, 2, "", "no such file"},
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
	for backend, device := range map[string]string{evaluation: "the layers' own definition", "cpu": ""} {
		var out bytes.Buffer
		if code := execute(t.Context(), []string{"conformance", conformanceCases, "--backend", backend, "--format", "json"}, &out, t.Output()); code != exitNo {
			t.Errorf("exit code %d, want %d", code, exitNo)
		}
		checkJSON(t, out.String())
		var got struct {
			Device struct{ Backend, Device string }
			conformance.Report
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if d := got.Device; d.Backend != backend || device != "" && d.Device != device {
			t.Errorf("the device is %+v", d)
		}
		want := []conformance.Result{
			{Case: "test_abs", Status: conformance.Failed, Reason: "test_data_set_0: output y: element 0 is 1, want 0"},
			{Case: "test_odd", Status: conformance.Unsupported, Reason: "model.onnx cannot be imported: Odd (node #0): operator is not supported"},
			{Case: "test_relu", Status: conformance.Passed},
		}
		if r := got.Report; r.Passed != 1 || r.Failed != 1 || r.Unsupported != 1 || !slices.Equal(r.Cases, want) {
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
