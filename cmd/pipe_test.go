//go:build unix

package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipes: whatever is read from a named pipe or a device is refused, and so is what would be written to a pipe; nothing waits for it.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	archive := filepath.Join(dir, "cases.tar.gz")
	if err := os.Symlink(pipe, archive); err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(dir, "images")
	if err := os.Mkdir(images, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"labels.tsv", "a.png"} {
		if err := syscall.Mkfifo(filepath.Join(images, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"inspect", "model", pipe},
		{"bench", pipe},
		{"build", pipe, "-o", filepath.Join(dir, "engine")},
		{"inspect", "model", "/dev/zero"},
		{"eval", "--data", pipe},
		{"eval", "--calib-data", "/dev/zero"},
		{"eval", "--data", images},
		{"eval", "--data", testData(t), "--labels", pipe},
		{"bench", "--config", pipe},
		{"bench", "--forbid-tactic", "@" + pipe},
		{"replay", pipe},
		{"inspect", "recording", pipe},
		{"conformance", archive},
		{"build", "-o", pipe},
		{"build", "-o", archive},
		{"export", "-o", pipe},
		{"calibrate", "-o", filepath.Join(dir, "ranges"), "--calibration-cache", pipe},
		{"run", "--save-outputs", pipe},
		{"record", "-o", pipe},
		{"gpu", "selftest", "--backend", "cudasim", "--resume", pipe},
	} {
		done := make(chan string, 1)
		go func() {
			_, errs := command(t, exitFailure, args...)
			done <- errs
		}()
		select {
		case errs := <-done:
			said := func(text string) bool { return strings.Contains(errs, text) }
			if !said(" is a pipe; name a regular file") && !said(" is a device; name a regular file") && !said(": not a file") {
				t.Errorf("%q: %s", args, errs)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%q waits", args)
		}
	}
	if _, errs := command(t, 0, "bench", "--timing-cache", pipe, "--duration", "1ms", "--iterations", "1"); !strings.Contains(errs, "is a pipe; name a regular file") {
		t.Errorf("timing cache: %s", errs)
	}
}

// testData writes a set of one item for the embedded model, without labels.
func testData(t *testing.T) string {
	t.Helper()
	head := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28), }\n"
	path := filepath.Join(t.TempDir(), "x.npy")
	data := "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head + strings.Repeat("\x00", 4*28*28)
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
