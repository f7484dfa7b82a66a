package cmd

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestOutputCannotBeWritten: a command whose text or JSON nobody gets says why and ends with an error.
func TestOutputCannotBeWritten(t *testing.T) {
	recording, cache := filepath.Join(t.TempDir(), "digits.trtui"), filepath.Join(t.TempDir(), "timing.jsonl")
	command(t, 0, "record", "--precision", "fp32", "--items", "4", "--timing-cache", cache, "-o", recording)
	for _, args := range [][]string{
		{"version"}, {"--help"}, {"bench", "--help"}, {"inspect", "model"}, {"inspect", "passes"}, {"inspect", "tactics", "--timing-cache", cache}, {"--items", "4", "--timing-cache", cache},
		{"bench", "--timing-cache", cache, "--iterations", "1", "--duration", "1ms"}, {"replay", recording}, {"inspect", "recording", recording},
		{"inspect", "model", "--format", "json"}, {"calibrate"}, {"run", "--timing-cache", cache, "--items", "4"}, {"eval", "--timing-cache", cache, "--items", "4"},
	} {
		var errs strings.Builder
		if code := execute(t.Context(), args, fullDisk{}, &errs); code != exitFailure || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%q: exit code %d: %s", args, code, &errs)
		}
	}
}
