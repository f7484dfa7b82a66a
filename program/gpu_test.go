package program

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/kernels/cuda"
)

// gpuCall runs a gpu command and returns its rows, behind the head, which it checks, and all that it printed.
func gpuCall(t *testing.T, c *cobra.Command, args ...string) (rows []map[string]any, out string, err error) {
	t.Helper()
	var text, errs strings.Builder
	c.SetArgs(args)
	c.SetOut(&text)
	c.SetErr(&errs)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.Execute()
	for line := range strings.Lines(text.String()) {
		var row map[string]any
		if json.Unmarshal([]byte(line), &row) == nil {
			rows = append(rows, row)
		}
	}
	if len(rows) > 0 {
		checkJSON(t, strings.SplitN(text.String(), "\n", 2)[0])
		if d, ok := rows[0]["device"].(map[string]any); !ok || d["fingerprint"] == "" {
			t.Errorf("the device is %v", rows[0]["device"])
		}
		for _, r := range rows[1:] {
			if r["schema"] != nil {
				t.Error("there is more than one head")
			}
		}
		rows = rows[1:]
	}
	return rows, text.String() + errs.String(), err
}

func TestGPUSelftest(t *testing.T) {
	rows, out, err := gpuCall(t, selftestCommand(tables{backends: backends}), "--backend", "cudasim", "--filter", "reformat_linear_nhwc reformat_f32", "--format", "json", "--reps", "2")
	if err != nil || len(rows) < 4 {
		t.Fatalf("%v, %d rows\n%s", err, len(rows), out)
	}
	pairs := len(rows) - 1
	for _, r := range rows[:pairs] {
		if r["ok"] != true || r["tactic"] != "reformat_linear_nhwc" || r["us"].(float64) <= 0 || r["shape"] == "" {
			t.Errorf("%v", r)
		}
	}
	sum := rows[pairs]
	if sum["summary"] != "selftest" || sum["complete"] != true || sum["ran"] != float64(pairs) || sum["pairs"] != float64(pairs) || sum["tactics"] != 1.0 || sum["estimated"] != true {
		t.Errorf("%v", sum)
	}
	_, out, err = gpuCall(t, selftestCommand(tables{backends: backends}), "--backend", "cudasim", "--filter", "reformat_linear_nhwc reformat_i8", "--reps", "1")
	if err != nil || !strings.Contains(out, "pairs of a tactic and a layer ran, 1 of 1 tactics; 0 failed") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestGPUPairs: one pair of each tactic, on the smallest layer.
func TestGPUPairs(t *testing.T) {
	rows, out, err := gpuCall(t, selftestCommand(tables{backends: backends}), "--backend", "cudasim", "--filter", " softmax", "--pairs", "tactic", "--format", "json", "--reps", "1")
	if err != nil || len(rows) != 3 || rows[0]["tactic"] == rows[1]["tactic"] || rows[2]["complete"] != true {
		t.Fatalf("%v, %v\n%s", err, rows, out)
	}
	for _, r := range rows[:2] {
		if !strings.Contains(r["layer"].(string), "[1 1 1 1]") {
			t.Errorf("%v is not the smallest", r["layer"])
		}
	}
	rows, out, err = gpuCall(t, selftestCommand(tables{backends: backends}), "--backend", "cudasim", "--filter", "softmax_linear saturated", "--pairs", "tactic", "--format", "json", "--reps", "1")
	if err != nil || len(rows) != 3 || rows[2]["complete"] != true { // of f32 and of f16
		t.Fatalf("%v, %v\n%s", err, rows, out)
	}
}

func TestGPUSweep(t *testing.T) {
	rows, out, err := gpuCall(t, sweepCommand(tables{backends: backends}), "--backend", "cudasim", "--filter", "gemm_linear_f32_simt_32x32x32_s4 gemm_f16_1x", "--format", "json")
	if err == nil { // of another type
		t.Fatalf("%v\n%s", rows, out)
	}
	rows, out, err = gpuCall(t, sweepCommand(tables{backends: backends}), "--backend", "cudasim", "--filter", "gemm_linear_f16_mma_64x64x64_s3_k4 gemm_f16_1x", "--format", "json")
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %d rows\n%s", err, len(rows), out)
	}
	if r := rows[0]; r["ok"] != true || r["predicted_us"].(float64) <= 0 || r["measured_us"].(float64) <= 0 || r["estimated"] != true || r["layer"] != "gemm_f16_1x1000x2048" {
		t.Errorf("%v", r)
	}
	if sum := rows[1]; sum["summary"] != "sweep" || sum["complete"] != true {
		t.Errorf("%v", sum)
	}
}

// TestGPUFaults: a simulated device does what it was told to, and each fault is found.
func TestGPUFaults(t *testing.T) {
	for fault, want := range map[string]string{"wrong": "want ", "lost": "context is lost"} {
		t.Setenv(cuda.FaultVariable, fault+":softmax_linear")
		rows, out, err := gpuCall(t, selftestCommand(tables{backends: backends}), "--backend", "cudasim", "--in-process", "--filter", " softmax", "--pairs", "tactic", "--format", "json", "--reps", "1")
		if !errors.Is(err, errNo) || len(rows) != 3 {
			t.Fatalf("%s: %v, %v\n%s", fault, err, rows, out)
		}
		for _, r := range rows[:2] {
			if text, _ := r["error"].(string); (r["tactic"] == "softmax_linear") != strings.Contains(text, want) {
				t.Errorf("%s: %v", fault, r)
			}
		}
	}
	t.Setenv(cuda.FaultVariable, "slow:softmax_linear")
	if _, _, err := gpuCall(t, selftestCommand(tables{backends: backends}), "--backend", "cudasim", "--in-process"); err == nil || !strings.Contains(err.Error(), "want hang:TACTIC") {
		t.Errorf("an unknown fault: %v", err)
	}
}

func TestGPUBringup(t *testing.T) {
	rows, out, err := gpuCall(t, bringupCommand(tables{backends: backends}), "--backend", "cudasim", "--steps", "device,graph", "--format", "json")
	if err != nil || len(rows) < 3 {
		t.Fatalf("%v\n%s", err, out)
	}
	if sum := rows[len(rows)-1]; sum["summary"] != "bringup" || sum["complete"] != true || sum["failed"] != 0.0 || sum["findings"] != float64(len(rows)-1) {
		t.Errorf("%v", sum)
	}
	_, out, err = gpuCall(t, bringupCommand(tables{backends: backends}), "--backend", "cudasim", "--steps", "peak")
	if err != nil || !strings.Contains(out, "peak       f16_mma: ") || !strings.Contains(out, "estimated") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestGPURefuses(t *testing.T) {
	for _, c := range []struct {
		command *cobra.Command
		args    string
		want    string
	}{
		{gpuCommand(tables{backends: backends}), "", "bringup, selftest or sweep"},
		{selftestCommand(tables{backends: backends}), "--reps 0", "--reps 0"},
		{sweepCommand(tables{backends: backends}), "--pairs some", "want all or tactic"},
		{bringupCommand(tables{backends: backends}), "--steps warp", `"warp": there are device, launch`},
		{bringupCommand(tables{backends: backends}), "--backend cpu", "want an NVIDIA GPU"},
		{bringupCommand(tables{backends: backends}), "--backend tpu", "this program has"},
	} {
		if _, out, err := gpuCall(t, c.command, strings.Fields(c.args)...); !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.args, err, c.want, out)
		}
	}
	if _, _, err := gpuCall(t, selftestCommand(tables{backends: backends}), "--backend", "cudasim", "--filter", "no such thing"); err == nil || errors.Is(err, errReported) {
		t.Errorf("a filter that nothing matches: %v", err)
	}
}
