package main

import (
	"path/filepath"
	"testing"
)

// TestScriptResumes stops a case at the stage's end, and goes on with it, and with a selftest, in another run.
func TestScriptResumes(t *testing.T) {
	needScript(t)
	tools, dir := t.TempDir(), t.TempDir()
	program := filepath.Join(tools, "trtui")
	write(t, filepath.Join(tools, "python3"), fakePython, 0o755)
	const row = `echo '{"ok":true,"tactic":"gemm","layer":"x"}'; `
	write(t, program, "#!/bin/sh\ncase \"$*\" in *selftest*) "+row+"exit 75 ;; *bringup*) exit 2 ;; *fp16*) echo '{}' ;; *) exec sleep 60 ;; esac\n", 0o755)
	args := []string{"--trtui", program, "--budget", "10", "selftest", "layers"}
	got := gpuScript(t, dir, tools, args...)
	if s := got["layers"]; s.Status != "partial" || len(s.Rows) != 1 || s.Rows[0].failed() {
		t.Errorf("layers: %s %q, %+v", s.Status, s.Reason, s.Rows)
	}
	if s := got["selftest"]; s.Status != "partial" || len(s.Rows) != 1 {
		t.Errorf("selftest: %s %q, %+v", s.Status, s.Reason, s.Rows)
	}
	write(t, program, `#!/bin/sh
case "$*" in
  *selftest*--resume*) while [ "$1" != --resume ]; do shift; done
    [ "$(grep -c gemm "$2")" -eq 1 ] && `+row+`echo '{"summary":"selftest","complete":true,"ran":2,"pairs":2}' ;;
  *) echo '{}' ;;
esac
`, 0o755)
	args[3] = "60"
	got = gpuScript(t, dir, tools, args...)
	for name, rows := range map[string]int{"selftest": 3, "layers": 18} {
		if s := got[name]; s.Status != "done" || len(s.Rows) != rows {
			t.Errorf("%s: %s %q, %d rows", name, s.Status, s.Reason, len(s.Rows))
		}
	}
}

// TestScriptLeavesOut: a tactic that ends a measurement is left out of the next try and of all others; one that was being
// timed when the process had to be killed counts as one.
func TestScriptLeavesOut(t *testing.T) {
	needScript(t)
	tools, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(tools, "python3"), fakePython, 0o755)
	program := filepath.Join(tools, "trtui")
	write(t, program, `#!/bin/sh
case "$*" in gpu*) exit 2 ;; *@*) while [ "${1#@}" = "$1" ]; do shift; done; bad=$(cat "${1#@}") ;; esac
case "$bad" in
  *conv_a*conv_b*) echo '{}' ;;
  *conv_a*) echo 'timing tactics 3: c1: conv_a' >&2; echo 'timing tactics 4: c1: conv_b' >&2; exit 137 ;;
  *) echo 'trtui: layer c1: tactic conv_a, which can be forbidden: illegal address' >&2; exit 2 ;;
esac
`, 0o755)
	got := gpuScript(t, dir, tools, "--trtui", program, "--budget", "60", "layers")["layers"]
	tried := 0
	for _, r := range got.Rows {
		if r.Model != "digits" {
			continue
		}
		if tried++; r.failed() || r.Forbidden != 2 || (r.Lost == "conv_a conv_b") != (tried == 1) {
			t.Errorf("row %d: %+v", tried, r)
		}
	}
	if tried != 6 {
		t.Errorf("%d rows of 6", tried)
	}
}

// TestScriptBringupGoesOn: a step that was seen is not run again, that it failed is not forgotten.
func TestScriptBringupGoesOn(t *testing.T) {
	needScript(t)
	tools, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(tools, "python3"), fakePython, 0o755)
	program := filepath.Join(tools, "trtui")
	write(t, program, `#!/bin/sh
case "$*" in
  __complete*) printf '%s\n' device launch graph event copy peak cubin gemm read chain early bulk wgmma-f16 wgmma-e4m3 wgmma-s8 jit :4 ;;
  *"--steps device,launch,graph,event,copy,peak,cubin,gemm,read,chain,early,bulk,wgmma-f16,wgmma-e4m3,wgmma-s8,jit") for s in device launch graph event copy; do echo '{"check":"'$s'","ok":true}'; done
    echo '{"check":"peak","ok":false,"error":"it hangs"}'; echo '{"summary":"bringup","complete":false}' ;;
  *"--steps cubin,gemm,read,chain,early,bulk,wgmma-f16,wgmma-e4m3,wgmma-s8,jit") for s in cubin gemm read chain early bulk wgmma-f16 wgmma-e4m3 wgmma-s8 jit; do echo '{"check":"'$s'","ok":true}'; done
    echo '{"summary":"bringup","complete":true}' ;;
  *) exit 3 ;;
esac
`, 0o755)
	for i, want := range []struct {
		status string
		rows   int
	}{{"partial", 7}, {"failed", 17}, {"failed", 16}} {
		if s := gpuScript(t, dir, tools, "--trtui", program, "--budget", "60", "bringup")["bringup"]; s.Status != want.status || len(s.Rows) != want.rows {
			t.Errorf("run %d: %s %q, %d rows; want %v", i, s.Status, s.Reason, len(s.Rows), want)
		}
	}
}

// TestScriptMeasuresDespite: where nothing is left without the tactics that selftest found wrong, a case is measured with
// them and says so, but still without those that end a process.
func TestScriptMeasuresDespite(t *testing.T) {
	needScript(t)
	tools, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(tools, "python3"), fakePython, 0o755)
	program := filepath.Join(tools, "trtui")
	write(t, program, `#!/bin/sh
case "$*" in
  *selftest*) echo '{"ok":false,"tactic":"pool","layer":"x","error":"element 1 is 2"}'
    echo '{"ok":false,"tactic":"conv","layer":"x","error":"the process that ran it ended: exit status 3"}'; exit 1 ;;
  gpu*) exit 2 ;;
  *@*) while [ "${1#@}" = "$1" ]; do shift; done; bad=$(cat "${1#@}") ;;
esac
case "$bad" in
  *conv*pool*) echo 'trtui: layer pool1 (MaxPool): no tactic' >&2; exit 2 ;;
  *conv*) echo '{}' ;;
  *) exit 3 ;;
esac
`, 0o755)
	got := gpuScript(t, dir, tools, "--trtui", program, "--budget", "60", "selftest", "layers")["layers"]
	n := 0
	for _, r := range got.Rows {
		if r.Model != "digits" {
			continue
		}
		if n++; r.failed() || r.Forbidden != 1 || !r.Despite {
			t.Errorf("row %d: %+v", n, r)
		}
	}
	if n != 6 {
		t.Errorf("%d rows of 6", n)
	}
}

// TestScriptCutOff: what a command's summary calls incomplete is not done.
func TestScriptCutOff(t *testing.T) {
	needScript(t)
	tools := t.TempDir()
	write(t, filepath.Join(tools, "trtui"), `#!/bin/sh
echo '{"ok":true,"tactic":"gemm"}'
echo '{"summary":"'$2'","complete":false,"ran":1,"pairs":2}'
`, 0o755)
	got := gpuScript(t, t.TempDir(), tools, "--trtui", filepath.Join(tools, "trtui"), "--budget", "60", "bringup", "selftest")
	for _, name := range []string{"bringup", "selftest"} {
		if s := got[name]; s.Status != "partial" || len(s.Rows) != 2 || s.summary() == nil || s.summary().Ran != 1 {
			t.Errorf("stage %s: %s: %q, %v", name, s.Status, s.Reason, s.Rows)
		}
	}
}
