package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/testdata"
)

// quick are the program's tables, for tests that assert no times: sessions measure for a moment.
var quick = tables{backends: backends, live: 50 * time.Millisecond}

// runTests runs the tests with a folder of caches of their own, so that what one has timed the next one knows, and with garbage
// collected seldom: engines are built by the hundred, and there is room.
func runTests(m *testing.M) int {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
	if os.Getenv(cachesVar) != "" { // a test's program in another role, which has that test's and may not live to remove its own
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "trtui-cmd")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_CACHE_HOME", dir)
	os.Setenv(cachesVar, dir)
	return m.Run()
}

// cachesVar has the folder of caches of the tests that a process is one of.
const cachesVar = "TRTUI_TEST_CACHES"

// TestNoFoldersLeft: what a test starts of itself makes no folder of caches, of which it would not remove any where it is ended.
func TestNoFoldersLeft(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self, "-test.run=^TestWithoutNVIDIA$")
	cmd.Env = append(os.Environ(), "TRTUI_TEST_COMMAND=version", "TMPDIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// few returns flags by which the embedded model is calibrated on a few of its digits, for tests of which ranges are not the point.
func few(t *testing.T) []string {
	t.Helper()
	const n = 12
	path := filepath.Join(t.TempDir(), "few.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	images := numeric.Values(numeric.F32, testdata.CalibrationImages().Batch(0, n), n, 1, testdata.Padded, testdata.Padded)
	if err := dataset.WriteNpz(f, map[string]numeric.Value{"image": images}); err != nil {
		t.Fatal(err)
	}
	return []string{"--calib-data", path}
}

// rough returns few, and flags by which nothing is sought but ranges, for tests of which it is not the point how exact INT8 is.
func rough(t *testing.T) []string {
	t.Helper()
	return append(few(t), "--rounding", "nearest", "--equalization", "off", "--bias-correction", "off")
}

// withRough adds rough, or as much of it as there are flags for, to the arguments of a command that calibrates.
func withRough(t *testing.T, args []string) []string {
	t.Helper()
	switch c, _, err := rootCommand(quick).Find(args); {
	case err != nil || c.Flags().Lookup("calib-data") == nil:
		return args
	case c.Flags().Lookup("rounding") == nil:
		return slices.Concat(args, few(t))
	}
	return slices.Concat(args, rough(t))
}
