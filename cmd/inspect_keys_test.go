package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestInspectKeys lists keys, as a file makes them, and writes a file that changes none.
func TestInspectKeys(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	text, _ := command(t, 0, "inspect", "keys")
	for _, want := range []string{"everywhere", "next precision", "Timings", "set type"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	file, _ := command(t, 0, "inspect", "keys", "--template")
	path := filepath.Join(t.TempDir(), "keys.yaml")
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(path, file)
	if again, _ := command(t, 0, "inspect", "keys", "--keys", path); again != text {
		t.Errorf("the template changes keys:\n%s", again)
	}
	write(path, "Timings:\n  group: q\n")
	for _, args := range [][]string{{"inspect", "keys", "--keys", path}, {"--keys", path}, {"replay", "x", "--keys", path}} {
		if _, errs := command(t, exitFailure, args...); !strings.Contains(errs, path+`:2: the key q is both "quit" (everywhere) and "group" (Timings)`) {
			t.Errorf("%q: %s", args, errs)
		}
	}
	write(ownConfig("keys.yaml"), "everywhere:\n  freeze: f7\n") // the usual place
	out, _ := command(t, 0, "inspect", "keys", "--format", "json")
	var keys struct {
		Contexts []struct {
			Name    string
			Actions []struct {
				Name          string
				Keys, Default []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &keys); err != nil || len(keys.Contexts) < 10 {
		t.Fatalf("%v in %s", err, out)
	}
	for _, a := range keys.Contexts[0].Actions {
		if a.Name == "freeze" && (!slices.Equal(a.Keys, []string{"f7"}) || !slices.Equal(a.Default, []string{"space"})) {
			t.Errorf("%+v", a)
		}
	}
	if _, errs := command(t, exitFailure, "inspect", "keys", "--keys", filepath.Join(t.TempDir(), "none.yaml")); !strings.Contains(errs, "--keys: ") {
		t.Error(errs)
	}
}
