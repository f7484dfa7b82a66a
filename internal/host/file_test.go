package host

import (
	"errors"
	"io"
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

// TestReadUpTo: what is larger than it may be, and what ends before its size, is an error that names the file.
func TestReadUpTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "some")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadUpTo(file, 4); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := ReadUpTo(file, 3); err == nil || err.Error() != file+" has more than 3 bytes" {
		t.Error(err)
	}
	// Files of the system say that they have a page, and have less.
	const short = "/sys/kernel/mm/transparent_hugepage/enabled"
	if info, err := os.Stat(short); err != nil || info.Size() < 1000 {
		t.Skip("no file is shorter than its size here")
	}
	if data, err := ReadFile(short); err == nil || !strings.Contains(err.Error(), short+" changed while it was read") {
		t.Errorf("%q, %v", data, err)
	}
}

// TestWhole reads a file that is cut off meanwhile.
func TestWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some")
	if err := os.WriteFile(path, make([]byte, 10), 0o644); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]string{10: "", 2: "it had 10 bytes, and ends after 2"} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := Whole(f)
		if err == nil {
			err = os.Truncate(path, size)
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if int64(len(data)) != size || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("cut off to %d bytes: %d were read, %v", size, len(data), err)
		}
		if err := os.WriteFile(path, make([]byte, 10), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
