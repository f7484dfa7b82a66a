package stages

import (
	"context"
	"maps"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// How long each shape of a profile is measured in the workbench, and how many of a curve there are at most.
var profileMeasured = run.Profiling{WarmUp: 20 * time.Millisecond, Iterations: 5, Duration: 60 * time.Millisecond}

const curvePoints = 12

// Runtime describes what an engine does over the shapes that it serves. best is what is known of the best shapes; the others are
// measured, unless times are estimates, which take too long for that.
func (m *timing) Runtime(ctx context.Context, l *run.Loaded, best report.Latency) (*report.Runtime, error) {
	p := l.Plan
	r := &report.Runtime{Axes: runtimeAxes(p), Axis: -1, ArenaBytes: p.Memory.Peak, IOBytes: p.Memory.IO}
	at := summed(p, best)
	at.Shapes, at.HeldBytes = p.Network.ShapesAt(p.Env()), p.Memory.Peak+p.Memory.IO
	r.Points = []report.SweepPoint{at}
	if m.device.Estimated() {
		return r, nil
	}
	var err error
	if r.Contexts, err = m.overContexts(ctx, l); err != nil || !p.Ranged() {
		return r, err
	}
	x := p.Extents()
	ends, err := m.over(ctx, l, []map[string]int{x.Min, x.Max})
	if err != nil {
		return r, err
	}
	r.Points = []report.SweepPoint{ends[0], at, ends[1]}
	r.Axis = widest(r.Axes)
	if r.Curve, err = m.over(ctx, l, along(r.Axes[r.Axis], x.Opt)); err != nil {
		return r, err
	}
	for i := range r.Curve {
		r.Curve[i].Values = []int{along(r.Axes[r.Axis], x.Opt)[i][r.Axes[r.Axis].Symbol]}
	}
	return r, nil
}

// runtimeAxes returns the open extents of a plan's inputs.
func runtimeAxes(p *run.Plan) (list []report.RuntimeAxis) {
	for _, s := range p.Symbols {
		least, most := s.Range()
		a := report.RuntimeAxis{Symbol: s.Name, Min: least, Opt: s.Value, Max: most}
		for _, t := range p.Network.Inputs {
			for i, d := range t.Extents() {
				if name, ok := d.SymbolName(); ok && name == s.Name {
					a.Places = append(a.Places, report.RuntimePlace{Input: t.Name, Axis: i})
					a.Batch = a.Batch || i == 0 && compare.IsBatched(t)
				}
			}
		}
		if len(a.Places) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// widest returns the axis whose ends are furthest apart.
func widest(axes []report.RuntimeAxis) (best int) {
	ratio := func(a report.RuntimeAxis) float64 { return float64(a.Max) / float64(max(1, a.Min)) }
	for i, a := range axes {
		if ratio(a) > ratio(axes[best]) {
			best = i
		}
	}
	return best
}

// along returns values of the symbols along an axis, by doubling, or in so many steps where that is fewer.
func along(a report.RuntimeAxis, opt map[string]int) (list []map[string]int) {
	add := func(v int) {
		env := maps.Clone(opt)
		env[a.Symbol] = v
		list = append(list, env)
	}
	if a.Max < 4*max(1, a.Min) {
		step := max(1, (a.Max-a.Min+curvePoints-2)/(curvePoints-1))
		for v := a.Min; v < a.Max; v += step {
			add(v)
		}
	} else {
		for v := max(1, a.Min); v < a.Max && len(list) < curvePoints-1; v *= 2 {
			add(v)
		}
	}
	add(a.Max)
	return list
}

// over measures an engine at several values of its symbols, on the first item of the data again and again: only their amount is
// what these shapes need.
func (m *timing) over(ctx context.Context, l *run.Loaded, envs []map[string]int) (list []report.SweepPoint, err error) {
	c, err := m.inferences.Ready(ctx, l)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var item map[string]numeric.Value
	if d := m.inferences.data; d != nil && d.Len() > 0 {
		if item, err = compare.Stack(d, l.Plan.Network, 0, 1); err != nil {
			return nil, err
		}
	}
	for i, env := range envs {
		m.told.Progress(report.Progress{Phase: "measuring shapes", Done: i, Total: len(envs)})
		at, err := l.Plan.At(env)
		if err != nil {
			return nil, err
		}
		shapes := at.Network.ShapesAt(env)
		if err := c.SetShapes(shapes); err != nil {
			return nil, err
		}
		in := map[string]numeric.Value{}
		for _, t := range at.Network.Inputs {
			in[t.Name] = repeated(t, env, item[t.Name].Data)
		}
		point, err := m.Point(ctx, c, at, in, profileMeasured)
		if err != nil {
			return nil, err
		}
		point.Shapes = shapes
		list = append(list, point)
	}
	return list, nil
}

// numbers returns how many contexts are measured in the workbench: up to twice as many as the device computes at a time.
func (m *timing) numbers() (list []int) {
	most := 4
	if threads := m.device.Backend.Info().Threads; threads > 0 {
		most = min(2*threads, maxContexts)
	}
	for n := 1; n < most; n *= 2 {
		list = append(list, n)
	}
	return append(list, most)
}

// repeated is data for an input at values of symbols: some elements again and again, or zeros; of an input that is a shape, what the
// symbols say.
func repeated(t *graph.Tensor, env map[string]int, elements []byte) numeric.Value {
	if t.IsShape {
		return t.ShapeValue(env)
	}
	v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, env)...)
	for n := 0; n < len(v.Data) && len(elements) > 0; {
		n += copy(v.Data[n:], elements)
	}
	return v
}

// overContexts measures numbers of contexts at a plan's own shapes, on the first items of the data.
func (m *timing) overContexts(ctx context.Context, l *run.Loaded) (list []report.SweepPoint, err error) {
	in := map[string]numeric.Value{}
	if d := m.inferences.data; d != nil && d.Len() > 0 {
		if in, err = compare.Stack(d, l.Plan.Network, 0, model.BatchOf(l.Plan)); err != nil {
			return nil, err
		}
	} else {
		for _, t := range l.Plan.Network.Inputs {
			in[t.Name] = repeated(t, l.Plan.Env(), nil)
		}
	}
	numbers := m.numbers()
	for i, n := range numbers {
		m.told.Progress(report.Progress{Phase: "measuring contexts", Done: i, Total: len(numbers)})
		point, err := m.Together(ctx, l, l.Plan, in, n, profileMeasured)
		if err != nil {
			return list, err
		}
		point.Values = []int{n}
		list = append(list, point)
	}
	report.ChooseBest(list, 0)
	return list, nil
}
