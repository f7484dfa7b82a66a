package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Live measurement after a change ends when the sample is large enough.
const (
	quickIterations = 20
	liveDuration    = 3 * time.Second
	liveIterations  = 200
)

// measure adds samples and publishes the timings as they come in.
func (w *worker) measure(ctx context.Context, cfg config.Config, l *run.Loaded, t *describe.Times, built time.Duration, p run.Profiling) error {
	w.stages.Device.Busy.Lock()
	defer w.stages.Device.Busy.Unlock()
	c, err := w.stages.Inferences.Ready(ctx, l)
	if err != nil {
		return err
	}
	defer c.Close()
	w.stages.Told.Progress(report.Progress{Phase: w.stages.Device.Measuring()})
	begin, last, add := time.Now(), time.Now(), w.tape.sampler(cfg, t)
	t.Of(c)
	w.measured = false
	var beside *report.Beside
	show := func(live bool) {
		r := t.Report(live, w.stages.Device.Estimated())
		if !live {
			r.Beside = beside
		}
		o := w.stages.SumUp(cfg, l.Plan, r)
		o.BuildTime = built
		w.board.publish(report.PartTimings|report.PartOverview, func(snap *report.Snapshot) { snap.Timings, snap.Overview = r, o })
	}
	each := func(sample run.Sample) {
		add(sample)
		if time.Since(last) >= stages.ProgressInterval {
			last = time.Now()
			show(true)
		}
	}
	if p.Duration == 0 {
		err = c.Profile(ctx, w.stages.Device.Profiling(p), each)
	} else {
		beside, err = w.alternate(ctx, cfg, &compare.Lane{Context: c, Turn: w.stages.Device.Turn(p), Each: each})
	}
	if err == nil {
		show(false)
		if err := w.stages.Device.UnderCeilings(ctx, t); err != nil {
			return err
		}
		if t.Roofline != nil {
			show(false)
		}
		if w.measured = p.Duration > 0 || w.stages.Device.Estimated(); w.measured { // the first impression is for the eye alone
			w.stages.Told.Log.Timings(t.Report(false, w.stages.Device.Estimated()), begin)
		}
	}
	return err
}

// A reference has a turn so many times shorter than the engine that is measured beside it, but so many samples at least.
const (
	referenceShare   = 5
	referenceSamples = 2
)

// alternate measures an engine in rounds, beside the reference if that is still loaded and there is room for both; the first
// engine becomes the reference of those after it. It returns how the engine compares, nil where nothing was beside it.
func (w *worker) alternate(ctx context.Context, cfg config.Config, own *compare.Lane) (*report.Beside, error) {
	st, lanes := w.stages, []*compare.Lane{own}
	if w.reference == nil || w.reference.SameEngine(cfg, st.Model.Quantized) {
		if err := compare.Alternate(ctx, lanes, st.Device.Rounds()); err != nil {
			return nil, err
		}
		w.reference = &cfg
		return nil, nil
	}
	id, err := st.Tuning.Identity(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if other, err := st.Tuning.Identity(ctx, *w.reference); err == nil && id == other {
		return &report.Beside{Config: *w.reference, Same: true, Speed: report.Speed{Ratio: 1, Low: 1, High: 1, SideBySide: true}}, compare.Alternate(ctx, lanes, st.Device.Rounds())
	}
	if l := st.Engines.Loaded(*w.reference); l != nil {
		c, err := st.Inferences.Ready(ctx, l)
		if err != nil && !errors.As(err, new(*run.NoRoom)) {
			return nil, err
		}
		if err == nil {
			defer c.Close()
			turn := own.Turn
			turn.Iterations, turn.Duration = referenceSamples, turn.Duration/referenceShare
			lanes = append(lanes, &compare.Lane{Context: c, Turn: st.Device.Profiling(turn), Each: func(run.Sample) {}})
		}
	}
	if err := compare.Alternate(ctx, lanes, st.Device.Rounds()); err != nil || len(lanes) < 2 {
		return nil, err
	}
	return &report.Beside{Config: *w.reference, Same: false, Speed: compare.PairedSpeed(lanes[1].Medians, own.Medians)}, nil
}
