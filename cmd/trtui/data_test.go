package main

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Data with a NaN in its last item is refused by every command that opens it, whichever items the command uses, and taken by
// all of them with --allow-not-finite.
func TestNotFiniteData(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	raw := make([]byte, 10*32*32*4)
	binary.LittleEndian.PutUint32(raw[len(raw)-4:], math.Float32bits(float32(math.NaN())))
	path := filepath.Join(t.TempDir(), "digits.raw")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"bench --iterations 1 --duration 1ms --warm-up 1ms", "run", "eval --precision fp32", "inspect memory", "inspect model", "inspect passes", "calibrate --compare",
	} {
		for _, allowed := range []bool{false, true} {
			args := append(strings.Fields(command), "-q", "--timing-cache", "none", "--shape", "1,32,32", "--type", "f32", "--data", path)
			if allowed {
				args = append(args, "--allow-not-finite")
			}
			var errOut strings.Builder
			code := execute(t.Context(), args, io.Discard, &errOut)
			refused := code == exitFailure && strings.Contains(errOut.String(), "item 9: element 1023 is NaN")
			if refused == allowed || allowed && code != 0 {
				t.Errorf("%v: exit code %d, %s", args, code, &errOut)
			}
		}
	}
}
