package sessions_test

import (
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// TestReferenceBrokenOff asks for another configuration as soon as the first has times: the first stays what others are compared with,
// and its measurement goes on beside the other, in a recording, too.
func TestReferenceBrokenOff(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	fp32 := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1}
	s := open(t, fp32)
	path := filepath.Join(t.TempDir(), "s.trtui")
	if err := s.Record(path); err != nil {
		t.Fatal(err)
	}
	first := await(t, s, func(s *report.Snapshot) bool { return s.Timings != nil })
	int8 := fp32
	int8.Precision, int8.Quantization = config.INT8, untried
	s.Set(int8)
	over := func(s *report.Snapshot) bool { return settled(int8)(s) && s.Busy == nil }
	snap := await(t, s, over)
	b := snap.Timings.Beside
	if b == nil || b.Config.Precision != config.FP32 || !b.SideBySide || !b.Known() {
		t.Fatalf("int8 is beside %+v, want fp32", b)
	}
	whole := snap.Timings.Reference
	if whole == nil || whole.Samples < 10*first.Timings.Samples || whole.Live || len(whole.Layers) != len(first.Timings.Layers) || whole.Layers[0].Median == 0 {
		t.Fatalf("of fp32 there was %+v, and in the end %+v", first.Timings.EndToEnd, whole)
	}
	s.Rerun() // beside a reference that was measured
	await(t, s, func(s *report.Snapshot) bool { return s.Busy != nil })
	if again := await(t, s, over).Timings; again.Beside == nil || again.Beside.Config.Precision != config.FP32 || again.Reference != nil {
		t.Errorf("again it is beside %+v, %+v", again.Beside, again.Reference)
	}
	if err := s.StopRecording(); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if tried := r.Tried(); len(tried) != 2 || tried[0].Config.Precision != config.FP32 || tried[0].Runs < whole.Samples {
		t.Errorf("recorded were %+v, want fp32 with %d runs first", tried, whole.Samples)
	}
}
