package sessions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/testdata"
)

// TestFileChanges: a model whose file is deleted, and then written anew, is built and run as it was read, and the log says both.
func TestFileChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(path, testdata.Model(), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(graph.Ops(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	s := sessions.Open(m, workplace(t, b), config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1})
	defer s.Close()
	told, gone := false, false
	for snap := range s.Events() {
		if snap.Err != "" {
			t.Fatal(snap.Err)
		}
		for _, l := range snap.Log {
			told = told || l.Level == "warning" && strings.HasPrefix(l.Text, path+" changed on disk")
			if !gone && strings.HasPrefix(l.Text, path+" is gone") {
				gone = true
				if err := os.WriteFile(path, nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		if told && snap.Settled() {
			if !gone {
				t.Error("nothing was said when the file was gone")
			}
			if snap.Changed != path {
				t.Errorf("the snapshot says that %q changed, want %s", snap.Changed, path)
			}
			return
		}
	}
}
