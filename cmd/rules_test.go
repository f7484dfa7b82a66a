package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const maxRule = `rule relu-as-max: what clamps from below
match
    y = relu(x)
replace
    y = max(x, 0)
`

// TestRules applies rules of a file to the embedded model, by flag and by configuration file, and keeps them with an engine.
func TestRules(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("mine.rules", maxRule)
	out, _ := command(t, 0, "inspect", "passes", "--rules", file)
	for _, want := range []string{" 1 rules-mine", "+ relu-as-max at ", "fuse-activation:"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%.3000s", want, out)
		}
	}
	out, _ = command(t, 0, "inspect", "passes", "--rules", file, "--disable", "relu-as-max", "--format", "json")
	if !strings.Contains(out, `"doc": "what clamps from below"`) || !strings.Contains(out, "rule relu-as-max is switched off") {
		t.Errorf("%.3000s", out)
	}
	saved := write("c.json", `{"version": 1, "rule_files": ["`+file+`"]}`)
	engine := filepath.Join(dir, "x.engine")
	command(t, 0, "build", "--config", saved, "--keep-source", "-o", engine)
	if out, _ = command(t, 0, "inspect", "passes", engine); !strings.Contains(out, "+ relu-as-max at ") {
		t.Errorf("%.3000s", out)
	}
	command(t, 0, "run", engine, "--backends", "cpu,eval", "--items", "2")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, text := command(t, exitFailure, "inspect", "passes", engine); !strings.Contains(text, "cannot be read any more") {
		t.Error(text)
	}
	wrong := write("wrong.rules", strings.Replace(maxRule, "max(x, 0)", "abs(x)", 1))
	if _, text := command(t, exitFailure, "inspect", "passes", "--rules", wrong); !strings.Contains(text, "it changes what the layers compute: element") {
		t.Error(text)
	}
	broken := write("broken.rules", strings.Replace(maxRule, "relu(x)", "relu(x", 1))
	if _, text := command(t, exitFailure, "inspect", "passes", "--rules", broken); !strings.Contains(text, "broken.rules:3:15: want") {
		t.Error(text)
	}
}
