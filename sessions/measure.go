package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Live measurement after a change ends when the sample is large enough.
// LiveDuration is how long a session measures an engine where nobody says, once it has a first impression.
const LiveDuration = 3 * time.Second

const (
	quickIterations = 20
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
	if r := w.reference; r == nil || !r.whole && r.config.SameEngine(cfg, w.stages.Model.Quantized) {
		w.reference = &reference{config: cfg, engine: l, times: t}
	}
	var beside *report.Beside
	var rest *report.Timings // of the reference
	var rounds []report.Round
	show := func(live bool) {
		r := t.Report(live, w.stages.Device.Estimated())
		if !live {
			r.Beside, r.Reference, r.Rounds = beside, rest, rounds
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
		own := &compare.Lane{Context: c, Turn: w.stages.Device.Turn(p), Each: each}
		beside, rest, err = w.alternate(ctx, cfg, own)
		rounds = stages.RoundsOf(own)
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

// A reference that was measured has a turn so many times shorter than the engine that is measured beside it, but so many samples at
// least.
const (
	referenceShare   = 5
	referenceSamples = 2
)

// alternate measures an engine in rounds, beside the reference if that is another one, still loaded, and there is room for both. It
// returns how the engine compares, nil where nothing was beside it, and the times of a reference whose measurement came to its end with that.
func (w *worker) alternate(ctx context.Context, cfg config.Config, own *compare.Lane) (*report.Beside, *report.Timings, error) {
	st, lanes, ref := w.stages, []*compare.Lane{own}, w.reference
	if ref.config.SameEngine(cfg, st.Model.Quantized) {
		err := st.Device.Alternate(ctx, lanes)
		ref.whole = ref.whole || err == nil
		return nil, nil, err
	}
	id, err := st.Tuning.Identity(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	if other, err := st.Tuning.Identity(ctx, ref.config); err == nil && id == other {
		return &report.Beside{Config: ref.config, Same: true, Speed: report.Speed{Ratio: 1, Low: 1, High: 1, SideBySide: true}}, nil, st.Device.Alternate(ctx, lanes)
	}
	if l := st.Engines.Loaded(ref.config); l != nil {
		c, err := st.Inferences.Ready(ctx, l)
		if err != nil && !errors.As(err, new(*run.NoRoom)) {
			return nil, nil, err
		}
		if err == nil {
			defer c.Close()
			lanes = append(lanes, ref.lane(st, w.tape, l, c, own.Turn))
		}
	}
	if err := st.Device.Alternate(ctx, lanes); err != nil || len(lanes) < 2 {
		return nil, nil, err
	}
	beside := &report.Beside{Config: ref.config, Speed: compare.PairedSpeed(lanes[1].Medians, own.Medians)}
	if ref.whole {
		return beside, nil, nil
	}
	ref.whole = true
	return beside, ref.times.Report(false, st.Device.Estimated()), nil
}

// lane measures the reference beside an engine that has a turn: as long as that where its own measurement was broken off, which it goes
// on with.
func (r *reference) lane(st *stages.Stages, tape *tape, l *run.Loaded, c *run.ExecutionContext, turn run.Profiling) *compare.Lane {
	if r.whole {
		turn.Iterations, turn.Duration = referenceSamples, turn.Duration/referenceShare
		return &compare.Lane{Context: c, Turn: st.Device.Profiling(turn), Each: func(run.Sample) {}}
	}
	if l != r.engine { // planned anew
		r.engine, r.times = l, describe.NewTimes(l.Plan, model.BatchOf(l.Plan))
		r.times.Of(c)
	}
	return &compare.Lane{Context: c, Turn: turn, Each: tape.adder(r.config, r.times)}
}
