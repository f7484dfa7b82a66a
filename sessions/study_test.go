package sessions_test

import (
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestStudy asks a session for the sensitivity of a layer and for a search, which come beside what is built.
func TestStudy(t *testing.T) {
	cfg := config.Default()
	cfg.SetLayerPrecision("head/classify/Gemm", config.INT8)
	s := open(t, cfg)
	s.Study(nil)
	snap := await(t, s, func(s *report.Snapshot) bool {
		return s.Sensitivity != nil && s.Sensitivity.Raise != nil && s.Sensitivity.Raise.Measured != nil && s.Busy == nil
	})
	if len(snap.Sensitivity.Layers) != 1 || !snap.Settled() {
		t.Errorf("sensitivity %+v, settled %v", snap.Sensitivity, snap.Settled())
	}
	want := snap.Config.Clone()
	snap.Sensitivity.Raised(&want)
	if want.Quantizes() {
		t.Errorf("what is raised is %v", want.LayerPrecisions)
	}
	goal := 20.0
	s.Study(&report.Goal{MinSQNR: &goal})
	snap = await(t, s, func(s *report.Snapshot) bool { return s.Search != nil && !s.Search.Live && s.Busy == nil })
	if snap.Search.Best == nil {
		t.Errorf("search %+v", snap.Search)
	}
}
