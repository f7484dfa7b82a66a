package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCompletePath goes on to folders and to files that fit, whatever they are links to.
func TestCompletePath(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", "runs")
	for _, folder := range []string{"runs/monday", "runs/tuesday"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"runs/a.trtui", "runs/ab.json", "runs/a.txt", "runs/.hidden.trtui", "runs/monday/c.trtui"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join("monday", "c.trtui"), "runs/z.trtui"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere.trtui", "runs/y.trtui"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"runs/"}},
		{"runs/", []string{"runs/a.trtui", "runs/ab.json", "runs/monday/", "runs/tuesday/", "runs/z.trtui"}},
		{"runs/a", []string{"runs/a.trtui", "runs/ab.json"}},
		{"runs/.", []string{"runs/.hidden.trtui"}},
		{"runs/mon", []string{"runs/monday/"}},
		{"runs/b", nil},
		{"nowhere/", nil},
		{"~/mo", []string{"runs/monday/"}},
		{"runs/ab.json,runs/monday/", []string{"runs/ab.json,runs/monday/c.trtui"}},
	} {
		if got := completeCompared(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q goes on to %q, want %q", c.text, got, c.want)
		}
	}
}

// TestCommandsAreMadeQuickly: what flags may be completed to is found once, not for each command. Every run of the program makes all
// commands.
func TestCommandsAreMadeQuickly(t *testing.T) {
	const most = 60000
	if n := testing.AllocsPerRun(2, func() { rootCommand(quick) }); n > most {
		t.Errorf("the program makes its commands in %.0f allocations, want %d at most", n, most)
	}
}
