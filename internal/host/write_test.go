package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// names returns what is in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return fmt.Sprint(list)
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if n, err := WriteFile(file, Bytes([]byte("first"))); n != 5 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if _, err := WriteFile(link, Bytes([]byte("second"))); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, err = os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if got := content(t, file); got != "second" {
		t.Errorf("the file has %q", got)
	}
	if got := names(t, dir); got != "[file link]" {
		t.Errorf("the folder has %s", got)
	}
	if _, err := WriteFile(dir, Bytes(nil)); err == nil {
		t.Error("a folder was written to")
	}
}

// TestWriteFails: where anything fails, and whatever was written by then, the file is what it was.
func TestWriteFails(t *testing.T) {
	broken := errors.New("broken")
	half := func(w io.Writer) error {
		_, _ = w.Write(make([]byte, 1<<20))
		return broken
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("sound"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteFile(file, half); !errors.Is(err, broken) {
		t.Errorf("an error of what writes is %v", err)
	}
	if _, err := CreateFile(filepath.Join(dir, "new"), half); !errors.Is(err, broken) {
		t.Errorf("an error of what writes is %v", err)
	}
	flush = func(f *os.File) error { return &fs.PathError{Op: "sync", Path: f.Name(), Err: broken} }
	defer func() { flush = (*os.File).Sync }()
	if _, err := WriteFile(file, Bytes([]byte("other"))); !errors.Is(err, broken) || err.Error() != "write "+file+": broken" {
		t.Errorf("what does not reach the disk: %v", err)
	}
	if got := content(t, file); got != "sound" {
		t.Errorf("the file has %q", got)
	}
	if got := names(t, dir); got != "[file]" {
		t.Errorf("the folder has %s", got)
	}
}

// TestFlushed: a file has its name only when its content is on the disk.
func TestFlushed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	flushed := 0
	flush = func(f *os.File) error {
		flushed++
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the name was there before: %v", err)
		}
		if got := content(t, f.Name()); got != "whole" {
			t.Errorf("%q is flushed", got)
		}
		return f.Sync()
	}
	defer func() { flush = (*os.File).Sync }()
	if _, err := WriteFile(file, Bytes([]byte("whole"))); err != nil || flushed != 1 {
		t.Errorf("flushed %d times, %v", flushed, err)
	}
}

func TestCreateFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if _, err := CreateFile(file, Bytes([]byte("first"))); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateFile(file, Bytes([]byte("second"))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	if got := content(t, file) + names(t, dir); got != "first[file]" {
		t.Errorf("there is %s", got)
	}
	// Another writer may take the name while this one writes.
	late := filepath.Join(dir, "late")
	_, err := CreateFile(late, func(w io.Writer) error { return os.WriteFile(late, []byte("theirs"), 0o644) })
	if got := content(t, late); !errors.Is(err, fs.ErrExist) || got != "theirs" {
		t.Errorf("%v, and %q", err, got)
	}
}

// TestLeftOver: what a writer that was killed left is removed by a later one, and what one is writing is not.
func TestLeftOver(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	for name, age := range map[string]time.Duration{"file-1": 2 * PartialLife, "file-2": 0, "other-1": 2 * PartialLife} {
		path := filepath.Join(dir, PartialPrefix+name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := WriteFile(file, Bytes(nil)); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "[.partial-file-2 .partial-other-1 file]" {
		t.Errorf("the folder has %s", got)
	}
}

// TestKilled: a writer that is killed at any moment leaves a file as it was or as it was to be.
func TestKilled(t *testing.T) {
	const variable = "TRTUI_TEST_WRITES"
	contents := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 300_000+i) }
	if file := os.Getenv(variable); file != "" {
		for i := 0; ; i = (i + 1) % 200 {
			if _, err := WriteFile(file, Bytes(contents(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if _, err := WriteFile(file, Bytes(contents(0))); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), variable+"="+file)
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		time.Sleep(time.Duration(20+7*i) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		data, err := os.ReadFile(file)
		if err != nil || len(data) < 300_000 || !bytes.Equal(data, contents(len(data)-300_000)) {
			t.Fatalf("after %d kills the file has %d bytes, %v", i+1, len(data), err)
		}
	}
}

// TestRecordingsStay: what has the head of a recording is not written over, by its name or through a link, and another file of SQLite is.
func TestRecordingsStay(t *testing.T) {
	dir := t.TempDir()
	head := make([]byte, RecordingHead)
	copy(head, "SQLite format 3\x00")
	other := filepath.Join(dir, "other")
	session, link := filepath.Join(dir, "session"), filepath.Join(dir, "link")
	err := errors.Join(os.WriteFile(other, head, 0o644), os.Symlink("session", link))
	copy(head[68:], "TRTU")
	if err := errors.Join(err, os.WriteFile(session, head, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{session, link} {
		if _, err := WriteFile(path, Bytes([]byte("new"))); err == nil || !strings.Contains(err.Error(), path+" is a recording") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if now, err := os.ReadFile(session); err != nil || !bytes.Equal(now, head) {
		t.Errorf("the recording is lost: %v", err)
	}
	if _, err := WriteFile(other, Bytes([]byte("new"))); err != nil {
		t.Error(err)
	}
	if os.Geteuid() == 0 {
		return // who reads everything
	}
	if err := os.Chmod(session, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteFile(session, Bytes([]byte("new"))); err == nil || !strings.Contains(err.Error(), "may be a recording") {
		t.Errorf("one that cannot be read: %v", err)
	}
}
