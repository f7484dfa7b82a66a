package program

import (
	"bytes"
	"strings"
	"testing"
)

func TestMaxMemory(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "4GiB": 4 << 30, "512 MiB": 512 << 20, "1.5g": 3 << 29, "2GB": 2e9, "4096": 4096, "7b": 7} {
		if got, err := (&deviceFlags{memory: text}).maxMemory(); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"much", "-1", "0", "4XiB", "1e300", "NaN", "GiB"} {
		if got, err := (&deviceFlags{memory: text}).maxMemory(); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// A command that needs more than --max-memory ends before it is taken, and says what takes most and which flag it was.
func TestMaxMemoryIsKept(t *testing.T) {
	var out, errs bytes.Buffer
	code := execute(t.Context(), []string{"bench", "--batch", "64", "--max-memory", "100KiB", "--timing-cache", "none"}, &out, &errs)
	for _, want := range []string{"needs", "limit of 100.0 KiB on cpu", "layer", "--max-memory"} {
		if code == 0 || !strings.Contains(errs.String(), want) {
			t.Fatalf("code %d: %s; want %q", code, errs.String(), want)
		}
	}
}
