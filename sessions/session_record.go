package sessions

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/core/run"
)

// Record begins to write what the session does to a new file, from the present state on.
func (s *Session) Record(path string) error {
	if r := s.recorder.Load(); r != nil {
		return fmt.Errorf("already recording to %s", r.path)
	}
	r, err := Create(path)
	if err != nil {
		return err
	}
	r.onFailure(func(err error) { s.recordingFailed(r, err) })
	if !s.recorder.CompareAndSwap(nil, r) {
		return errors.Join(errors.New("already recording"), r.Close())
	}
	s.log("info", "", "recording to %s", path)
	s.update(func(snap *Snapshot) { snap.Recording = path })
	return nil
}

// StopRecording writes what is left and closes the file; it waits for that.
func (s *Session) StopRecording() error {
	r := s.recorder.Swap(nil)
	if r == nil {
		return errors.New("nothing is being recorded")
	}
	err := r.Close()
	s.update(func(snap *Snapshot) { snap.Recording = "" })
	return err
}

// recordingFailed ends a recording that cannot be written.
func (s *Session) recordingFailed(r *Recorder, err error) {
	if s.recorder.CompareAndSwap(r, nil) {
		s.update(func(snap *Snapshot) { snap.Recording = "" })
	}
	s.log("error", "", "%v", err)
}

// sampler returns what hands the samples of a configuration to the recording, while there is one.
func (s *Session) sampler(cfg Config) func(run.Sample) {
	k := key(cfg)
	return func(sample run.Sample) {
		if r := s.recorder.Load(); r != nil {
			r.sample(k, cfg, sample)
		}
	}
}
