package recording_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// TestOldRecording opens a recording that the first version of the program wrote: whatever reports have gained since, it
// must go on to open. testdata/recording-1 is of ONNX's small digit classifier in FP32 and INT8.
func TestOldRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.trtui")
	unzip(t, "testdata/recording-1.trtui.gz", path)
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rep, err := r.Report()
	if err != nil || !rep.Complete || len(rep.Configs) != 2 || rep.Configs[1].Name != "int8/mse" {
		t.Fatalf("the report is %+v, %v", rep, err)
	}
	for i := range r.Steps() {
		s, err := r.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Settled() || s.Model == nil || s.Passes == nil || s.Overview == nil || s.Memory == nil || s.Calibration == nil || s.Accuracy == nil || s.Tactics == nil {
			t.Errorf("state %d is not complete: %+v", i, s)
		}
		if s.Timings.EndToEnd.Median <= 0 || s.Memory.Peak <= 0 || len(s.Calibration.Tensors) == 0 || s.Calibration.Tensors[0].By[0].Amax <= 0 || s.Accuracy.Outputs[0].SQNR <= 0 {
			t.Errorf("state %d has reports without numbers", i)
		}
		if tm := s.Timings; tm.GapRuns == 0 || max(tm.Gap, -tm.Gap) > tm.EndToEnd.Median/5 {
			t.Errorf("state %d: a gap of %v in %v, by %d runs", i, tm.Gap, tm.EndToEnd.Median, tm.GapRuns)
		}
		if _, err := report.MarshalOutput(s); err != nil {
			t.Errorf("state %d: %v", i, err)
		}
	}
}

// unzip writes the contents of a .gz file to path.
func unzip(t *testing.T, file, path string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
