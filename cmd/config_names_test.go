package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesOfFile checks that what a configuration names and the model lacks is said of its file, briefly, however long the name.
func TestNamesOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.json")
	text := `{"version": 1, "shapes": {"` + strings.Repeat("A", 20000) + `": [1, 3, 8, 8]}}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, said := command(t, exitFailure, "inspect", "passes", "--config", path)
	if !strings.Contains(said, `mine.json: shapes: the model has no input "AAAA`) || len(said) > 1000 || strings.Contains(said, "did you mean") {
		t.Errorf("%d bytes: %.300s", len(said), said)
	}
}
