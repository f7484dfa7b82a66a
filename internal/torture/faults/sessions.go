package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/torture/networks"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// visit is what a screen or a command does on a device that fails.
type visit struct {
	ctx    context.Context
	device faulty
	host   run.Backend
	rnd    *rand.Rand
	model  *networks.Model
	shapes map[string][]int // of its inputs, where it leaves them open
	folder string           // for recordings
	stage  string
}

// Sizes of a visit: small, so that much of it is what follows a failure.
const (
	items    = 6
	changes  = 4
	patience = 30 * time.Second // for the session to be done with a configuration
)

var errStuck = errors.New("the session is not done")

// workplace returns the model, opened, and where it is worked on.
func (v *visit) workplace() (*model.Model, stages.Workplace, error) {
	w := stages.Workplace{Backend: v.device, Cache: build.NewTimingCache(), TapItems: 2, Rounds: 2, Live: 20 * time.Millisecond}
	if v.rnd.IntN(2) == 0 {
		w.Host = v.host
	}
	m, err := model.Parse(graph.Ops(), "model", v.model.Encode())
	if err != nil {
		return nil, w, err
	}
	var env map[string]int
	if v.shapes != nil {
		if env, err = m.Network.BindShapes(v.shapes); err != nil {
			return nil, w, err
		}
	}
	set, err := dataset.Random(m.Network.Inputs, env, items, 1)
	if err != nil {
		return nil, w, err
	}
	data, err := set.Bind(m.Network.Inputs)
	w.Data, w.CalData = data, data
	return m, w, err
}

func (v *visit) config() config.Config {
	cfg := config.Default()
	cfg.Shapes = maps.Clone(v.shapes)
	cfg.Precision = []config.Precision{config.FP32, config.FP16, config.INT8}[v.rnd.IntN(3)]
	return cfg
}

// floats are the precisions that need no ranges.
var floats = []config.Precision{config.FP32, config.FP16}

// screen opens a session, changes its configuration some times, and lets nothing fail at last: what was asked last is there then.
func (v *visit) screen() error {
	speaks := v.rnd.IntN(4) == 0
	if speaks {
		v.model, v.shapes = networks.Language(v.rnd.Uint64(), false), map[string][]int{"input_ids": {1, len(prompt)}}
	}
	m, w, err := v.workplace()
	if err != nil {
		return err
	}
	if v.stage = "a session"; speaks {
		v.speaks(m, &w)
	}
	s := sessions.Open(m, w, v.config())
	defer s.Close()
	if v.folder != "" {
		if err := s.Record(v.folder + "/some.trtui"); err != nil {
			return err
		}
	}
	for range changes {
		snap, err := v.await(s)
		if err != nil {
			return err
		}
		if snap.Err != "" && !v.device.says(snap.Err) && v.device.failures() > 0 {
			return fmt.Errorf("the session says %s", snap.Err)
		}
		switch n := v.rnd.IntN(4); {
		case n == 0:
			s.Rerun()
		case n == 1 && snap.Err == "": // there is something to study
			s.Study(nil)
		default: // a change to what there is already would be told to nobody
			s.Set(v.config())
			s.Rerun()
		}
	}
	v.stage = "a session whose device is sound again"
	if _, err := v.await(s); err != nil {
		return err
	}
	v.device.mend()
	s.Set(v.config())
	s.Rerun()
	return v.well(s, func(snap *report.Snapshot) string {
		switch g := snap.Generation; {
		case snap.Err != "":
			return snap.Err
		case speaks && (g == nil || len(g.Tokens) != newTokens):
			return fmt.Sprintf("the text is %+v", g)
		}
		return ""
	})
}

// well waits until there is nothing wrong with a session any more; what it is done with first may be from before.
func (v *visit) well(s *sessions.Session, wrong func(*report.Snapshot) string) error {
	late := time.After(patience)
	for {
		snap, err := v.await(s)
		switch {
		case errors.Is(err, errStuck) && snap.Busy == nil:
			return fmt.Errorf("%w once nothing fails any more: %s", errWrong, wrong(snap))
		case err != nil:
			return err
		case wrong(snap) == "":
			return nil
		}
		select {
		case <-late:
			return fmt.Errorf("%w once nothing fails any more: %s", errWrong, wrong(snap))
		default:
		}
	}
}

// await waits until a session has nothing to do.
func (v *visit) await(s *sessions.Session) (*report.Snapshot, error) {
	late := time.After(patience)
	for {
		select {
		case snap := <-s.Events():
			if snap.Busy == nil && (snap.Err != "" || snap.Settled()) {
				return snap, nil
			}
		case <-late:
			snap := s.Snapshot()
			return snap, fmt.Errorf("%w after %v: busy %v, stale %v, err %q", errStuck, patience, snap.Busy, snap.Stale, snap.Err)
		case <-v.ctx.Done():
			return nil, v.ctx.Err()
		}
	}
}

// command has a runner do one thing.
func (v *visit) command() error {
	m, w, err := v.workplace()
	if err != nil {
		return err
	}
	r, cfg := sessions.NewRunner(m, w, nil), v.config()
	p := run.Profiling{Iterations: 2, PerStep: true}
	switch v.rnd.IntN(6) {
	case 0:
		v.stage = "a report"
		_, err = r.Report(v.ctx, cfg, report.PartTimings|report.PartOverview|report.PartAccuracy|report.PartCalibration, p)
	case 1:
		v.stage, cfg.Precision = "a search", config.INT8
		least := 200.0
		_, err = r.Tune(v.ctx, cfg, stages.Tuning{Goal: report.Goal{MinSQNR: &least}, To: []config.Precision{config.FP16, config.FP32}})
	case 2:
		v.stage, cfg.Precision = "sensitivity", config.INT8
		_, err = r.Sensitivity(v.ctx, cfg, config.FP16, func(*report.Sensitivity) {})
	case 3:
		v.stage = "what rules are worth"
		_, err = r.Ablate(v.ctx, cfg, p, nil)
	case 4:
		v.stage = "columns"
		_, err = sessions.Columns(v.ctx, r, []config.Config{v.config(), v.config()}, p)
	default:
		v.stage, cfg.Precision = "an engine", config.INT8
		_, err = r.Engine(v.ctx, cfg, true)
	}
	return err
}

// wrong returns what is wrong with how a visit ended; "" for nothing.
func (v *visit) wrong(err error, closes bool) string {
	left := v.device.left()
	switch {
	case closes && left != "":
		return "left behind"
	case err == nil:
		return ""
	case errors.Is(err, errStuck):
		return "stuck"
	case errors.Is(err, errWrong):
		return "not well again"
	case v.device.failures() > 0 && !v.device.says(err.Error()):
		return "an error that does not say what failed"
	case strings.Contains(err.Error(), "internal error") && !v.device.panics():
		return "an internal error"
	}
	return ""
}
