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
	recording := filepath.Join(t.TempDir(), "digits.trtui")
	command(t, 0, withRough(t, []string{"record", "--precision", "fp32", "--items", "4", "-o", recording})...)
	for _, args := range [][]string{
		{"version"}, {"--help"}, {"bench", "--help"}, {"inspect", "model"}, {"inspect", "passes"}, {"inspect", "tactics"}, {"--items", "4"},
		{"bench", "--iterations", "1", "--duration", "1ms"}, {"replay", recording}, {"inspect", "recording", recording},
		{"inspect", "model", "--format", "json"}, {"calibrate"}, {"run", "--items", "4"}, {"eval", "--items", "4"},
	} {
		var errs strings.Builder
		if code := executeOn(t.Context(), quick, withRough(t, args), fullDisk{}, &errs); code != exitFailure || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%q: exit code %d: %s", args, code, &errs)
		}
	}
}
