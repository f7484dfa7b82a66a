package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/budget"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// TestCheck keeps to limits against an engine and a recording, ends with 1 over one, in every format, and with 2 where nothing can
// be said.
func TestCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cache := filepath.Join(dir, "cache.jsonl")
	check := func(code int, budget string, args ...string) string {
		out, stderr := command(t, code, append([]string{"check", "-q", "--items", "20", "--timing-cache", cache, "--duration", "20ms", "--budget", budget}, args...)...)
		return out + stderr
	}
	wants := func(text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("no %q in\n%s", p, text)
			}
		}
	}
	engine := filepath.Join(dir, "main.engine")
	command(t, 0, "build", "-q", "--timing-cache", cache, "-o", engine)
	sound := file("sound.yaml", "baseline: main.engine\nlimits:\n  latency_p50: baseline + 900 %\n  top1: 80 %\n  agreement: 90 %\n  arena: baseline\n  engine_file: baseline + 5 %\n  launches: baseline\n")
	wants(check(0, sound), "measured in the same 45 rounds", "all of 6 limits kept", "KiB (baseline)")
	over := file("over.yaml", "limits:\n  latency_p50: 1 us\n  arena: 1 KiB\n  top1: 10 %\n")
	wants(check(1, over), "over budget: 2 of 3 limits not kept", "failed")

	memory := file("memory.yaml", "limits:\n  arena: baseline\n")
	wants(check(2, memory), "memory.yaml:2: the limit of arena is relative to a baseline", "--baseline names one")
	wants(check(2, file("typo.yaml", "limits:\n  arenas: 1 KiB\n")), `typo.yaml:2: unknown limit "arenas"; did you mean "arena"?`)
	unlabelled := file("unlabelled.yaml", "limits:\n  top1: 80 %\n  arena: 1 GiB\n")
	wants(check(2, unlabelled, digitsFile), "top1: not known: it needs data", "not known of 1 of 2 limits", "whether 1 limit is kept cannot be said")
	wants(check(2, sound, "--format", "csv"), "want text, json, junit or markdown")
	command(t, 2, "check", "-q")
}

// TestCheckEngineFile: an engine's file is as large as it is, with its source, and a model's as what trtui build writes, to the byte.
func TestCheckEngineFile(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache.jsonl")
	check := func(code int, limit string, args ...string) string {
		budget := filepath.Join(dir, "b.yaml")
		if err := os.WriteFile(budget, []byte("limits:\n  engine_file: "+limit+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		out, _ := command(t, code, append([]string{"check", "-q", "--timing-cache", cache, "--budget", budget}, args...)...)
		return out
	}
	built := func(name string, flags ...string) (path string, size int64) {
		path = filepath.Join(dir, name)
		command(t, 0, append([]string{"build", "-q", "--timing-cache", cache, "-o", path}, flags...)...)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, info.Size()
	}
	_, plain := built("plain.engine")
	kept, whole := built("kept.engine", "--keep-source")
	quantised, small := built("int8.engine", append(rough(t), "--precision", "int8")...)
	for _, c := range []struct {
		size int64
		args []string
		says string
	}{
		{whole, []string{kept}, "engine_file: the file kept.engine\n"},
		{small, []string{quantised}, "engine_file: the file int8.engine\n"},
		{plain, nil, "engine_file: what trtui build would write\n"},
		{whole, []string{"--baseline", kept}, "engine_file: what trtui build --keep-source would write; baseline: the file kept.engine\n"},
	} {
		if text := check(0, fmt.Sprintf("%d B", c.size), c.args...); !strings.Contains(text, c.says) {
			t.Errorf("%v: no %q in\n%s", c.args, c.says, text)
		}
		check(1, fmt.Sprintf("%d B", c.size-1), c.args...)
	}
}

// TestCheckBaseline measures a baseline that is an engine as it was built, whatever flags make of the checked model, and what is named
// behind @; and says which configuration that is.
func TestCheckBaseline(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	dir := t.TempDir()
	budget, engine := filepath.Join(dir, "b.yaml"), filepath.Join(dir, "main.engine")
	if err := os.WriteFile(budget, []byte("limits:\n  weights: baseline\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(dir, "cache.jsonl")
	command(t, 0, "build", "-q", "--timing-cache", cache, "--keep-source", "-o", engine)
	common := append(rough(t), "check", "-q", "--timing-cache", cache, "--budget", budget)
	plain := ""
	for _, c := range []struct {
		code                   int
		precision, name, label string
	}{
		{0, "fp32", engine, "fp32"}, {0, "int8", engine, "fp32"}, {0, "int8", engine + "@fp32", "fp32"}, {0, "int8", "@fp32", "fp32"},
		{1, "fp32", engine + "@int8", "int8/"}, {1, "fp32", "@int8/mse", "int8/mse"},
	} {
		text, _ := command(t, c.code, append(common, "--precision", c.precision, "--baseline", c.name)...)
		if !strings.Contains(text, ", baseline "+c.name+" ("+c.label) {
			t.Errorf("%s beside %s: no %q in\n%s", c.precision, c.name, c.label, text)
		}
		limit, _, _ := strings.Cut(text[strings.Index(text, "<= "):], " (baseline)")
		if plain == "" {
			plain = limit
		}
		if same := limit == plain; same != (c.label == "fp32") {
			t.Errorf("%s beside %s: the weights are %s, those of fp32 %s", c.precision, c.name, limit, plain)
		}
	}
}

// TestCheckRecorded: of a baseline that is a recording, and names none of its configurations, that of what is checked is taken, or else its
// last state, which is said; configurations of one session are judged by the rounds that both were measured in.
func TestCheckRecorded(t *testing.T) {
	dir := t.TempDir()
	recorded := func(name string, took time.Duration, precisions ...config.Precision) string {
		path := filepath.Join(dir, name)
		r, err := recording.Create(path, "test", false)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range precisions {
			timings := &report.Timings{Samples: 100, EndToEnd: report.Latency{Count: 100, Median: took}, MedianLow: took * 99 / 100, MedianHigh: took * 101 / 100}
			if i > 0 { // the machine is half as fast by then
				timings.EndToEnd.Median, timings.MedianLow, timings.MedianHigh = 2*took, 2*timings.MedianLow, 2*timings.MedianHigh
				timings.Beside = &report.Beside{Config: config.Config{Precision: precisions[0]}, Speed: report.NewSpeed(1.01, 1, 1.02, true)}
			}
			r.Snapshot(&report.Snapshot{Seq: i + 1, Schema: report.Schema, Config: config.Config{Precision: p}, Model: &report.Model{Name: "m", SHA256: "00"},
				Overview: &report.Overview{}, Timings: timings, Memory: &report.Memory{}, Passes: &report.Passes{}})
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	limits := filepath.Join(dir, "b.yaml")
	if err := os.WriteFile(limits, []byte("limits:\n  latency_p50: baseline + 5 %\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	both := recorded("both.trtui", 10*time.Millisecond, config.FP32, config.FP16)
	same, slower := recorded("same.trtui", 10*time.Millisecond, config.FP32), recorded("slower.trtui", 12*time.Millisecond, config.FP32)
	for _, c := range []struct {
		code           int
		name, baseline string
		says           []string
	}{
		{0, both + "@fp16", both + "@fp32", []string{"baseline " + both + "@fp32 (fp32), measured in the same rounds", "9.901 ms"}},
		{0, same, both, []string{"baseline " + both + " (fp32), recorded on two occasions", "ok"}},
		{1, slower, both, []string{"(fp32), recorded on two occasions", "failed"}},
		{1, both, slower, []string{slower + " has nothing complete of fp16: the baseline is its last state, of fp32", "(fp32), recorded on two occasions"}},
		{0, same, same, []string{"the baseline is what is checked, fp32 of "}},
	} {
		out, stderr := command(t, c.code, "check", c.name, "--budget", limits, "--baseline", c.baseline)
		for _, says := range c.says {
			if !strings.Contains(out+stderr, says) {
				t.Errorf("%s beside %s: no %q in\n%s%s", c.name, c.baseline, says, out, stderr)
			}
		}
	}
}

// TestCheckFormats writes what came of a budget in every format.
func TestCheckFormats(t *testing.T) {
	v := func(f float64) *float64 { return &f }
	c := &report.Check{Budget: "b.yaml", Baseline: "main.engine", BaselineLabel: "int8/mse", Beside: true, Rounds: 45, Rows: []report.CheckRow{
		{Metric: "latency_p50", Line: 3, Unit: "ms", Limit: 1.05, Asked: "baseline + 5 %", Baseline: v(1), Value: v(1.2), Low: v(1.19), High: v(1.21), Verdict: report.CheckFailed},
		{Metric: "top1", Line: 4, Unit: "share", Least: true, Limit: 0.9, Asked: "90 %", Value: v(0.95), Verdict: report.CheckOK},
		{Metric: "latency_p99", Line: 6, Unit: "ms", Limit: 1, Asked: "1 ms", Value: v(1.01), Low: v(0.9), High: v(1.2), Verdict: report.CheckNoise, Why: "over the limit by less than 45 rounds tell apart", Telling: 3000},
		{Metric: "top5", Line: 5, Unit: "share", Least: true, Limit: 0.9, Asked: "90 %", Verdict: report.CheckUnknown, Why: "not known | at all"},
	}}
	snap := &report.Snapshot{Model: &report.Model{Name: "m<1>"}, Config: config.Default()}
	for format, parts := range map[string][]string{
		"text":     {"1.2 ms (1.19 to 1.21)", "<= 1.05 ms (baseline + 5 %)", "measured in the same 45 rounds", "top5: not known", "baseline main.engine (int8/mse), measured", "over budget: 1 of 4 limits not kept, 1 not known", "tell apart; if it stays there about 3000 would: --max-duration 1m30s"},
		"markdown": {"baseline main.engine (int8/mse)", "| **unknown** |", "| latency_p50 | 1.2 ms (1.19 to 1.21) | <= 1.05 ms (baseline + 5 %) | 1 ms | **failed** |", `not known \| at all`},
		"json":     {`"passed": false`, `"baseline_label": "int8/mse"`, `"verdict": "unknown"`, `"verdict": "failed"`, `"low": 1.19`, `"asked": "90 %"`, `"value": null`, `"least": true`, `"telling_rounds": 3000`},
		"junit":    {`tests="4" failures="1" errors="1"`, "baseline 1 ms of main.engine (int8/mse)", "<error message=", `name="latency_p50" file="b.yaml" line="3"`, "m&lt;1&gt;"},
	} {
		o := &checkFlags{modelFlags: &modelFlags{}, longest: time.Minute, perRound: 30 * time.Millisecond}
		o.output.format = format
		var out strings.Builder
		if err := o.write(&out, snap, c); err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if !strings.Contains(out.String(), p) {
				t.Errorf("%s: no %q in\n%s", format, p, out.String())
			}
		}
	}
}

// TestCheckResult: what passes as noise is not said to be kept.
func TestCheckResult(t *testing.T) {
	c := &report.Check{Rows: []report.CheckRow{{Verdict: report.CheckOK}, {Verdict: report.CheckNoise}, {Verdict: report.CheckOK}}}
	if text := checkResult(c); text != "2 of 3 limits kept, 1 over by no more than noise, which passes" {
		t.Error(text)
	}
}

// TestBudgetInHelp: the help has a budget that is one, line by line.
func TestBudgetInHelp(t *testing.T) {
	out, _ := command(t, 0, "check", "--help")
	_, text, _ := strings.Cut(out, "  baseline: main.engine\n")
	text, _, ok := strings.Cut(text, "\n\n")
	if !ok {
		t.Fatalf("no budget in\n%s", out)
	}
	if _, err := budget.Read(strings.NewReader("  baseline: main.engine\n"+text+"\n"), "help"); err != nil {
		t.Error(err)
	}
}
