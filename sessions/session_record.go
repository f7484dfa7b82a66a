package sessions

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// Record begins to write what the session does to a new file, from the present state on.
func (s *Session) Record(path string) error {
	if r := s.recorder.Load(); r != nil {
		return fmt.Errorf("already recording to %s", r.Path())
	}
	r, err := recording.Create(path, s.stages.program(), s.stages.model.Quantized)
	if err != nil {
		return err
	}
	s.unwritten.Store(nil)
	r.OnFailure(func(err error) { s.recordingFailed(r, err) })
	if !s.startRecorder(r) {
		return errors.Join(errors.New("already recording"), r.Close())
	}
	s.log("info", "", "recording to %s", path)
	s.update(func(snap *report.Snapshot) { snap.Recording = path })
	return nil
}

// StopRecording writes what is left and closes the file; it waits for that.
func (s *Session) StopRecording() error {
	r := s.recorder.Swap(nil)
	if r == nil {
		return cmp.Or(s.RecordingError(), errors.New("nothing is being recorded"))
	}
	err := r.Close()
	s.update(func(snap *report.Snapshot) { snap.Recording = "" })
	return err
}

// Unfinished notes in the recording, if there is one, why not all was done that it was begun for.
func (s *Session) Unfinished(why string) {
	if r := s.recorder.Load(); r != nil {
		r.Unfinished(why)
	}
}

// RecordingError returns why the last recording ended by itself, nil where it did not.
func (s *Session) RecordingError() error {
	if err := s.unwritten.Load(); err != nil {
		return *err
	}
	return nil
}

// recordingFailed ends a recording that cannot be written.
func (s *Session) recordingFailed(r *recording.Recorder, err error) {
	s.unwritten.Store(&err)
	if s.recorder.CompareAndSwap(r, nil) {
		s.update(func(snap *report.Snapshot) { snap.Recording = "" })
	}
	s.log("error", "", "%v", err)
}

// timed is a measurement: its samples and their configuration.
type timed struct {
	cfg     config.Config
	samples *timings
}

// startRecorder hands everything over to a recorder from now on, and the samples that the session has. It reports
// whether there was no other one.
func (s *Session) startRecorder(r *recording.Recorder) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.recorder.CompareAndSwap(nil, r) {
		return false
	}
	if s.timed.samples != nil {
		k := s.timed.cfg.Key(s.stages.model.Quantized)
		for sample := range s.timed.samples.all() {
			r.Sample(k, s.timed.cfg, sample)
		}
	}
	return true
}

// sampler returns what adds a configuration's samples to its timings and, while there is one, to the recording.
func (s *Session) sampler(cfg config.Config, t *timings) func(run.Sample) {
	k := cfg.Key(s.stages.model.Quantized)
	s.mu.Lock()
	s.timed = timed{cfg, t}
	s.mu.Unlock()
	return func(sample run.Sample) {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.add(sample)
		if r := s.recorder.Load(); r != nil {
			r.Sample(k, cfg, sample)
		}
	}
}
