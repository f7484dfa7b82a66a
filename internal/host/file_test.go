package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpen: what is no regular file is refused by its name, whoever reads it.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "some"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(filepath.Join(dir, "some")); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	for path, want := range map[string]string{dir: dir + " is a directory; name a file", os.DevNull: os.DevNull + " is a device; name a regular file"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
