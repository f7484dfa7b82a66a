package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordFailed: a recording of which nothing came leaves no file that would be in the way of the next try.
func TestRecordFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.trtui")
	_, errs := command(t, exitFailure, "record", "--precision", "fp32", "--tactic", "head/expand/Conv=nosuch", "-o", path)
	if !strings.Contains(errs, "nosuch") {
		t.Error(errs)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file is left: %v", err)
	}
}
