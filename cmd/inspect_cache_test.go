package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspectCache: a file is shown as it is, and with a model hits and misses of its build; what is of another device is stale.
func TestInspectCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "timing.jsonl")
	lines := `{"Format":"trtui timing cache","Version":1}
{"Target":"another device","Tactic":"conv_f32","Layer":"Conv f32[1 2] linear","Time":12000,"Measured":"2020-01-02T03:04:05Z","Spread":0.5}
not an entry
`
	if err := os.WriteFile(file, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	inspect := func(args ...string) string {
		t.Helper()
		out, errs := command(t, 0, append([]string{"inspect", "cache", "--timing-cache", file}, args...)...)
		return out + errs
	}
	wants := func(got string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(got, text) {
				t.Errorf("no %q in\n%.400s", text, got)
			}
		}
	}
	wants(inspect(), "1 entry, 1 of them stale, 1 measured while the machine did something else", "another device", "conv_f32", "12.0", "!50", "other", "line 3 is damaged")
	model := filepath.Join(t.TempDir(), "digits.onnx")
	command(t, 0, "export", "-o", model)
	wants(inspect(model), "this build: ", "misses", "conv_f32_")
	wants(inspect(model), " 0 misses")
	_, errs := command(t, 2, "inspect", "cache", "--timing-cache", "none")
	wants(errs, "there is no file to show")
}
