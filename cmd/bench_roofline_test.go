package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchRoofline measures the ceilings once, keeps them beside the timing cache, and draws the layers under them.
func TestBenchRoofline(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "timing.jsonl")
	args := []string{"bench", "--roofline", "--timing-cache", cache, "--duration", "1ms", "--iterations", "3", "--max-memory", "1GiB"}
	out, _ := command(t, 0, args...)
	for _, want := range []string{"peak", "1 thread", "DRAM", "op/B", "bound by", "of peak %", "block1/first/conv/Conv", "Gop/s", "│"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	kept, err := os.ReadFile(strings.TrimSuffix(cache, ".jsonl") + ".peaks.json")
	if err != nil || !strings.Contains(string(kept), "trtui peaks") {
		t.Errorf("kept %s, %v", kept, err)
	}
	out, _ = command(t, 0, append(args, "--format", "json")...)
	for _, want := range []string{`"per_s"`, `"holds_bytes"`, `"spread_share"`, `"op_per_byte"`, `"ceiling_gop_per_s"`, `"floor_ms"`, `"of_peak_share"`, `"bound"`, `"bounds"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out[:min(len(out), 2000)])
		}
	}
	if out, _ := command(t, 0, "bench", "--roofline", "--backend", "cudasim"); !strings.Contains(out, "no roofline: times on cudasim are estimates") {
		t.Errorf("of a simulated device:\n%s", out)
	}
}
