package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDiffMatrix sets three states of a recording side by side, as text, as Markdown, as JSON and as a picture.
func TestDiffMatrix(t *testing.T) {
	dir := t.TempDir()
	session := filepath.Join(dir, "session.trtui")
	unzip(t, filepath.Join("..", "sessions", "recording", "testdata", "recording-1.trtui.gz"), session)
	again := filepath.Join(dir, "again.trtui")
	data, err := os.ReadFile(session)
	if err == nil {
		err = os.WriteFile(again, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	sides := []string{session, again, session + "@1"}
	out, warnings := command(t, 0, append([]string{"diff"}, session, again, session)...)
	if !strings.Contains(warnings, "A and C are the same") {
		t.Errorf("warns %q", warnings)
	}
	for _, want := range []string{"\nA  ", "\nC  ", "front: ", "median ms", "in rounds", "(2)"} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
	if opened, _ := command(t, 0, session, again, session); opened != out {
		t.Errorf("opened without a screen they are\n%s\nand compared\n%s", opened, out)
	}
	if out, _ := command(t, 0, "diff", session, again, session, "--format", "markdown"); !strings.Contains(out, "| --- |") || !strings.Contains(out, "- front: ") {
		t.Errorf("Markdown:\n%s", out)
	}
	out, _ = command(t, 0, "diff", session, again, session, "--format", "json")
	checkJSON(t, out)
	var m struct {
		Sides   []struct{ Name string }
		Columns struct {
			Apart   bool
			Columns []struct{ Label string }
			Rows    []struct{ Cells []any }
		}
		Pareto struct{ Measure string }
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Sides) != 3 || len(m.Columns.Columns) != 3 || len(m.Columns.Rows) == 0 || len(m.Columns.Rows[0].Cells) != 3 || !m.Columns.Apart || m.Pareto.Measure == "" {
		t.Errorf("%.600s", out)
	}
	for says, args := range map[string][]string{
		"up to 12":                    append([]string{"diff"}, slices.Repeat([]string{session}, 13)...),
		"want one for each of A to C": append([]string{"diff", "--backends", "cpu,cpu"}, sides...),
	} {
		if _, got := command(t, exitFailure, args...); !strings.Contains(got, says) {
			t.Errorf("%v: %q, want %q", args, got, says)
		}
	}
}
