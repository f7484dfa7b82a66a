package sessions

import (
	"context"
	"sync"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Session is an opened model under a configuration that can be changed at any time. Its methods may be called from
// several goroutines; none of them waits for a stage.
type Session struct {
	stages *stages.Stages
	board  *board
	wishes *wishes
	tape   *tape

	close   context.CancelFunc
	working sync.WaitGroup // for the end of the loop and of what watches
}

// Open starts a session; it begins to work on the configuration at once. Close ends it.
func Open(m *model.Model, w stages.Workplace, cfg config.Config) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	b := &board{events: make(chan *report.Snapshot, 1), snap: report.Snapshot{Schema: report.Schema, Config: cfg, Device: describe.Device(w.Backend)}}
	s := &Session{
		stages: stages.New(m, w, &stages.Audience{Progress: b.progressed(), Warned: w.Warn, Log: &stages.Journal{Write: b.keepLine}}),
		board:  b,
		wishes: &wishes{board: b, quantized: m.Quantized, config: cfg, todo: todo{build: true}, wake: make(chan struct{}, 1)},
		tape:   &tape{board: b, program: w.Writer(), quantized: m.Quantized},
		close:  cancel,
	}
	begun := cfg
	s.stages.Tuning.Unknown = func(cfg config.Config, err error) error {
		if config.Same(cfg, begun) { // as a file or flags have it; later ones are what toggles leave of it
			return err
		}
		b.log("warning", "", "%v", err)
		return nil
	}
	s.wishes.wake <- struct{}{}
	work := &worker{stages: s.stages, board: b, wishes: s.wishes, tape: s.tape}
	s.working.Go(func() { work.loop(ctx) })
	if device, ok := w.Backend.(run.Monitor); ok {
		s.working.Go(func() { watchDevice(ctx, b, device) })
	}
	if m.OfFile() {
		s.working.Go(func() { watchFiles(ctx, b, m) })
	}
	return s
}

// Events delivers snapshots as they are published. Each is whole, so a reader who is slow gets the newest and misses
// those in between; the newest is never lost.
func (s *Session) Events() <-chan *report.Snapshot { return s.board.events }

// Snapshot returns the newest state.
func (s *Session) Snapshot() *report.Snapshot { return s.board.newest() }

// Set changes the configuration: work on the old one is cancelled. Where the new one builds the same engine, what there is
// and what is being done stay.
func (s *Session) Set(cfg config.Config) {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	if s.board.snap.Err == "" && !s.wishes.halted && s.wishes.sameEngine(cfg, s.wishes.config) {
		s.wishes.rename(cfg)
		return
	}
	s.wishes.config, s.wishes.todo.retime = cfg, ""
	s.wishes.interrupt()
}

// Rerun measures again with the configuration as it is. It ends a re-timing.
func (s *Session) Rerun() {
	s.board.mu.Lock()
	s.wishes.todo.retime = ""
	s.wishes.interrupt()
	s.board.mu.Unlock()
}

// Cancel stops what is being done. What has been made stays, and what has not stays stale until the configuration is set
// or Rerun begins again.
func (s *Session) Cancel() { s.wishes.halt() }

// Retime measures every tactic of a layer again, whatever the timing cache knows of them, and chooses anew. What was
// measured when it is cancelled, by Set or Rerun, is kept; the engine is then as it was.
func (s *Session) Retime(layer string) {
	s.board.update(func(snap *report.Snapshot) {
		snap.Retiming, s.wishes.todo.retime = layer, layer
		s.wishes.interrupt()
	})
}

// DropTimings forgets the timing cache's entries of other devices and builds, or all entries; so does the file.
// Engines that are in memory stay as they are.
func (s *Session) DropTimings(all bool) {
	target := s.stages.Device.Backend.Info().Fingerprint
	s.board.mu.Lock()
	s.wishes.todo.drop = func(e build.CacheEntry) bool { return all || e.Target != target }
	s.wishes.interrupt()
	s.board.mu.Unlock()
}

// Beside asks for configurations to be measured side by side, and for the accuracy of each: once, when what is being done is over.
// Cancel stops it, and what was found stays.
func (s *Session) Beside(configs []config.Config) {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	s.wishes.todo.beside, s.wishes.halted = configs, false
	s.wishes.awake()
}

// Ask asks for reports that are not made by themselves, from now on with every configuration: that of calibration of a model that
// brings its own quantisation, or is in floating point with made-up data alone, where nothing else needs the activations, and the errors of layers of the configuration that
// others are compared with, since they tell of the passes alone. What each rule is worth is measured once, of the configuration as it
// is, when what is being done is over; Cancel stops it, and what was found stays.
func (s *Session) Ask(parts report.Parts) {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	w := s.wishes
	if parts.Has(report.PartAblation) { // of the configuration at hand alone
		w.todo.ablate, w.halted = true, false
		w.awake()
	}
	added := parts &^ w.asked
	w.asked |= parts &^ report.PartAblation
	switch now := s.board.snap; {
	case !added.Has(report.PartCalibration):
	case w.quantized:
		w.todo.retime = now.Retiming // which goes on
		w.interrupt()
	case now.Calibration == nil && !now.Stale.Has(report.PartCalibration): // it was passed over
		w.todo.calibrators, w.halted = true, false
		w.awake()
	}
	if a := s.board.snap.Accuracy; added.Has(report.PartAccuracy) && a != nil && a.Reference && len(a.Layers) == 0 {
		w.todo.layers, w.halted = true, false
		w.awake()
	}
}

// Split asks for the measurement of the range of an axis beside its parts, as [Runner.Split] does it: once, when what is being done is
// over. Cancel stops it, and what was found stays.
func (s *Session) Split(axis string) {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	s.wishes.todo.split, s.wishes.halted = &wishedSplit{axis}, false
	s.wishes.awake()
}

// Study asks for the sensitivity of the configuration's layers, or with a goal for a search from the configuration on. It begins when
// what is being done is over; Cancel stops it, and what was found stays.
func (s *Session) Study(goal *report.Goal) {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	s.wishes.todo.study, s.wishes.halted = &wishedStudy{goal}, false
	s.wishes.awake()
}

// Note adds what a person did besides to the log.
func (s *Session) Note(text string) { s.board.log("info", "", "%s", text) }

// Keep takes over what was found before of another configuration of the model on the device: it is in recordings, beside what the
// session does.
func (s *Session) Keep(snap *report.Snapshot) { s.tape.keep(snap) }

// Record begins to write what the session does to a new file, from the present state on.
func (s *Session) Record(path string) error { return s.tape.begin(path) }

// StopRecording writes what is left and closes the file; it waits for that.
func (s *Session) StopRecording() error { return s.tape.end((*recording.Recorder).Close) }

// DiscardRecording ends the recording and removes its file.
func (s *Session) DiscardRecording() error { return s.tape.end((*recording.Recorder).Discard) }

// Unfinished notes in the recording, if there is one, why not all was done that it was begun for.
func (s *Session) Unfinished(why string) {
	if r := s.board.recorder.Load(); r != nil {
		r.Unfinished(why)
	}
}

// RecordingError returns why the last recording ended by itself, nil where it did not.
func (s *Session) RecordingError() error { return s.tape.err() }

// Close stops the work and waits for it and for a recording to end.
func (s *Session) Close() {
	s.close()
	s.working.Wait()
	s.stages.Release()
	if s.board.recorder.Load() != nil {
		_ = s.StopRecording() // an error has been logged
	}
}
