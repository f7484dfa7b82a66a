package cmd

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/trtui/trtui/sessions/report"
)

// jsonCommands are the commands that print JSON, but record, replay and conformance.
var jsonCommands = []struct {
	args []string
	has  []string // keys that must be somewhere in the output
}{
	{[]string{"inspect", "model"}, []string{"parameters", "flops", "sha256"}},
	{[]string{"inspect", "passes"}, []string{"ledger", "layers_saved", "elapsed_ms"}},
	{[]string{"inspect", "engine"}, []string{"latency", "median_ms", "throughput_items_per_s", "peak_bytes", "ledger", "accuracy", "agreement_share", "tactic"}},
	{[]string{"inspect", "memory"}, []string{"lower_bound_bytes", "live_bytes", "first_step"}},
	{[]string{"inspect", "tactics"}, []string{"candidates", "time_ms", "cache_hits"}},
	{[]string{"inspect", "cache"}, []string{"file", "stale", "devices", "entries", "target"}},
	{[]string{"inspect", "sensitivity", "--items", "20", "--precision", "fp32", "--layer-precisions", "head/classify/Gemm:int8,excite/excite/Conv:int8"},
		[]string{"alone_db", "alone_exact", "raised_db", "gain_db", "more_time_ms", "more_weights_bytes", "raise", "predicted", "measured", "sqnr_db"}},
	{[]string{"tune-precision", "--items", "20", "--precision", "fp32", "--layer-precisions", "head/classify/Gemm:int8", "--raise-to", "fp32", "--min-sqnr", "20"},
		[]string{"base_config", "goal", "points", "predicted_db", "sqnr_db", "tuned_ms", "median_ms", "meets", "best", "predictions", "beside"}},
	{[]string{"inspect", "kernel", "softmax", "--backend", "cudasim"}, []string{"tactic", "launches", "registers", "shared_bytes", "time_ms", "text"}},
	{[]string{"calibrate", "--compare"}, []string{"clip_share", "kl_nats", "sqnr_db"}},
	{[]string{"calibrate", "--weights"}, []string{"weights", "spread_ratio", "per_tensor_sqnr_db", "nearly_dead"}},
	{[]string{"bench", "--per-layer", "--duration", "10ms", "--iterations", "5"}, []string{"latency", "median_ms", "p99_ms", "gap_ms", "mean_ms", "gflop_per_s"}},
	{[]string{"bench", "--roofline", "--backend", "cudasim"}, []string{"latency", "roofline", "unmeasured", "peaks", "bounds", "layers"}},
	{[]string{"inspect", "transitions", "--precision", "int8"}, []string{"types", "cells", "from", "to", "tensors", "conversions", "cause", "why", "causes", "share"}},
	{[]string{"bench", "--precisions", "fp32,int8", "--duration", "1ms", "--iterations", "2"}, []string{"columns", "rows", "cells", "ratio", "median_ms", "speed", "sum_median_ms", "label", "from"}},
	{[]string{"bench", "--sweep", "batch=1..2", "--latency-limit", "1h", "--duration", "1ms", "--iterations", "1"}, []string{"axes", "points", "median_ms", "throughput_items_per_s", "memory_bytes", "held_bytes", "within_limit", "best", "latency_limit_ms"}},
	{[]string{"eval", "--precision", "fp32"}, []string{"rows", "top1", "agreement", "latency_ms", "latency_p99_ms", "arena_bytes", "sqnr_db", "exact"}},
	{[]string{"eval", "--per-layer", "--precision", "int8", "--items", "20"}, []string{"accumulated", "tap_items", "agreement_share"}},
	{[]string{"build"}, []string{"arena_bytes", "file", "config"}},
	{[]string{"export"}, []string{"file", "bytes", "layers"}},
	{[]string{"run", "--items", "2"}, []string{"classes", "min_at", "not_finite"}},
	{[]string{"run", "--backends", "cpu,eval", "--items", "2", "--per-layer"}, []string{"tolerance", "pairs", "passed", "max_abs", "sqnr_db", "exact", "histogram"}},
	{[]string{"bench", "--ablate", "--disable", "batchnorm-into-producer,canonical-reshape,fuse-residual,gelu,side-by-side", "--duration", "1ms", "--iterations", "1"}, []string{"rows", "rule", "sites", "worth", "significant", "without_ms", "layers_saved", "idle"}},
	{[]string{"lint", "--precision", "int8", "--fail-on", "none"}, []string{"findings", "rules", "rule", "found", "doc"}},
	{nil, []string{"latency", "build_time_ms"}},
}

// TestJSONKeys walks the JSON of every command: keys are in snake case and the schema is the output's.
func TestJSONKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model for each command")
	}
	dir := t.TempDir()
	for _, c := range jsonCommands {
		t.Run(strings.Join(c.args, "_"), func(t *testing.T) {
			args := withRough(t, append(append([]string{}, c.args...), "--format", "json"))
			if len(c.args) > 0 && (c.args[0] == "build" || c.args[0] == "export") {
				args = append(args, "-o", filepath.Join(dir, "digits.engine"))
			}
			out, _ := command(t, 0, args...)
			keys := checkJSON(t, out)
			for _, k := range c.has {
				if !keys[k] {
					t.Errorf("the output has no %q", k)
				}
			}
		})
	}
}

// withCache adds --timing-cache to the arguments of a command that has one.
func withCache(args []string, cache string) []string {
	c, _, err := rootCommand(tables{backends: backends}).Find(args)
	if err != nil || c.Flags().Lookup("timing-cache") == nil {
		return args
	}
	return append(args, "--timing-cache", cache)
}

// checkJSON checks the keys of one JSON document and returns them.
func checkJSON(t *testing.T, text string) map[string]bool {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("there is more than one document: %v", err)
	}
	if v["schema"] != float64(report.OutputSchema) {
		t.Errorf("the schema is %v, want %d", v["schema"], report.OutputSchema)
	}
	for _, name := range []string{"model", "device", "config", "data"} {
		if _, ok := v[name]; !ok {
			t.Errorf("the head has no %q", name)
		}
	}
	if m, ok := v["model"].(map[string]any); ok && (m["name"] != "digits" || m["sha256"] == "") {
		t.Errorf("the model is %v", m)
	}
	keys := map[string]bool{}
	walkKeys(v, "", func(path, key string, value any) {
		keys[key] = true
		if strings.ContainsFunc(key, func(r rune) bool { return r != '_' && !unicode.IsLower(r) && !unicode.IsDigit(r) }) {
			t.Errorf("key %q in %s is not in snake case", key, path)
		}
		if db, ok := value.(float64); ok && strings.HasSuffix(key, "_db") && (db >= 200 || db <= -200) {
			t.Errorf("%s in %s is %g dB, which stands for no ratio", key, path, db)
		}
	})
	return keys
}

func walkKeys(v any, path string, see func(path, key string, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			see(path, k, e)
			walkKeys(e, path+"/"+k, see)
		}
	case []any:
		for _, e := range v {
			walkKeys(e, path, see)
		}
	}
}
