package cmd

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordedRoofline: a recording's layers stand under the ceilings that were recorded with them; without any, those of this machine
// are taken only if it is the same device.
func TestRecordedRoofline(t *testing.T) {
	old := filepath.Join(t.TempDir(), "session.trtui")
	unzip(t, filepath.Join("..", "sessions", "recording", "testdata", "recording-1.trtui.gz"), old)
	if _, text := command(t, exitFailure, "bench", old, "--roofline", "--timing-cache", "none"); !strings.Contains(text, "has no peaks of its device, as a new recording would") || !strings.Contains(text, "another device") {
		t.Errorf("%q", text)
	}
}
