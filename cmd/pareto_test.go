package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPareto chooses among the configurations of a recording, and says what cannot have been meant.
func TestPareto(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.trtui")
	command(t, 0, append(rough(t), "record", "-o", file, "--precision", "fp32,int8", "--calibrator", "mse", "--items", "40", "-q")...)
	text, _ := command(t, 0, "pareto", file, "--measure", "sqnr", "--limit", "200")
	if !strings.Contains(text, "fastest with an SQNR of 200 dB at least: fp32, ") || !strings.Contains(text, "int8/mse") {
		t.Errorf("it says\n%s", text)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again.trtui")
	if err := os.WriteFile(again, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, _ = command(t, 0, "pareto", file, again, "--measure", "sqnr", "--limit", "10"); !strings.Contains(text, "; not all measured side by side") {
		t.Errorf("of two recordings it says\n%s", text)
	}
	text, _ = command(t, 0, "pareto", file, file, "--measure", "memory", "--format", "json")
	var p struct {
		Measure string
		Points  []struct {
			Name  string
			Front bool
		}
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	checkJSON(t, text)
	front := 0
	for _, x := range p.Points {
		if x.Front {
			front++
		}
	}
	if p.Measure != "memory" || len(p.Points) != 4 || front < 1 || front > 2 || p.Points[0].Name != "s.trtui@fp32" {
		t.Errorf("%+v", p)
	}
	for args, want := range map[string]string{
		file + " --measure speed":            "want one of top1, agreement, sqnr, memory",
		file + " --measure memory --limit 1": "memory has none",
		file + " --limit -1":                 "want a number of 0 or more",
		"":                                   "requires at least 1 arg(s)",
		"none.trtui":                         "no such file",
		exchanged + "runtime.json":           "not a recording",
	} {
		if _, errs := command(t, exitFailure, append([]string{"pareto"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %s", args, errs)
		}
	}
}
