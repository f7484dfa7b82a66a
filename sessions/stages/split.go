package stages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// SplitProfiling is how long each engine is measured at each extent in all rounds together, where nothing else is said.
var SplitProfiling = run.Profiling{WarmUp: 10 * time.Millisecond, Iterations: 15, Duration: 90 * time.Millisecond}

// splitter measures engines whose tactics are timed at several extents of an axis.
type splitter struct {
	*sweeps
	cfg   config.Config
	whole planning
	plan  *run.Plan // of the whole range
	ties  *model.Ties
	as    run.Profiling
	r     *report.Split
	each  func(*report.Split) // told what is known as it comes
	done  int                 // of the rounds
	total int
}

// Split measures whether two profiles serve the range of an axis better than one; of the widest axis where none is named. values are
// the extents to measure at, nil for some along the axis. each is told what is known as it comes.
func (s *sweeps) Split(ctx context.Context, cfg config.Config, axis string, values []int, p run.Profiling, each func(*report.Split)) (*report.Split, error) {
	x := &splitter{sweeps: s, cfg: cfg, as: p, each: each}
	if err := x.begin(ctx, axis, values); err != nil {
		return nil, err
	}
	plans, differ, err := x.elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	x.total = (len(plans)*len(x.r.Values) + 2*len(x.r.Values)) * s.device.Rounds()
	if len(plans) > 1 {
		if err := x.compare(ctx, plans); err != nil {
			return nil, err
		}
		if err := x.find(ctx, differ); err != nil {
			return nil, err
		}
	}
	x.r.Left = 0
	return x.r, nil
}

// begin says what is measured.
func (x *splitter) begin(ctx context.Context, axis string, values []int) (err error) {
	if x.device.Estimated() {
		return fmt.Errorf("a split of a range: the times of %s are computed; measure on a device", x.device.Backend.Info().Name)
	}
	if x.whole, err = x.tuning.orders.planning(x.cfg); err != nil {
		return err
	}
	if x.whole.Stored {
		return fmt.Errorf("a split of a range: the engine file keeps its tactics; open the model that it was built of")
	}
	if x.plan, err = x.tuning.Plan(ctx, x.cfg); err != nil {
		return err
	}
	x.ties = model.FindTies(x.model, x.plan.Env())
	known := report.Runtime{Axes: runtimeAxes(x.plan)}
	i := known.Widest(func(a *report.RuntimeAxis) bool { return axis == "" || a.Symbol == axis })
	if i < 0 && axis == "" {
		return fmt.Errorf("a split of a range: the engine serves one set of shapes")
	}
	if i < 0 {
		return fmt.Errorf("a split of a range: axis %s has none that the engine serves", config.Quoted(axis))
	}
	a := &known.Axes[i]
	if err := x.ties.Check([]string{a.Symbol}); err != nil {
		return err
	}
	possible := func(v int) bool { _, err := x.plan.At(x.at(a.Symbol, v)); return err == nil }
	if values == nil {
		values = extentsOf(a, curvePoints, possible)
	}
	values = append(slices.Clone(values), a.Opt)
	slices.Sort(values)
	values = slices.Compact(values)
	for _, v := range values {
		if _, err := x.plan.At(x.at(a.Symbol, v)); err != nil {
			return err
		}
	}
	x.r = &report.Split{Base: x.cfg, Axis: a.Symbol, Min: a.Min, Opt: a.Opt, Max: a.Max, Values: values}
	return nil
}

// at returns the values of the symbols at an extent of the axis.
func (x *splitter) at(axis string, v int) map[string]int {
	return x.ties.Move(x.plan.Env(), map[string]int{axis: v})
}

// tuned returns the plan whose tactics are timed at an extent, for the range from one extent to another.
func (x *splitter) tuned(ctx context.Context, at, least, most int) (*run.Plan, error) {
	in, e := x.whole, x.plan.Extents()
	in.Opt, in.Min, in.Max = x.at(x.r.Axis, at), x.ties.Move(e.Min, map[string]int{x.r.Axis: least}), x.ties.Move(e.Max, map[string]int{x.r.Axis: most})
	return x.tuning.kept.Of(ctx, in)
}

// elsewhere returns the plan of the range and those of which the tactics, timed at the ends and half way there, are others; differ has
// for each of these its place in the report.
func (x *splitter) elsewhere(ctx context.Context) (plans []*run.Plan, places []int, err error) {
	r := x.r
	opt, last := slices.Index(r.Values, r.Opt), len(r.Values)-1
	plans = []*run.Plan{x.plan}
	for _, i := range slices.Compact([]int{0, opt / 2, opt, (opt + last + 1) / 2, last}) {
		if i == opt {
			continue
		}
		p, err := x.tuned(ctx, r.Values[i], r.Min, r.Max)
		if err != nil {
			return nil, nil, fmt.Errorf("tactics timed at %s=%d: %w", r.Axis, r.Values[i], err)
		}
		steps, _ := otherTactics(x.plan, p)
		r.Elsewhere = append(r.Elsewhere, report.TunedAt{At: r.Values[i], Differ: steps})
		if steps > 0 {
			plans, places = append(plans, p), append(places, len(r.Elsewhere)-1)
		}
	}
	return plans, places, nil
}

// otherTactics returns how many steps of a plan have another tactic or other formats than those of the first, and the bytes of their constants.
func otherTactics(first, p *run.Plan) (steps, constants int) {
	form := func(p *run.Plan, s *run.Step) string {
		text := s.Tactic
		for _, i := range slices.Concat(s.In, s.Out) {
			if i >= 0 {
				text += fmt.Sprint(" ", p.Slots[i].Desc.Format)
			}
		}
		return text
	}
	of := map[string]string{}
	for i := range first.Steps {
		of[first.Steps[i].Name] = form(first, &first.Steps[i])
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if of[s.Name] == form(p, s) {
			continue
		}
		steps++
		for _, t := range s.Layer.Inputs {
			if t != nil && t.IsConst() {
				constants += len(t.Weights)
			}
		}
	}
	return steps + max(0, len(first.Steps)-len(p.Steps)), constants
}

// compare measures all of the plans at all of the values.
func (x *splitter) compare(ctx context.Context, plans []*run.Plan) error {
	loaded, err := x.load(ctx, plans)
	if err != nil {
		return err
	}
	defer closeAll(loaded)
	for _, v := range x.r.Values {
		medians, err := x.beside(ctx, loaded, v)
		if err != nil {
			return err
		}
		x.r.Medians = append(x.r.Medians, run.Summarize(medians[0]).Median)
		k := 1
		for i := range x.r.Elsewhere {
			if t := &x.r.Elsewhere[i]; t.Differ > 0 {
				t.Speeds = append(t.Speeds, compare.PairedSpeed(medians[0], medians[k]))
				k++
			}
		}
		x.tell()
	}
	return nil
}

// tell tells what is known so far.
func (x *splitter) tell() {
	r := *x.r
	r.Left, r.Elsewhere = max(1, x.total-x.done), slices.Clone(r.Elsewhere)
	r.Medians = slices.Clone(r.Medians)
	x.each(&r)
}

// load loads plans that share what they pack alike.
func (x *splitter) load(ctx context.Context, plans []*run.Plan) ([]*run.Loaded, error) {
	return run.LoadProfiles(ctx, plans, x.device.Backend, func(done, total int, layer string) { x.told.Progress(Packing(done, total, layer)) })
}

func closeAll(loaded []*run.Loaded) {
	for _, l := range loaded {
		l.Close()
	}
}

// beside measures engines at an extent in the same rounds, and returns the medians of each by round.
func (x *splitter) beside(ctx context.Context, loaded []*run.Loaded, v int) (medians [][]time.Duration, err error) {
	env := x.at(x.r.Axis, v)
	now := report.Progress{Phase: "one range or two", Item: fmt.Sprintf("%s=%d", x.r.Axis, v), Done: x.done, Total: x.total}
	lanes := make([]*compare.Lane, len(loaded))
	for i, l := range loaded {
		c, err := x.inferences.context(ctx, l, func() (report.Progress, int) { return now, 1 })
		if err != nil {
			return nil, err
		}
		defer c.Close()
		at, err := l.Plan.At(env)
		if err == nil {
			err = c.SetShapes(at.Network.ShapesAt(env))
		}
		if err != nil {
			return nil, err
		}
		in, err := x.inferences.sample(at)
		if err == nil {
			err = c.SetInputs(in)
		}
		if err != nil {
			return nil, err
		}
		lanes[i] = &compare.Lane{Context: c, Turn: x.device.Turn(x.as), Each: func(run.Sample) {}}
	}
	x.device.Busy.Lock()
	defer x.device.Busy.Unlock()
	if err := x.timing.warmUp(ctx, lanes, x.as); err != nil {
		return nil, err
	}
	err = compare.Alternate(ctx, lanes, x.device.Rounds(), func(int) {
		x.told.Progress(now)
		x.done += len(lanes)
		now.Done = x.done
	})
	for _, l := range lanes {
		medians = append(medians, l.Medians)
	}
	return medians, err
}

// find looks for the part of the range in which one of the engines gains most, and measures that of this part anew; differ has the
// places of the engines.
func (x *splitter) find(ctx context.Context, differ []int) error {
	type part struct{ at, from, to int }
	var parts []part
	gain := func(p part) (total float64) {
		for _, s := range x.r.Elsewhere[p.at].Speeds[p.from : p.to+1] {
			ratio, _ := s.Sure()
			total += ratio - 1
		}
		return total
	}
	for _, i := range differ {
		if from, to, ok := report.FasterPart(x.r.Values, x.r.Opt, x.r.Elsewhere[i]); ok {
			parts = append(parts, part{i, from, to})
		}
	}
	if len(parts) == 0 {
		return nil
	}
	best := slices.MaxFunc(parts, func(a, b part) int {
		if gain(a) < gain(b) {
			return -1
		}
		return 1
	})
	return x.confirm(ctx, x.r.Elsewhere[best.at].At, x.r.Values[best.from:best.to+1])
}

// confirm measures the engine of a part of the range that has these values beside that of the range, and keeps the two parts if it is faster.
func (x *splitter) confirm(ctx context.Context, at int, values []int) error {
	f := &report.FoundSplit{Values: values}
	rest, own := x.cut(at, values)
	f.Profiles = [2]report.SplitProfile{rest, own}
	part, err := x.tuned(ctx, own.Opt, own.Min, own.Max)
	if err != nil {
		return err
	}
	left, err := x.tuned(ctx, rest.Opt, rest.Min, rest.Max)
	if err != nil {
		return err
	}
	loaded, err := x.load(ctx, []*run.Plan{x.plan, part})
	if err != nil {
		return err
	}
	defer closeAll(loaded)
	for _, v := range values {
		medians, err := x.beside(ctx, loaded, v)
		if err != nil {
			return err
		}
		f.Medians = append(f.Medians, run.Summarize(medians[1]).Median)
		f.Speeds = append(f.Speeds, compare.PairedSpeed(medians[0], medians[1]))
	}
	if !report.WorthSplit(f.Speeds) {
		return nil
	}
	held := func(p *run.Plan) int { return p.Memory.Peak + p.Memory.IO }
	f.OtherTactics, f.RepackedBytes = otherTactics(x.plan, part)
	f.MemoryBytes = held(left) + held(part) - held(x.plan) + f.RepackedBytes
	f.Config = x.with(rest, own)
	x.r.Found = f
	return nil
}

// cut cuts the range where some of its values begin or end: at is among these, and the rest keeps the best extent. The rest begins or ends
// at the next extent that the network allows.
func (x *splitter) cut(at int, values []int) (rest, own report.SplitProfile) {
	r := x.r
	next := func(v, step, far int) int {
		for v += step; v != far; v += step {
			if _, err := x.plan.At(x.at(r.Axis, v)); err == nil {
				return v
			}
		}
		return far
	}
	if first, last := values[0], values[len(values)-1]; at < r.Opt {
		return report.SplitProfile{Min: next(last, 1, r.Opt), Opt: r.Opt, Max: r.Max}, report.SplitProfile{Min: r.Min, Opt: min(at, last), Max: last}
	} else {
		return report.SplitProfile{Min: r.Min, Opt: r.Opt, Max: next(first, -1, r.Opt)}, report.SplitProfile{Min: first, Opt: max(at, first), Max: r.Max}
	}
}

// with returns the configuration that has both parts in place of the range.
func (x *splitter) with(rest, own report.SplitProfile) config.Config {
	c, e := x.cfg.Clone(), x.plan.Extents()
	shapes := func(env map[string]int, v int) map[string][]int {
		return x.plan.Network.ShapesAt(x.ties.Move(env, map[string]int{x.r.Axis: v}))
	}
	c.Shapes, c.MinShapes, c.MaxShapes = shapes(e.Opt, rest.Opt), shapes(e.Min, rest.Min), shapes(e.Max, rest.Max)
	c.Profiles = append(c.Profiles, config.Profile{Shapes: shapes(e.Opt, own.Opt), MinShapes: shapes(e.Min, own.Min), MaxShapes: shapes(e.Max, own.Max)})
	return c
}
