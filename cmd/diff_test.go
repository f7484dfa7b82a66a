package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// diffDocument returns what diff prints.
func diffDocument(t *testing.T, args ...string) (d struct {
	A, B     struct{ Name, Label, Model string }
	EndToEnd struct {
		DeltaMs    float64 `json:"delta_ms"`
		SideBySide bool    `json:"side_by_side"`
	} `json:"end_to_end"`
	LayersMs  float64 `json:"layers_ms"`
	BetweenMs float64 `json:"between_ms"`
	MediansMs float64 `json:"medians_ms"`
	Groups    []struct {
		Name, Kind string
		DeltaMs    float64 `json:"delta_ms"`
		P, Q       *float64
		A, B       []struct {
			Tactic string
			SQNR   *float64 `json:"sqnr_db"`
		}
	}
}) {
	t.Helper()
	out, _ := command(t, 0, append([]string{"diff", "-q", "--format", "json"}, args...)...)
	checkJSON(t, out)
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDiff compares two configurations that are measured, one of them from a file, and holds the sums.
func TestDiff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tuned.json")
	if err := os.WriteFile(file, []byte(`{"precision": "fp16"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	d := diffDocument(t, "@fp32", "@"+file, "--duration", "150ms", "--items", "4")
	if d.A.Label != "fp32" || d.B.Label != "fp16" || d.A.Model != "digits" || !d.EndToEnd.SideBySide {
		t.Errorf("%+v", d)
	}
	sum, known := 0.0, 0
	for _, g := range d.Groups {
		sum += g.DeltaMs
		if g.Q != nil && g.Kind == "re-typed" && g.B[0].SQNR != nil {
			known++
		}
	}
	if diff := d.LayersMs + d.BetweenMs - d.EndToEnd.DeltaMs; diff > 1e-6 || diff < -1e-6 {
		t.Errorf("layers make %g ms, what is between them %g ms, end to end %g ms", d.LayersMs, d.BetweenMs, d.EndToEnd.DeltaMs)
	}
	if diff := sum - d.MediansMs; diff > 1e-6 || diff < -1e-6 {
		t.Errorf("groups make %g ms, said to be %g ms", sum, d.MediansMs)
	}
	if known < 20 {
		t.Errorf("%d groups are re-typed with a known Q and SQNR", known)
	}
}

// TestDiffBackends compares the CPU with a simulated GPU, whose times are estimates.
func TestDiffBackends(t *testing.T) {
	out, _ := command(t, 0, "diff", "-q", "--times-only", "--duration", "10ms", "@fp32", "@fp32", "--backends", "cpu,cudasim")
	for _, want := range []string{"note: the devices are not the same: ", "note: one side's times are a cost model's", "of another tactic"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestDiffRefuses says what is wrong with what was named.
func TestDiffRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"@fp32 @fp31", `"fp31" is neither fp32, fp16 nor int8`},
		{"@fp32 @int8/none", `@int8/none: `},
		{"@fp32 none.onnx", "trtui: open none.onnx: no such file"},
		{"@fp32 @fp16 --backends cpu", "want one for A and one for B"},
		{"@fp32 @fp16 --backends cpu,cpu --backend cpu", "give one of the two"},
		{"@fp32 @fp16 --format csv", "want text, json or markdown"},
		{"@fp32 @fp16 --duration -1s", "want a time of 0 or more"},
		{"@fp32", "two are compared, A and B; 1 given"},
	} {
		_, errs := command(t, exitFailure, append([]string{"diff", "-q", "--times-only"}, strings.Fields(c.args)...)...)
		if !strings.Contains(errs, c.want) {
			t.Errorf("%s: %s", c.args, errs)
		}
	}
}

// The same thing twice is told, whatever it is called.
func TestDiffSame(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.onnx"), filepath.Join(dir, "b.onnx")
	if err := os.WriteFile(file, []byte("not a model"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	const told = "A and B are the same"
	for _, c := range []struct {
		args []string
		same bool
	}{
		{[]string{file, link}, true},
		{[]string{file + "@int8", file + "@int8"}, true},
		{[]string{file + "@int8", file}, false},
		{[]string{file, file, "--backends", "cpu,cudasim"}, false},
	} {
		if _, errs := command(t, exitFailure, append([]string{"diff", "-q"}, c.args...)...); strings.Contains(errs, told) != c.same {
			t.Errorf("%v: %s", c.args, errs)
		}
	}
}

// TestWarnOfStates: recordings whose last states are of other precisions are compared with a warning, which names a state that would do.
func TestWarnOfStates(t *testing.T) {
	of := func(last config.Precision, tried ...report.RecordedConfig) *report.Snapshot {
		return &report.Snapshot{Config: config.Config{Precision: last}, Tried: tried}
	}
	one := func(name string, p config.Precision, aside bool) report.RecordedConfig {
		return report.RecordedConfig{Name: name, Config: config.Config{Precision: p}, Aside: aside}
	}
	fp32, int8, beside := one("fp32, x 1x3", config.FP32, false), one("int8/mse, x 1x3", config.INT8, false), one("fp32", config.FP32, true)
	for _, c := range []struct {
		a, b  *report.Snapshot
		which string
		want  string
	}{
		{a: of(config.INT8, fp32, int8), b: of(config.FP32, fp32), want: "the last state of a is in int8, that of b in fp32; a@fp32 is as the latter"},
		{a: of(config.FP32, fp32), b: of(config.INT8, fp32, int8), want: "the last state of a is in fp32, that of b in int8; b@fp32 is as the former"},
		{a: of(config.INT8, beside, int8), b: of(config.FP32, fp32), want: "the last state of a is in int8, that of b in fp32"},
		{a: of(config.FP32, fp32, int8), b: of(config.FP32, fp32)},
		{a: of(config.INT8, fp32, int8), b: of(config.FP32, fp32), which: "int8/mse"},
		{a: of(config.INT8), b: of(config.FP32)}, // of no recordings
	} {
		var got string
		warnOfStates(func(s string) { got += s }, []operand{{path: "a", which: c.which}, {path: "b"}}, []*report.Snapshot{c.a, c.b})
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
