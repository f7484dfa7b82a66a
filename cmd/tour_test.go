package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTourSeen: the tour is shown until it was seen, and not where that cannot be known or nobody wants it.
func TestTourSeen(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("AppData", filepath.Join(home, "config"))
	t.Setenv("HOME", home)
	if (&tourFlag{none: true}).seen() != nil {
		t.Error("--no-tour shows it")
	}
	seen := (&tourFlag{}).seen()
	if seen == nil {
		t.Fatal("it is not shown at the first start")
	}
	if err := seen(); err != nil {
		t.Fatal(err)
	}
	if (&tourFlag{}).seen() != nil {
		t.Error("it is shown again")
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "AppData", "HOME"} {
		t.Setenv(name, file)
	}
	if seen := (&tourFlag{}).seen(); seen != nil && seen() == nil {
		t.Error("it was noted in a file that is no folder")
	}
}
