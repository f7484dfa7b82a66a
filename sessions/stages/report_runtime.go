package stages

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// How long each shape of a profile is measured in the workbench, and how many there are at most along an axis, and along each of two.
var profileMeasured = run.Profiling{WarmUp: 20 * time.Millisecond, Iterations: 5, Duration: 60 * time.Millisecond}

const (
	curvePoints = 12
	gridPoints  = 6
)

// Served describes the shapes that an engine serves, before anything is measured but best, which is of the best ones.
func (s *sweeps) Served(p *run.Plan, best report.Latency) *report.Runtime {
	at := summed(p, best)
	at.Shapes, at.HeldBytes = p.Network.ShapesAt(p.Env()), p.Memory.Peak+p.Memory.IO
	axes, ties := runtimeAxes(p), model.FindTies(s.model, p.Env())
	for i := range axes {
		a := &axes[i]
		if tie := ties.Of(a.Symbol); tie != nil {
			a.Follows = &tie.Following
		} else {
			a.Limit = s.limit(p, a, ties)
		}
	}
	return &report.Runtime{Axes: axes, Points: []report.SweepPoint{at}, MadeUp: s.madeUp(), ArenaBytes: p.Memory.Peak, IOBytes: p.Memory.IO}
}

// Runtime describes what an engine does over the shapes that it serves. best is what is known of the best shapes; the others are
// measured, unless times are estimates, which take too long for that.
func (s *sweeps) Runtime(ctx context.Context, cfg config.Config, l *run.Loaded, best report.Latency) (*report.Runtime, error) {
	p, r := l.Plan, s.Served(l.Plan, best)
	if s.device.Estimated() {
		return r, nil
	}
	var err error
	ranged := slices.ContainsFunc(r.Axes, func(a report.RuntimeAxis) bool { return a.Min < a.Max }) // a plan is, too, that counts what it selects
	if r.Contexts, err = s.overContexts(ctx, l); err != nil || !ranged {
		return r, err
	}
	x := p.Extents()
	w := s.sweeper(cfg, x.Opt, profileMeasured)
	defer w.close()
	ends, err := w.along(ctx, "measuring shapes", []map[string]int{x.Min, x.Max})
	if err != nil {
		return r, err
	}
	r.Points = []report.SweepPoint{ends[0], r.Points[0], ends[1]}
	return r, nil
}

// Whole is Runtime with all that there is along axes and over two of them.
func (s *sweeps) Whole(ctx context.Context, cfg config.Config, l *run.Loaded, best report.Latency) (*report.Runtime, error) {
	r, err := s.Runtime(ctx, cfg, l, best)
	for more := r; err == nil && more != nil; {
		r = more
		if more, err = s.Curve(ctx, cfg, l, r); err == nil && more == nil {
			more, err = s.Grid(ctx, cfg, l, r)
		}
		if err == nil && more == nil {
			more, err = s.Other(ctx, cfg, r)
		}
	}
	return r, err
}

// madeUp reports whether no data fix the extents of inputs: they are made up at whichever there are.
func (s *sweeps) madeUp() bool {
	data, cal := s.inferences.data, s.tuning.precisions.calibration.Data
	return (data == nil || data.Random()) && (cal == nil || cal.Random())
}

// Curve adds to a report of an engine what it does along the widest of the axes of which that is not known. It returns nil where it
// is of all.
func (s *sweeps) Curve(ctx context.Context, cfg config.Config, l *run.Loaded, known *report.Runtime) (*report.Runtime, error) {
	i := known.Widest(func(a *report.RuntimeAxis) bool { return a.Curve == nil })
	if i < 0 || s.device.Estimated() {
		return nil, nil
	}
	around, err := s.around(ctx, cfg, l)
	if err != nil {
		return nil, err
	}
	r, symbol := *known, known.Axes[i].Symbol
	r.Axes = slices.Clone(known.Axes)
	values := around.extents(&known.Axes[i], curvePoints)
	var envs []map[string]int
	for _, v := range values {
		envs = append(envs, around.at(map[string]int{symbol: v}))
	}
	w := s.sweeper(cfg, around.opt, profileMeasured)
	defer w.close()
	curve, err := w.along(ctx, "measuring along "+symbol, envs)
	for k := range curve {
		curve[k].Values = values[k : k+1]
	}
	r.Axes[i].Curve = curve
	r.Axes[i].Along().Choose()
	return &r, err
}

// Grid adds to a report of an engine what it does over the next pair of its axes. It returns nil where that is known of all, or fewer than
// two have a range.
func (s *sweeps) Grid(ctx context.Context, cfg config.Config, l *run.Loaded, known *report.Runtime) (*report.Runtime, error) {
	pairs := known.Pairs()
	next := slices.IndexFunc(pairs, func(pair [2]int) bool { return known.GridOf(pair) == nil })
	if next < 0 || s.device.Estimated() {
		return nil, nil
	}
	pair := pairs[next]
	around, err := s.around(ctx, cfg, l)
	if err != nil {
		return nil, err
	}
	grid, of := &report.Sweep{}, [2]*report.RuntimeAxis{&known.Axes[pair[0]], &known.Axes[pair[1]]}
	for _, a := range of {
		grid.Axes = append(grid.Axes, report.SweepAxis{Name: a.Symbol, Values: around.extents(a, gridPoints), Items: a.Batch})
	}
	var envs []map[string]int
	var values [][]int
	for _, v := range grid.Axes[0].Values {
		for _, w := range grid.Axes[1].Values {
			if env := around.at(map[string]int{of[0].Symbol: v, of[1].Symbol: w}); around.serves(env) {
				envs, values = append(envs, env), append(values, []int{v, w})
			}
		}
	}
	w := s.sweeper(cfg, around.opt, profileMeasured)
	defer w.close()
	if grid.Points, err = w.along(ctx, fmt.Sprintf("measuring along %s and %s", of[0].Symbol, of[1].Symbol), envs); err != nil {
		return nil, err
	}
	for i := range grid.Points {
		grid.Points[i].Values = values[i]
	}
	grid.Choose()
	r := *known
	r.Grids = append(slices.Clone(known.Grids), *grid)
	return &r, nil
}

// Other adds to a report of an engine what it does in the next of its profiles. It returns nil where that is known of all.
func (s *sweeps) Other(ctx context.Context, cfg config.Config, known *report.Runtime) (*report.Runtime, error) {
	k := len(known.Others) + 1
	if k > len(cfg.Profiles) || s.device.Estimated() {
		return nil, nil
	}
	l, err := s.engines.Profile(ctx, cfg, k)
	if err != nil {
		return nil, err
	}
	of, x := report.Served{ArenaBytes: l.Plan.Memory.Peak, IOBytes: l.Plan.Memory.IO}, l.Plan.Extents()
	w := s.sweeper(cfg, x.Opt, profileMeasured)
	w.only = k
	defer w.close()
	envs := []map[string]int{x.Opt}
	if x.Min != nil {
		envs = []map[string]int{x.Min, x.Opt, x.Max}
	}
	if of.Points, err = w.along(ctx, fmt.Sprintf("measuring shapes of profile %d", k), envs); err != nil {
		return nil, err
	}
	if of.Contexts, err = s.overContexts(ctx, l); err != nil {
		return nil, err
	}
	r := *known
	r.Others = append(slices.Clone(known.Others), of)
	return &r, nil
}

// around is the profiles of a configuration around the best extents of the first.
type around struct {
	opt   map[string]int
	ties  *model.Ties
	plans []*run.Plan
}

func (s *sweeps) around(ctx context.Context, cfg config.Config, l *run.Loaded) (a around, err error) {
	opt := l.Plan.Extents().Opt
	a = around{opt: opt, ties: model.FindTies(s.model, opt), plans: []*run.Plan{l.Plan}}
	for k := range cfg.Profiles {
		p, err := s.tuning.Profile(ctx, cfg, k+1)
		if err != nil {
			return a, err
		}
		a.plans = append(a.plans, p)
	}
	return a, nil
}

// at returns the best extents but for those that are given, and what follows these.
func (a *around) at(given map[string]int) map[string]int { return a.ties.Move(a.opt, given) }

// serves reports whether one of the profiles serves values of the symbols.
func (a *around) serves(env map[string]int) bool {
	return slices.ContainsFunc(a.plans, func(p *run.Plan) bool { _, err := p.At(env); return err == nil })
}

// extents returns at most so many along an axis, as far as a profile goes on, that are served where the others are at their best.
func (a *around) extents(of *report.RuntimeAxis, most int) []int {
	axis := *of
	for _, p := range a.plans[1:] {
		if x := p.Extents(); x.Min != nil {
			axis.Min, axis.Max = min(axis.Min, x.Min[of.Symbol]), max(axis.Max, x.Max[of.Symbol])
		}
	}
	served := func(v int) bool { return a.serves(a.at(map[string]int{of.Symbol: v})) }
	return slices.DeleteFunc(extentsOf(&axis, most, served), func(v int) bool { return !served(v) })
}

// along measures at one set of extents after the other.
func (w *sweeper) along(ctx context.Context, phase string, envs []map[string]int) (list []report.SweepPoint, err error) {
	for i, env := range envs {
		w.now = report.Progress{Phase: phase, Done: i, Total: len(envs)}
		point, err := w.point(ctx, env, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, point)
	}
	return list, nil
}

// runtimeAxes returns the open extents of a plan's inputs.
func runtimeAxes(p *run.Plan) (list []report.RuntimeAxis) {
	batched, _ := graph.BatchAt(p.Network.Inputs, p.Env())
	for _, s := range p.Symbols {
		least, most := s.Range()
		a := report.RuntimeAxis{Symbol: s.Name, Min: least, Opt: s.Value, Max: most}
		for _, t := range p.Network.Inputs {
			for i, d := range t.Extents() {
				if name, ok := d.SymbolName(); ok && name == s.Name {
					a.Places = append(a.Places, report.RuntimePlace{Input: t.Name, Axis: i})
					a.Batch = a.Batch || i == 0 && slices.Contains(batched, t)
				}
			}
		}
		if len(a.Places) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// limit returns what the model allows of an axis: whether any other extent is possible, and where the next one up or down is, how far it
// goes in that direction. Models that take multiples of their strides alone have no limit that could be found so.
func (s *sweeps) limit(p *run.Plan, a *report.RuntimeAxis, ties *model.Ties) *report.ExtentLimit {
	if s.model.Stripped || s.model.Refused != nil {
		return nil
	}
	env, why := p.Env(), ""
	fits := func(v int) bool {
		err := s.model.Network.CheckShapes(ties.Move(env, map[string]int{a.Symbol: v}))
		if err != nil {
			why = err.Error()
		}
		return err == nil
	}
	if a.Opt < 1 || !fits(a.Opt) {
		return nil
	}
	alone := true
	for _, v := range []int{1, 2, 3, 4, a.Opt / 2, a.Opt - 1, a.Opt + 1, a.Opt + a.Opt/2, 2 * a.Opt, 3 * a.Opt, 4 * a.Opt} {
		if v >= 1 && v != a.Opt && fits(v) {
			alone = false
			break
		}
	}
	if alone {
		return &report.ExtentLimit{Least: a.Opt, Most: a.Opt, Why: why}
	}
	l := &report.ExtentLimit{Least: 1, Most: config.MaxExtent}
	if !fits(1) && fits(a.Opt-1) {
		l.Least = a.Opt - sort.Search(a.Opt-1, func(down int) bool { return !fits(a.Opt - down - 1) })
		fits(l.Least - 1)
		l.Why = why
	}
	if far := min(a.Opt<<probedDoublings, config.MaxExtent); !fits(far) && fits(a.Opt+1) {
		l.Most = a.Opt + sort.Search(far-a.Opt, func(up int) bool { return !fits(a.Opt + up + 1) })
		fits(l.Most + 1)
		l.Why = why
	}
	if l.Why == "" {
		return nil
	}
	return l
}

// probedDoublings is how many times as large as the best an extent is asked for, as a power of two, to find its limit.
const probedDoublings = 7

// extentsOf returns so many extents at most along an axis of which the network allows the ends and perhaps not all between: by doubling, or
// by the least power of two that does, where the ends are far apart, else in the steps by which most are possible, of the powers of two
// and what the ends have in common.
func extentsOf(a *report.RuntimeAxis, most int, possible func(int) bool) (best []int) {
	low := max(1, a.Min)
	keep := func(list []int) {
		list = slices.DeleteFunc(list, func(v int) bool { return v != low && v != a.Max && !possible(v) })
		if len(list) > len(best) {
			best = list
		}
	}
	if a.Max >= 16*low {
		doubled := report.Extents(low, a.Max, 0, math.MaxInt)
		every := (len(doubled) - 1 + most - 2) / (most - 1)
		var list []int
		for i := 0; i < len(doubled)-1; i += every {
			list = append(list, doubled[i])
		}
		keep(append(list, a.Max))
		return best
	}
	common := low
	for rest := a.Max; rest > 0; {
		common, rest = rest, common%rest
	}
	for power := 1; power <= a.Max; power *= 2 {
		for _, step := range []int{power, common * power, common / power} {
			if step == 0 || (a.Max-low)/step >= most-1 {
				continue
			}
			if low%step == 0 {
				keep(report.Extents(low, a.Max, step, most))
			} else {
				keep(append([]int{low}, report.Extents(low-low%step+step, a.Max, step, most)...))
			}
		}
	}
	return best
}

// numbers returns how many contexts are measured in the workbench: up to twice as many as the device computes at a time.
func (s *sweeps) numbers() (list []int) {
	most := 4
	if threads := s.device.Backend.Info().Threads; threads > 0 {
		most = min(2*threads, maxContexts)
	}
	for n := 1; n < most; n *= 2 {
		list = append(list, n)
	}
	return append(list, most)
}

// overContexts measures numbers of contexts at a plan's own shapes, on the first items of the data.
func (s *sweeps) overContexts(ctx context.Context, l *run.Loaded) (list []report.SweepPoint, err error) {
	in, err := s.inferences.sample(l.Plan)
	if err != nil {
		return nil, err
	}
	numbers := s.numbers()
	for i, n := range numbers {
		s.told.Progress(report.Progress{Phase: "measuring contexts", Done: i, Total: len(numbers)})
		point, err := s.timing.Together(ctx, l, l.Plan, in, n, profileMeasured)
		if err != nil {
			return list, err
		}
		point.Values = []int{n}
		list = append(list, point)
	}
	report.ChooseBest(list, 0)
	return list, nil
}
