package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Programs that stand in for those of a machine with a GPU.
const (
	fakeSMI = `#!/bin/sh
case $* in
  *query-gpu=name*) echo 'Test GPU 9' ;;
  *query-gpu=driver_version*) echo 600.1 ;;
  -q) printf 'CUDA Version                              : 13.0\n' ;;
  *) echo 1 ;;
esac
`
	fakeTrtui = `#!/bin/sh
case "$*" in
  "gpu bringup --backend cuda --format json --budget "*) echo '{"check":"driver","ok":true}'; echo '{"check":"copy","gb_s":4300}' ;;
  "gpu selftest --backend cuda --format json --budget "*) echo '{"ok":false,"tactic":"gemm","layer":"x"}'; echo '{"ok":true,"tactic":"copy","layer":"x"}'; echo 'layer "x": 1 of 2 kernels failed' >&2; exit 1 ;;
  "gpu bringup --backend cuda --steps device --format json") exit 2 ;;
  bench*--forbid-tactic\ @*) ;;
  bench*) echo 'it uses what selftest found bad' >&2; exit 4 ;;
esac
case "$*" in
  gpu*) ;;
  run*int8*) printf '  "max_abs": 0.5,\n  "sqnr_db": 12\n'; exit 1 ;;
  run*fp16*) printf '  "max_abs": 0.25,\n  "sqnr_db": 41.5\n'; exit 1 ;;
  run*) printf '  "max_abs": 0\n' ;;
  *--per-layer*) exit 124 ;;
  "bench --backend cuda --batch 32 --precision int8"*) echo 'no tactic' >&2; exit 2 ;;
  "bench --backend cuda"*) printf '{\n  "latency": {\n    "median_ms": 0.25\n  }\n}\n' ;;
  *) exit 3 ;;
esac
`
	fakePython = "#!/bin/sh\necho 'torch sees no CUDA device' >&2\nexit 69\n"
)

// gpuScript runs scripts/gpu.sh with its results in dir and tools before all others on the path; returns the stages by name.
func gpuScript(t *testing.T, dir, tools string, args ...string) map[string]stage {
	t.Helper()
	cmd := exec.Command("bash", append([]string{filepath.Join(root, "scripts", "gpu.sh"), "--results", dir, "--commit", "0123456789ab"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gpu.sh: %v\n%s", err, out)
	}
	return readStages(t, filepath.Join(dir, "*", "*-0123456789ab", "*.json"))
}

// readStages reads the files that match a pattern, by stage.
func readStages(t *testing.T, pattern string) map[string]stage {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]stage{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s stage
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v\n%s", file, err, text)
		}
		got[s.Stage] = s
	}
	return got
}

// needScript skips a test where the script cannot run, and lets the others run beside it: most of its time it waits.
func needScript(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("gpu.sh is for Linux, where the CUDA backend is")
	}
	for _, tool := range []string{"bash", "timeout"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	t.Parallel()
}

// TestScriptWithoutGPU: every stage ends with a reason, and the script well.
func TestScriptWithoutGPU(t *testing.T) {
	needScript(t)
	if _, err := exec.LookPath("nvidia-smi"); err == nil {
		t.Skip("this machine has an NVIDIA driver")
	}
	tools := t.TempDir()
	write(t, filepath.Join(tools, "python3"), fakePython, 0o755)
	write(t, filepath.Join(tools, "trtui"), "#!/bin/sh\necho 'usage: trtui [MODEL|ENGINE]' >&2\nexit 2\n", 0o755)
	want := map[string]string{
		"device": "nvidia-smi not found", "baseline": "no NVIDIA GPU", "driver": "run make gpu-kit", "tools": "no NVIDIA GPU",
		"pairs": "not available in this build of trtui: gpu selftest", "sweep": "not available in this build of trtui: gpu sweep",
		"bringup": "not available in this build of trtui: gpu bringup", "selftest": "not available in this build of trtui: gpu selftest",
		"ours": "not available in this build of trtui: bench --backend cuda", "layers": "not available in this build of trtui: bench",
	}
	got := gpuScript(t, t.TempDir(), tools, "--trtui", filepath.Join(tools, "trtui"), "--budget", "60")
	for _, name := range stages {
		if s := got[name]; s.Schema != 1 || s.Status != "unavailable" || !strings.Contains(s.Reason, want[name]) {
			t.Errorf("stage %s: schema %d, %s: %q, want unavailable: %q", name, s.Schema, s.Status, s.Reason, want[name])
		}
	}
}

// TestScriptRefuses: what is wrong with the command line is said before any stage.
func TestScriptRefuses(t *testing.T) {
	needScript(t)
	dir := t.TempDir()
	program, none := filepath.Join(dir, "trtui"), filepath.Join(dir, "none")
	write(t, program, "#!/bin/sh\nexit 2\n", 0o755)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--trtui", none, "device"}, none + " is no program; run make build"},
		{[]string{"--trtui", dir, "device"}, dir + " is no program"},
		{[]string{"--trtui", program, "--out", filepath.Join(program, "out"), "device"}, "it cannot be written to"},
		{[]string{"--trtui", program, "--resume", none, "device"}, "there is no such file"},
		{[]string{"--trtui", program, "device", "fourth"}, "fourth is no call (first, second, third, unpack) and no stage (device driver"},
		{[]string{"--trtui", program, "--fast"}, "Measures this commit"},
	} {
		results := filepath.Join(dir, "results")
		out, err := exec.Command("bash", append([]string{filepath.Join(root, "scripts", "gpu.sh"), "--results", results}, c.args...)...).CombinedOutput()
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v, %s", c.args, err, out)
		}
		if _, err := os.Stat(results); err == nil {
			t.Errorf("%v: a stage has run", c.args)
		}
	}
}

// TestScriptStages: rows, failures and time limits reach the JSON, and a second run repeats only what is not done.
func TestScriptStages(t *testing.T) {
	needScript(t)
	tools, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"nvidia-smi": fakeSMI, "trtui": fakeTrtui, "python3": fakePython} {
		write(t, filepath.Join(tools, name), text, 0o755)
	}
	args := []string{"--trtui", filepath.Join(tools, "trtui"), "--budget", "120"}
	got := gpuScript(t, dir, tools, args...)
	for name, want := range map[string]struct{ status, reason string }{
		"device": {"done", ""}, "bringup": {"done", ""}, "ours": {"done", ""}, "layers": {"partial", "run it again"},
		"baseline": {"unavailable", "torch sees no CUDA device"}, "selftest": {"failed", `status 1: layer "x": 1 of 2 kernels failed`},
	} {
		s := got[name]
		if s.Status != want.status || !strings.Contains(s.Reason, want.reason) || s.Device != "Test GPU 9" || s.Driver != "600.1" {
			t.Errorf("stage %s: %s: %q on %q, driver %q; want %s: %q", name, s.Status, s.Reason, s.Device, s.Driver, want.status, want.reason)
		}
	}
	failures := func(s stage) (n int) {
		for _, r := range s.Rows {
			if r.failed() {
				n++
			}
		}
		return n
	}
	if n := len(got["bringup"].Rows); n != 2 {
		t.Errorf("bringup has %d rows, want 2", n)
	}
	if n := failures(got["selftest"]); n != 1 {
		t.Errorf("selftest has %d failed rows, want 1", n)
	}
	for _, r := range got["layers"].Rows {
		if r.Model == "digits" && (!strings.Contains(r.Error, "it had not ended after") || r.Forbidden != 1) {
			t.Errorf("layers: %+v, want one that was stopped", r)
		}
	}
	cases, err := readCases(filepath.Join(root, "bench", "peers", "gpu_cases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]bool{}
	for _, r := range got["ours"].Rows {
		if r.Compared == "digits" {
			compared[r.Precision] = !r.failed()
		}
	}
	if n := len(got["ours"].Rows); n != len(cases)+6 {
		t.Errorf("ours has %d rows, want one for each of %d cases, and 6 comparisons", n, len(cases))
	}
	if !compared["fp32"] || !compared["fp16"] || compared["int8"] {
		t.Errorf("comparisons: %v; want int8 alone to have failed", compared)
	}
	devices, err := readDevices(dir)
	if err != nil || len(devices) != 1 {
		t.Fatalf("%d devices, error %v", len(devices), err)
	}
	if f, ok := devices[0].find(benchCase{"digits", 1, "fp32"}, ours); !ok || f.us != 250 {
		t.Errorf("digits: %v, %v; want 250 us", f, ok)
	}
	if f, ok := devices[0].find(benchCase{"digits", 32, "int8"}, ours); !ok || f.us != 0 {
		t.Errorf("digits int8: %v, %v; want a failure", f, ok)
	}

	write(t, filepath.Join(tools, "trtui"), "#!/bin/sh\nexit 2\n", 0o755)
	again := gpuScript(t, dir, tools, args...)
	for _, name := range []string{"bringup", "ours"} {
		if again[name].When != got[name].When || again[name].Status != "done" {
			t.Errorf("stage %s was run again though it was done", name)
		}
	}
	if s := again["selftest"]; s.Status != "failed" || len(s.Rows) != 2 {
		t.Errorf("selftest: %s, %d rows, want the earlier 2", s.Status, len(s.Rows))
	}
}

// TestScriptWithoutSMI: the driver's library is there, nvidia-smi is not: the results still have the device's name.
func TestScriptWithoutSMI(t *testing.T) {
	needScript(t)
	if _, err := exec.LookPath("nvidia-smi"); err == nil {
		t.Skip("this machine has an NVIDIA driver")
	}
	tools := t.TempDir()
	write(t, filepath.Join(tools, "python3"), fakePython, 0o755)
	write(t, filepath.Join(tools, "trtui"), `#!/bin/sh
echo '{"check":"device","name":"name","ok":true,"value":"Test GPU 7"}'
echo '{"check":"device","name":"driver","ok":true,"value":"CUDA 13.0"}'
`, 0o755)
	s := gpuScript(t, t.TempDir(), tools, "--trtui", filepath.Join(tools, "trtui"), "--budget", "30", "device")["device"]
	if s.Status != "done" || s.Device != "Test GPU 7" || s.Driver != "CUDA 13.0" {
		t.Errorf("%s %q on %q, driver %q", s.Status, s.Reason, s.Device, s.Driver)
	}
}

// TestScriptNoDevice: a program that has the backend on a machine without a GPU is no failure.
func TestScriptNoDevice(t *testing.T) {
	needScript(t)
	tools := t.TempDir()
	write(t, filepath.Join(tools, "trtui"), "#!/bin/sh\necho 'trtui: backend cuda: no CUDA: libcuda.so.1 is not on this machine' >&2\nexit 2\n", 0o755)
	got := gpuScript(t, t.TempDir(), tools, "--trtui", filepath.Join(tools, "trtui"), "--budget", "60", "bringup", "selftest", "ours", "layers")
	for _, name := range []string{"bringup", "selftest", "ours", "layers"} {
		if s := got[name]; s.Status != "unavailable" || !strings.Contains(s.Reason, "libcuda.so.1 is not on this machine") {
			t.Errorf("stage %s: %s: %q", name, s.Status, s.Reason)
		}
	}
}

// TestScriptSimulated runs the stages that the program itself has on the simulated GPU, on next to nothing. The results
// carry the commit that the program was built from.
func TestScriptSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	needScript(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "trtui")
	build := exec.Command("go", "build", "-ldflags", "-X github.com/trtui/trtui/program.revision=0123456789ab", "-o", program, "./cmd/trtui")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command("bash", filepath.Join(root, "scripts", "gpu.sh"), "--backend", "cudasim", "--tiny", "--results", dir, "--trtui", program, "--budget", "600",
		"device", "bringup", "selftest", "ours", "layers")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gpu.sh: %v\n%s", err, out)
	}
	got := readStages(t, filepath.Join(dir, "cudasim", "????????-0123456789ab", "*.json"))
	for _, name := range []string{"device", "bringup", "selftest", "ours", "layers"} {
		s := got[name]
		if s.Status != "done" || s.Commit != "0123456789ab" || s.Device != "cudasim" {
			t.Errorf("stage %s: %s: %q, commit %q, device %q\n%s", name, s.Status, s.Reason, s.Commit, s.Device, out)
		}
	}
	for _, name := range []string{"bringup", "selftest"} {
		s := got[name]
		if sum := s.summary(); sum == nil || sum.Summary != name || sum.Failed != 0 || !sum.Complete || len(s.Rows) < 3 {
			t.Errorf("stage %s: %d rows, summary %+v", name, len(s.Rows), sum)
		}
	}
	for _, name := range []string{"ours", "layers"} {
		if rows := got[name].Rows; len(rows) == 0 || rows[0].failed() || rows[0].Bench.Latency.MedianMS <= 0 {
			t.Errorf("stage %s: %+v, want a result", name, rows)
		}
	}
	if rows := got["ours"].Rows; len(rows) != 3 || rows[1].Compared != "digits" || rows[1].failed() {
		t.Errorf("ours: %+v, want a comparison after the result", rows)
	}
	if devices, err := readDevices(dir); err != nil || len(devices) != 0 {
		t.Errorf("a simulated device is among %v: %v", devices, err)
	}
}

// TestBaseline runs the PyTorch baseline on small networks on the CPU, twice: the second run finds every row there.
func TestBaseline(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	t.Parallel()
	if err := exec.Command("python3", "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)").Run(); err != nil {
		t.Skip("python3 with torch is not installed")
	}
	out := filepath.Join(t.TempDir(), "rows.jsonl")
	run := func() []byte {
		cmd := exec.Command("python3", filepath.Join(root, "bench", "peers", "torch_gpu.py"), "--device", "cpu", "--tiny",
			"--modes", "eager", "--cases", "mobilenet_v2 1 fp32,yolov5s 1 fp32,bert_base 1 fp32", "--out", out)
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1") // its threads spin while other tests want the cores
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("torch_gpu.py: %v\n%s", err, text)
		}
		rows, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	first := run()
	lines := strings.Split(strings.TrimSpace(string(first)), "\n")
	if len(lines) != 5 { // two layouts for each of the two convolutional networks
		t.Errorf("%d rows, want 5", len(lines))
	}
	for _, line := range lines {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Error != "" || r.MedianUS <= 0 || r.Mode != eager {
			t.Errorf("row %s: %v", line, err)
		}
	}
	if second := run(); string(second) != string(first) {
		t.Error("a second run measured again what the output has")
	}
}
