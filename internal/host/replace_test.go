package host

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// text returns what writes a text, and then fails with err.
func text(s string, err error) func(io.Writer) (int64, error) {
	return func(w io.Writer) (int64, error) {
		n, e := io.WriteString(w, s)
		return int64(n), errors.Join(e, err)
	}
}

// wantFile checks that a file is all that its folder has beside links.
func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, want %q, %v", path, got, want, err)
	}
	list, err := filepath.Glob(filepath.Join(filepath.Dir(path), Partial+"*"))
	if err != nil || len(list) > 0 {
		t.Errorf("%v are left, %v", list, err)
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if n, err := Replace(path, 0o640, text("old", nil)); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	wantFile(t, path, "old")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	full := errors.New("full")
	if _, err := Replace(path, 0o644, text("half", full)); !errors.Is(err, full) {
		t.Error(err)
	}
	wantFile(t, path, "old")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Replace(link, 0o644, text("new", nil)); err != nil {
		t.Error(err)
	}
	wantFile(t, path, "new")
	if to, err := os.Readlink(link); to != path {
		t.Error(to, err)
	}
	if _, err := Replace(filepath.Dir(path), 0o644, text("x", nil)); err == nil {
		t.Error("a folder is replaced")
	}
	if _, err := Replace(os.DevNull, 0o644, text("x", nil)); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Error("the null device is a file now")
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Create(path, 0o644, text("first", nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, 0o644, text("second", nil)); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	wantFile(t, path, "first")
}
